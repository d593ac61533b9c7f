#include "xdr/record.h"
