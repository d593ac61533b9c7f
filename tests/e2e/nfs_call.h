/*
 * nfs_call: one function per NFSv3 procedure: makes the call, waits, and leaves the reply.
 *
 * Each returns 0 when there was a reply (its `status` says what the server said), or a negative errno
 * (nfs_client.h). The last parts are what nfs_client needs to send any procedure and to take its
 * reply over from libnfs, whose memory is gone after the callback.
 */
#ifndef E2E_NFS_CALL_H
#define E2E_NFS_CALL_H

#include "e2e/nfs_client.h"

int nfs_call_null(struct nfs_client *c, struct nfs_reply *r);
int nfs_call_getattr(struct nfs_client *c, const struct nfs_handle *h, struct nfs_reply *r);
/* `guard`: the ctime the object must have, or NULL. */
int nfs_call_setattr(struct nfs_client *c, const struct nfs_handle *h, const sattr3 *attributes,
                     const nfstime3 *guard, struct nfs_reply *r);
int nfs_call_lookup(struct nfs_client *c, const struct nfs_handle *dir, const char *name,
                    struct nfs_reply *r);
int nfs_call_access(struct nfs_client *c, const struct nfs_handle *h, uint32_t mask,
                    struct nfs_reply *r);
int nfs_call_readlink(struct nfs_client *c, const struct nfs_handle *h, struct nfs_reply *r);
/* `data` has room for `count` octets; r->count says how many came. */
int nfs_call_read(struct nfs_client *c, const struct nfs_handle *h, uint64_t offset, uint32_t count,
                  void *data, struct nfs_reply *r);
int nfs_call_write(struct nfs_client *c, const struct nfs_handle *h, uint64_t offset,
                   uint32_t count, const void *data, stable_how stable, struct nfs_reply *r);
/* `verifier` (8 octets): of EXCLUSIVE; `attributes`: of the other two. */
int nfs_call_create(struct nfs_client *c, const struct nfs_handle *dir, const char *name,
                    createmode3 mode, const sattr3 *attributes, const char *verifier,
                    struct nfs_reply *r);
int nfs_call_mkdir(struct nfs_client *c, const struct nfs_handle *dir, const char *name,
                   const sattr3 *attributes, struct nfs_reply *r);
int nfs_call_symlink(struct nfs_client *c, const struct nfs_handle *dir, const char *name,
                     const char *target, struct nfs_reply *r);
/* A FIFO or a socket. */
int nfs_call_mknod(struct nfs_client *c, const struct nfs_handle *dir, const char *name,
                   ftype3 type, const sattr3 *attributes, struct nfs_reply *r);
int nfs_call_remove(struct nfs_client *c, const struct nfs_handle *dir, const char *name,
                    struct nfs_reply *r);
int nfs_call_rmdir(struct nfs_client *c, const struct nfs_handle *dir, const char *name,
                   struct nfs_reply *r);
int nfs_call_rename(struct nfs_client *c, const struct nfs_handle *dir, const char *name,
                    const struct nfs_handle *to_dir, const char *to_name, struct nfs_reply *r);
int nfs_call_link(struct nfs_client *c, const struct nfs_handle *h, const struct nfs_handle *dir,
                  const char *name, struct nfs_reply *r);
/* Whole directories, page by page of `size` octets; `entry` is called for each entry. */
int nfs_call_readdir(struct nfs_client *c, const struct nfs_handle *dir, uint32_t size,
                     void (*entry)(void *context, const struct nfs_entry *entry), void *context,
                     struct nfs_reply *r);
int nfs_call_readdirplus(struct nfs_client *c, const struct nfs_handle *dir, uint32_t size,
                         void (*entry)(void *context, const struct nfs_entry *entry), void *context,
                         struct nfs_reply *r);
int nfs_call_fsstat(struct nfs_client *c, const struct nfs_handle *h, struct nfs_reply *r);
int nfs_call_fsinfo(struct nfs_client *c, const struct nfs_handle *h, struct nfs_reply *r);
int nfs_call_pathconf(struct nfs_client *c, const struct nfs_handle *h, struct nfs_reply *r);
int nfs_call_commit(struct nfs_client *c, const struct nfs_handle *h, struct nfs_reply *r);
/* NFSACL. -EPROTO where the server does not have it. */
int nfs_call_getacl(struct nfs_client *c, const struct nfs_handle *h, struct nfs_reply *r);
/* With `defaults` as the default list, too. (ganesha 4.3 does not decode an empty one; Linux lets no file have one.) */
int nfs_call_setacl(struct nfs_client *c, const struct nfs_handle *h, const nfsacl_ace *aces,
                    uint32_t count, bool defaults, struct nfs_reply *r);

/* For arguments of calls that are not waited for. Points into `h`. */
nfs_fh3 nfs_call_handle(const struct nfs_handle *h);
diropargs3 nfs_call_dirop(const struct nfs_handle *dir, const char *name);

/* ---- for nfs_client ---- */

int nfs_call_queue(struct rpc_context *rpc, struct nfs_call *call, rpc_cb done);
/* 0, or -EPROTO when the reply holds what no reply may. */
int nfs_call_take_reply(struct nfs_call *call, const void *data);

#endif
