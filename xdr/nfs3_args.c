/*
 * Arguments, in the order of RFC 1813 section 3.3. A decoder zeroes `args` and reads straight on; a
 * value that is out of its range, or cut off, fails the cursor, and the cursor is asked once at the
 * end.
 */
#include "xdr/nfs3.h"

#include <stddef.h>

/* sattr3's time_how: the only arm that carries a time. */
#define SET_TO_CLIENT_TIME 2u

static struct bytes filename(struct cursor *c)
{
    return cursor_opaque(c, NFS3_STRING_MAX);
}

static void dirop(struct cursor *c, struct bytes *dir, struct bytes *name)
{
    *dir = nfs3_handle(c);
    *name = filename(c);
}

static void skip_optional_u32(struct cursor *c)
{
    if (cursor_bool(c))
        cursor_u32(c);
}

static void skip_set_time(struct cursor *c)
{
    uint32_t how = cursor_u32(c);
    if (how > SET_TO_CLIENT_TIME)
        cursor_fail(c);
    if (how == SET_TO_CLIENT_TIME)
        cursor_u64(c);
}

static void skip_sattr(struct cursor *c)
{
    skip_optional_u32(c); /* mode */
    skip_optional_u32(c); /* uid */
    skip_optional_u32(c); /* gid */
    if (cursor_bool(c))   /* size */
        cursor_u64(c);
    skip_set_time(c); /* atime */
    skip_set_time(c); /* mtime */
}

bool nfs3_args_void(struct cursor *c, struct nfs3_args *args)
{
    *args = (struct nfs3_args){0};
    return cursor_ok(c);
}

bool nfs3_args_object(struct cursor *c, struct nfs3_args *args)
{
    *args = (struct nfs3_args){.object = nfs3_handle(c)};
    return cursor_ok(c);
}

bool nfs3_args_setattr(struct cursor *c, struct nfs3_args *args)
{
    *args = (struct nfs3_args){.object = nfs3_handle(c)};
    skip_sattr(c);
    if (cursor_bool(c)) /* sattrguard3: the ctime that the object must have */
        cursor_u64(c);
    return cursor_ok(c);
}

bool nfs3_args_dirop(struct cursor *c, struct nfs3_args *args)
{
    *args = (struct nfs3_args){0};
    dirop(c, &args->object, &args->name);
    return cursor_ok(c);
}

bool nfs3_args_access(struct cursor *c, struct nfs3_args *args)
{
    *args = (struct nfs3_args){.object = nfs3_handle(c)};
    args->access = cursor_u32(c);
    return cursor_ok(c);
}

bool nfs3_args_read(struct cursor *c, struct nfs3_args *args)
{
    *args = (struct nfs3_args){.object = nfs3_handle(c)};
    args->offset = cursor_u64(c);
    args->count = cursor_u32(c);
    return cursor_ok(c);
}

bool nfs3_args_write(struct cursor *c, struct nfs3_args *args)
{
    *args = (struct nfs3_args){.object = nfs3_handle(c)};
    args->offset = cursor_u64(c);
    args->count = cursor_u32(c);
    cursor_u32(c);                /* stable */
    cursor_opaque(c, UINT32_MAX); /* data: bounded by the record that it must be whole in */
    return cursor_ok(c);
}

bool nfs3_args_create(struct cursor *c, struct nfs3_args *args)
{
    *args = (struct nfs3_args){0};
    dirop(c, &args->object, &args->name);
    args->create_mode = cursor_u32(c);
    if (args->create_mode > NFS3_EXCLUSIVE)
        cursor_fail(c);
    if (args->create_mode == NFS3_EXCLUSIVE)
        cursor_fixed(c, NFS3_VERF_LEN);
    else
        skip_sattr(c);
    return cursor_ok(c);
}

bool nfs3_args_mkdir(struct cursor *c, struct nfs3_args *args)
{
    *args = (struct nfs3_args){0};
    dirop(c, &args->object, &args->name);
    skip_sattr(c);
    return cursor_ok(c);
}

bool nfs3_args_symlink(struct cursor *c, struct nfs3_args *args)
{
    *args = (struct nfs3_args){0};
    dirop(c, &args->object, &args->name);
    skip_sattr(c);
    cursor_opaque(c, NFS3_STRING_MAX);
    return cursor_ok(c);
}

bool nfs3_args_mknod(struct cursor *c, struct nfs3_args *args)
{
    *args = (struct nfs3_args){0};
    dirop(c, &args->object, &args->name);
    switch (cursor_u32(c)) {
    case NF3CHR:
    case NF3BLK:
        skip_sattr(c);
        cursor_u64(c); /* specdata3 */
        break;
    case NF3SOCK:
    case NF3FIFO:
        skip_sattr(c);
        break;
    default: /* void: the server says BADTYPE */
        break;
    }
    return cursor_ok(c);
}

bool nfs3_args_rename(struct cursor *c, struct nfs3_args *args)
{
    *args = (struct nfs3_args){0};
    dirop(c, &args->object, &args->name);
    dirop(c, &args->object2, &args->name2);
    return cursor_ok(c);
}

bool nfs3_args_link(struct cursor *c, struct nfs3_args *args)
{
    *args = (struct nfs3_args){.object = nfs3_handle(c)};
    dirop(c, &args->object2, &args->name2);
    return cursor_ok(c);
}

bool nfs3_args_readdir(struct cursor *c, struct nfs3_args *args)
{
    *args = (struct nfs3_args){.object = nfs3_handle(c)};
    args->cookie = cursor_u64(c);
    cursor_fixed(c, NFS3_VERF_LEN);
    args->count = cursor_u32(c);
    return cursor_ok(c);
}

bool nfs3_args_readdirplus(struct cursor *c, struct nfs3_args *args)
{
    *args = (struct nfs3_args){.object = nfs3_handle(c)};
    args->cookie = cursor_u64(c);
    cursor_fixed(c, NFS3_VERF_LEN);
    cursor_u32(c); /* dircount */
    args->count = cursor_u32(c);
    return cursor_ok(c);
}

bool nfs3_args_commit(struct cursor *c, struct nfs3_args *args)
{
    return nfs3_args_read(c, args);
}
