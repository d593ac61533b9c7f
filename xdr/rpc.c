#include "xdr/rpc.h"
