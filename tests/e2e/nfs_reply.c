#include "e2e/nfs_reply.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void take_fattr(struct nfs_attr *to, const fattr3 *from)
{
    ZDR zdr;
    to->present = true;
    to->value = *from;
    zdrmem_create(&zdr, (char *)to->octets, sizeof to->octets, ZDR_ENCODE);
    if (!zdr_fattr3(&zdr, &to->value))
        abort();
    zdr_destroy(&zdr);
}

static void take_attr(struct nfs_attr *to, const post_op_attr *from)
{
    if (from->attributes_follow)
        take_fattr(to, &from->post_op_attr_u.attributes);
}

static void take_wcc(struct nfs_wcc *to, const wcc_data *from)
{
    to->before_present = from->before.attributes_follow;
    if (to->before_present)
        to->before = from->before.pre_op_attr_u.attributes;
    take_attr(&to->after, &from->after);
}

static int take_handle(struct nfs_handle *to, const nfs_fh3 *from)
{
    if (from->data.data_len > sizeof to->octets)
        return -EPROTO;
    to->len = from->data.data_len;
    memcpy(to->octets, from->data.data_val, to->len);
    return 0;
}

static int take_new(struct nfs_reply *r, const post_op_fh3 *handle, const post_op_attr *object,
                    const wcc_data *dir)
{
    take_attr(&r->object, object);
    take_wcc(&r->wcc, dir);
    r->has_handle = handle->handle_follows;
    return r->has_handle ? take_handle(&r->handle, &handle->post_op_fh3_u.handle) : 0;
}

/* ---- each procedure's own ---- */

static int take_lookup(struct nfs_reply *r, const LOOKUP3res *res)
{
    if (res->status != NFS3_OK) {
        take_attr(&r->directory, &res->LOOKUP3res_u.resfail.dir_attributes);
        return 0;
    }
    take_attr(&r->object, &res->LOOKUP3res_u.resok.obj_attributes);
    take_attr(&r->directory, &res->LOOKUP3res_u.resok.dir_attributes);
    r->has_handle = true;
    return take_handle(&r->handle, &res->LOOKUP3res_u.resok.object);
}

static int take_read(struct nfs_call *call, const READ3res *res)
{
    struct nfs_reply *r = &call->reply;
    const READ3resok *ok = &res->READ3res_u.resok;
    take_attr(&r->object, &ok->file_attributes);
    if (res->status != NFS3_OK)
        return 0;
    if (ok->count != ok->data.data_len || ok->count > call->args.read.count)
        return -EPROTO;
    r->count = ok->count;
    r->eof = ok->eof;
    memcpy(call->data, ok->data.data_val, ok->count);
    return 0;
}

static int take_write(struct nfs_reply *r, const WRITE3res *res)
{
    const WRITE3resok *ok = &res->WRITE3res_u.resok;
    take_wcc(&r->wcc, &ok->file_wcc);
    if (res->status != NFS3_OK)
        return 0;
    r->count = ok->count;
    r->committed = ok->committed;
    memcpy(r->verifier, ok->verf, sizeof r->verifier);
    return 0;
}

static int take_commit(struct nfs_reply *r, const COMMIT3res *res)
{
    take_wcc(&r->wcc, &res->COMMIT3res_u.resok.file_wcc);
    if (res->status == NFS3_OK)
        memcpy(r->verifier, res->COMMIT3res_u.resok.verf, sizeof r->verifier);
    return 0;
}

static int take_readlink(struct nfs_reply *r, const READLINK3res *res)
{
    take_attr(&r->object, &res->READLINK3res_u.resok.symlink_attributes);
    if (res->status != NFS3_OK)
        return 0;
    int len = snprintf(r->text, sizeof r->text, "%s", res->READLINK3res_u.resok.data);
    return len < (int)sizeof r->text ? 0 : -EPROTO;
}

static int take_access(struct nfs_reply *r, const ACCESS3res *res)
{
    take_attr(&r->object, &res->ACCESS3res_u.resok.obj_attributes);
    if (res->status == NFS3_OK)
        r->access = res->ACCESS3res_u.resok.access;
    return 0;
}

static int take_link(struct nfs_reply *r, const LINK3res *res)
{
    take_attr(&r->object, &res->LINK3res_u.resok.file_attributes);
    take_wcc(&r->wcc2, &res->LINK3res_u.resok.linkdir_wcc);
    return 0;
}

