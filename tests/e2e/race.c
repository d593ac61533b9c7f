/*
 * race: changes that overlap with questions, and questions that overlap with each other.
 *
 * Client A changes things, one call after the other; B and C keep a window of questions under way all the time. A
 * question that overlaps no change has one right answer. One that overlaps a change may show either state, but never
 * one that is older than what any client has been told when the question was sent.
 *
 * Usage: see session.h; --seconds is how long each part takes.
 */
#include "e2e/check.h"
#include "e2e/nfs_call.h"
#include "e2e/nfs_reply.h"
#include "e2e/session.h"
#include "e2e/stat_count.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define WINDOW  8u
#define ASKERS  2u
#define CLIENTS (ASKERS + 1)

struct race;

/* One question under way. `known` and `change` are of the moment when it was sent. */
struct question {
    struct nfs_call call;
    uint64_t known;
    uint64_t change;
    unsigned number;
};

struct race {
    struct nfs_client a, askers[ASKERS];
    struct nfs_client *all[CLIENTS];
    struct question questions[ASKERS][WINDOW];
    struct nfs_handle dir, other_dir, file;
    bool lingers; /* session.h */
    uint64_t asked;

    void (*ask)(struct race *race, struct question *q);
    void (*answered)(struct race *race, struct question *q);
    uint64_t known;  /* what any client has been told: a lower bound of what may be said */
    uint64_t change; /* even: the state after that many changes; odd: a change is under way */
};

static void send_question(struct race *race, unsigned asker, struct question *q)
{
    q->call = (struct nfs_call){.procedure = NFS3_NULL};
    q->known = race->known;
    q->change = race->change;
    race->ask(race, q);
    nfs_client_send(&race->askers[asker], &q->call);
    race->asked++;
}

static void begin(struct race *race)
{
    for (unsigned i = 0; i < ASKERS; i++) {
        for (unsigned j = 0; j < WINDOW; j++) {
            race->questions[i][j].number = j;
            send_question(race, i, &race->questions[i][j]);
        }
    }
}

/* Takes what has been answered, in the order sent; asks the next, unless it is the end. */
static void turn(struct race *race, bool more)
{
    nfs_client_poll(race->all, CLIENTS, 1000);
    for (unsigned i = 0; i < ASKERS; i++) {
        for (unsigned j = 0; j < WINDOW; j++) {
            struct question *q = &race->questions[i][j];
            if (!q->call.done || q->call.client == NULL)
                continue;
            check_must(q->call.error == 0, "no reply: %s", q->call.reply.why);
            race->answered(race, q);
            q->call.client = NULL;
            if (more)
                send_question(race, i, q);
        }
    }
}

static void end(struct race *race)
{
    bool busy = true;
    while (busy) {
        busy = false;
        for (unsigned i = 0; i < ASKERS; i++)
            busy = busy || race->askers[i].calls != NULL;
        if (busy)
            turn(race, false);
    }
    turn(race, false); /* what came with the last ones */
}

/* Sends A's call and lets the others go on until it is answered. */
static void change(struct race *race, struct nfs_call *call)
{
    race->change++;
    nfs_client_send(&race->a, call);
    while (!call->done)
        turn(race, true);
    race->change++;
    check_must(call->error == 0, "no reply: %s", call->reply.why);
    check(call->reply.status == NFS3_OK, "a change: %s", nfsstat3_to_str(call->reply.status));
}

static void pause_a(struct race *race, double seconds)
{
    for (double until = nfs_client_now() + seconds; nfs_client_now() < until;)
        turn(race, true);
}

/* ---- sizes only grow ---- */

static void ask_size(struct race *race, struct question *q)
{
    if (q->number % 2 == 0) {
        q->call.procedure = NFS3_GETATTR;
        q->call.args.getattr.object = nfs_call_handle(&race->file);
    } else {
        q->call.procedure = NFS3_LOOKUP;
        q->call.args.lookup.what = nfs_call_dirop(&race->dir, "file");
    }
}

static void answered_size(struct race *race, struct question *q)
{
    const struct nfs_reply *r = &q->call.reply;
    if (!check(r->status == NFS3_OK, "%s", nfsstat3_to_str(r->status)) || !r->object.present)
        return;
    uint64_t size = r->object.value.size;
    check(size >= q->known, "size %" PRIu64 " after somebody was told %" PRIu64, size, q->known);
    if (size > race->known)
        race->known = size;
}

static void sizes_grow(struct race *race, double seconds)
{
    race->ask = ask_size;
    race->answered = answered_size;
    race->known = 0;
    begin(race);
    uint64_t size = 0;
    for (double until = nfs_client_now() + seconds; nfs_client_now() < until;) {
        struct nfs_call call = {.procedure = NFS3_SETATTR};
        call.args.setattr.object = nfs_call_handle(&race->file);
        call.args.setattr.new_attributes.size =
            (set_size3){.set_it = 1, .set_size3_u.size = ++size};
        change(race, &call);
        race->known = size;
        pause_a(race, 0.002);
    }
    end(race);
}

