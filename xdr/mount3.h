/*
 * mount3: MOUNT version 3 (RFC 1813 appendix I). The proxy forwards it undecoded and needs its procedures' numbers only;
 * the decoders are for whoever looks at what passes.
 */
#ifndef XDR_MOUNT3_H
#define XDR_MOUNT3_H

#include "xdr/cursor.h"
#include "xdr/nfs3.h"

#define MOUNT3_VERSION     3u
#define MOUNT3_PATH_MAX    1024u
#define MOUNT3_NAME_MAX    255u
#define MOUNT3_FLAVORS_MAX 64u

enum mount3_procedure {
    MOUNT3_NULL = 0,
    MOUNT3_MNT = 1,
    MOUNT3_DUMP = 2,
    MOUNT3_UMNT = 3,
    MOUNT3_UMNTALL = 4,
    MOUNT3_EXPORT = 5,
    MOUNT3_PROCEDURES = 6,
};

enum mount3_status {
    MNT3_OK = 0,
    MNT3ERR_PERM = 1,
    MNT3ERR_NOENT = 2,
    MNT3ERR_IO = 5,
    MNT3ERR_ACCES = 13,
    MNT3ERR_NOTDIR = 20,
    MNT3ERR_INVAL = 22,
    MNT3ERR_NAMETOOLONG = 63,
    MNT3ERR_NOTSUPP = 10004,
    MNT3ERR_SERVERFAULT = 10006,
};

struct mount3_mnt_res {
    uint32_t status;
    struct bytes handle;
    uint32_t flavor_count;
    uint32_t flavors[MOUNT3_FLAVORS_MAX]; /* in the server's order */
};

/* MNT and UMNT: the path. */
bool mount3_path_args(struct cursor *c, struct bytes *path);
bool mount3_mnt_res(struct cursor *c, struct mount3_mnt_res *res);

/*
 * EXPORT and DUMP are linked lists on the wire. Each call yields one element; false at the end, or
 * on an error: then the cursor has failed.
 */
struct mount3_export {
    struct bytes dir;
    struct cursor groups; /* see mount3_group_next */
};
bool mount3_export_next(struct cursor *c, struct mount3_export *export_);
bool mount3_group_next(struct cursor *groups, struct bytes *name);
bool mount3_mount_next(struct cursor *c, struct bytes *host, struct bytes *dir);

#endif
