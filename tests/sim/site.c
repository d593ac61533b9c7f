/*
 * site: executes what arrives, notes each register that differs then, and sends the reply back.
 */
#include "sim/site.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/crowd.h"
#include "sim/house.h"
#include "sim/judge.h"
#include "sim/memory.h"
#include "sim/story.h"

#define HELD_LOW    (20 * PLAN_MSEC)
#define HELD_HIGH   (3 * PLAN_SEC)
#define LATE_HIGH   (5 * PLAN_SEC)
#define SETTLE_LOW  (10 * PLAN_MSEC)
#define SETTLE_HIGH (9 * PLAN_SEC)   /* below the default of the setting `settle`, 10 s */
#define CUT_HIGH    (40 * PLAN_MSEC) /* until the proxy notices that the server is gone */
/* Of a thousand calls whose connection is lost: are executed all the same. */
#define LATE_EXECUTE 500u

uint64_t site_now(const struct run *run)
{
    return RUN_WALL_START + run->now;
}

/* ---- what changes ---- */

static void add_effect(struct run *run, const struct effect *effect)
{
    struct call_made *call = run->cause.call;
    run->recent[run->recents++ % RUN_RECENT] = *effect;
    if (call == NULL)
        return;
    call->effect =
        memory_room(call->effect, call->effects, &call->effect_room, sizeof(*call->effect));
    call->effect[call->effects++] = *effect;
}

static bool leads_to(const struct run *run, struct bytes handle, fs_node node)
{
    uint32_t number = handle.len > 0 ? ledger_handle(&run->ledger, handle) : LEDGER_NO_HANDLE;
    return number != LEDGER_NO_HANDLE && ledger_handle_node(&run->ledger, number) == node;
}

/* Does the call itself name it: a name, or a node by a handle? */
static bool is_named(const struct run *run, const struct ref *ref)
{
    const struct nfs3_args *args = &run->cause.call->read.args;
    if (ref->kind == REF_NODE)
        return leads_to(run, args->object, ref->a) || leads_to(run, args->object2, ref->a);
    if (ref->kind != REF_NAME)
        return false;
    const char *text = run->ledger.text[ref->b];
    const struct bytes name = {(const uint8_t *)text, (uint32_t)strlen(text)};
    return (leads_to(run, args->object, ref->a) && bytes_equal(args->name, name)) ||
           (leads_to(run, args->object2, ref->a) && bytes_equal(args->name2, name));
}

/*
 * Can the proxy know for certain, before the reply, that this will change? A name that the call names, or a node whose handle
 * it names. Not what is behind a name: the server may not say, or not truly; not what is new, which was nothing else before;
 * nor where several handles lead to one node, or one handle may come to lead to another.
 */
static bool is_foreseen(const struct run *run, const struct ref *ref)
{
    const struct nfs3_args *args = &run->cause.call->read.args;
    if (run->plan->nfsd.aliases > 1 || run->plan->incident[INCIDENT_CONFUSION] > 0)
        return false;
    if (ref->kind == REF_NAME)
        return run->ledger.text[ref->b][0] != '.';
    return ref->kind == REF_NODE && ref->version > 0 &&
           (leads_to(run, args->object, ref->a) || leads_to(run, args->object2, ref->a));
}

/* A register differs now. `value` and `rights` are what it is. */
static void changed(struct run *run, struct ref ref, uint64_t value, const struct fs_rights *rights)
{
    struct reg *reg = run_reg(run, &ref);
    struct version version = {.moment = ledger_tick(&run->ledger),
                              .time = run->now,
                              .op = run->ops,
                              .value = value,
                              .cause = run->cause.kind};
    bool named = run->cause.call != NULL && is_named(run, &ref);
    if (run->cause.stolen && !named)
        version.cause = CAUSE_OUTSIDE;
    if (rights != NULL)
        version.rights = *rights;
    if (!reg_change(reg, &version))
        return;
    ref.version = reg->versions - 1;
    struct effect effect = {.ref = ref,
                            .tracked = version.cause == CAUSE_TRACKED && run->cause.call != NULL,
                            .named = named};
    add_effect(run, &effect);
    if (ref.kind == REF_NAME && run->cause.kind == CAUSE_OUTSIDE)
        run->outsider = ref;
    if (effect.tracked && is_foreseen(run, &ref))
        reg_begin(reg, run->cause.call->number, run->cause.sent);
}

