#include "e2e/nfs_call.h"

#include "e2e/nfs_reply.h"

#include <errno.h>
#include <string.h>

/* ---- sending any of them ---- */

#define QUEUE_NFS(name) rpc_nfs3_##name##_async(rpc, done, &call->args.name, call)

static int queue_nfs(struct rpc_context *rpc, struct nfs_call *call, rpc_cb done)
{
    switch (call->procedure) {
    case NFS3_NULL:
        return rpc_nfs3_null_async(rpc, done, call);
    case NFS3_GETATTR:
        return QUEUE_NFS(getattr);
    case NFS3_SETATTR:
        return QUEUE_NFS(setattr);
    case NFS3_LOOKUP:
        return QUEUE_NFS(lookup);
    case NFS3_ACCESS:
        return QUEUE_NFS(access);
    case NFS3_READLINK:
        return QUEUE_NFS(readlink);
    case NFS3_READ:
        return QUEUE_NFS(read);
    case NFS3_WRITE:
        return QUEUE_NFS(write);
    case NFS3_CREATE:
        return QUEUE_NFS(create);
    case NFS3_MKDIR:
        return QUEUE_NFS(mkdir);
    case NFS3_SYMLINK:
        return QUEUE_NFS(symlink);
    case NFS3_MKNOD:
        return QUEUE_NFS(mknod);
    case NFS3_REMOVE:
        return QUEUE_NFS(remove);
    case NFS3_RMDIR:
        return QUEUE_NFS(rmdir);
    case NFS3_RENAME:
        return QUEUE_NFS(rename);
    case NFS3_LINK:
        return QUEUE_NFS(link);
    case NFS3_READDIR:
        return QUEUE_NFS(readdir);
    case NFS3_READDIRPLUS:
        return QUEUE_NFS(readdirplus);
    case NFS3_FSSTAT:
        return QUEUE_NFS(fsstat);
    case NFS3_FSINFO:
        return QUEUE_NFS(fsinfo);
    case NFS3_PATHCONF:
        return QUEUE_NFS(pathconf);
    case NFS3_COMMIT:
        return QUEUE_NFS(commit);
    default:
        return -1;
    }
}

int nfs_call_queue(struct rpc_context *rpc, struct nfs_call *call, rpc_cb done)
{
    if (!call->acl)
        return queue_nfs(rpc, call, done);
    if (call->procedure == NFSACL3_GETACL)
        return rpc_nfsacl_getacl_async(rpc, done, &call->args.getacl, call);
    return rpc_nfsacl_setacl_async(rpc, done, &call->args.setacl, call);
}

int nfs_call_take_reply(struct nfs_call *call, const void *data)
{
    return nfs_reply_take(call, data);
}

/* ---- arguments ---- */

/* libnfs's arguments are not const; it changes none. */
#define UNCONST(pointer) ((char *)(uintptr_t)(pointer))

nfs_fh3 nfs_call_handle(const struct nfs_handle *h)
{
    return (nfs_fh3){.data = {.data_len = h->len, .data_val = UNCONST(h->octets)}};
}

diropargs3 nfs_call_dirop(const struct nfs_handle *dir, const char *name)
{
    return (diropargs3){.dir = nfs_call_handle(dir), .name = UNCONST(name)};
}

static int make(struct nfs_client *c, struct nfs_call *call, struct nfs_reply *r)
{
    nfs_client_send(c, call);
    int err = nfs_client_wait(c, call);
    call->reply.sent = call->sent;
    *r = call->reply;
    return err;
}

static sattr3 attributes_or_none(const sattr3 *attributes)
{
    return attributes != NULL ? *attributes : (sattr3){.mode.set_it = 0};
}

/* ---- the procedures ---- */

int nfs_call_null(struct nfs_client *c, struct nfs_reply *r)
{
    struct nfs_call call = {.procedure = NFS3_NULL};
    return make(c, &call, r);
}

int nfs_call_getattr(struct nfs_client *c, const struct nfs_handle *h, struct nfs_reply *r)
{
    struct nfs_call call = {.procedure = NFS3_GETATTR, .args.getattr.object = nfs_call_handle(h)};
    return make(c, &call, r);
}

int nfs_call_setattr(struct nfs_client *c, const struct nfs_handle *h, const sattr3 *attributes,
                     const nfstime3 *guard, struct nfs_reply *r)
{
    struct nfs_call call = {
        .procedure = NFS3_SETATTR,
        .args.setattr = {.object = nfs_call_handle(h), .new_attributes = *attributes}};
    if (guard != NULL) {
        call.args.setattr.guard.check = 1;
        call.args.setattr.guard.sattrguard3_u.obj_ctime = *guard;
    }
    return make(c, &call, r);
}

int nfs_call_lookup(struct nfs_client *c, const struct nfs_handle *dir, const char *name,
                    struct nfs_reply *r)
{
    struct nfs_call call = {.procedure = NFS3_LOOKUP,
                            .args.lookup.what = nfs_call_dirop(dir, name)};
    return make(c, &call, r);
}

