/*
 * Arguments, in the order of RFC 1813 section 3.3; then NFSACL's. Octets after them are not looked at.
 */
#include "sim/nfsd_args.h"

#include "sim/nfsd_acl.h"
#include "xdr/nfsacl3.h"

#define NANOSECONDS 1000000000u

/* time_how of sattr3, and stable_how */
enum {
    DONT_CHANGE = 0,
    SET_TO_SERVER_TIME = 1,
    SET_TO_CLIENT_TIME = 2
};
enum {
    UNSTABLE = 0,
    DATA_SYNC = 1,
    FILE_SYNC = 2
};

static void name_arg(struct cursor *c, struct nfsd_name *name)
{
    struct bytes text = cursor_opaque(c, NFS3_STRING_MAX);
    uint32_t len = text.len > FS_NAME_MAX + 1 ? FS_NAME_MAX + 1 : text.len;
    if (len > 0)
        memcpy(name->text, text.data, len);
    name->text[len] = '\0';
    if (strlen(name->text) < len)
        memcpy(name->text, "/", sizeof "/"); /* a NUL inside: no name either */
}

static void dirop(struct cursor *c, struct bytes *dir, struct nfsd_name *name)
{
    *dir = nfs3_handle(c);
    name_arg(c, name);
}

static uint64_t time_arg(struct cursor *c)
{
    uint64_t seconds = cursor_u32(c);
    return seconds * NANOSECONDS + cursor_u32(c);
}

static void set_time(struct cursor *c, bool *is_set, bool *now, uint64_t *value)
{
    uint32_t how = cursor_u32(c);
    if (how > SET_TO_CLIENT_TIME)
        cursor_fail(c);
    *is_set = how != DONT_CHANGE;
    *now = how == SET_TO_SERVER_TIME;
    *value = how == SET_TO_CLIENT_TIME ? time_arg(c) : 0;
}

static void set_u32(struct cursor *c, bool *is_set, uint32_t *value)
{
    *is_set = cursor_bool(c);
    *value = *is_set ? cursor_u32(c) : 0;
}

static void sattr(struct cursor *c, struct fs_set *set)
{
    set_u32(c, &set->mode, &set->mode_value);
    set_u32(c, &set->uid, &set->uid_value);
    set_u32(c, &set->gid, &set->gid_value);
    set->size = cursor_bool(c);
    set->size_value = set->size ? cursor_u64(c) : 0;
    set_time(c, &set->atime, &set->atime_now, &set->atime_value);
    set_time(c, &set->mtime, &set->mtime_now, &set->mtime_value);
}

static void verifier(struct cursor *c, uint8_t verf[NFS3_VERF_LEN])
{
    struct bytes given = cursor_fixed(c, NFS3_VERF_LEN);
    if (given.len > 0)
        memcpy(verf, given.data, NFS3_VERF_LEN);
}

bool nfsd_args_object(struct cursor *c, struct nfsd_args *args)
{
    args->object = nfs3_handle(c);
    return cursor_ok(c);
}

bool nfsd_args_setattr(struct cursor *c, struct nfsd_args *args)
{
    args->object = nfs3_handle(c);
    sattr(c, &args->set);
    args->guarded = cursor_bool(c);
    args->guard = args->guarded ? time_arg(c) : 0;
    return cursor_ok(c);
}

bool nfsd_args_dirop(struct cursor *c, struct nfsd_args *args)
{
    dirop(c, &args->object, &args->name);
    return cursor_ok(c);
}

bool nfsd_args_access(struct cursor *c, struct nfsd_args *args)
{
    args->object = nfs3_handle(c);
    args->access = cursor_u32(c);
    return cursor_ok(c);
}

bool nfsd_args_read(struct cursor *c, struct nfsd_args *args)
{
    args->object = nfs3_handle(c);
    args->offset = cursor_u64(c);
    args->count = cursor_u32(c);
    return cursor_ok(c);
}