static void on_name(void *context, fs_node dir, const char *name)
{
    struct run *run = context;
    uint32_t text = ledger_text(&run->ledger, name);
    changed(run, (struct ref){.kind = REF_NAME, .a = dir, .b = text},
            fs_behind(nfsd_fs(run->nfsd), dir, name), NULL);
}

static void on_node(void *context, fs_node node)
{
    struct run *run = context;
    uint8_t fattr[NFS3_FATTR_LEN];
    struct fs_attr attr;
    struct ref ref = {.kind = REF_NODE, .a = node};
    if (!fs_attr(nfsd_fs(run->nfsd), node, &attr) || !nfsd_fattr(run->nfsd, node, fattr)) {
        changed(run, ref, 0, NULL);
        return;
    }
    bool is_new = run_reg(run, &ref)->versions == 0;
    changed(run, ref, digest_fattr(fattr), &attr.rights);
    if (is_new && attr.rights.type == NF3DIR) {
        on_name(run, node, ".");
        on_name(run, node, "..");
    }
}

static void on_handle(void *context, struct bytes handle, fs_node node)
{
    struct run *run = context;
    uint32_t number = ledger_handle_make(&run->ledger, handle);
    changed(run, (struct ref){.kind = REF_HANDLE, .a = number}, node, NULL);
}

/* ---- execution ---- */

struct arrival {
    struct event event;
    struct sending *sending;
    unsigned epoch, boot;
    bool late;
};

/*
 * Can the proxy know what the call does? Not of one that it does not wait for any more; and not as long as some handle may lead
 * elsewhere without anybody's knowing. All that such a call does counts as done behind its back: ages bound it (C5), and C1 is
 * not asked for. Where only a name leads elsewhere than when it could ask, this goes for what the call does not name itself.
 */
static enum cause cause_of(const struct run *run, const struct sending *sending)
{
    if (!house_awaits(run, sending) || run->now < run->confused_until)
        return CAUSE_OUTSIDE;
    return CAUSE_TRACKED;
}

struct settling {
    struct event event;
    fs_node node;
    unsigned incarnation;
};

/* In `exclusive` the setting `doubt` promises that nothing of a house that is no more goes on for longer. */
static bool outlives_doubt(const struct run *run)
{
    return run->plan->exclusive &&
           (run->house == NULL || run->now >= run->house->opened + run->plan->doubt);
}

static void on_settle(struct run *run, struct event *event)
{
    struct settling *settling = container_of(event, struct settling, event);
    bool known = run->house != NULL && run->house->incarnation == settling->incarnation;
    if (known || !outlives_doubt(run)) {
        site_begin_outside(run);
        run->cause.kind = known ? CAUSE_SETTLE : CAUSE_OUTSIDE;
        fs_settle(nfsd_fs(run->nfsd), settling->node);
        site_end_outside(run);
    }
    free(settling);
}

/* Some servers give out blocks later than they are written. */
static void settle_later(struct run *run, const struct sending *sending)
{
    struct draw draw = run_draw(run, DECIDE_SETTLING, sending->name, 0);
    uint32_t handle = ledger_handle(&run->ledger, sending->read.args.object);
    if (sending->read.program != 0 || sending->read.procedure != NFS3_WRITE ||
        handle == LEDGER_NO_HANDLE || !draw_permille(&draw, run->plan->settles))
        return;
    struct settling *settling = memory_get(sizeof(*settling));
    settling->node = ledger_handle_node(&run->ledger, handle);
    settling->incarnation = sending->incarnation;
    run_at(run, run->now + draw_spread(&draw, SETTLE_LOW, SETTLE_HIGH), PLACE_OUTSIDE,
           &settling->event, on_settle);
}

