/* Changes of a directory: CREATE, MKDIR, SYMLINK, MKNOD, REMOVE, RMDIR, LINK. */
#include "e2e/mutations.h"

#include <string.h>

/* "new" is absent, and known to be; "old" is a file with a second name. */
static struct nfs_handle watched_names(struct stage *s)
{
    struct nfs_handle old = stage_file(s, &s->dir, "old");
    stage_link(s, &old, &s->dir, "old-too");
    watch_object(&s->watch, "the folder", &s->dir);
    watch_object(&s->watch, "old", &old);
    watch_name(&s->watch, &s->dir, "new");
    watch_name(&s->watch, &s->dir, "old");
    watch_name(&s->watch, &s->dir, "old-too");
    watch_name(&s->watch, &s->dir, "absent");
    watch_name(&s->watch, &s->dir, "..");
    stage_warm(s);
    return old;
}

static int create(struct stage *s, const char *name, createmode3 mode, const sattr3 *attributes,
                  const char *verifier)
{
    return nfs_call_create(&s->a, &s->dir, name, mode, attributes, verifier, &s->r);
}

static void create_unchecked(struct stage *s)
{
    sattr3 empty = set_size(0);
    watched_names(s);
    stage_changed(s, create(s, "new", UNCHECKED, NULL, NULL), NFS3_OK, "a new one");
    stage_changed(s, create(s, "old", UNCHECKED, NULL, NULL), NFS3_OK, "one that exists");
    stage_changed(s, create(s, "old", UNCHECKED, &empty, NULL), NFS3_OK,
                  "one that exists, emptied");
}

static void create_guarded(struct stage *s)
{
    sattr3 mode = set_mode(0600);
    watched_names(s);
    stage_changed(s, create(s, "new", GUARDED, &mode, NULL), NFS3_OK, "a new one");
    stage_changed(s, create(s, "old", GUARDED, &mode, NULL), NFS3ERR_EXIST, "one that exists");
}

/* The server keeps the verifier in the times, until the SETATTR that ends the creation (K13). */
static void create_exclusive(struct stage *s)
{
    sattr3 after = set_mode(0640);
    after.atime.set_it = after.mtime.set_it = SET_TO_SERVER_TIME;
    watched_names(s);
    stage_changed(s, create(s, "new", EXCLUSIVE, NULL, "verifier"), NFS3_OK, "a new one");
    struct nfs_handle new = s->r.handle;
    check(s->r.has_handle, "no handle");
    watch_object(&s->watch, "new", &new);
    stage_warm(s);
    stage_changed(s, create(s, "new", EXCLUSIVE, NULL, "verifier"), NFS3_OK, "sent again");
    stage_changed(s, create(s, "new", EXCLUSIVE, NULL, "another!"), NFS3ERR_EXIST,
                  "with another verifier");
    stage_warm(s);
    stage_changed(s, nfs_call_setattr(&s->a, &new, &after, NULL, &s->r), NFS3_OK,
                  "SETATTR of its times");
}

static void make_dir(struct stage *s)
{
    sattr3 mode = set_mode(0700);
    watched_names(s);
    stage_changed(s, nfs_call_mkdir(&s->a, &s->dir, "new", &mode, &s->r), NFS3_OK, "a new one");
    stage_changed(s, nfs_call_mkdir(&s->a, &s->dir, "old", &mode, &s->r), NFS3ERR_EXIST,
                  "one that exists");
}

static void make_symlink(struct stage *s)
{
    static const char target[] = "../some/where/else";
    watched_names(s);
    stage_changed(s, nfs_call_symlink(&s->a, &s->dir, "new", target, &s->r), NFS3_OK, "a new one");
    struct nfs_handle new = s->r.handle;
    stage_changed(s, nfs_call_symlink(&s->a, &s->dir, "old", target, &s->r), NFS3ERR_EXIST,
                  "one that exists");
    check_ok(nfs_call_readlink(&s->b, &new, &s->r), &s->r, "READLINK");
    check(strcmp(s->r.text, target) == 0, "READLINK says '%s'", s->r.text);
}

