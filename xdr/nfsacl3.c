#include "xdr/nfsacl3.h"
