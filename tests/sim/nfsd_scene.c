/*
 * nfsd_scene: nodes are numbered in the order of their making.
 */
#include "sim/nfsd_scene.h"

void scene(struct fixture *fx, const struct nfsd_options *options)
{
    fixture_options(fx, options);
    fs_node d = make(fx, FS_ROOT, "d", NF3DIR, 0777);
    make(fx, d, "f", NF3REG, 0644);
    make(fx, FS_ROOT, "e", NF3DIR, 0777);
    for (fs_node node = 1; node <= 4; node++)
        file_of(fx, node);
    forget_told(fx);
}

void calls_of(struct fixture *fx, struct call calls[CALLS])
{
    struct file top = file_of(fx, 1), d = file_of(fx, 2), f = file_of(fx, 3), e = file_of(fx, 4);
    fs_node l = make(fx, FS_ROOT, "l", NF3LNK, 0777);
    struct file link = file_of(fx, l);
    const struct call all[CALLS] = {
        {NFS3_GETATTR, args_handle(&f), nfs3_res_getattr, false},
        {NFS3_LOOKUP, args_dirop(&d, "f"), nfs3_res_lookup, false},
        {NFS3_ACCESS, args_access(&f, 63), nfs3_res_access, false},
        {NFS3_READLINK, args_handle(&link), nfs3_res_object, false},
        {NFS3_READ, args_read(&f, 0, 1), nfs3_res_object, false},
        {NFS3_READDIR, args_readdir(&d), nfs3_res_readdir, false},
        {NFS3_READDIRPLUS, args_readdirplus(&d), nfs3_res_readdirplus, false},
        {NFS3_FSSTAT, args_handle(&top), nfs3_res_object, false},
        {NFS3_FSINFO, args_handle(&top), nfs3_res_object, false},
        {NFS3_PATHCONF, args_handle(&top), nfs3_res_object, false},
        {GETACL, args_getacl(&f), nfs3_res_object, false},
        {SETACL, args_setacl(&f, 3), nfs3_res_object, true},
        {NFS3_SETATTR, args_setattr_size(&f, 9), nfs3_res_wcc, true},
        {NFS3_WRITE, args_write(&f, 0, "x"), nfs3_res_write, true},
        {NFS3_COMMIT, args_commit(&f), nfs3_res_commit, true},
        {NFS3_CREATE, args_create(&d, "c", NFS3_GUARDED, NULL), nfs3_res_create, true},
        {NFS3_MKDIR, args_mkdir(&d, "m"), nfs3_res_create, true},
        {NFS3_SYMLINK, args_symlink(&d, "s", "t"), nfs3_res_create, true},
        {NFS3_MKNOD, args_mknod(&d, "p"), nfs3_res_create, true},
        {NFS3_LINK, args_link(&f, &d, "g"), nfs3_res_link, true},
        {NFS3_RENAME, args_rename(&d, "g", &e, "g"), nfs3_res_rename, true},
        {NFS3_REMOVE, args_dirop(&e, "g"), nfs3_res_wcc, true},
        {NFS3_RMDIR, args_dirop(&top, "e"), nfs3_res_wcc, true},
    };
    memcpy(calls, all, sizeof all);
    forget_told(fx);
}

struct shown shown_by(const struct nfs3_res *res)
{
    struct shown shown = {0};
    shown.before = (res->wcc.before != NULL) + (res->wcc2.before != NULL);
    shown.after = (res->object != NULL) + (res->dir != NULL) + (res->wcc.after != NULL) +
                  (res->wcc2.after != NULL);
    shown.handles = res->handle.len > 0;
    struct cursor entries = res->entries;
    struct nfs3_entry entry;
    while (res->entries.at && nfs3_entry_next(&entries, &entry)) {
        shown.after += entry.attributes != NULL;
        shown.handles += entry.handle.len > 0;
    }
    return shown;
}