/* Two WRITEs under way at once; the size is never below what was acknowledged. */
static void writes_overlap(struct race *race, double seconds)
{
    static const char octets[4096] = "octets";
    race->ask = ask_size;
    race->answered = answered_size;
    race->known = 0;
    begin(race);
    uint64_t size = race->known;
    for (double until = nfs_client_now() + seconds; nfs_client_now() < until;) {
        struct nfs_call calls[2];
        for (unsigned i = 0; i < 2; i++) {
            calls[i] = (struct nfs_call){.procedure = NFS3_WRITE};
            calls[i].args.write = (WRITE3args){
                .file = nfs_call_handle(&race->file),
                .offset = size,
                .count = 100 + 100 * i,
                .data = {.data_len = 100 + 100 * i, .data_val = (char *)(uintptr_t)octets}};
            nfs_client_send(&race->a, &calls[i]);
            size += calls[i].args.write.count;
        }
        while (!calls[0].done || !calls[1].done)
            turn(race, true);
        for (unsigned i = 0; i < 2; i++)
            check_must(calls[i].error == 0 && calls[i].reply.status == NFS3_OK, "WRITE: %s",
                       calls[i].reply.why);
        race->known = size;
        pause_a(race, 0.002);
    }
    end(race);
}

/* ---- a name comes, moves and goes ---- */

static void page_entry(void *context, const struct nfs_entry *entry)
{
    (void)context;
    (void)entry;
}

/* Pages, which bring names and attributes into the cache, among the questions. */
static void ask_name(struct race *race, struct question *q)
{
    if (q->number == 0) {
        q->call.procedure = NFS3_READDIRPLUS;
        q->call.entry = page_entry;
        q->call.args.readdirplus = (READDIRPLUS3args){
            .dir = nfs_call_handle(&race->dir), .dircount = 4096, .maxcount = 4096};
        return;
    }
    q->call.procedure = NFS3_LOOKUP;
    const struct nfs_handle *dir = q->number % 2 == 0 ? &race->dir : &race->other_dir;
    q->call.args.lookup.what = nfs_call_dirop(dir, "name");
}

/* Odd numbers of changes done: the name is in dir; even ones: it is in other_dir, or nowhere. */
static void answered_name(struct race *race, struct question *q, bool moves)
{
    const struct nfs_reply *r = &q->call.reply;
    if (q->number == 0) {
        /* nfs-ganesha may miss an entry of a page that is removed while it looks; pages come from nobody else. */
        bool overlaps = race->change != q->change || race->change % 2 != 0;
        check(r->status == NFS3_OK || (r->status == NFS3ERR_NOENT && overlaps), "READDIRPLUS: %s",
              nfsstat3_to_str(r->status));
        return;
    }
    bool found = r->status == NFS3_OK;
    check(found || r->status == NFS3ERR_NOENT, "LOOKUP: %s", nfsstat3_to_str(r->status));
    if (race->change != q->change || race->change % 2 != 0)
        return; /* it overlapped with a change */
    bool in_dir = race->change / 2 % 2 != 0;
    bool want = q->number % 2 == 0 ? in_dir : moves && !in_dir;
    check(found == want, "the name is %sthere after %" PRIu64 " changes", found ? "" : "not ",
          race->change / 2);
}

static void answered_made(struct race *race, struct question *q)
{
    answered_name(race, q, false);
}

static void answered_moved(struct race *race, struct question *q)
{
    answered_name(race, q, true);
}

static void names_come_and_go(struct race *race, double seconds)
{
    race->ask = ask_name;
    race->answered = answered_made;
    race->change = 0;
    begin(race);
    for (double until = nfs_client_now() + seconds; nfs_client_now() < until;) {
        struct nfs_call make = {.procedure = NFS3_CREATE};
        make.args.create = (CREATE3args){.where = nfs_call_dirop(&race->dir, "name")};
        change(race, &make);
        pause_a(race, 0.002);
        struct nfs_call remove = {.procedure = NFS3_REMOVE};
        remove.args.remove.object = nfs_call_dirop(&race->dir, "name");
        change(race, &remove);
        pause_a(race, 0.002);
        struct nfs_reply r;
        int err = nfs_call_getattr(&race->a, &make.reply.handle, &r);
        bool lingers =
            race->lingers && r.status == NFS3_OK && r.object.present && r.object.value.nlink == 0;
        check(err == 0 && (lingers || r.status == NFS3ERR_STALE), "GETATTR of what was removed: %s",
              nfsstat3_to_str(r.status));
    }
    end(race);
}

