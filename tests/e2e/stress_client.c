/*
 * stress_client: what one client does: a change of something, or a handful of questions at once, by turns; at random, but
 * the same for the same client each time.
 */
#include "e2e/check.h"
#include "e2e/nfs_call.h"
#include "e2e/nfs_reply.h"
#include "e2e/stress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUESTIONS  8u /* in flight at once */
#define APPEND_LEN 16u
#define NAME_LEN   16u

enum kind {
    ASK_NAME,
    ASK_LINK,
    ASK_ATTRIBUTES,
    ASK_ACCESS,
    ASK_SIZE,
    ASK_COUNTER,
    ASK_COUNTER_ACCESS,
    KINDS,
};

struct question {
    struct nfs_call call;
    enum kind kind;
    unsigned slot, counter, dir;
    uint64_t version; /* of the slot when it was asked */
    struct stress_state state;
    uint64_t floor; /* of the counter's size */
};

struct worker {
    struct stress *stress;
    struct nfs_client c;
    unsigned number;
    uint64_t random;
    uint64_t calls, answers;
    char counter_name[STRESS_COUNTERS][NAME_LEN];
    char slot_name[STRESS_SLOTS][NAME_LEN], link_name[STRESS_SLOTS][NAME_LEN];
    struct question question[QUESTIONS];
    bool failed;
};

void stress_counter_name(unsigned counter, char *text)
{
    snprintf(text, NAME_LEN, "counter%u", counter);
}

void stress_slot_name(unsigned slot, char *text)
{
    snprintf(text, NAME_LEN, "file%u", slot);
}

void stress_link_name(unsigned slot, char *text)
{
    snprintf(text, NAME_LEN, "link%u", slot);
}

static unsigned below(struct worker *w, unsigned n)
{
    w->random = w->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(w->random >> 33) % n;
}

static void expect(struct worker *w, bool good, const char *what, const struct question *q,
                   const struct nfs_reply *r)
{
    if (good)
        return;
    check(false,
          "client %u: %s: slot %u: %s, handle %s, nlink %u, mode %o, access %x, size %" PRIu64
          " (floor %" PRIu64 "), not: present %d in %u, linked %d, mode %o",
          w->number, what, q->slot, nfsstat3_to_str(r->status),
          r->has_handle && nfs_handle_same(&r->handle, &q->state.handle) ? "its own" : "another",
          r->object.value.nlink, r->object.value.mode, r->access, r->object.value.size, q->floor,
          q->state.present, q->state.dir, q->state.linked, q->state.mode);
    w->failed = true;
}

/* ---- questions ---- */

static void ask_name(struct worker *w, struct question *q)
{
    q->call.procedure = NFS3_LOOKUP;
    q->call.args.lookup.what = nfs_call_dirop(&w->stress->dir[q->dir], w->slot_name[q->slot]);
}

static void ask_link(struct worker *w, struct question *q)
{
    q->call.procedure = NFS3_LOOKUP;
    q->call.args.lookup.what = nfs_call_dirop(&w->stress->dir[0], w->link_name[q->slot]);
}

static void ask_attributes(struct question *q)
{
    q->call.procedure = NFS3_GETATTR;
    q->call.args.getattr.object = nfs_call_handle(&q->state.handle);
}

static void ask_access(struct question *q, const struct nfs_handle *handle)
{
    q->call.procedure = NFS3_ACCESS;
    q->call.args.access.object = nfs_call_handle(handle);
    q->call.args.access.access = ACCESS3_READ | ACCESS3_MODIFY;
}

static void ask_size(struct worker *w, struct question *q)
{
    q->floor = atomic_load(&w->stress->counter[q->counter].acknowledged);
    q->call.procedure = NFS3_GETATTR;
    q->call.args.getattr.object = nfs_call_handle(&w->stress->counter[q->counter].handle);
}

static void ask_counter(struct worker *w, struct question *q)
{
    q->floor = atomic_load(&w->stress->counter[q->counter].acknowledged);
    q->call.procedure = NFS3_LOOKUP;
    q->call.args.lookup.what = nfs_call_dirop(&w->stress->dir[0], w->counter_name[q->counter]);
}

