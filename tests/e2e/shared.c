/*
 * shared: changes made straight at the server, behind the proxy's back, become visible within the age that the operator
 * chose, and at once when any reply shows them.
 *
 * Usage: see session.h (a service whose ages are --seconds), and the port of a service "slow" whose ages are so long
 * that only a reply can have shown what is seen. Straight at the server every change is seen at once.
 */
#include "e2e/check.h"
#include "e2e/nfs_call.h"
#include "e2e/nfs_reply.h"
#include "e2e/session.h"
#include "e2e/stat_count.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SLACK_S 1.0 /* beyond the age; the machine may be busy */
#define POLL_NS 20000000

struct shared {
    struct session session;
    struct nfs_client b, c, direct;
    struct nfs_client slow_b, slow_c;
    struct nfs_handle dir, file;
    struct nfs_reply r;
};

static void nap(void)
{
    struct timespec t = {.tv_nsec = POLL_NS};
    nanosleep(&t, NULL);
}

static struct nfs_handle made(struct shared *s, const char *name)
{
    check_ok(nfs_call_create(&s->direct, &s->dir, name, GUARDED, NULL, NULL, &s->r), &s->r, name);
    return s->r.handle;
}

static void removed(struct shared *s, const char *name)
{
    check_ok(nfs_call_remove(&s->direct, &s->dir, name, &s->r), &s->r, name);
}

static void resized(struct shared *s, uint64_t size)
{
    sattr3 attributes = {.size = {.set_it = 1, .set_size3_u.size = size}};
    check_ok(nfs_call_setattr(&s->direct, &s->file, &attributes, NULL, &s->r), &s->r, "SETATTR");
}

static void mode_set(struct shared *s, const struct nfs_handle *h, uint32_t mode)
{
    sattr3 attributes = {.mode = {.set_it = 1, .set_mode3_u.mode = mode}};
    check_ok(nfs_call_setattr(&s->direct, h, &attributes, NULL, &s->r), &s->r, "SETATTR");
}

/* ---- what a client is told; each is asked until it is what the server says ---- */

static bool size_is(struct nfs_client *c, struct shared *s, uint64_t size)
{
    check_ok(nfs_call_getattr(c, &s->file, &s->r), &s->r, "GETATTR");
    return s->r.object.value.size == size;
}

static bool name_is(struct nfs_client *c, struct shared *s, const char *name, nfsstat3 status)
{
    int err = nfs_call_lookup(c, &s->dir, name, &s->r);
    check_must(err == 0, "LOOKUP: no reply");
    return s->r.status == status;
}

static bool may_read(struct nfs_client *c, struct shared *s, bool may)
{
    nfs_client_be_user(c, 2002, 2002);
    check_ok(nfs_call_access(c, &s->file, ACCESS3_READ, &s->r), &s->r, "ACCESS");
    nfs_client_be_user(c, 0, 0);
    return (s->r.access == ACCESS3_READ) == may;
}

/* Seen within the age from now on, by both; `seen` asks once. */
#define SEEN_IN_TIME(s, what, seen)                                       \
    do {                                                                  \
        double until = nfs_client_now() + (s)->session.seconds + SLACK_S; \
        for (unsigned i_ = 0; i_ < 2; i_++) {                             \
            struct nfs_client *client = i_ == 0 ? &(s)->b : &(s)->c;      \
            while (!(seen) && nfs_client_now() < until)                   \
                nap();                                                    \
            check((seen), "%s: not seen by client %u in time", what, i_); \
        }                                                                 \
    } while (0)

static int64_t hits(const struct shared *s, const char *service)
{
    return s->session.stat != NULL ? stat_count_answerable(s->session.stat, service).hits : 0;
}

/* So that the test is one of the cache: the same question twice is a hit. */
static void cached(struct shared *s)
{
    int64_t before = hits(s, s->session.service);
    for (unsigned i = 0; i < 2; i++) {
        size_is(&s->b, s, 0);
        name_is(&s->c, s, "name", NFS3_OK);
        name_is(&s->c, s, "absent", NFS3ERR_NOENT);
        may_read(&s->b, s, true);
    }
    int64_t gained = hits(s, s->session.service) - before;
    check(s->session.stat == NULL || gained >= 4, "only %d hits", (int)gained);
}

static void within_the_age(struct shared *s)
{
    check_begin("attributes changed behind the proxy are seen within the age");
    cached(s);
    resized(s, 1000);
    SEEN_IN_TIME(s, "a size", size_is(client, s, 1000));
    check_end();

    check_begin("a removed name and a new one are seen within the age");
    made(s, "name");
    cached(s);
    SEEN_IN_TIME(s, "a new name", name_is(client, s, "name", NFS3_OK));
    removed(s, "name");
    SEEN_IN_TIME(s, "a removed name", name_is(client, s, "name", NFS3ERR_NOENT));
    check_end();

    check_begin("a renamed name is seen within the age");
    made(s, "name");
    SEEN_IN_TIME(s, "a new name", name_is(client, s, "name", NFS3_OK));
    cached(s);
    check_ok(nfs_call_rename(&s->direct, &s->dir, "name", &s->dir, "other", &s->r), &s->r,
             "RENAME");
    SEEN_IN_TIME(s, "its old name", name_is(client, s, "name", NFS3ERR_NOENT));
    SEEN_IN_TIME(s, "its new name", name_is(client, s, "other", NFS3_OK));
    removed(s, "other");
    check_end();

    check_begin("a permission taken away and given is seen within access-age");
    mode_set(s, &s->file, 0644);
    SEEN_IN_TIME(s, "given", may_read(client, s, true));
    cached(s);
    mode_set(s, &s->file, 0600);
    SEEN_IN_TIME(s, "taken away", may_read(client, s, false));
    mode_set(s, &s->file, 0644);
    SEEN_IN_TIME(s, "given again", may_read(client, s, true));
    check_end();
}

