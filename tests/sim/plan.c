/*
 * plan: drawn once, at the beginning of a run; a table of what can be left out of it.
 */
#include "sim/plan.h"

#include <stdio.h>

#define CALLS    400u
#define NARROW   450u /* of a thousand runs */
#define PUZZLING 500u /* of a thousand of these */
#define LATE     100u /* of a thousand of the others: in which much is executed late */
#define CRAMPED  200u /* of a thousand of what is left then */
#define ASKED    200u /* of a thousand runs: in which the proxy's own questions fail */

/* One of several, each as likely as the others. */
#define ONE_OF(draw, ...)                                                  \
    ({                                                                     \
        const uint64_t values_[] = {__VA_ARGS__};                          \
        values_[draw_below((draw), sizeof(values_) / sizeof(values_[0]))]; \
    })

static void plan_server(struct plan *plan, struct draw *draw)
{
    struct nfsd_options *nfsd = &plan->nfsd;
    nfsd->fs = (struct fs_options){
        .granularity = ONE_OF(draw, 1, 1, 1000, PLAN_MSEC, 10 * PLAN_MSEC),
        .fsid = 0x1234,
        .reuse_fileids = draw_permille(draw, 300),
    };
    nfsd->boot = plan->seed;
    nfsd->handle_len = (unsigned)ONE_OF(draw, 16, 28, 32, 60, 64);
    nfsd->aliases = draw_permille(draw, 300) ? (unsigned)draw_between(draw, 2, 3) : 1;
    /* Not with aliases, nor with the same fileid again: such handles say nothing for certain any more. */
    nfsd->reuse_handles = nfsd->aliases == 1 && !nfsd->fs.reuse_fileids && draw_permille(draw, 200);
    nfsd->remembers = draw_permille(draw, 500);
    nfsd->shows_handles = draw_permille(draw, 800);
    nfsd->no_before = (unsigned)ONE_OF(draw, 0, 0, 0, 200, 1000);
    nfsd->no_after = (unsigned)ONE_OF(draw, 0, 0, 0, 200, 600);
    nfsd->no_handle = (unsigned)ONE_OF(draw, 0, 0, 200, 500);
    nfsd->errors.jukebox = (unsigned)ONE_OF(draw, 0, 0, 20);
    nfsd->errors.fails_before = (unsigned)ONE_OF(draw, 0, 0, 20);
    /* Not both: who is refused a look, and then told that nothing was done where something was, can't be helped. */
    nfsd->errors.fails_after = nfsd->errors.fails_before == 0 ? (unsigned)ONE_OF(draw, 0, 100) : 0;
    nfsd->errors.rpc_errors = (unsigned)ONE_OF(draw, 0, 0, 20);
}

/* The server's own trouble, not refusals: goes with anything. */
static void plan_trouble(struct plan *plan, struct draw *draw)
{
    plan->nfsd.errors.breaks_after = (unsigned)ONE_OF(draw, 0, 0, 0, 0, 50);
    plan->nfsd.errors.breaks_before = (unsigned)ONE_OF(draw, 0, 0, 0, 0, 20);
    plan->nfsd.errors.stale = (unsigned)ONE_OF(draw, 0, 0, 0, 0, 20);
}

/* What the proxy asks itself gets errors of its own, whatever the clients get. No refusals where fails_after is: as above. */
static void plan_asked(struct plan *plan, struct draw *draw, unsigned often)
{
    struct nfsd_errors *asked = &plan->asked;
    unsigned *const kinds[] = {&asked->jukebox, &asked->breaks_before, &asked->rpc_errors,
                               &asked->refuses, &asked->stale,         &asked->fails_before};
    const unsigned believed = plan->nfsd.errors.fails_after > 0 ? 3 : 6;
    *kinds[draw_below(draw, believed)] = often;
    *kinds[draw_below(draw, believed)] = often;
}