static bool is_lasting(unsigned slot)
{
    return slot % STRESS_SLOTS_EACH == 0;
}

static void ask(struct worker *w, struct question *q)
{
    *q = (struct question){.kind = (enum kind)below(w, KINDS),
                           .slot = below(w, w->stress->clients * STRESS_SLOTS_EACH),
                           .counter = below(w, STRESS_COUNTERS),
                           .dir = below(w, STRESS_DIRS)};
    const struct stress_slot *slot = &w->stress->slot[q->slot];
    q->version = atomic_load(&slot->version);
    q->state = slot->state;
    if (!(is_lasting(q->slot) && q->state.present) &&
        (q->kind == ASK_ATTRIBUTES || q->kind == ASK_ACCESS))
        q->kind = ASK_NAME;
    nfs_client_be_user(&w->c, 0, 0);
    switch (q->kind) {
    case ASK_NAME:
        ask_name(w, q);
        break;
    case ASK_LINK:
        ask_link(w, q);
        break;
    case ASK_ATTRIBUTES:
        ask_attributes(q);
        break;
    case ASK_ACCESS:
        nfs_client_be_user(&w->c, STRESS_STRANGER, STRESS_STRANGER);
        ask_access(q, &q->state.handle);
        break;
    case ASK_SIZE:
        ask_size(w, q);
        break;
    case ASK_COUNTER:
        ask_counter(w, q);
        break;
    case ASK_COUNTER_ACCESS:
    case KINDS:
        nfs_client_be_user(&w->c, STRESS_STRANGER, STRESS_STRANGER);
        ask_access(q, &w->stress->counter[q->counter].handle);
        break;
    }
    nfs_client_send(&w->c, &q->call);
    nfs_client_be_user(&w->c, 0, 0);
    w->calls++;
}

/* ---- what must come back ---- */

static bool has_state(const struct nfs_reply *r, const struct stress_state *s)
{
    return r->status == NFS3_OK &&
           (!r->object.present ||
            (r->object.value.nlink == 1u + s->linked && r->object.value.mode == s->mode));
}

static void check_found(struct worker *w, const struct question *q, bool there, const char *what)
{
    const struct nfs_reply *r = &q->call.reply;
    bool good = there ? nfs_handle_same(&r->handle, &q->state.handle) && has_state(r, &q->state)
                      : r->status == NFS3ERR_NOENT;
    expect(w, good, what, q, r);
}

/* Nobody has touched the slot while the question was under way. */
static void check_slot(struct worker *w, const struct question *q)
{
    const struct nfs_reply *r = &q->call.reply;
    const struct stress_state *s = &q->state;
    switch (q->kind) {
    case ASK_NAME:
        check_found(w, q, s->present && s->dir == q->dir, "LOOKUP");
        break;
    case ASK_LINK:
        check_found(w, q, s->present && s->linked, "LOOKUP of the link");
        break;
    case ASK_ATTRIBUTES:
        expect(w, r->object.present && has_state(r, s), "GETATTR", q, r);
        break;
    case ASK_ACCESS:
        expect(w, has_state(r, s) && r->access == (s->mode == STRESS_OPEN ? ACCESS3_READ : 0),
               "ACCESS", q, r);
        break;
    default:
        return;
    }
    w->answers++;
}

static void check_counter(struct worker *w, const struct question *q)
{
    const struct nfs_reply *r = &q->call.reply;
    bool good = r->status == NFS3_OK;
    if (q->kind == ASK_COUNTER)
        good &= nfs_handle_same(&r->handle, &w->stress->counter[q->counter].handle);
    if (q->kind == ASK_COUNTER_ACCESS)
        good &= r->access == ACCESS3_READ;
    else if (r->object.present)
        good &= r->object.value.size >= q->floor;
    expect(w, good, "a counter", q, r);
    w->answers++;
}

static void answered(struct worker *w, struct question *q)
{
    const struct stress_slot *slot = &w->stress->slot[q->slot];
    int err = nfs_client_wait(&w->c, &q->call);
    check_must(err == 0, "client %u: procedure %u, question %u, slot %u: no reply: %s", w->number,
               q->call.procedure, q->kind, q->slot, q->call.reply.why);
    if (q->kind >= ASK_SIZE)
        check_counter(w, q);
    else if (q->version % 2 == 0 && atomic_load(&slot->version) == q->version)
        check_slot(w, q);
}