int nfs_call_access(struct nfs_client *c, const struct nfs_handle *h, uint32_t mask,
                    struct nfs_reply *r)
{
    struct nfs_call call = {.procedure = NFS3_ACCESS,
                            .args.access = {.object = nfs_call_handle(h), .access = mask}};
    return make(c, &call, r);
}

int nfs_call_readlink(struct nfs_client *c, const struct nfs_handle *h, struct nfs_reply *r)
{
    struct nfs_call call = {.procedure = NFS3_READLINK,
                            .args.readlink.symlink = nfs_call_handle(h)};
    return make(c, &call, r);
}

int nfs_call_read(struct nfs_client *c, const struct nfs_handle *h, uint64_t offset, uint32_t count,
                  void *data, struct nfs_reply *r)
{
    struct nfs_call call = {
        .procedure = NFS3_READ,
        .args.read = {.file = nfs_call_handle(h), .offset = offset, .count = count},
        .data = data};
    return make(c, &call, r);
}

int nfs_call_write(struct nfs_client *c, const struct nfs_handle *h, uint64_t offset,
                   uint32_t count, const void *data, stable_how stable, struct nfs_reply *r)
{
    struct nfs_call call = {.procedure = NFS3_WRITE,
                            .args.write = {.file = nfs_call_handle(h),
                                           .offset = offset,
                                           .count = count,
                                           .stable = stable,
                                           .data = {.data_len = count, .data_val = UNCONST(data)}}};
    return make(c, &call, r);
}

int nfs_call_create(struct nfs_client *c, const struct nfs_handle *dir, const char *name,
                    createmode3 mode, const sattr3 *attributes, const char *verifier,
                    struct nfs_reply *r)
{
    struct nfs_call call = {.procedure = NFS3_CREATE,
                            .args.create = {.where = nfs_call_dirop(dir, name), .how.mode = mode}};
    if (mode == EXCLUSIVE)
        memcpy(call.args.create.how.createhow3_u.verf, verifier, NFS3_CREATEVERFSIZE);
    else
        call.args.create.how.createhow3_u.obj_attributes = attributes_or_none(attributes);
    return make(c, &call, r);
}

int nfs_call_mkdir(struct nfs_client *c, const struct nfs_handle *dir, const char *name,
                   const sattr3 *attributes, struct nfs_reply *r)
{
    struct nfs_call call = {.procedure = NFS3_MKDIR,
                            .args.mkdir = {.where = nfs_call_dirop(dir, name),
                                           .attributes = attributes_or_none(attributes)}};
    return make(c, &call, r);
}

int nfs_call_symlink(struct nfs_client *c, const struct nfs_handle *dir, const char *name,
                     const char *target, struct nfs_reply *r)
{
    struct nfs_call call = {.procedure = NFS3_SYMLINK,
                            .args.symlink = {.where = nfs_call_dirop(dir, name),
                                             .symlink.symlink_data = UNCONST(target)}};
    return make(c, &call, r);
}

int nfs_call_mknod(struct nfs_client *c, const struct nfs_handle *dir, const char *name,
                   ftype3 type, const sattr3 *attributes, struct nfs_reply *r)
{
    struct nfs_call call = {.procedure = NFS3_MKNOD,
                            .args.mknod = {.where = nfs_call_dirop(dir, name), .what.type = type}};
    call.args.mknod.what.mknoddata3_u.pipe_attributes = attributes_or_none(attributes);
    return make(c, &call, r);
}

int nfs_call_remove(struct nfs_client *c, const struct nfs_handle *dir, const char *name,
                    struct nfs_reply *r)
{
    struct nfs_call call = {.procedure = NFS3_REMOVE,
                            .args.remove.object = nfs_call_dirop(dir, name)};
    return make(c, &call, r);
}

int nfs_call_rmdir(struct nfs_client *c, const struct nfs_handle *dir, const char *name,
                   struct nfs_reply *r)
{
    struct nfs_call call = {.procedure = NFS3_RMDIR,
                            .args.rmdir.object = nfs_call_dirop(dir, name)};
    return make(c, &call, r);
}

int nfs_call_rename(struct nfs_client *c, const struct nfs_handle *dir, const char *name,
                    const struct nfs_handle *to_dir, const char *to_name, struct nfs_reply *r)
{
    struct nfs_call call = {
        .procedure = NFS3_RENAME,
        .args.rename = {.from = nfs_call_dirop(dir, name), .to = nfs_call_dirop(to_dir, to_name)}};
    return make(c, &call, r);
}

int nfs_call_link(struct nfs_client *c, const struct nfs_handle *h, const struct nfs_handle *dir,
                  const char *name, struct nfs_reply *r)
{
    struct nfs_call call = {
        .procedure = NFS3_LINK,
        .args.link = {.file = nfs_call_handle(h), .link = nfs_call_dirop(dir, name)}};
    return make(c, &call, r);
}

/* ---- directories ---- */

/* Hands each entry on, and keeps the last one's cookie. */
struct pages {
    void (*entry)(void *context, const struct nfs_entry *entry);
    void *context;
    uint64_t cookie;
};

