/*
 * twins: two services in front of one server share one cache, and one set of fences.
 *
 * Usage: see session.h (service "one"), and the port of the other service, "two".
 */
#include "e2e/check.h"
#include "e2e/nfs_call.h"
#include "e2e/nfs_reply.h"
#include "e2e/session.h"
#include "e2e/stat_count.h"

#include <stdio.h>
#include <stdlib.h>

struct twins {
    struct session session;
    struct nfs_client one, two;
    struct nfs_handle dir, file;
};

/* Of GETATTR, LOOKUP and ACCESS. */
static int64_t hits_of(struct twins *t, const char *service)
{
    return stat_count_answerable(t->session.stat, service).hits;
}

static void filled_by_one(struct twins *t)
{
    struct nfs_reply r, r2;
    check_begin("what one service filled is a hit for the other");
    check_ok(nfs_call_lookup(&t->one, &t->dir, "file", &r), &r, "LOOKUP");
    check_ok(nfs_call_getattr(&t->one, &t->file, &r), &r, "GETATTR");
    check_ok(nfs_call_access(&t->one, &t->file, 0x3f, &r2), &r2, "ACCESS");
    int64_t before = hits_of(t, "two");
    struct nfs_reply two;
    check_ok(nfs_call_getattr(&t->two, &t->file, &two), &two, "GETATTR");
    check(nfs_attr_same(&r.object, &two.object), "other attributes");
    check_ok(nfs_call_access(&t->two, &t->file, 0x3f, &two), &two, "ACCESS");
    check(two.access == r2.access, "another verdict");
    check_ok(nfs_call_lookup(&t->two, &t->dir, "file", &two), &two, "LOOKUP");
    check(nfs_handle_same(&two.handle, &t->file), "another handle");
    int64_t hits = hits_of(t, "two") - before;
    check(hits == 3, "%d hits of 3", (int)hits);
    check_end();
}

static void changed_by_two(struct twins *t)
{
    struct nfs_reply r;
    sattr3 attributes = {.size = {.set_it = 1, .set_size3_u.size = 4711}};
    check_begin("what is changed through one service is seen through the other at once");
    check_ok(nfs_call_setattr(&t->two, &t->file, &attributes, NULL, &r), &r, "SETATTR");
    check_ok(nfs_call_getattr(&t->one, &t->file, &r), &r, "GETATTR");
    check(r.object.value.size == 4711, "size %d", (int)r.object.value.size);
    check_ok(nfs_call_rename(&t->two, &t->dir, "file", &t->dir, "renamed", &r), &r, "RENAME");
    int err = nfs_call_lookup(&t->one, &t->dir, "file", &r);
    check(err == 0 && r.status == NFS3ERR_NOENT, "LOOKUP of the old name: %s",
          nfsstat3_to_str(r.status));
    check_ok(nfs_call_lookup(&t->one, &t->dir, "renamed", &r), &r, "LOOKUP of the new name");
    check_ok(nfs_call_remove(&t->one, &t->dir, "renamed", &r), &r, "REMOVE");
    err = nfs_call_getattr(&t->two, &t->file, &r);
    check(err == 0 && r.status == NFS3ERR_STALE, "GETATTR of what was removed: %s",
          nfsstat3_to_str(r.status));
    check_end();
}

int main(int argc, char **argv)
{
    static struct twins t;
    struct nfs_reply r;
    session_parse(&t.session, argc, argv);
    if (t.session.rest_count != 1 || t.session.stat == NULL)
        return 2;
    check_begin("two services");
    session_connect(&t.one, &t.session.tested);
    struct nfs_client_target two = t.session.tested;
    two.port = two.mount_port = session_port(t.session.rest[0]);
    session_connect(&t.two, &two);
    t.dir = session_folder(&t.session, &t.one, "twins");
    check_ok(nfs_call_create(&t.one, &t.dir, "file", GUARDED, NULL, NULL, &r), &r, "CREATE");
    t.file = r.handle;
    filled_by_one(&t);
    changed_by_two(&t);
    nfs_client_stop(&t.one);
    nfs_client_stop(&t.two);
    return check_status();
}
