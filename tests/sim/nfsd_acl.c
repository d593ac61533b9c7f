/*
 * GETACL and SETACL. Of an access list fs knows one named user; owner, group and others are the mode's, and a SETACL leaves
 * them as they are.
 */
#include "sim/nfsd_acl.h"

#include "sim/nfsd_procedure.h"

enum nfs3_status nfsd_run_getacl(struct nfsd_call *x)
{
    return x->args.acl_mask & ~ACL_WANTS_ALL ? NFS3ERR_INVAL : NFS3_OK;
}

enum nfs3_status nfsd_run_setacl(struct nfsd_call *x)
{
    if (x->args.acl_mask & ~ACL_WANTS_ALL)
        return NFS3ERR_INVAL;
    return fs_setacl(x->nfsd->fs, &x->who, x->object, x->args.has_named, x->args.named_uid,
                     x->args.named_mode, x->now);
}

static void put_entry(struct put *put, uint32_t tag, uint32_t id, uint32_t mode)
{
    put_u32(put, tag);
    put_u32(put, id);
    put_u32(put, mode & 7);
}

void nfsd_put_acl(struct nfsd_call *x)
{
    const struct fs_rights *rights = &x->before.rights;
    struct put *put = &x->put;
    uint32_t count = rights->has_named ? 5 : 4;
    bool listed = (x->args.acl_mask & ACL_WANTS_LIST) != 0;
    put_u32(put, x->args.acl_mask);
    put_u32(put, count);
    put_u32(put, listed ? count : 0);
    if (listed) {
        put_entry(put, ACL_USER_OBJ, rights->uid, rights->mode >> 6);
        if (rights->has_named)
            put_entry(put, ACL_USER, rights->named_uid, rights->named_mode);
        put_entry(put, ACL_GROUP_OBJ, rights->gid, rights->mode >> 3);
        put_entry(put, ACL_MASK, 0, 7);
        put_entry(put, ACL_OTHER, 0, rights->mode);
    }
    put_u32(put, 0); /* the default list: none */
    put_u32(put, 0);
}