static void plan_incidents(struct plan *plan, struct draw *draw)
{
    static const unsigned often[INCIDENTS] = {
        [INCIDENT_OUTSIDE] = 150,     [INCIDENT_LINK_LOST] = 15, [INCIDENT_NFSD_RESTART] = 5,
        [INCIDENT_PROXY_RESTART] = 5, [INCIDENT_RELOAD] = 10,    [INCIDENT_FLUSH] = 10,
        [INCIDENT_CLIENT_LOST] = 20,  [INCIDENT_GRUDGE] = 10,    [INCIDENT_CONFUSION] = 5,
        [INCIDENT_BOOT] = 5,
    };
    static const unsigned likely[INCIDENTS] = {
        [INCIDENT_OUTSIDE] = 800,       [INCIDENT_LINK_LOST] = 300, [INCIDENT_NFSD_RESTART] = 200,
        [INCIDENT_PROXY_RESTART] = 200, [INCIDENT_RELOAD] = 200,    [INCIDENT_FLUSH] = 200,
        [INCIDENT_CLIENT_LOST] = 300,   [INCIDENT_GRUDGE] = 150,    [INCIDENT_CONFUSION] = 50,
        [INCIDENT_BOOT] = 100,
    };
    for (unsigned i = 0; i < INCIDENTS; i++)
        plan->incident[i] =
            draw_permille(draw, likely[i]) ? often[i] / (unsigned)ONE_OF(draw, 1, 5) : 0;
    if (plan->nfsd.errors.fails_after > 0) /* likewise */
        plan->incident[INCIDENT_GRUDGE] = 0;
    if (plan->exclusive) {
        plan->incident[INCIDENT_OUTSIDE] = 0;
        plan->incident[INCIDENT_CONFUSION] = 0;
        plan->incident[INCIDENT_BOOT] = 0;
    }
}

/*
 * A run about little: one user, few names in two directories, all of it in cache most of the time. So what is cached is used,
 * and what should have gone from there is noticed.
 */
static void make_narrow(struct plan *plan, struct draw *draw)
{
    plan->whos = 1;
    plan->names = 3;
    plan->hot = 2;
    plan->heat = 900;
    plan->reads = 3;
    plan->repeats = 300;
    plan->memory = 64u << 20;
    plan->fences = 1024;
    plan->pause_low = plan->way_high * ONE_OF(draw, 1, 4);
    plan->pause_high = 4 * plan->pause_low;
    plan->nfsd.errors.jukebox = plan->nfsd.errors.fails_before = plan->nfsd.errors.rpc_errors = 0;
    plan->nfsd.no_after = 0;
    if (plan->exclusive)
        return;
    plan->incident[INCIDENT_OUTSIDE] = 100;
    if (draw_permille(draw, 500))
        return;
    /* The server tells all, so one reply is enough to notice what somebody else did (raise_names of judge.c). */
    plan->nfsd.no_before = plan->nfsd.errors.fails_after = 0;
    plan->nfsd.fs.granularity = 1;
    plan->memory = ONE_OF(draw, 3u << 10, 6u << 10, 64u << 20);
    plan->fences = (unsigned)ONE_OF(draw, 32, 64, 1024); /* less is kept than could be */
}

/*
 * Files have several handles, it is rarely said which file one is, and the proxy can't find out. Or everything is known, but the
 * proxy can't find out what is behind a name.
 */
static void make_puzzling(struct plan *plan, struct draw *draw)
{
    struct nfsd_options *nfsd = &plan->nfsd;
    const bool aliases = draw_permille(draw, 500);
    nfsd->errors.fails_after = 0;
    nfsd->no_handle = (unsigned)ONE_OF(draw, 0, 1000);
    switch (draw_below(draw, 4)) {
    case 0:
        plan_asked(plan, draw, (unsigned)ONE_OF(draw, 100, 300, 500));
        break;
    case 1:
        plan->asked = (struct nfsd_errors){.refuses = 400};
        nfsd->errors.breaks_after = 400;
        break;
    case 2:
        plan->asked = (struct nfsd_errors){.stale = 400};
        break;
    case 3:
        plan->asked = (struct nfsd_errors){.rpc_errors = 300};
        nfsd->no_handle = 1000;
        break;
    }
    if (!aliases)
        return;
    nfsd->aliases = (unsigned)draw_between(draw, 2, 3);
    nfsd->reuse_handles = false;
    nfsd->no_after = (unsigned)ONE_OF(draw, 300, 600, 900);
    plan->memory = ONE_OF(draw, 6u << 10, 64u << 20);
}

/*
 * Connections are lost all the time, so calls are executed late, and nothing but ages tells of what they did. Little else happens
 * meanwhile.
 */
