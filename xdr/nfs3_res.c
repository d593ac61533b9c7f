/*
 * Results, in the order of RFC 1813 section 3.3. Any status but NFS3_OK, also one that the RFC does
 * not have, takes the union's default arm. Octets after the results are not looked at.
 */
#include "xdr/nfs3.h"

#include <stddef.h>

static void begin(struct cursor *c, struct nfs3_res *res)
{
    *res = (struct nfs3_res){0};
    res->status = cursor_u32(c);
}

static const uint8_t *pre_op_attr(struct cursor *c)
{
    return cursor_bool(c) ? cursor_fixed(c, NFS3_WCC_ATTR_LEN).data : NULL;
}

static struct nfs3_wcc wcc_data(struct cursor *c)
{
    struct nfs3_wcc wcc;
    wcc.before = pre_op_attr(c);
    wcc.after = nfs3_post_op_attr(c);
    return wcc;
}

static struct bytes post_op_handle(struct cursor *c)
{
    return cursor_bool(c) ? nfs3_handle(c) : (struct bytes){0};
}

bool nfs3_res_void(struct cursor *c, struct nfs3_res *res)
{
    *res = (struct nfs3_res){0};
    return cursor_ok(c);
}

bool nfs3_res_getattr(struct cursor *c, struct nfs3_res *res)
{
    begin(c, res);
    if (res->status == NFS3_OK)
        res->object = cursor_fixed(c, NFS3_FATTR_LEN).data;
    return cursor_ok(c);
}

bool nfs3_res_wcc(struct cursor *c, struct nfs3_res *res)
{
    begin(c, res);
    res->wcc = wcc_data(c);
    return cursor_ok(c);
}

bool nfs3_res_lookup(struct cursor *c, struct nfs3_res *res)
{
    begin(c, res);
    if (res->status == NFS3_OK) {
        res->handle = nfs3_handle(c);
        res->object = nfs3_post_op_attr(c);
    }
    res->dir = nfs3_post_op_attr(c);
    return cursor_ok(c);
}

bool nfs3_res_access(struct cursor *c, struct nfs3_res *res)
{
    begin(c, res);
    res->object = nfs3_post_op_attr(c);
    if (res->status == NFS3_OK)
        res->access = cursor_u32(c);
    return cursor_ok(c);
}

bool nfs3_res_object(struct cursor *c, struct nfs3_res *res)
{
    begin(c, res);
    res->object = nfs3_post_op_attr(c);
    return cursor_ok(c);
}

bool nfs3_res_write(struct cursor *c, struct nfs3_res *res)
{
    begin(c, res);
    res->wcc = wcc_data(c);
    if (res->status == NFS3_OK) {
        cursor_u32(c); /* count */
        cursor_u32(c); /* committed */
        res->verf = cursor_fixed(c, NFS3_VERF_LEN).data;
    }
    return cursor_ok(c);
}

bool nfs3_res_create(struct cursor *c, struct nfs3_res *res)
{
    begin(c, res);
    if (res->status == NFS3_OK) {
        res->handle = post_op_handle(c);
        res->object = nfs3_post_op_attr(c);
    }
    res->wcc = wcc_data(c);
    return cursor_ok(c);
}

bool nfs3_res_rename(struct cursor *c, struct nfs3_res *res)
{
    begin(c, res);
    res->wcc = wcc_data(c);
    res->wcc2 = wcc_data(c);
    return cursor_ok(c);
}

bool nfs3_res_link(struct cursor *c, struct nfs3_res *res)
{
    begin(c, res);
    res->object = nfs3_post_op_attr(c);
    res->wcc = wcc_data(c);
    return cursor_ok(c);
}

bool nfs3_res_readdir(struct cursor *c, struct nfs3_res *res)
{
    begin(c, res);
    res->dir = nfs3_post_op_attr(c);
    return cursor_ok(c);
}

bool nfs3_entry_next(struct cursor *entries, struct nfs3_entry *entry)
{
    *entry = (struct nfs3_entry){0};
    if (!cursor_bool(entries))
        return false;
    entry->fileid = cursor_u64(entries);
    entry->name = cursor_opaque(entries, NFS3_STRING_MAX);
    entry->cookie = cursor_u64(entries);
    entry->attributes = nfs3_post_op_attr(entries);
    entry->handle = post_op_handle(entries);
    return cursor_ok(entries);
}

bool nfs3_res_readdirplus(struct cursor *c, struct nfs3_res *res)
{
    begin(c, res);
    res->dir = nfs3_post_op_attr(c);
    if (res->status != NFS3_OK)
        return cursor_ok(c);
    cursor_fixed(c, NFS3_VERF_LEN);
    res->entries = *c;
    struct nfs3_entry entry;
    while (nfs3_entry_next(c, &entry))
        ;
    res->entries.end = c->at;
    cursor_bool(c); /* eof */
    return cursor_ok(c);
}

bool nfs3_res_commit(struct cursor *c, struct nfs3_res *res)
{
    begin(c, res);
    res->wcc = wcc_data(c);
    if (res->status == NFS3_OK)
        res->verf = cursor_fixed(c, NFS3_VERF_LEN).data;
    return cursor_ok(c);
}
