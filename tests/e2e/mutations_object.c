/* Changes of an object itself: SETATTR, WRITE, COMMIT, SETACL. */
#include "e2e/mutations.h"

#include <errno.h>
#include <string.h>

/* A file f with a second name, beside a directory that the change does not concern. */
static struct nfs_handle watched_file(struct stage *s)
{
    struct nfs_handle f = stage_file(s, &s->dir, "f");
    stage_link(s, &f, &s->dir, "f-too");
    watch_object(&s->watch, "f", &f);
    watch_object(&s->watch, "the folder", &s->dir);
    watch_name(&s->watch, &s->dir, "f");
    watch_name(&s->watch, &s->dir, "f-too");
    stage_warm(s);
    return f;
}

static void setattr(struct stage *s, const struct nfs_handle *h, sattr3 attributes,
                    const char *what)
{
    stage_changed(s, nfs_call_setattr(&s->a, h, &attributes, NULL, &s->r), NFS3_OK, what);
}

static void setattr_size(struct stage *s)
{
    struct nfs_handle f = watched_file(s);
    setattr(s, &f, set_size(0), "size 0");
    setattr(s, &f, set_size(10000), "size 10000");
    setattr(s, &f, set_size(10000), "the same size once more");
}

static void setattr_mode(struct stage *s)
{
    struct nfs_handle f = watched_file(s);
    setattr(s, &f, set_mode(0000), "mode 0000");
    setattr(s, &f, set_mode(0604), "mode 0604");
    setattr(s, &f, set_mode(06755), "mode 06755");
}

static void setattr_owner(struct stage *s)
{
    struct nfs_handle f = watched_file(s);
    setattr(s, &f, (sattr3){.uid = {.set_it = 1, .set_uid3_u.uid = 2002}}, "uid");
    setattr(s, &f, (sattr3){.gid = {.set_it = 1, .set_gid3_u.gid = 2002}}, "gid");
}

static void setattr_times(struct stage *s)
{
    struct nfs_handle f = watched_file(s);
    sattr3 client = {
        .atime = {.set_it = SET_TO_CLIENT_TIME, .set_atime_u.atime = {1000000001, 999999999}},
        .mtime = {.set_it = SET_TO_CLIENT_TIME, .set_mtime_u.mtime = {1234567890, 787086328}}};
    setattr(s, &f, client, "the client's times");
    sattr3 server = {.atime.set_it = SET_TO_SERVER_TIME, .mtime.set_it = SET_TO_SERVER_TIME};
    setattr(s, &f, server, "the server's times");
    setattr(s, &f, (sattr3){.mode.set_it = 0}, "nothing");
}

/* Who may search it changes with a directory's mode; names must not outlive that. */
static void setattr_directory(struct stage *s)
{
    struct nfs_handle d = stage_dir(s, &s->dir, "d");
    struct nfs_handle f = stage_file(s, &d, "f");
    watch_object(&s->watch, "d", &d);
    watch_object(&s->watch, "f", &f);
    watch_name(&s->watch, &s->dir, "d");
    watch_name(&s->watch, &d, "f");
    watch_name(&s->watch, &d, "absent");
    watch_name(&s->watch, &d, "..");
    stage_warm(s);
    setattr(s, &d, set_mode(0700), "mode 0700");
    stage_warm(s);
    setattr(s, &d, set_mode(0711), "mode 0711");
}

static void setattr_refused(struct stage *s)
{
    struct nfs_handle f = watched_file(s);
    sattr3 attributes = set_mode(0777);
    nfs_client_be_user(&s->a, 2002, 2002);
    stage_changed(s, nfs_call_setattr(&s->a, &f, &attributes, NULL, &s->r), NFS3ERR_PERM,
                  "as another user");
    nfs_client_be_user(&s->a, 0, 0);
    nfstime3 never = {.seconds = 1};
    stage_changed(s, nfs_call_setattr(&s->a, &f, &attributes, &never, &s->r), NFS3ERR_NOT_SYNC,
                  "a guard that does not hold");
}

