#include "xdr/mount3.h"