static int take_readdir(struct nfs_call *call, const READDIR3res *res)
{
    struct nfs_reply *r = &call->reply;
    const READDIR3resok *ok = &res->READDIR3res_u.resok;
    take_attr(&r->directory, &ok->dir_attributes);
    if (res->status != NFS3_OK)
        return 0;
    r->eof = ok->reply.eof;
    memcpy(r->verifier, ok->cookieverf, sizeof r->verifier);
    entry3 entry;
    for (const void *at = ok->reply.entries; at != NULL; at = entry.nextentry) {
        memcpy(&entry, at, sizeof entry); /* libnfs does not align it */
        struct nfs_entry told = {
            .fileid = entry.fileid, .cookie = entry.cookie, .name = entry.name};
        call->entry(call->context, &told);
        r->count++;
    }
    return 0;
}

static int take_readdirplus(struct nfs_call *call, const READDIRPLUS3res *res)
{
    struct nfs_reply *r = &call->reply;
    const READDIRPLUS3resok *ok = &res->READDIRPLUS3res_u.resok;
    take_attr(&r->directory, &ok->dir_attributes);
    if (res->status != NFS3_OK)
        return 0;
    r->eof = ok->reply.eof;
    memcpy(r->verifier, ok->cookieverf, sizeof r->verifier);
    entryplus3 entry;
    for (const void *at = ok->reply.entries; at != NULL; at = entry.nextentry) {
        memcpy(&entry, at, sizeof entry); /* libnfs does not align it */
        struct nfs_entry told = {.fileid = entry.fileid,
                                 .cookie = entry.cookie,
                                 .name = entry.name,
                                 .has_handle = entry.name_handle.handle_follows};
        take_attr(&told.attr, &entry.name_attributes);
        if (told.has_handle &&
            take_handle(&told.handle, &entry.name_handle.post_op_fh3_u.handle) != 0)
            return -EPROTO;
        call->entry(call->context, &told);
        r->count++;
    }
    return 0;
}

static int take_getacl(struct nfs_reply *r, const GETACL3res *res)
{
    const GETACL3resok *ok = &res->GETACL3res_u.resok;
    if (res->status != NFS3_OK)
        return 0;
    take_attr(&r->object, &ok->attr);
    if (ok->ace.ace_len > sizeof r->acl / sizeof r->acl[0])
        return -EPROTO;
    r->acl_count = ok->ace.ace_len;
    memcpy(r->acl, ok->ace.ace_val, ok->ace.ace_len * sizeof r->acl[0]);
    return 0;
}

static int take_setacl(struct nfs_reply *r, const SETACL3res *res)
{
    if (res->status == NFS3_OK)
        take_attr(&r->object, &res->SETACL3res_u.resok.attr);
    return 0;
}

static int take_fsinfo(struct nfs_reply *r, const FSINFO3res *res)
{
    take_attr(&r->object, &res->FSINFO3res_u.resok.obj_attributes);
    if (res->status == NFS3_OK)
        r->fsinfo = res->FSINFO3res_u.resok;
    return 0;
}

static int take_fsstat(struct nfs_reply *r, const FSSTAT3res *res)
{
    take_attr(&r->object, &res->FSSTAT3res_u.resok.obj_attributes);
    if (res->status == NFS3_OK)
        r->fsstat = res->FSSTAT3res_u.resok;
    return 0;
}

static int take_pathconf(struct nfs_reply *r, const PATHCONF3res *res)
{
    take_attr(&r->object, &res->PATHCONF3res_u.resok.obj_attributes);
    if (res->status == NFS3_OK)
        r->pathconf = res->PATHCONF3res_u.resok;
    return 0;
}

