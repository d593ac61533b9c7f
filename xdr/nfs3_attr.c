/*
 * What arguments and results have in common: attributes, the encoders, and the names of
 * statuses.
 */
#include "xdr/nfs3.h"

#include <stddef.h>

const uint8_t *nfs3_post_op_attr(struct cursor *c)
{
    return cursor_bool(c) ? cursor_fixed(c, NFS3_FATTR_LEN).data : NULL;
}

void nfs3_put_post_op_attr(struct writer *w, const uint8_t *fattr)
{
    writer_u32(w, fattr != NULL);
    if (fattr)
        writer_raw(w, fattr, NFS3_FATTR_LEN);
}

void nfs3_put_dirop(struct writer *w, struct bytes dir, struct bytes name)
{
    writer_opaque(w, dir);
    writer_opaque(w, name);
}

void nfs3_put_failure(struct writer *w, enum nfs3_status status, unsigned absent)
{
    writer_u32(w, status);
    for (unsigned i = 0; i < absent; i++)
        writer_u32(w, 0);
}

const char *nfs3_status_name(uint32_t status)
{
    static const struct {
        enum nfs3_status status;
        const char *name;
    } names[] = {
        {NFS3_OK, "NFS3_OK"},
        {NFS3ERR_PERM, "NFS3ERR_PERM"},
        {NFS3ERR_NOENT, "NFS3ERR_NOENT"},
        {NFS3ERR_IO, "NFS3ERR_IO"},
        {NFS3ERR_NXIO, "NFS3ERR_NXIO"},
        {NFS3ERR_ACCES, "NFS3ERR_ACCES"},
        {NFS3ERR_EXIST, "NFS3ERR_EXIST"},
        {NFS3ERR_XDEV, "NFS3ERR_XDEV"},
        {NFS3ERR_NODEV, "NFS3ERR_NODEV"},
        {NFS3ERR_NOTDIR, "NFS3ERR_NOTDIR"},
        {NFS3ERR_ISDIR, "NFS3ERR_ISDIR"},
        {NFS3ERR_INVAL, "NFS3ERR_INVAL"},
        {NFS3ERR_FBIG, "NFS3ERR_FBIG"},
        {NFS3ERR_NOSPC, "NFS3ERR_NOSPC"},
        {NFS3ERR_ROFS, "NFS3ERR_ROFS"},
        {NFS3ERR_MLINK, "NFS3ERR_MLINK"},
        {NFS3ERR_NAMETOOLONG, "NFS3ERR_NAMETOOLONG"},
        {NFS3ERR_NOTEMPTY, "NFS3ERR_NOTEMPTY"},
        {NFS3ERR_DQUOT, "NFS3ERR_DQUOT"},
        {NFS3ERR_STALE, "NFS3ERR_STALE"},
        {NFS3ERR_REMOTE, "NFS3ERR_REMOTE"},
        {NFS3ERR_BADHANDLE, "NFS3ERR_BADHANDLE"},
        {NFS3ERR_NOT_SYNC, "NFS3ERR_NOT_SYNC"},
        {NFS3ERR_BAD_COOKIE, "NFS3ERR_BAD_COOKIE"},
        {NFS3ERR_NOTSUPP, "NFS3ERR_NOTSUPP"},
        {NFS3ERR_TOOSMALL, "NFS3ERR_TOOSMALL"},
        {NFS3ERR_SERVERFAULT, "NFS3ERR_SERVERFAULT"},
        {NFS3ERR_BADTYPE, "NFS3ERR_BADTYPE"},
        {NFS3ERR_JUKEBOX, "NFS3ERR_JUKEBOX"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].status == status)
            return names[i].name;
    return NULL;
}
