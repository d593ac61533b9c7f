/* RENAME, which changes two directories, two names, and up to two objects. */
#include "e2e/mutations.h"

struct scene {
    struct nfs_handle from, to; /* directories */
    struct nfs_handle file, second;
};

/* from/f and to/g are files with another name each, from/d and to/e directories; "x" is absent in both. */
static struct scene watched_scene(struct stage *s)
{
    struct scene scene = {.from = stage_dir(s, &s->dir, "from"), .to = stage_dir(s, &s->dir, "to")};
    struct watch *w = &s->watch;
    scene.file = stage_file(s, &scene.from, "f");
    scene.second = stage_file(s, &scene.to, "g");
    stage_link(s, &scene.file, &s->dir, "f-too");
    stage_link(s, &scene.second, &s->dir, "g-too");
    struct nfs_handle d = stage_dir(s, &scene.from, "d");
    struct nfs_handle e = stage_dir(s, &scene.to, "e");
    struct nfs_handle inside = stage_file(s, &d, "inside");
    watch_object(w, "from", &scene.from);
    watch_object(w, "to", &scene.to);
    watch_object(w, "f", &scene.file);
    watch_object(w, "g", &scene.second);
    watch_object(w, "d", &d);
    watch_object(w, "e", &e);
    watch_object(w, "inside", &inside);
    const struct nfs_handle *dirs[] = {&scene.from, &scene.to};
    static const char *const names[] = {"f", "g", "d", "e", "x", ".."};
    for (unsigned i = 0; i < 2; i++)
        for (unsigned j = 0; j < sizeof names / sizeof names[0]; j++)
            watch_name(w, dirs[i], names[j]);
    watch_name(w, &s->dir, "f-too");
    watch_name(w, &s->dir, "g-too");
    watch_name(w, &d, "inside");
    watch_name(w, &d, "..");
    watch_name(w, &e, "..");
    stage_warm(s);
    return scene;
}

static void rename_to(struct stage *s, const struct nfs_handle *from, const char *name,
                      const struct nfs_handle *to, const char *to_name, nfsstat3 status,
                      const char *what)
{
    stage_changed(s, nfs_call_rename(&s->a, from, name, to, to_name, &s->r), status, what);
}

static void within(struct stage *s)
{
    struct scene scene = watched_scene(s);
    rename_to(s, &scene.from, "f", &scene.from, "x", NFS3_OK, "a file");
    rename_to(s, &scene.from, "d", &scene.from, "g", NFS3_OK, "a directory");
}

static void between(struct stage *s)
{
    struct scene scene = watched_scene(s);
    rename_to(s, &scene.from, "f", &scene.to, "x", NFS3_OK, "a file");
    rename_to(s, &scene.to, "x", &scene.from, "f", NFS3_OK, "and back");
}

static void over_file(struct stage *s)
{
    struct scene scene = watched_scene(s);
    rename_to(s, &scene.from, "f", &scene.to, "g", NFS3_OK, "over a file with another name");
    check_ok(nfs_call_remove(&s->a, &s->dir, "f-too", &s->r), &s->r, "REMOVE");
    struct nfs_handle again = stage_file(s, &scene.from, "f");
    watch_object(&s->watch, "the new f", &again);
    stage_warm(s);
    rename_to(s, &scene.from, "f", &scene.to, "g", NFS3_OK, "over a file's last name");
}

static void directory_between(struct stage *s)
{
    struct scene scene = watched_scene(s);
    rename_to(s, &scene.from, "d", &scene.to, "d", NFS3_OK, "a directory, and its ..");
    stage_warm(s);
    rename_to(s, &scene.to, "d", &scene.to, "x", NFS3_OK, "once more");
}

static void over_directory(struct stage *s)
{
    struct scene scene = watched_scene(s);
    rename_to(s, &scene.from, "d", &scene.to, "e", NFS3_OK, "over an empty directory");
}

static void refused(struct stage *s)
{
    struct scene scene = watched_scene(s);
    rename_to(s, &scene.from, "x", &scene.to, "x", NFS3ERR_NOENT, "one that does not exist");
    rename_to(s, &scene.to, "e", &scene.from, "d", NFS3ERR_NOTEMPTY, "over a full directory");
    nfs_client_be_user(&s->a, 2002, 2002);
    rename_to(s, &scene.from, "f", &scene.to, "g", NFS3ERR_ACCES, "as another user");
}

/* Nothing changes when both names are the same file's. */
static void onto_itself(struct stage *s)
{
    struct scene scene = watched_scene(s);
    rename_to(s, &scene.from, "f", &scene.from, "f", NFS3_OK, "onto itself");
    rename_to(s, &scene.from, "f", &s->dir, "f-too", NFS3_OK, "onto its other name");
}

const struct mutation_case mutations_rename[] = {
    {"RENAME within a directory", within},
    {"RENAME between directories", between},
    {"RENAME over a file", over_file},
    {"RENAME of a directory between directories", directory_between},
    {"RENAME over a directory", over_directory},
    {"RENAME refused", refused},
    {"RENAME onto itself", onto_itself},
    {NULL, NULL},
};