static void writing(struct stage *s, stable_how stable)
{
    static const char block[9000] = "block";
    struct nfs_handle f = watched_file(s);
    int err = nfs_call_write(&s->a, &f, 0, 3, block, stable, &s->r);
    stage_changed(s, err, NFS3_OK, "into the file");
    err = nfs_call_write(&s->a, &f, 1, sizeof block, block, stable, &s->r);
    check(s->r.count == sizeof block, "wrote %u of %zu", s->r.count, sizeof block);
    stage_changed(s, err, NFS3_OK, "beyond its end");
    err = nfs_call_write(&s->a, &f, 1 << 20, 1, block, stable, &s->r);
    stage_changed(s, err, NFS3_OK, "after a hole");
    stage_changed(s, nfs_call_commit(&s->a, &f, &s->r), NFS3_OK, "COMMIT");
}

static void write_unstable(struct stage *s)
{
    writing(s, UNSTABLE);
}

static void write_stable(struct stage *s)
{
    writing(s, FILE_SYNC);
}

/* Another user's WRITE takes away the set-uid bit, or is refused. */
static void write_refused(struct stage *s)
{
    struct nfs_handle f = watched_file(s);
    nfs_client_be_user(&s->a, 2002, 2002);
    stage_changed(s, nfs_call_write(&s->a, &f, 0, 1, "x", FILE_SYNC, &s->r), NFS3ERR_ACCES,
                  "as another user");
}

static void setacl_of(struct stage *s, const struct nfs_handle *h)
{
    const nfsacl_ace aces[] = {{.type = NFSACL_TYPE_USER_OBJ, .perm = 6},
                               {.type = NFSACL_TYPE_USER, .id = 2002, .perm = 6},
                               {.type = NFSACL_TYPE_GROUP_OBJ, .perm = 0},
                               {.type = NFSACL_TYPE_CLASS_OBJ, .perm = 6},
                               {.type = NFSACL_TYPE_CLASS, .perm = 0}};
    const uint32_t count = sizeof aces / sizeof aces[0];
    int err = nfs_call_setacl(&s->direct, h, aces, count, true, &s->r);
    if (err == -EPROTO || (err == 0 && s->r.status == NFS3ERR_NOTSUPP)) {
        check_skip("SETACL: this server has no NFSACL (%s)", s->r.why);
        return;
    }
    bool defaults = err == 0 && s->r.status != NFS3ERR_ACCES;
    err = nfs_call_setacl(&s->a, h, aces, count, defaults, &s->r);
    stage_changed(s, err, NFS3_OK, "SETACL");
    stage_changed(s, nfs_call_getacl(&s->b, h, &s->r), NFS3_OK, "GETACL");
}

static void setacl(struct stage *s)
{
    struct nfs_handle f = watched_file(s);
    setacl_of(s, &f);
}

static void setacl_directory(struct stage *s)
{
    struct nfs_handle d = stage_dir(s, &s->dir, "d");
    watch_object(&s->watch, "d", &d);
    watch_object(&s->watch, "the folder", &s->dir);
    watch_name(&s->watch, &s->dir, "d");
    stage_warm(s);
    setacl_of(s, &d);
}

const struct mutation_case mutations_object[] = {
    {"SETATTR size", setattr_size},
    {"SETATTR mode", setattr_mode},
    {"SETATTR owner", setattr_owner},
    {"SETATTR times", setattr_times},
    {"SETATTR of a directory", setattr_directory},
    {"SETATTR refused", setattr_refused},
    {"WRITE unstable, COMMIT", write_unstable},
    {"WRITE stable, COMMIT", write_stable},
    {"WRITE refused", write_refused},
    {"SETACL", setacl},
    {"SETACL of a directory", setacl_directory},
    {NULL, NULL},
};
