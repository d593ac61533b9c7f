#include "xdr/mount3.h"

bool mount3_path_args(struct cursor *c, struct bytes *path)
{
    *path = cursor_opaque(c, MOUNT3_PATH_MAX);
    return cursor_ok(c);
}

bool mount3_mnt_res(struct cursor *c, struct mount3_mnt_res *res)
{
    *res = (struct mount3_mnt_res){.status = cursor_u32(c)};
    if (res->status != MNT3_OK)
        return cursor_ok(c);
    res->handle = nfs3_handle(c);
    uint32_t count = cursor_u32(c);
    if (count > MOUNT3_FLAVORS_MAX) {
        cursor_fail(c);
        return false;
    }
    res->flavor_count = count;
    for (uint32_t i = 0; i < count; i++)
        res->flavors[i] = cursor_u32(c);
    return cursor_ok(c);
}

bool mount3_group_next(struct cursor *groups, struct bytes *name)
{
    *name = (struct bytes){0};
    if (!cursor_bool(groups))
        return false;
    *name = cursor_opaque(groups, MOUNT3_NAME_MAX);
    return cursor_ok(groups);
}

bool mount3_export_next(struct cursor *c, struct mount3_export *export_)
{
    *export_ = (struct mount3_export){0};
    if (!cursor_bool(c))
        return false;
    export_->dir = cursor_opaque(c, MOUNT3_PATH_MAX);
    export_->groups = *c;
    struct bytes name;
    while (mount3_group_next(c, &name))
        ;
    export_->groups.end = c->at;
    return cursor_ok(c);
}

bool mount3_mount_next(struct cursor *c, struct bytes *host, struct bytes *dir)
{
    *host = *dir = (struct bytes){0};
    if (!cursor_bool(c))
        return false;
    *host = cursor_opaque(c, MOUNT3_NAME_MAX);
    *dir = cursor_opaque(c, MOUNT3_PATH_MAX);
    return cursor_ok(c);
}