static void copy_shown(struct execution *to, const struct execution *from)
{
    to->shown = memory_copy(from->shown, from->shown_count * sizeof(struct ref));
    to->shown_count = from->shown_count;
}

static unsigned keep_execution(struct run *run, struct sending *sending,
                               const struct nfsd_executed *executed)
{
    sending->execution = memory_room(sending->execution, sending->executions,
                                     &sending->execution_room, sizeof(*sending->execution));
    struct execution *kept = &sending->execution[sending->executions];
    *kept = (struct execution){.len = executed->reply_len};
    kept->reply = memory_copy(executed->reply, executed->reply_len);
    if (executed->again && sending->executions > 0)
        copy_shown(kept, &sending->execution[0]);
    else
        judge_executed(run, sending, kept);
    return sending->executions++;
}

static unsigned execute(struct run *run, struct sending *sending)
{
    struct nfsd_executed executed;
    uint64_t connection =
        ((uint64_t)sending->incarnation << 16) + (sending->worker << 8) + sending->link;
    run->ops++;
    run->cause.kind = cause_of(run, sending);
    run->cause.call = sending->call;
    run->cause.sent = sending->sent;
    run->cause.stolen =
        sending->call != NULL && judge_stolen(run, &sending->read, sending->arrived);
    nfsd_set_errors(run->nfsd, sending->call != NULL ? &run->plan->nfsd.errors : &run->plan->asked);
    nfsd_execute(run->nfsd, connection, (struct bytes){sending->octets, sending->len},
                 site_now(run), run_draw(run, DECIDE_EXECUTION, sending->name, sending->executions),
                 &executed);
    assert(executed.reply_len > 0);
    if (run->cause.kind == CAUSE_TRACKED && sending->call != NULL && !executed.again)
        settle_later(run, sending);
    site_end_outside(run);
    story(run, "    server: %s%s", story_call(run, &sending->read),
          executed.again ? ", as before" : "");
    return keep_execution(run, sending, &executed);
}

static void send_reply(struct run *run, struct sending *sending, unsigned epoch, unsigned execution)
{
    const struct plan *plan = run->plan;
    struct draw draw = run_draw(run, DECIDE_WAY_DOWN, sending->name, sending->executions);
    uint64_t way = draw_spread(&draw, plan->way_low, plan->way_high);
    if (draw_permille(&draw, plan->held))
        way += draw_spread(&draw, HELD_LOW, HELD_HIGH);
    house_reply(run, run->now + way, sending, epoch, execution);
}

/*
 * How late a call may be executed whose connection is lost. In `exclusive` the setting `doubt` promises that it is not after
 * that; the loss is not longer ago than a call is on its way.
 */
static uint64_t latest(const struct run *run)
{
    const uint64_t way = run->plan->way_high;
    if (!run->plan->exclusive || run->plan->doubt > LATE_HIGH + way)
        return LATE_HIGH;
    return run->plan->doubt > way ? run->plan->doubt - way : 0;
}

/* A call comes to the server, or would have. One whose connection was lost on the way may still be executed, even late. */
static void on_arrival(struct run *run, struct event *event)
{
    struct arrival *arrival = container_of(event, struct arrival, event);
    struct sending *sending = arrival->sending;
    bool connected = house_connected(run, sending, arrival->epoch);
    struct draw draw = run_draw(run, DECIDE_LATE, sending->name, sending->times + 1);
    if (arrival->boot != run->boot)
        goto lost; /* with the server as it was then */
    if (!connected && !arrival->late) {
        if (!draw_permille(&draw, LATE_EXECUTE) || latest(run) == 0)
            goto lost;
        arrival->late = true;
        run_at(run, run->now + draw_spread(&draw, PLAN_MSEC, latest(run)), PLACE_OUTSIDE,
               &arrival->event, on_arrival);
        return;
    }
    unsigned execution = execute(run, sending);
    if (connected)
        send_reply(run, sending, arrival->epoch, execution);
lost:
    free(arrival);
}