/* ---- at once, by way of a reply ---- */

/* What is seen next is old, which shows that nothing but the reply can bring the new. */
static void still_old(const struct shared *s, bool old, const char *what)
{
    check(s->session.stat == NULL || old, "%s: seen before any reply showed it", what);
}

static void no_entry(void *context, const struct nfs_entry *entry)
{
    (void)context;
    (void)entry;
}

static void attributes_at_once(struct shared *s)
{
    char data[16];
    check_begin("a READ's reply shows other attributes: GETATTR has them at once");
    resized(s, 10);
    check_ok(nfs_call_read(&s->slow_b, &s->file, 0, sizeof data, data, &s->r), &s->r, "READ");
    size_is(&s->slow_c, s, 10);
    resized(s, 2000);
    still_old(s, size_is(&s->slow_c, s, 10), "the size");
    check_ok(nfs_call_read(&s->slow_b, &s->file, 0, sizeof data, data, &s->r), &s->r, "READ");
    check(size_is(&s->slow_c, s, 2000), "GETATTR says the old size");
    check_end();

    check_begin("a reply shows another ctime: verdicts are asked for at once");
    mode_set(s, &s->file, 0600);
    check_ok(nfs_call_read(&s->slow_b, &s->file, 0, sizeof data, data, &s->r), &s->r, "READ");
    may_read(&s->slow_c, s, false);
    mode_set(s, &s->file, 0644);
    still_old(s, may_read(&s->slow_c, s, false), "the verdict");
    check_ok(nfs_call_read(&s->slow_b, &s->file, 0, sizeof data, data, &s->r), &s->r, "READ");
    check(may_read(&s->slow_c, s, true), "ACCESS says the old verdict");
    check_end();
}

static void names_at_once(struct shared *s)
{
    check_begin("a READDIRPLUS shows another directory: its names are asked for at once");
    made(s, "there");
    check_ok(nfs_call_readdirplus(&s->slow_b, &s->dir, 4096, no_entry, NULL, &s->r), &s->r,
             "READDIRPLUS");
    name_is(&s->slow_c, s, "there", NFS3_OK);
    name_is(&s->slow_c, s, "to come", NFS3ERR_NOENT);
    removed(s, "there");
    made(s, "to come");
    still_old(s, name_is(&s->slow_c, s, "there", NFS3_OK), "a removed name");
    still_old(s, name_is(&s->slow_c, s, "to come", NFS3ERR_NOENT), "a new name");
    check_ok(nfs_call_readdirplus(&s->slow_b, &s->dir, 4096, no_entry, NULL, &s->r), &s->r,
             "READDIRPLUS");
    check(name_is(&s->slow_c, s, "there", NFS3ERR_NOENT), "a removed name is found");
    check(name_is(&s->slow_c, s, "to come", NFS3_OK), "a new name is not found");
    check_end();

    check_begin("a mutation's reply shows another directory: its names are asked for at once");
    removed(s, "to come");
    made(s, "there");
    int err = nfs_call_create(&s->slow_b, &s->dir, "own", UNCHECKED, NULL, NULL, &s->r);
    check_ok(err, &s->r, "CREATE");
    check(name_is(&s->slow_c, s, "to come", NFS3ERR_NOENT), "a removed name is found");
    check(name_is(&s->slow_c, s, "there", NFS3_OK), "a new name is not found");
    check_end();

    check_begin("a handle that has become stale takes its names with it");
    made(s, "short-lived");
    check_ok(nfs_call_lookup(&s->slow_c, &s->dir, "short-lived", &s->r), &s->r, "LOOKUP");
    struct nfs_handle h = s->r.handle;
    removed(s, "short-lived");
    err = nfs_call_fsstat(&s->slow_b, &h, &s->r);
    check(err == 0 && s->r.status == NFS3ERR_STALE, "FSSTAT: %s", nfsstat3_to_str(s->r.status));
    err = nfs_call_getattr(&s->slow_c, &h, &s->r);
    check(err == 0 && s->r.status == NFS3ERR_STALE, "GETATTR: %s", nfsstat3_to_str(s->r.status));
    check(name_is(&s->slow_c, s, "short-lived", NFS3ERR_NOENT), "its name is found");
    check_end();
}

int main(int argc, char **argv)
{
    static struct shared s;
    session_parse(&s.session, argc, argv);
    if (s.session.rest_count != 1)
        return 2;
    struct nfs_client_target slow = s.session.tested;
    slow.port = session_port(s.session.rest[0]);
    if (s.session.stat != NULL)
        slow.mount_port = slow.port;
    check_begin("clients");
    session_connect(&s.b, &s.session.tested);
    session_connect(&s.c, &s.session.tested);
    session_connect(&s.direct, &s.session.direct);
    session_connect(&s.slow_b, &slow);
    session_connect(&s.slow_c, &slow);
    s.dir = session_folder(&s.session, &s.direct, "shared");
    s.file = made(&s, "file");
    within_the_age(&s);
    attributes_at_once(&s);
    names_at_once(&s);
    nfs_client_stop(&s.b);
    nfs_client_stop(&s.c);
    nfs_client_stop(&s.direct);
    nfs_client_stop(&s.slow_b);
    nfs_client_stop(&s.slow_c);
    return check_status();
}