static void make_fifo(struct stage *s)
{
    sattr3 mode = set_mode(0600);
    watched_names(s);
    stage_changed(s, nfs_call_mknod(&s->a, &s->dir, "new", NF3FIFO, &mode, &s->r), NFS3_OK,
                  "a new one");
    check(s->r.object.value.type == NF3FIFO, "type %d", (int)s->r.object.value.type);
    stage_changed(s, nfs_call_mknod(&s->a, &s->dir, "old", NF3FIFO, &mode, &s->r), NFS3ERR_EXIST,
                  "one that exists");
}

/* Its other name and its open handle show one link less; then it is gone. */
static void remove_file(struct stage *s)
{
    watched_names(s);
    stage_changed(s, nfs_call_remove(&s->a, &s->dir, "old", &s->r), NFS3_OK, "one of two names");
    stage_changed(s, nfs_call_remove(&s->a, &s->dir, "old-too", &s->r), NFS3_OK, "the last name");
    stage_changed(s, nfs_call_remove(&s->a, &s->dir, "absent", &s->r), NFS3ERR_NOENT,
                  "one that does not exist");
}

static void remove_refused(struct stage *s)
{
    watched_names(s);
    nfs_client_be_user(&s->a, 2002, 2002);
    stage_changed(s, nfs_call_remove(&s->a, &s->dir, "old", &s->r), NFS3ERR_ACCES,
                  "as another user");
}

static void remove_dir(struct stage *s)
{
    struct nfs_handle d = stage_dir(s, &s->dir, "d");
    struct nfs_handle f = stage_file(s, &d, "f");
    watch_object(&s->watch, "the folder", &s->dir);
    watch_object(&s->watch, "d", &d);
    watch_object(&s->watch, "f", &f);
    watch_name(&s->watch, &s->dir, "d");
    watch_name(&s->watch, &d, "f");
    watch_name(&s->watch, &d, "absent");
    watch_name(&s->watch, &d, "..");
    stage_warm(s);
    stage_changed(s, nfs_call_rmdir(&s->a, &s->dir, "d", &s->r), NFS3ERR_NOTEMPTY, "not empty");
    check_ok(nfs_call_remove(&s->a, &d, "f", &s->r), &s->r, "REMOVE");
    stage_warm(s);
    stage_changed(s, nfs_call_rmdir(&s->a, &s->dir, "d", &s->r), NFS3_OK, "empty");
    struct nfs_handle again = stage_dir(s, &s->dir, "d");
    watch_object(&s->watch, "the new d", &again);
    stage_changed(s, 0, NFS3_OK, "a new one of that name");
}

static void link_file(struct stage *s)
{
    struct nfs_handle old = watched_names(s);
    struct nfs_handle d = stage_dir(s, &s->dir, "d");
    watch_object(&s->watch, "d", &d);
    watch_name(&s->watch, &d, "new");
    stage_warm(s);
    stage_changed(s, nfs_call_link(&s->a, &old, &s->dir, "new", &s->r), NFS3_OK, "a new name");
    stage_warm(s);
    stage_changed(s, nfs_call_link(&s->a, &old, &d, "new", &s->r), NFS3_OK, "in another directory");
    stage_changed(s, nfs_call_link(&s->a, &old, &s->dir, "old-too", &s->r), NFS3ERR_EXIST,
                  "a name that exists");
}

const struct mutation_case mutations_name[] = {
    {"CREATE unchecked", create_unchecked},
    {"CREATE guarded", create_guarded},
    {"CREATE exclusive", create_exclusive},
    {"MKDIR", make_dir},
    {"SYMLINK", make_symlink},
    {"MKNOD", make_fifo},
    {"REMOVE", remove_file},
    {"REMOVE refused", remove_refused},
    {"RMDIR", remove_dir},
    {"LINK", link_file},
    {NULL, NULL},
};