void site_take(struct run *run, struct sending *sending, unsigned epoch)
{
    struct arrival *arrival = memory_get(sizeof(*arrival));
    struct draw draw = run_draw(run, DECIDE_WAY_UP, sending->name, sending->times);
    arrival->sending = sending;
    arrival->epoch = epoch;
    arrival->boot = run->boot;
    run_at(run, run->now + draw_spread(&draw, run->plan->way_low, run->plan->way_high),
           PLACE_OUTSIDE, &arrival->event, on_arrival);
}

/* ---- behind the proxy's back ---- */

void site_begin_outside(struct run *run)
{
    run->ops++;
    run->cause.kind = CAUSE_OUTSIDE;
    run->cause.call = NULL;
    run->cause.stolen = false;
}

void site_end_outside(struct run *run)
{
    run->cause.kind = CAUSE_OUTSIDE;
    run->cause.call = NULL;
    run->cause.stolen = false;
}

void site_restart(struct run *run, struct draw draw, bool connections)
{
    story(run, "    server: restarts%s", connections ? "" : ", and keeps its connections");
    site_begin_outside(run);
    nfsd_restart(run->nfsd, draw);
    site_end_outside(run);
    if (!connections)
        return;
    run->boot++;
    for (unsigned i = 0; i < run->plan->workers; i++) {
        for (unsigned j = 0; j < run->plan->links; j++) {
            house_link_down(run, i, j, run->now + draw_below(&draw, CUT_HIGH));
        }
    }
}

/* ---- the beginning ---- */

static void plant(struct run *run)
{
    static const struct fs_who root = {.uid = 0};
    static const struct fs_set modes[] = {
        {.mode = true,
         .mode_value = 0755,
         .uid = true,
         .uid_value = 1000,
         .gid = true,
         .gid_value = 100},
        {.mode = true, .mode_value = 0777},
        {.mode = true,
         .mode_value = 0640,
         .uid = true,
         .uid_value = 1000,
         .gid = true,
         .gid_value = 100},
        {.mode = true, .mode_value = 0666},
    };
    struct fs *fs = nfsd_fs(run->nfsd);
    fs_node dir[2], file[4];
    uint64_t now = site_now(run);
    uint8_t room[NFS3_FH_MAX];
    for (unsigned i = 0; i < 2; i++)
        fs_make(fs, &root, FS_ROOT, crowd_name(i), NF3DIR, &modes[i], 0, now, &dir[i]);
    for (unsigned i = 0; i < 4; i++)
        fs_create_file(fs, &root, dir[i % 2], crowd_name(i % 3), NFS3_GUARDED, &modes[2 + i / 2],
                       (const uint8_t *)"12345678", now, &file[i]);
    fs_link(fs, &root, file[0], dir[1], crowd_name(2), now);
    for (fs_node node = FS_ROOT; node <= file[3]; node++) {
        struct draw draw = run_draw(run, DECIDE_HANDLE, node, 0);
        nfsd_handle(run->nfsd, node, &draw, room);
    }
}

void site_open(struct run *run)
{
    const struct nfsd_watch watch = {.fs = {.context = run, .node = on_node, .name = on_name},
                                     .handle = on_handle};
    run->cause.kind = CAUSE_START;
    run->nfsd = nfsd_create(&run->plan->nfsd, &watch);
    on_node(run, FS_ROOT);
    plant(run);
    site_end_outside(run);
}

void site_close(struct run *run)
{
    nfsd_destroy(run->nfsd);
}
