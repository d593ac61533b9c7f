#include "xdr/nfs3.h"
