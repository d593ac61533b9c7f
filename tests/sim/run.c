/*
 * run: one event after the other, and which worker goes on where two could.
 */
#include "sim/run.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/crowd.h"
#include "sim/fibers.h"
#include "sim/house.h"
#include "sim/judge.h"
#include "sim/memory.h"
#include "sim/site.h"
#include "sim/story.h"

#define BESIDE_NSEC \
    PLAN_MSEC /* what is so near in time can come in any order, on different workers */
#define EVENTS_MAX 2000000u /* a run that does not end */

void run_at(struct run *run, uint64_t at, int place, struct event *event,
            void (*happen)(struct run *run, struct event *event))
{
    event->at = at;
    event->place = place;
    event->happen = happen;
    agenda_add(&run->agenda, event);
}

void run_breach(struct run *run, enum clause clause, uint32_t call, const char *format, ...)
{
    va_list list;
    if (run->breach.clause != CLAUSE_NONE)
        return;
    run->breach.clause = clause;
    run->breach.at = run->now;
    run->breach.call = call;
    va_start(list, format);
    vsnprintf(run->breach.text, sizeof(run->breach.text), format, list);
    va_end(list);
}

struct draw run_draw(const struct run *run, enum decision decision, uint64_t a, uint64_t b)
{
    return draw_of(run->plan->seed, decision, a, b);
}

struct reg *run_reg(struct run *run, const struct ref *ref)
{
    switch (ref->kind) {
    case REF_NAME:
        return ledger_name(&run->ledger, ref->a, ref->b);
    case REF_HANDLE:
        return &run->ledger.handle[ref->a].node;
    case REF_NODE:
        break;
    }
    return ledger_node(&run->ledger, ref->a);
}

/* ---- one event after the other ---- */

struct job {
    struct run *run;
    struct event *event;
};

static void do_job(void *argument)
{
    struct job job = *(struct job *)argument;
    job.event->happen(job.run, job.event);
}

static void happen(struct run *run, struct event *event)
{
    if (event->at > run->now)
        run->now = event->at;
    run->events++;
    run->turns = 0;
    if (event->place < PLACE_WORKER) {
        event->happen(run, event);
        return;
    }
    struct job job = {run, event};
    run->fiber_since[event->place] = run->now;
    fiber_start(run->fiber[event->place], do_job, &job);
}

/* A worker that is in the middle of something; -1: none. Where both are, one or the other. */
static int busy_worker(struct run *run)
{
    int found = -1;
    for (unsigned i = 0; i < run->plan->workers; i++) {
        struct draw draw = run_draw(run, DECIDE_NEXT, run->now, ++run->turns);
        if (fiber_busy(run->fiber[i]) && (found < 0 || draw_permille(&draw, 500)))
            found = (int)i;
    }
    return found;
}

static bool may_come_first(struct run *run, const struct event *event, int busy)
{
    struct draw draw = run_draw(run, DECIDE_NEXT, run->now, ++run->turns);
    return event != NULL && event->place != PLACE_ALL &&
           event->at <= run->fiber_since[busy] + BESIDE_NSEC &&
           (event->place < PLACE_WORKER || !fiber_busy(run->fiber[event->place])) &&
           draw_permille(&draw, 600);
}

/* False when nothing will happen any more. */
static bool step(struct run *run)
{
    struct event *next = agenda_first(&run->agenda);
    int busy = busy_worker(run);
    if (busy >= 0 && !may_come_first(run, next, busy)) {
        fiber_resume(run->fiber[busy]);
        return true;
    }
    if (next == NULL)
        return false;
    happen(run, agenda_take(&run->agenda));
    return true;
}

static void finish_workers(struct run *run)
{
    for (int busy = busy_worker(run); busy >= 0; busy = busy_worker(run)) {
        fiber_resume(run->fiber[busy]);
    }
}

static bool should_switch(void *context)
{
    struct run *run = context;
    struct draw draw = run_draw(run, DECIDE_SWITCH, run->now, ++run->turns);
    return draw_permille(&draw, run->plan->switches);
}

/* ---- from the beginning to the end ---- */

static void run_open(struct run *run, const struct plan *plan)
{
    run->plan = plan;
    run->age_max = plan->age_max;
    run->negative_age = plan->negative_age;
    run->access_age = plan->access_age;
    for (unsigned i = 0; i < plan->workers; i++)
        run->fiber[i] = fiber_create();
    fibers_set_switch(plan->switches > 0 ? should_switch : NULL, run);
    site_open(run);
    house_open(run, 1);
    crowd_open(run);
}

static void free_execution(struct execution *execution)
{
    free(execution->reply);
    free(execution->shown);
}

static void free_sendings(struct run *run)
{
    while (run->sendings != NULL) {
        struct sending *sending = run->sendings;
        run->sendings = sending->next;
        for (unsigned i = 0; i < sending->executions; i++)
            free_execution(&sending->execution[i]);
        free(sending->execution);
        free(sending->octets);
        free(sending);
    }
}

static void run_close(struct run *run)
{
    finish_workers(run);
    fibers_set_switch(NULL, NULL);
    crowd_disconnect_all(run);
    house_close(run);
    agenda_clear(&run->agenda);
    crowd_close(run);
    free_sendings(run);
    site_close(run);
    ledger_free(&run->ledger);
    free(run->grudge);
    for (unsigned i = 0; i < run->plan->workers; i++)
        fiber_destroy(run->fiber[i]);
}

void run_seed(const struct plan *plan, const struct omissions *omissions, bool telling,
              struct outcome *outcome)
{
    struct run *run = memory_get(sizeof(*run));
    run->omissions = omissions;
    run->telling = telling;
    run_open(run, plan);
    while (run->breach.clause == CLAUSE_NONE && step(run)) {
        if (run->events > EVENTS_MAX)
            run_breach(run, CLAUSE_ONCE, 0, "the run does not end");
    }
    if (run->breach.clause == CLAUSE_NONE)
        judge_end(run);
    run_close(run);
    *outcome = (struct outcome){.breach = run->breach,
                                .calls = run->calls,
                                .hits = run->hits,
                                .forwarded = run->forwarded,
                                .events = run->events};
    free(run);
}