static void page_entry(void *context, const struct nfs_entry *entry)
{
    struct pages *pages = context;
    pages->cookie = entry->cookie;
    if (pages->entry != NULL)
        pages->entry(pages->context, entry);
}

static int read_pages(struct nfs_client *c, struct nfs_call *call, uint64_t *cookie, char *verifier,
                      struct pages *pages, struct nfs_reply *r)
{
    int err;
    call->entry = page_entry;
    call->context = pages;
    do {
        *cookie = pages->cookie;
        err = make(c, call, r);
        memcpy(verifier, r->verifier, sizeof r->verifier);
        if (err == 0 && r->status == NFS3_OK && !r->eof && pages->cookie == *cookie)
            err = -EPROTO; /* no entry, and not the last page */
    } while (err == 0 && r->status == NFS3_OK && !r->eof);
    return err;
}

int nfs_call_readdir(struct nfs_client *c, const struct nfs_handle *dir, uint32_t size,
                     void (*entry)(void *context, const struct nfs_entry *entry), void *context,
                     struct nfs_reply *r)
{
    struct pages pages = {.entry = entry, .context = context};
    struct nfs_call call = {.procedure = NFS3_READDIR,
                            .args.readdir = {.dir = nfs_call_handle(dir), .count = size}};
    return read_pages(c, &call, &call.args.readdir.cookie, call.args.readdir.cookieverf, &pages, r);
}

int nfs_call_readdirplus(struct nfs_client *c, const struct nfs_handle *dir, uint32_t size,
                         void (*entry)(void *context, const struct nfs_entry *entry), void *context,
                         struct nfs_reply *r)
{
    struct pages pages = {.entry = entry, .context = context};
    struct nfs_call call = {
        .procedure = NFS3_READDIRPLUS,
        .args.readdirplus = {.dir = nfs_call_handle(dir), .dircount = size, .maxcount = size}};
    return read_pages(c, &call, &call.args.readdirplus.cookie, call.args.readdirplus.cookieverf,
                      &pages, r);
}

/* ---- the rest ---- */

int nfs_call_fsstat(struct nfs_client *c, const struct nfs_handle *h, struct nfs_reply *r)
{
    struct nfs_call call = {.procedure = NFS3_FSSTAT, .args.fsstat.fsroot = nfs_call_handle(h)};
    return make(c, &call, r);
}

int nfs_call_fsinfo(struct nfs_client *c, const struct nfs_handle *h, struct nfs_reply *r)
{
    struct nfs_call call = {.procedure = NFS3_FSINFO, .args.fsinfo.fsroot = nfs_call_handle(h)};
    return make(c, &call, r);
}

int nfs_call_pathconf(struct nfs_client *c, const struct nfs_handle *h, struct nfs_reply *r)
{
    struct nfs_call call = {.procedure = NFS3_PATHCONF, .args.pathconf.object = nfs_call_handle(h)};
    return make(c, &call, r);
}

int nfs_call_commit(struct nfs_client *c, const struct nfs_handle *h, struct nfs_reply *r)
{
    struct nfs_call call = {.procedure = NFS3_COMMIT, .args.commit.file = nfs_call_handle(h)};
    return make(c, &call, r);
}

/* The list itself and the one that a directory gives to what is made in it. */
#define ACL_ALL                                                                      \
    (NFSACL_MASK_ACL_ENTRY | NFSACL_MASK_ACL_COUNT | NFSACL_MASK_ACL_DEFAULT_ENTRY | \
     NFSACL_MASK_ACL_DEFAULT_COUNT)

int nfs_call_getacl(struct nfs_client *c, const struct nfs_handle *h, struct nfs_reply *r)
{
    struct nfs_call call = {.procedure = NFSACL3_GETACL,
                            .acl = true,
                            .args.getacl = {.dir = nfs_call_handle(h),
                                            .mask = NFSACL_MASK_ACL_ENTRY | NFSACL_MASK_ACL_COUNT |
                                                    NFSACL_MASK_ACL_DEFAULT_ENTRY |
                                                    NFSACL_MASK_ACL_DEFAULT_COUNT}};
    return make(c, &call, r);
}

int nfs_call_setacl(struct nfs_client *c, const struct nfs_handle *h, const nfsacl_ace *aces,
                    uint32_t count, bool defaults, struct nfs_reply *r)
{
    struct nfs_call call = {.procedure = NFSACL3_SETACL, .acl = true};
    nfsacl_ace *list = (nfsacl_ace *)(uintptr_t)aces;
    uint32_t default_count = defaults ? count : 0;
    call.args.setacl =
        (SETACL3args){.dir = nfs_call_handle(h),
                      .mask = defaults ? ACL_ALL : NFSACL_MASK_ACL_ENTRY | NFSACL_MASK_ACL_COUNT,
                      .ace_count = count,
                      .ace = {.ace_len = count, .ace_val = list},
                      .default_ace_count = default_count,
                      .default_ace = {.default_ace_len = default_count, .default_ace_val = list}};
    return make(c, &call, r);
}
