#include "xdr/cursor.h"
