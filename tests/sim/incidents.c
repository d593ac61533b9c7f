/*
 * incidents: each kind is drawn for by itself after each call, and happens a little later.
 */
#include "sim/incidents.h"

#include <stdlib.h>

#include "sim/crowd.h"
#include "sim/house.h"
#include "sim/memory.h"
#include "sim/outside.h"
#include "sim/site.h"
#include "sim/story.h"

#define SOON_LOW  (1 * PLAN_USEC)
#define SOON_HIGH (50 * PLAN_MSEC)
#define AGAIN \
    600u /* of a thousand changes from outside: are followed by another one of the same thing */
#define AGAIN_HIGH  (5 * PLAN_MSEC)
#define GRUDGE_LOW  (10 * PLAN_MSEC)
#define GRUDGE_HIGH (10 * PLAN_SEC)

struct incident_event {
    struct event event;
    enum incident kind;
    uint32_t number; /* of the call after which it happens */
    unsigned time;   /* for which */
};

static struct draw draw_for(const struct run *run, const struct incident_event *event)
{
    return run_draw(run, DECIDE_INCIDENT, event->number,
                    INCIDENTS + event->kind + (uint64_t)event->time * INCIDENTS);
}

static void lose_link(struct run *run, struct draw *draw)
{
    unsigned worker = (unsigned)draw_below(draw, run->plan->workers);
    unsigned link = (unsigned)draw_below(draw, run->plan->links);
    house_link_down(run, worker, link, run->now);
}

static void restart_proxy(struct run *run)
{
    unsigned next = run->house->incarnation + 1;
    story(run, "the proxy is killed, and started again");
    crowd_disconnect_all(run);
    house_close(run);
    ledger_forget_evidence(&run->ledger);
    house_open(run, next);
}

static void end_grudge(struct run *run, struct event *event)
{
    struct grudge *last = &run->grudge[run->grudges - 1];
    story(run, "    server: has no grudge any more");
    nfsd_grudge(run->nfsd, UINT32_MAX);
    last->until = run->now;
    free(event);
}

static void begin_grudge(struct run *run, struct draw *draw)
{
    if (run->grudges > 0 && run->grudge[run->grudges - 1].until > run->now)
        return; /* one at a time */
    uint32_t uid = crowd_who((uint32_t)draw_below(draw, run->plan->whos))->uid;
    run->grudge = memory_room(run->grudge, run->grudges, &run->grudge_room, sizeof(*run->grudge));
    run->grudge[run->grudges++] = (struct grudge){uid, run->now, UINT64_MAX};
    story(run, "    server: refuses uid %u everything", uid);
    nfsd_grudge(run->nfsd, uid);
    run_at(run, run->now + draw_spread(draw, GRUDGE_LOW, GRUDGE_HIGH), PLACE_OUTSIDE,
           memory_get(sizeof(struct event)), end_grudge);
}

static void confuse(struct run *run, struct draw *draw)
{
    story(run, "    server: a handle leads to something else");
    site_begin_outside(run);
    nfsd_confuse(run->nfsd, *draw);
    run->confused_until = run->now + run->age_max;
    site_end_outside(run);
}

static void on_incident(struct run *run, struct event *base)
{
    struct incident_event *event = container_of(base, struct incident_event, event);
    struct draw draw = draw_for(run, event);
    switch (event->kind) {
    case INCIDENT_OUTSIDE:
        story(run, "    server: somebody changes something there");
        outside_change(run, event->number, event->time);
        if (draw_permille(&draw, AGAIN)) {
            event->time++;
            run_at(run, run->now + draw_spread(&draw, SOON_LOW, AGAIN_HIGH), PLACE_OUTSIDE, base,
                   on_incident);
            return;
        }
        break;
    case INCIDENT_LINK_LOST:
        lose_link(run, &draw);
        break;
    case INCIDENT_NFSD_RESTART:
    case INCIDENT_BOOT:
        site_restart(run, draw, event->kind == INCIDENT_NFSD_RESTART);
        break;
    case INCIDENT_PROXY_RESTART:
        restart_proxy(run);
        break;
    case INCIDENT_RELOAD:
        story(run, "the proxy reloads");
        house_reload(run);
        break;
    case INCIDENT_FLUSH:
        story(run, "the proxy is flushed");
        house_flush(run);
        break;
    case INCIDENT_CLIENT_LOST:
        crowd_disconnect(run, (unsigned)draw_below(&draw, run->plan->clients));
        break;
    case INCIDENT_GRUDGE:
        begin_grudge(run, &draw);
        break;
    case INCIDENT_CONFUSION:
        confuse(run, &draw);
        break;
    case INCIDENTS:
        break;
    }
    free(event);
}

static int place_of(enum incident kind)
{
    switch (kind) {
    case INCIDENT_PROXY_RESTART:
    case INCIDENT_FLUSH:
    case INCIDENT_RELOAD:
        return PLACE_ALL;
    default:
        return PLACE_OUTSIDE;
    }
}

void incidents_after(struct run *run, uint32_t number)
{
    if (run->omissions != NULL && number < run->omissions->size && run->omissions->incident[number])
        return;
    for (enum incident kind = 0; kind < INCIDENTS; kind++) {
        struct draw draw = run_draw(run, DECIDE_INCIDENT, number, kind);
        if (!draw_permille(&draw, run->plan->incident[kind]))
            continue;
        struct incident_event *event = memory_get(sizeof(*event));
        event->kind = kind;
        event->number = number;
        run_at(run, run->now + draw_spread(&draw, SOON_LOW, SOON_HIGH), place_of(kind),
               &event->event, on_incident);
    }
}
