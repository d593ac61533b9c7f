/*
 * nfsd_args: the arguments of calls, whole, as a server needs them. Only nfsd*.c include this.
 */
#ifndef SIM_NFSD_ARGS_H
#define SIM_NFSD_ARGS_H

#include "sim/fs.h"
#include "xdr/cursor.h"

/* As fs takes names. One that is too long is cut to a length that is still too long. */
struct nfsd_name {
    char text[FS_NAME_MAX + 2];
};

/* What a procedure does not have is not set. */
struct nfsd_args {
    struct bytes object; /* the handle; the directory of `name` */
    struct nfsd_name name;
    struct bytes object2; /* RENAME, LINK: the directory of name2 */
    struct nfsd_name name2;
    struct fs_set set;
    bool guarded;
    uint64_t guard; /* the ctime that it must have, in ns */
    uint32_t access;
    uint64_t offset;
    uint32_t count;
    bool stable;
    uint32_t create_mode;
    uint8_t verf[NFS3_VERF_LEN]; /* of CREATE, or of the cookie */
    uint32_t type;               /* MKNOD */
    uint32_t text_len;           /* SYMLINK */
    uint64_t cookie;
    uint32_t dircount;
    uint32_t acl_mask;
    bool has_named; /* SETACL: the first entry for a named user */
    uint32_t named_uid, named_mode;
};

typedef bool nfsd_args_decoder(struct cursor *c, struct nfsd_args *args);
nfsd_args_decoder nfsd_args_object; /* GETATTR READLINK FSSTAT FSINFO PATHCONF */
nfsd_args_decoder nfsd_args_setattr;
nfsd_args_decoder nfsd_args_dirop; /* LOOKUP REMOVE RMDIR */
nfsd_args_decoder nfsd_args_access;
nfsd_args_decoder nfsd_args_read; /* READ COMMIT */
nfsd_args_decoder nfsd_args_write;
nfsd_args_decoder nfsd_args_create;
nfsd_args_decoder nfsd_args_mkdir;
nfsd_args_decoder nfsd_args_symlink;
nfsd_args_decoder nfsd_args_mknod;
nfsd_args_decoder nfsd_args_rename;
nfsd_args_decoder nfsd_args_link;
nfsd_args_decoder nfsd_args_readdir;
nfsd_args_decoder nfsd_args_readdirplus;
nfsd_args_decoder nfsd_args_getacl;
nfsd_args_decoder nfsd_args_setacl;

#endif
