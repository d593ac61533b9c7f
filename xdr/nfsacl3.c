#include "xdr/nfsacl3.h"

/* An entry: type, id, permissions. */
#define ENTRY_LEN 12u

/* One list of a secattr: what it would count, then the entries that are in it. */
static void skip_list(struct cursor *c)
{
    cursor_u32(c);
    uint32_t count = cursor_u32(c);
    if (count > NFSACL3_ENTRIES_MAX)
        cursor_fail(c);
    cursor_skip_array(c, count, ENTRY_LEN);
}

bool nfsacl3_args_getacl(struct cursor *c, struct nfs3_args *args)
{
    *args = (struct nfs3_args){0};
    args->object = nfs3_handle(c);
    cursor_u32(c); /* mask */
    return cursor_ok(c);
}

bool nfsacl3_args_setacl(struct cursor *c, struct nfs3_args *args)
{
    *args = (struct nfs3_args){0};
    args->object = nfs3_handle(c);
    cursor_u32(c); /* mask */
    skip_list(c);  /* the access list */
    skip_list(c);  /* the default list */
    return cursor_ok(c);
}

/* The attributes of a failure are the protocol's, but there are servers that end at the status. */
static bool leading_attributes(struct cursor *c, struct nfs3_res *res)
{
    *res = (struct nfs3_res){0};
    res->status = cursor_u32(c);
    if (res->status == NFS3_OK || cursor_left(c) > 0)
        res->object = nfs3_post_op_attr(c);
    return cursor_ok(c);
}

bool nfsacl3_res_getacl(struct cursor *c, struct nfs3_res *res)
{
    return leading_attributes(c, res);
}

bool nfsacl3_res_setacl(struct cursor *c, struct nfs3_res *res)
{
    return leading_attributes(c, res);
}