static void names_move(struct race *race, double seconds)
{
    struct nfs_reply r;
    check_ok(nfs_call_create(&race->a, &race->other_dir, "name", GUARDED, NULL, NULL, &r), &r,
             "CREATE");
    race->ask = ask_name;
    race->answered = answered_moved;
    race->change = 0;
    begin(race);
    for (double until = nfs_client_now() + seconds; nfs_client_now() < until;) {
        const struct nfs_handle *from = &race->other_dir, *to = &race->dir;
        for (unsigned i = 0; i < 2; i++) {
            struct nfs_call call = {.procedure = NFS3_RENAME};
            call.args.rename = (RENAME3args){.from = nfs_call_dirop(from, "name"),
                                             .to = nfs_call_dirop(to, "name")};
            change(race, &call);
            pause_a(race, 0.002);
            from = &race->dir;
            to = &race->other_dir;
        }
    }
    end(race);
}

/* ---- equal xids ---- */

#define FILES 8u

struct many {
    struct race race;
    struct nfs_handle files[FILES];
    struct nfs_attr attributes[FILES];
};

static void ask_many(struct race *race, struct question *q)
{
    struct many *many = (struct many *)(void *)race;
    q->known = race->asked % FILES;
    q->call.procedure = NFS3_GETATTR;
    q->call.args.getattr.object = nfs_call_handle(&many->files[q->known]);
}

static void answered_many(struct race *race, struct question *q)
{
    const struct many *many = (const struct many *)(const void *)race;
    check(nfs_attr_same(&q->call.reply.object, &many->attributes[q->known]),
          "the attributes of another file");
}

/* B and C use the same xids for different handles; some of their connections come and go. */
static void equal_xids(struct many *many, const struct session *session, double seconds)
{
    struct race *race = &many->race;
    char name[16];
    for (unsigned i = 0; i < FILES; i++) {
        struct nfs_reply r;
        snprintf(name, sizeof name, "file%u", i);
        check_ok(nfs_call_create(&race->a, &race->dir, name, GUARDED, NULL, NULL, &r), &r, name);
        many->files[i] = r.handle;
        check_ok(nfs_call_getattr(&race->a, &r.handle, &r), &r, name);
        many->attributes[i] = r.object;
    }
    race->ask = ask_many;
    race->answered = answered_many;
    for (unsigned i = 0; i < ASKERS; i++)
        nfs_client_set_xid(&race->askers[i], 0x7ffffff0);
    begin(race);
    for (double until = nfs_client_now() + seconds; nfs_client_now() < until;) {
        struct nfs_client leaver;
        struct nfs_call call = {.procedure = NFS3_GETATTR,
                                .args.getattr.object = nfs_call_handle(&many->files[0])};
        session_connect(&leaver, &session->tested);
        nfs_client_set_xid(&leaver, race->askers[0].next_xid);
        nfs_client_send(&leaver, &call);
        struct nfs_client *one = &leaver;
        nfs_client_poll(&one, 1, 0);
        nfs_client_stop(&leaver);
        pause_a(race, 0.01);
    }
    end(race);
}

int main(int argc, char **argv)
{
    static struct many many;
    struct race *race = &many.race;
    struct session session;
    struct nfs_reply r;
    session_parse(&session, argc, argv);
    session_connect(&race->a, &session.tested);
    race->all[ASKERS] = &race->a;
    for (unsigned i = 0; i < ASKERS; i++) {
        session_connect(&race->askers[i], &session.tested);
        race->all[i] = &race->askers[i];
    }
    check_begin("folders");
    race->lingers = session.lingers;
    race->dir = session_folder(&session, &race->a, "race");
    race->other_dir = session_folder(&session, &race->a, "race-other");
    check_ok(nfs_call_create(&race->a, &race->dir, "file", GUARDED, NULL, NULL, &r), &r, "file");
    race->file = r.handle;

    check_begin("sizes never go back while SETATTR and GETATTR overlap");
    sizes_grow(race, session.seconds);
    check_end();
    check_begin("sizes never go back while WRITEs overlap");
    writes_overlap(race, session.seconds);
    check_end();
    check_begin("a name is seen or not, as CREATE and REMOVE were answered");
    names_come_and_go(race, session.seconds);
    check_end();
    check_begin("a name is seen where RENAME was answered to have put it");
    names_move(race, session.seconds);
    check_end();
    check_begin("equal xids of different clients don't mix replies");
    equal_xids(&many, &session, session.seconds);
    check_end();
    printf("# %" PRIu64 " questions\n", race->asked);
    if (session.stat != NULL) {
        struct stat_count count = stat_count_answerable(session.stat, session.service);
        printf("# %" PRId64 " of %" PRId64 " GETATTR and LOOKUP were hits\n", count.hits,
               count.calls);
    }
    for (unsigned i = 0; i < CLIENTS; i++)
        nfs_client_stop(race->all[i]);
    return check_status();
}
