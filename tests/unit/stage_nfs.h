/*
 * stage_nfs: files of a server, and the arguments and results of NFS that speak of them, as octets.
 *
 * Written out by hand from RFC 1813, and not with the encoders of xdr/: these are what the tests
 * compare with.
 */
#ifndef UNIT_STAGE_NFS_H
#define UNIT_STAGE_NFS_H

#include "wire.h"
#include "xdr/nfs3.h"
#include "xdr/rpc.h"

#define BODY_MAX 4096u

/* Arguments or results. */
struct body {
    uint32_t len;
    uint8_t data[BODY_MAX];
};

static inline struct bytes body_bytes(const struct body *body)
{
    return (struct bytes){body->data, body->len};
}

void body_u32(struct body *body, uint32_t value);
void body_u64(struct body *body, uint64_t value);
void body_raw(struct body *body, const void *data, uint32_t len);
void body_opaque(struct body *body, const void *data, uint32_t len);

/* Every field of a fattr3, in its order. Times: seconds in the upper half, nanoseconds in the
 * lower. */
struct attr {
    uint32_t type, mode, nlink, uid, gid;
    uint64_t size, used;
    uint32_t rdev[2];
    uint64_t fsid, fileid;
    uint64_t atime, mtime, ctime;
};

#define TIME(sec, nsec) ((uint64_t)(sec) << 32 | (nsec))

struct file {
    uint8_t handle[NFS3_FH_MAX];
    uint32_t handle_len;
    struct attr attr;
};

/* A regular file or directory with a handle made of `name`; `fileid` makes all its fields differ
 * from others'. */
struct file file_make(const char *name, enum nfs3_ftype type, uint64_t fileid);
/* As a write at a later time leaves it: another size, mtime and ctime. */
void file_write(struct file *file);
/* As a chmod, or a link more or less, leaves it: another ctime. */
void file_change(struct file *file);
struct bytes file_handle(const struct file *file);

void body_attr(struct body *body, const struct attr *attr);
void body_post_op(struct body *body, const struct attr *attr); /* NULL: does not follow */

struct wcc {
    const struct attr *before, *after;
};
void body_wcc(struct body *body, struct wcc wcc);

/* ---- calls ---- */

/* Procedures of other programs than NFS. */
#define STAGE_NFSACL 100u
#define STAGE_MOUNT  200u

struct who {
    uint32_t flavor, uid, gid, gid_count;
    uint32_t gids[17];
};

extern const struct who alice, bob, root, nobody; /* `nobody`: AUTH_NONE */

/* A whole call, credential and all. */
struct body stage_record(uint32_t xid, unsigned procedure, const struct who *who,
                         const struct body *args);

/* ---- arguments ---- */

struct body args_handle(const struct file *file);
struct body args_dirop(const struct file *dir, const char *name);
struct body args_access(const struct file *file, uint32_t mask);
struct body args_setattr_size(const struct file *file, uint64_t size);
struct body args_setattr_guarded(const struct file *file, uint32_t mode, uint64_t guard);
struct body args_read(const struct file *file, uint64_t offset, uint32_t count);
struct body args_write(const struct file *file, uint64_t offset, const char *text);
struct body args_commit(const struct file *file);
struct body args_create(const struct file *dir, const char *name, enum nfs3_create_mode mode,
                        const char verf[NFS3_VERF_LEN]);
struct body args_mkdir(const struct file *dir, const char *name);
struct body args_symlink(const struct file *dir, const char *name, const char *text);
struct body args_mknod(const struct file *dir, const char *name);
struct body args_rename(const struct file *from, const char *name, const struct file *to,
                        const char *name2);
struct body args_link(const struct file *file, const struct file *dir, const char *name);
struct body args_readdir(const struct file *dir);
struct body args_readdirplus(const struct file *dir);
struct body args_getacl(const struct file *file);
struct body args_setacl(const struct file *file, uint32_t entries);

/* ---- results ---- */

struct body res_status(uint32_t status); /* nothing else */
struct body res_getattr(const struct attr *attr);
/* What may be NULL does not follow. */
struct body res_lookup(const struct file *child, const struct attr *child_attr,
                       const struct attr *dir);
struct body res_access(const struct attr *attr, uint32_t granted);
/* A status and the attributes of one object: failed LOOKUP, ACCESS, READ…; READDIR… too. */
struct body res_post_op(uint32_t status, const struct attr *attr);
struct body res_wcc(uint32_t status, struct wcc wcc); /* SETATTR REMOVE RMDIR; failed others */
struct body res_write(struct wcc wcc, uint32_t count, const char verf[NFS3_VERF_LEN]);
struct body res_commit(struct wcc wcc, const char verf[NFS3_VERF_LEN]);
struct body res_create(const struct file *child, const struct attr *child_attr, struct wcc dir);
struct body res_rename(uint32_t status, struct wcc from, struct wcc to);
struct body res_link(uint32_t status, const struct attr *file, struct wcc dir);

struct dirent3 {
    const char *name;
    const struct file *file;
    bool attributes, handle; /* which of the two follow */
};
/* A whole page, eof set. */
struct body res_readdirplus(const struct attr *dir, const struct dirent3 *entries, unsigned count);

#endif
