#include "xdr/writer.h"