static void make_late(struct plan *plan, struct draw *draw)
{
    plan->exclusive = true;
    plan->doubt = 60 * PLAN_SEC;
    plan->age_min = 100 * PLAN_MSEC;
    plan->age_max = plan->negative_age = plan->access_age = ONE_OF(draw, 100, 300) * PLAN_MSEC;
    plan->reads = 4;
    plan->repeats = 300;
    plan->way_low = PLAN_MSEC;
    plan->way_high = 20 * PLAN_MSEC;
    plan->pause_low = ONE_OF(draw, 5, 20) * PLAN_MSEC;
    plan->pause_high = 5 * plan->pause_low;
    plan->incident[INCIDENT_OUTSIDE] = plan->incident[INCIDENT_CONFUSION] =
        plan->incident[INCIDENT_BOOT] = plan->incident[INCIDENT_FLUSH] = 0;
    plan->incident[INCIDENT_LINK_LOST] = (unsigned)ONE_OF(draw, 0, 20);
    plan->incident[INCIDENT_PROXY_RESTART] = 20;
}

/* Little fits into the cache, and replies come late: what is shown may have gone from there when an older one comes. */
static void make_cramped(struct plan *plan, struct draw *draw)
{
    plan->memory = ONE_OF(draw, 2u << 10, 3u << 10);
    plan->names = 3;
    plan->reads = 3;
    plan->probes = 300;
    plan->repeats = 500;
    plan->held = 30;
    plan->pause_low = plan->way_low * ONE_OF(draw, 1, 5);
    plan->pause_high = 4 * plan->pause_low;
    plan->nfsd.errors.jukebox = plan->nfsd.errors.fails_before = plan->nfsd.errors.rpc_errors = 0;
}

void plan_make(struct plan *plan, uint64_t seed, unsigned calls)
{
    struct draw draw = draw_of(seed, DECIDE_PLAN, 0, 0);
    *plan = (struct plan){.seed = seed, .calls = calls > 0 ? calls : CALLS};
    plan->clients = (unsigned)draw_between(&draw, 2, PLAN_CLIENTS_MAX);
    plan->workers = (unsigned)draw_between(&draw, 1, PLAN_WORKERS_MAX);
    plan->links = (unsigned)draw_between(&draw, 1, PLAN_LINKS_MAX);
    plan->names = (unsigned)ONE_OF(&draw, 3, 4, 6, PLAN_NAMES_MAX);
    plan->whos = (unsigned)ONE_OF(&draw, 1, 2, 3, PLAN_WHOS_MAX);
    plan->hot = (unsigned)ONE_OF(&draw, 2, 4, 8);
    plan->heat = (unsigned)ONE_OF(&draw, 300, 600, 900);
    plan->reads = (unsigned)ONE_OF(&draw, 1, 1, 3);
    plan->exclusive = draw_permille(&draw, 500);
    plan->age_min = ONE_OF(&draw, 100, 1000, 3000) * PLAN_MSEC;
    plan->age_max = plan->age_min * ONE_OF(&draw, 1, 3, 10);
    plan->negative_age = ONE_OF(&draw, 100, 1000, 10000) * PLAN_MSEC;
    plan->access_age = ONE_OF(&draw, 100, 2000, 20000) * PLAN_MSEC;
    plan->memory = ONE_OF(&draw, 2u << 10, 3u << 10, 6u << 10, 64u << 10, 64u << 20, 64u << 20);
    plan->fences = (unsigned)ONE_OF(&draw, 64, 256, 1024);
    plan->way_low = ONE_OF(&draw, 5, 50, 500) * PLAN_USEC;
    plan->way_high = plan->way_low * ONE_OF(&draw, 4, 20, 200);
    /* From all calls overlapping to hardly any. */
    plan->pause_low = plan->way_low * ONE_OF(&draw, 1, 5, 20, 100, 200);
    plan->pause_high = plan->pause_low * ONE_OF(&draw, 4, 20);
    plan->held = (unsigned)ONE_OF(&draw, 0, 5, 30);
    plan->settles = (unsigned)ONE_OF(&draw, 0, 0, 200);
    plan->switches = plan->workers > 1 ? (unsigned)ONE_OF(&draw, 0, 20, 100) : 0;
    plan->probes = (unsigned)ONE_OF(&draw, 100, 300, 500);
    plan->repeats = (unsigned)ONE_OF(&draw, 0, 300, 700);
    plan_server(plan, &draw);
    plan_incidents(plan, &draw);
    plan->doubt = ONE_OF(&draw, 0, 1, 60) * PLAN_SEC;
    plan_trouble(plan, &draw);
    if (draw_permille(&draw, ASKED))
        plan_asked(plan, &draw, (unsigned)ONE_OF(&draw, 20, 100));
    if (draw_permille(&draw, NARROW)) {
        make_narrow(plan, &draw);
        if (draw_permille(&draw, PUZZLING))
            make_puzzling(plan, &draw);
    } else if (draw_permille(&draw, LATE)) {
        make_late(plan, &draw);
    } else if (draw_permille(&draw, CRAMPED)) {
        make_cramped(plan, &draw);
    }
}

