/*
 * nfsacl3: the NFSACL side protocol, version 3 (program 100227; no RFC: Solaris' nfs_acl.x, as
 * Linux speaks it).
 */
#ifndef XDR_NFSACL3_H
#define XDR_NFSACL3_H

#include "xdr/cursor.h"
#include "xdr/nfs3.h"

#define NFSACL3_VERSION     3u
#define NFSACL3_ENTRIES_MAX 1024u

enum nfsacl3_procedure {
    NFSACL3_NULL = 0,
    NFSACL3_GETACL = 1,
    NFSACL3_SETACL = 2,
    NFSACL3_PROCEDURES = 3,
};

/* Arguments are nfs3_args with `object` set; results nfs3_res with `status` and `object`. */
nfs3_args_decoder nfsacl3_args_getacl;
nfs3_args_decoder nfsacl3_args_setacl; /* the whole of both lists is checked for its bounds */
nfs3_res_decoder nfsacl3_res_getacl;   /* the leading attributes only */
nfs3_res_decoder nfsacl3_res_setacl;

#endif