bool nfsd_args_write(struct cursor *c, struct nfsd_args *args)
{
    nfsd_args_read(c, args);
    uint32_t stable = cursor_u32(c);
    if (stable > FILE_SYNC)
        cursor_fail(c);
    args->stable = stable != UNSTABLE;
    struct bytes data = cursor_opaque(c, UINT32_MAX);
    if (data.len < args->count)
        cursor_fail(c);
    return cursor_ok(c);
}

bool nfsd_args_create(struct cursor *c, struct nfsd_args *args)
{
    dirop(c, &args->object, &args->name);
    args->create_mode = cursor_u32(c);
    if (args->create_mode > NFS3_EXCLUSIVE)
        cursor_fail(c);
    if (args->create_mode == NFS3_EXCLUSIVE)
        verifier(c, args->verf);
    else
        sattr(c, &args->set);
    return cursor_ok(c);
}

bool nfsd_args_mkdir(struct cursor *c, struct nfsd_args *args)
{
    dirop(c, &args->object, &args->name);
    sattr(c, &args->set);
    return cursor_ok(c);
}

bool nfsd_args_symlink(struct cursor *c, struct nfsd_args *args)
{
    nfsd_args_mkdir(c, args);
    args->text_len = cursor_opaque(c, NFS3_STRING_MAX).len;
    return cursor_ok(c);
}

bool nfsd_args_mknod(struct cursor *c, struct nfsd_args *args)
{
    dirop(c, &args->object, &args->name);
    args->type = cursor_u32(c);
    args->set = (struct fs_set){0};
    if (args->type == NF3CHR || args->type == NF3BLK || args->type == NF3SOCK ||
        args->type == NF3FIFO)
        sattr(c, &args->set);
    if (args->type == NF3CHR || args->type == NF3BLK)
        cursor_u64(c); /* specdata3 */
    return cursor_ok(c);
}

bool nfsd_args_rename(struct cursor *c, struct nfsd_args *args)
{
    dirop(c, &args->object, &args->name);
    dirop(c, &args->object2, &args->name2);
    return cursor_ok(c);
}

bool nfsd_args_link(struct cursor *c, struct nfsd_args *args)
{
    args->object = nfs3_handle(c);
    dirop(c, &args->object2, &args->name2);
    return cursor_ok(c);
}

bool nfsd_args_readdir(struct cursor *c, struct nfsd_args *args)
{
    args->object = nfs3_handle(c);
    args->cookie = cursor_u64(c);
    verifier(c, args->verf);
    args->dircount = UINT32_MAX;
    args->count = cursor_u32(c);
    return cursor_ok(c);
}

bool nfsd_args_readdirplus(struct cursor *c, struct nfsd_args *args)
{
    args->object = nfs3_handle(c);
    args->cookie = cursor_u64(c);
    verifier(c, args->verf);
    args->dircount = cursor_u32(c);
    args->count = cursor_u32(c);
    return cursor_ok(c);
}

bool nfsd_args_getacl(struct cursor *c, struct nfsd_args *args)
{
    args->object = nfs3_handle(c);
    args->acl_mask = cursor_u32(c);
    return cursor_ok(c);
}

/* One list; the first entry for a named user is remembered where `args` is not NULL. */
static void acl_list(struct cursor *c, struct nfsd_args *args)
{
    cursor_u32(c); /* what it would count */
    uint32_t count = cursor_u32(c);
    if (count > NFSACL3_ENTRIES_MAX)
        cursor_fail(c);
    for (uint32_t i = 0; i < count && cursor_ok(c); i++) {
        uint32_t tag = cursor_u32(c), id = cursor_u32(c), mode = cursor_u32(c);
        if (!args || tag != ACL_USER || args->has_named)
            continue;
        args->has_named = true;
        args->named_uid = id;
        args->named_mode = mode & 7;
    }
}

bool nfsd_args_setacl(struct cursor *c, struct nfsd_args *args)
{
    nfsd_args_getacl(c, args);
    args->has_named = false;
    args->named_uid = args->named_mode = 0;
    acl_list(c, args);
    acl_list(c, NULL); /* the default list: for what is made in it */
    return cursor_ok(c);
}