/* ---- plainer ones ---- */

static void omit_incidents(struct plan *plan)
{
    for (unsigned i = 0; i < INCIDENTS; i++)
        plan->incident[i] = 0;
}

static void omit_workers(struct plan *plan)
{
    plan->workers = 1;
    plan->switches = 0;
}

static void omit_switches(struct plan *plan)
{
    plan->switches = 0;
}

static void omit_aliases(struct plan *plan)
{
    plan->nfsd.aliases = 1;
}

static void omit_reuse(struct plan *plan)
{
    plan->nfsd.reuse_handles = false;
    plan->nfsd.fs.reuse_fileids = false;
}

static void omit_errors(struct plan *plan)
{
    const struct nfsd_errors late = {.fails_after = plan->nfsd.errors.fails_after,
                                     .breaks_after = plan->nfsd.errors.breaks_after};
    plan->nfsd.errors = late;
}

static void omit_late_errors(struct plan *plan)
{
    plan->nfsd.errors.fails_after = plan->nfsd.errors.breaks_after = 0;
}

static void omit_gaps(struct plan *plan)
{
    plan->nfsd.no_before = plan->nfsd.no_after = plan->nfsd.no_handle = 0;
    plan->nfsd.shows_handles = true;
}

static void omit_granularity(struct plan *plan)
{
    plan->nfsd.fs.granularity = 1;
}

static void omit_eviction(struct plan *plan)
{
    plan->memory = 64u << 20;
}

static void omit_collisions(struct plan *plan)
{
    plan->fences = 65536;
}

static void omit_haste(struct plan *plan)
{
    plan->pause_low = plan->pause_high = 10 * plan->way_high;
}

static void omit_held(struct plan *plan)
{
    plan->held = 0;
}

static void omit_settling(struct plan *plan)
{
    plan->settles = 0;
}

static void omit_unanswered(struct plan *plan)
{
    plan->asked = (struct nfsd_errors){.jukebox = 0};
}

static void (*const omit[PLAN_FEATURES])(struct plan *plan) = {
    omit_incidents,  omit_workers,     omit_switches, omit_aliases,     omit_reuse,
    omit_errors,     omit_late_errors, omit_gaps,     omit_granularity, omit_eviction,
    omit_collisions, omit_haste,       omit_held,     omit_settling,    omit_unanswered,
};

void plan_omit(struct plan *plan, uint32_t features)
{
    for (unsigned i = 0; i < PLAN_FEATURES; i++) {
        if (features & 1u << i)
            omit[i](plan);
    }
}

void plan_print(const struct plan *plan, char *text, unsigned size)
{
    const struct nfsd_options *nfsd = &plan->nfsd;
    snprintf(
        text, size,
        "%s, %u clients, %u workers, %u links, age %g-%g s, negative %g s, access %g s, doubt %g s, "
        "memory %llu, fences %u, handles of %u, aliases %u, times of %llu ns, "
        "no before/after/handle %u/%u/%u, fails before/after %u/%u, held %u, switches %u",
        plan->exclusive ? "exclusive" : "shared", plan->clients, plan->workers, plan->links,
        (double)plan->age_min / 1e9, (double)plan->age_max / 1e9, (double)plan->negative_age / 1e9,
        (double)plan->access_age / 1e9, (double)plan->doubt / 1e9, (unsigned long long)plan->memory,
        plan->fences, nfsd->handle_len, nfsd->aliases, (unsigned long long)nfsd->fs.granularity,
        nfsd->no_before, nfsd->no_after, nfsd->no_handle, nfsd->errors.fails_before,
        nfsd->errors.fails_after, plan->held, plan->switches);
}