static void ask_some(struct worker *w)
{
    for (unsigned i = 0; i < QUESTIONS; i++)
        ask(w, &w->question[i]);
    for (unsigned i = 0; i < QUESTIONS; i++)
        answered(w, &w->question[i]);
}

/* ---- changes ---- */

static void must(struct worker *w, int err, const struct nfs_reply *r, const char *what)
{
    w->calls++;
    check_must(err == 0, "client %u: %s: no reply: %s", w->number, what, r->why);
    check_must(r->status == NFS3_OK, "client %u: %s: %s", w->number, what,
               nfsstat3_to_str(r->status));
}

static void append(struct worker *w)
{
    static const char data[APPEND_LEN] = "one more record";
    struct nfs_reply r;
    struct stress_counter *counter = &w->stress->counter[below(w, STRESS_COUNTERS)];
    uint64_t offset = atomic_fetch_add(&counter->taken, APPEND_LEN), end = offset + APPEND_LEN;
    stable_how stable = below(w, 2) ? UNSTABLE : FILE_SYNC;
    must(w, nfs_call_write(&w->c, &counter->handle, offset, APPEND_LEN, data, stable, &r), &r,
         "WRITE");
    uint64_t known = atomic_load(&counter->acknowledged);
    while (known < end && !atomic_compare_exchange_weak(&counter->acknowledged, &known, end))
        ;
    if (below(w, 16) == 0)
        must(w, nfs_call_commit(&w->c, &counter->handle, &r), &r, "COMMIT");
}

static void create(struct worker *w, unsigned slot, struct stress_state *s)
{
    struct nfs_reply r;
    sattr3 attributes = {.mode = {.set_it = 1, .set_mode3_u.mode = STRESS_OPEN}};
    s->dir = below(w, STRESS_DIRS);
    const struct nfs_handle *dir = &w->stress->dir[s->dir];
    must(w,
         nfs_call_create(&w->c, dir, w->slot_name[slot], below(w, 8) ? GUARDED : UNCHECKED,
                         &attributes, NULL, &r),
         &r, "CREATE");
    if (!r.has_handle)
        must(w, nfs_call_lookup(&w->c, dir, w->slot_name[slot], &r), &r, "LOOKUP");
    s->handle = r.handle;
    s->present = true;
    s->linked = false;
    s->mode = STRESS_OPEN;
}

static void remove_name(struct worker *w, unsigned dir, const char *name)
{
    struct nfs_reply r;
    must(w, nfs_call_remove(&w->c, &w->stress->dir[dir], name, &r), &r, "REMOVE");
}

static void toggle_link(struct worker *w, unsigned slot, struct stress_state *s)
{
    struct nfs_reply r;
    if (s->linked)
        remove_name(w, 0, w->link_name[slot]);
    else
        must(w, nfs_call_link(&w->c, &s->handle, &w->stress->dir[0], w->link_name[slot], &r), &r,
             "LINK");
    s->linked = !s->linked;
}

static void toggle_mode(struct worker *w, struct stress_state *s)
{
    struct nfs_reply r;
    s->mode = s->mode == STRESS_OPEN ? STRESS_CLOSED : STRESS_OPEN;
    sattr3 attributes = {.mode = {.set_it = 1, .set_mode3_u.mode = s->mode}};
    must(w, nfs_call_setattr(&w->c, &s->handle, &attributes, NULL, &r), &r, "SETATTR");
}

static void move(struct worker *w, unsigned slot, struct stress_state *s)
{
    struct nfs_reply r;
    unsigned to = (s->dir + 1) % STRESS_DIRS;
    must(w,
         nfs_call_rename(&w->c, &w->stress->dir[s->dir], w->slot_name[slot], &w->stress->dir[to],
                         w->slot_name[slot], &r),
         &r, "RENAME");
    s->dir = to;
}