/* CREATE, MKDIR, SYMLINK and MKNOD have one form, but libnfs a type for each. */
#define TAKE_NEW(r, data, res)                                                       \
    (*(const nfsstat3 *)(data) != NFS3_OK                                            \
         ? (take_wcc(&(r)->wcc, &((const res *)(data))->res##_u.resfail.dir_wcc), 0) \
         : take_new((r), &((const res *)(data))->res##_u.resok.obj,                  \
                    &((const res *)(data))->res##_u.resok.obj_attributes,            \
                    &((const res *)(data))->res##_u.resok.dir_wcc))

static int take_nfs(struct nfs_call *call, const void *data)
{
    struct nfs_reply *r = &call->reply;
    switch (call->procedure) {
    case NFS3_GETATTR:
        if (r->status == NFS3_OK)
            take_fattr(&r->object,
                       &((const GETATTR3res *)data)->GETATTR3res_u.resok.obj_attributes);
        return 0;
    case NFS3_SETATTR:
        take_wcc(&r->wcc, &((const SETATTR3res *)data)->SETATTR3res_u.resok.obj_wcc);
        return 0;
    case NFS3_LOOKUP:
        return take_lookup(r, data);
    case NFS3_ACCESS:
        return take_access(r, data);
    case NFS3_READLINK:
        return take_readlink(r, data);
    case NFS3_READ:
        return take_read(call, data);
    case NFS3_WRITE:
        return take_write(r, data);
    case NFS3_CREATE:
        return TAKE_NEW(r, data, CREATE3res);
    case NFS3_MKDIR:
        return TAKE_NEW(r, data, MKDIR3res);
    case NFS3_SYMLINK:
        return TAKE_NEW(r, data, SYMLINK3res);
    case NFS3_MKNOD:
        return TAKE_NEW(r, data, MKNOD3res);
    case NFS3_REMOVE:
        take_wcc(&r->wcc, &((const REMOVE3res *)data)->REMOVE3res_u.resok.dir_wcc);
        return 0;
    case NFS3_RMDIR:
        take_wcc(&r->wcc, &((const RMDIR3res *)data)->RMDIR3res_u.resok.dir_wcc);
        return 0;
    case NFS3_RENAME:
        take_wcc(&r->wcc, &((const RENAME3res *)data)->RENAME3res_u.resok.fromdir_wcc);
        take_wcc(&r->wcc2, &((const RENAME3res *)data)->RENAME3res_u.resok.todir_wcc);
        return 0;
    case NFS3_LINK:
        return take_link(r, data);
    case NFS3_READDIR:
        return take_readdir(call, data);
    case NFS3_READDIRPLUS:
        return take_readdirplus(call, data);
    case NFS3_FSSTAT:
        return take_fsstat(r, data);
    case NFS3_FSINFO:
        return take_fsinfo(r, data);
    case NFS3_PATHCONF:
        return take_pathconf(r, data);
    case NFS3_COMMIT:
        return take_commit(r, data);
    default:
        return -EPROTO;
    }
}

int nfs_reply_take(struct nfs_call *call, const void *data)
{
    if (!call->acl && call->procedure == NFS3_NULL)
        return 0;
    /* Every other result begins with its status. */
    call->reply.status = *(const nfsstat3 *)data;
    int err = 0;
    if (!call->acl)
        err = take_nfs(call, data);
    else if (call->procedure == NFSACL3_GETACL)
        err = take_getacl(&call->reply, data);
    else
        err = take_setacl(&call->reply, data);
    if (err != 0)
        snprintf(call->reply.why, sizeof call->reply.why, "the reply is not valid");
    return err;
}

/* ---- comparing ---- */

bool nfs_handle_same(const struct nfs_handle *a, const struct nfs_handle *b)
{
    return a->len == b->len && memcmp(a->octets, b->octets, a->len) == 0;
}

bool nfs_attr_same(const struct nfs_attr *a, const struct nfs_attr *b)
{
    if (!a->present || !b->present)
        return a->present == b->present;
    return memcmp(a->octets, b->octets, sizeof a->octets) == 0;
}

void nfs_attr_print(const struct nfs_attr *attr, char *text, size_t size)
{
    const fattr3 *f = &attr->value;
    if (!attr->present) {
        snprintf(text, size, "no attributes");
        return;
    }
    snprintf(text, size,
             "fsid %#" PRIx64 " fileid %" PRIu64
             " rdev %u,%u type %d mode %o nlink %u uid %u gid %u size %" PRIu64 " used %" PRIu64
             " atime %u.%09u mtime %u.%09u ctime %u.%09u",
             f->fsid, f->fileid, f->rdev.specdata1, f->rdev.specdata2, (int)f->type, f->mode,
             f->nlink, f->uid, f->gid, f->size, f->used, f->atime.seconds, f->atime.nseconds,
             f->mtime.seconds, f->mtime.nseconds, f->ctime.seconds, f->ctime.nseconds);
}