/* The file of one slot takes the place of the other one's. */
static void replace(struct worker *w, unsigned slot, struct stress_state *s, unsigned other,
                    struct stress_state *o)
{
    struct nfs_reply r;
    must(w,
         nfs_call_rename(&w->c, &w->stress->dir[s->dir], w->slot_name[slot],
                         &w->stress->dir[o->dir], w->slot_name[other], &r),
         &r, "RENAME over a file");
    unsigned dir = o->dir;
    *o = *s;
    o->dir = dir;
    s->present = false;
}

/* No longer, under either name. */
static void leave(struct worker *w, unsigned slot, struct stress_state *s)
{
    if (s->linked)
        toggle_link(w, slot, s);
    remove_name(w, s->dir, w->slot_name[slot]);
    s->present = false;
}

static void change_present(struct worker *w, unsigned slot, unsigned other)
{
    struct stress_state *s = &w->stress->slot[slot].state, *o = &w->stress->slot[other].state;
    switch (below(w, is_lasting(slot) ? 3 : 5)) {
    case 0:
        toggle_link(w, slot, s);
        break;
    case 1:
        toggle_mode(w, s);
        break;
    case 2:
        move(w, slot, s);
        break;
    case 3:
        if (!is_lasting(other) && o->present && !o->linked && !s->linked)
            replace(w, slot, s, other, o);
        else
            move(w, slot, s);
        break;
    default:
        leave(w, slot, s);
        break;
    }
}

static void ask_own_question(struct worker *w, struct question *q)
{
    nfs_client_send(&w->c, &q->call);
    check_must(nfs_client_wait(&w->c, &q->call) == 0, "client %u: its own slot: no reply",
               w->number);
    check_slot(w, q);
    w->calls++;
}

/* What its owner asks right after a change; the others ask the same all the time. */
static void ask_own(struct worker *w, unsigned slot)
{
    struct question *q = &w->question[0];
    const struct stress_state *s = &w->stress->slot[slot].state;
    for (unsigned dir = 0; dir < STRESS_DIRS; dir++) {
        *q = (struct question){.kind = ASK_NAME, .slot = slot, .dir = dir, .state = *s};
        ask_name(w, q);
        ask_own_question(w, q);
    }
    if (!is_lasting(slot))
        return;
    *q = (struct question){.kind = ASK_ATTRIBUTES, .slot = slot, .state = *s};
    ask_attributes(q);
    ask_own_question(w, q);
}

static void change_slot(struct worker *w)
{
    unsigned first = w->number * STRESS_SLOTS_EACH;
    unsigned which = below(w, STRESS_SLOTS_EACH);
    unsigned slot = first + which, other = first + (which + 1) % STRESS_SLOTS_EACH;
    for (unsigned i = 0; i < STRESS_SLOTS_EACH; i++)
        atomic_fetch_add(&w->stress->slot[first + i].version, 1);
    if (w->stress->slot[slot].state.present)
        change_present(w, slot, other);
    else
        create(w, slot, &w->stress->slot[slot].state);
    for (unsigned i = 0; i < STRESS_SLOTS_EACH; i++)
        atomic_fetch_add(&w->stress->slot[first + i].version, 1);
    ask_own(w, slot);
}

int stress_work(struct stress *stress, const struct session *session, unsigned number)
{
    static struct worker worker;
    struct worker *w = &worker;
    w->stress = stress;
    w->number = number;
    w->random = number;
    for (unsigned i = 0; i < STRESS_COUNTERS; i++)
        stress_counter_name(i, w->counter_name[i]);
    for (unsigned i = 0; i < STRESS_SLOTS; i++) {
        stress_slot_name(i, w->slot_name[i]);
        stress_link_name(i, w->link_name[i]);
    }
    session_connect(&w->c, &session->tested);
    while (!atomic_load(&stress->stop) && !w->failed) {
        if (below(w, 100) < stress->reads)
            ask_some(w);
        else if (below(w, 2))
            append(w);
        else
            change_slot(w);
    }
    atomic_fetch_add(&stress->calls, w->calls);
    atomic_fetch_add(&stress->answers, w->answers);
    nfs_client_stop(&w->c);
    return w->failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
