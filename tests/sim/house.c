/*
 * house: octets that stay in sockets for a while, replies, timers and mail between workers, each an event of the agenda.
 */
#include "sim/house.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/call.h"
#include "proxy/order.h"
#include "sim/crowd.h"
#include "sim/fibers.h"
#include "sim/judge.h"
#include "sim/memory.h"
#include "sim/site.h"
#include "sim/story.h"

#define TICK_NSEC   PLAN_SEC
#define BIRTH_NSEC  (1000 * PLAN_SEC) /* the monotonic clock when a run starts */
#define SOCKET_NSEC (20 * PLAN_USEC)
#define MAIL_NSEC   (30 * PLAN_USEC)

/* ---- octets in sockets ---- */

/* A call's octets on their way into a socket. */
struct leaving {
    struct event event;
    struct list node; /* of its link; alone once the link is gone */
    struct house_worker *worker;
    struct upstream_call *call;
};

static struct house_worker *worker_of(struct upstream *upstream)
{
    return container_of(upstream, struct house_worker, nfs);
}

static void leaving_left(struct run *run, struct event *event)
{
    struct leaving *leaving = container_of(event, struct leaving, event);
    if (leaving->call != NULL) {
        leaving->worker->engine.now = BIRTH_NSEC + run->now;
        list_remove(&leaving->node);
        upstream_sent(&leaving->worker->nfs, leaving->call);
    }
    free(leaving);
}

static void leaving_forget(struct event *event)
{
    free(container_of(event, struct leaving, event));
}

/* The connection is gone: nothing is in its socket any more. */
static void link_drain(struct house_worker *worker, unsigned link)
{
    struct list *list = &worker->link[link].in_socket;
    while (!list_empty(list)) {
        struct leaving *leaving = container_of(list->next, struct leaving, node);
        struct upstream_call *call = leaving->call;
        list_remove(&leaving->node);
        leaving->call = NULL; /* its event will find nothing to do */
        upstream_sent(&worker->nfs, call);
    }
}

/* ---- what the product sends ---- */

/* xids are in sequence, over all that the worker ever sends. */
static struct sending **sending_place(struct house_worker *worker, uint32_t xid)
{
    unsigned number = xid - worker->first_xid;
    while (worker->sendings <= number) {
        worker->sending = memory_room(worker->sending, worker->sendings, &worker->sending_room,
                                      sizeof(struct sending *));
        worker->sending[worker->sendings++] = NULL;
    }
    return &worker->sending[number];
}

static struct sending *sending_make(struct house_worker *worker, unsigned link,
                                    const struct upstream_call *call)
{
    struct run *run = worker->house->run;
    struct sending *sending = memory_get(sizeof(*sending));
    *sending = (struct sending){.next = run->sendings,
                                .incarnation = worker->house->incarnation,
                                .worker = worker->number,
                                .link = link,
                                .xid = call->xid,
                                .len = call->head_len + call->tail_len,
                                .sent = ledger_tick(&run->ledger)};
    run->sendings = sending;
    sending->octets = memory_get(sending->len);
    memcpy(sending->octets, call->head, call->head_len);
    if (call->tail_len > 0)
        memcpy(sending->octets + call->head_len, call->tail, call->tail_len);
    facts_read_call(&sending->read, (struct bytes){sending->octets, sending->len});
    crowd_claim(run, sending);
    if (sending->call != NULL)
        judge_touches(run, sending->call);
    return sending;
}

static void send_call(struct upstream *upstream, unsigned link, struct upstream_call *call)
{
    struct house_worker *worker = worker_of(upstream);
    struct run *run = worker->house->run;
    struct sending **place = sending_place(worker, call->xid);
    if (*place == NULL)
        *place = sending_make(worker, link, call);
    struct sending *sending = *place;
    sending->times++;
    struct leaving *leaving = memory_get(sizeof(*leaving));
    leaving->worker = worker;
    leaving->call = call;
    leaving->event.forget = leaving_forget;
    list_append(&worker->link[link].in_socket, &leaving->node);
    struct draw draw = run_draw(run, DECIDE_SOCKET, sending->name, sending->times);
    run_at(run, run->now + draw_below(&draw, SOCKET_NSEC), (int)worker->number, &leaving->event,
           leaving_left);
    story(run, "  w%u sends %s%s", worker->number, story_call(run, &sending->read),
          sending->call == NULL ? " (its own question)"
          : sending->times > 1  ? " again"
                                : "");
    site_take(run, sending, worker->link[link].epoch);
    fibers_may_switch();
}

static void reset_link(struct upstream *upstream, unsigned link, enum upstream_reset why)
{
    (void)why;
    struct house_worker *worker = worker_of(upstream);
    house_link_down(worker->house->run, worker->number, link, worker->house->run->now);
}

static void in_doubt(struct upstream *upstream)
{
    service_doubt(&worker_of(upstream)->service);
}

static void responding(struct upstream *upstream, bool again)
{
    (void)upstream;
    (void)again;
}

static const struct upstream_ops upstream_ops = {
    .send = send_call, .reset = reset_link, .doubt = in_doubt, .responding = responding};

/* ---- events of a worker ---- */

struct worker_event {
    struct event event;
    unsigned incarnation, worker, link;
};

void house_set_clock(struct run *run, unsigned worker)
{
    run->house->worker[worker].engine.now = BIRTH_NSEC + run->now;
}

/* NULL where that house is no more. */
static struct house_worker *event_worker(struct run *run, const struct worker_event *event)
{
    struct house *house = run->house;
    if (house == NULL || house->incarnation != event->incarnation)
        return NULL;
    house->worker[event->worker].engine.now = BIRTH_NSEC + run->now;
    return &house->worker[event->worker];
}

static void worker_at(struct run *run, uint64_t at, unsigned worker, unsigned link,
                      void (*happen)(struct run *run, struct event *event))
{
    struct worker_event *event = memory_get(sizeof(*event));
    event->incarnation = run->house->incarnation;
    event->worker = worker;
    event->link = link;
    run_at(run, at, (int)worker, &event->event, happen);
}

static void on_link_down(struct run *run, struct event *base)
{
    struct worker_event *event = container_of(base, struct worker_event, event);
    struct house_worker *worker = event_worker(run, event);
    if (worker != NULL && worker->nfs.link[event->link].up) {
        struct draw draw = run_draw(run, DECIDE_LATE, event->worker << 8 | event->link,
                                    worker->link[event->link].epoch);
        story(run, "  w%u loses link %u", event->worker, event->link);
        worker->link[event->link].epoch++;
        link_drain(worker, event->link);
        upstream_link_down(&worker->nfs, event->link);
        ledger_add_doubt(&run->ledger);
        house_link_up(run, event->worker, event->link,
                      run->now + draw_spread(&draw, PLAN_MSEC, 2 * PLAN_SEC));
    }
    free(event);
}

static void on_link_up(struct run *run, struct event *base)
{
    struct worker_event *event = container_of(base, struct worker_event, event);
    struct house_worker *worker = event_worker(run, event);
    if (worker != NULL && !worker->nfs.link[event->link].up) {
        story(run, "  w%u has link %u again", event->worker, event->link);
        upstream_link_up(&worker->nfs, event->link);
        ledger_add_doubt(&run->ledger);
    }
    free(event);
}

void house_link_down(struct run *run, unsigned worker, unsigned link, uint64_t at)
{
    worker_at(run, at, worker, link, on_link_down);
}

void house_link_up(struct run *run, unsigned worker, unsigned link, uint64_t at)
{
    worker_at(run, at, worker, link, on_link_up);
}

/* As the timer of a worker does; it goes on as long as anything is outstanding or will be. */
static void on_tick(struct run *run, struct event *base)
{
    struct worker_event *event = container_of(base, struct worker_event, event);
    struct house_worker *worker = event_worker(run, event);
    if (worker != NULL) {
        upstream_tick(&worker->nfs, worker->engine.now);
        if (worker->nfs.outstanding > 0 || !crowd_done(run))
            worker_at(run, run->now + TICK_NSEC, event->worker, 0, on_tick);
    }
    free(event);
}

static void on_mail(struct run *run, struct event *base)
{
    struct worker_event *event = container_of(base, struct worker_event, event);
    struct house_worker *worker = event_worker(run, event);
    if (worker != NULL && !list_empty(&worker->mail)) {
        struct list *node = worker->mail.next;
        list_remove(node);
        call_granted(call_of_mail(node));
    }
    free(event);
}

static void wake(struct engine *engine, struct call *call)
{
    struct house_worker *worker = container_of(engine, struct house_worker, engine);
    struct run *run = worker->house->run;
    struct draw draw = run_draw(run, DECIDE_MAIL, run->now, worker->number);
    list_append(&worker->mail, call_mail(call));
    worker_at(run, run->now + draw_below(&draw, MAIL_NSEC), worker->number, 0, on_mail);
}

/* ---- replies ---- */

struct reply_event {
    struct worker_event base;
    struct sending *sending;
    unsigned epoch, execution;
};

bool house_connected(const struct run *run, const struct sending *sending, unsigned epoch)
{
    return run->house != NULL && run->house->incarnation == sending->incarnation &&
           run->house->worker[sending->worker].link[sending->link].epoch == epoch;
}

bool house_awaits(const struct run *run, const struct sending *sending)
{
    return run->house != NULL && run->house->incarnation == sending->incarnation &&
           !sending->concluded;
}

/* Another write verifier than that worker saw last: what it knows is in doubt once it has read the reply. */
static bool verf_changed(struct house_worker *worker, const struct facts *facts)
{
    if (facts->verf == NULL)
        return false;
    bool changed = worker->verf_known && memcmp(worker->verf, facts->verf, NFS3_VERF_LEN) != 0;
    worker->verf_known = true;
    memcpy(worker->verf, facts->verf, NFS3_VERF_LEN);
    return changed;
}

static void take_reply(struct run *run, struct house_worker *worker, struct sending *sending,
                       struct execution *executed)
{
    struct facts facts;
    struct draw draw = run_draw(run, DECIDE_RECORD, sending->name, sending->times);
    bool owned = draw_permille(&draw, 500);
    uint8_t *octets = memory_copy(executed->reply, executed->len);
    struct record record = {octets, executed->len, owned};
    facts_of(&facts, &run->ledger, &sending->read, (struct bytes){executed->reply, executed->len});
    bool doubt = sending->call != NULL && verf_changed(worker, &facts);
    judge_received(run, sending, executed);
    sending->concluded = true;
    story(run, "  w%u has the reply to %s: %s", worker->number, story_call(run, &sending->read),
          story_facts(run, &facts));
    upstream_receive(&worker->nfs, sending->link, &record);
    if (!owned)
        free(octets);
    if (doubt)
        ledger_add_doubt(&run->ledger);
}

static void on_reply(struct run *run, struct event *event)
{
    struct reply_event *reply = container_of(event, struct reply_event, base.event);
    struct house_worker *worker = event_worker(run, &reply->base);
    struct sending *sending = reply->sending;
    if (worker != NULL && house_connected(run, sending, reply->epoch) && !sending->concluded)
        take_reply(run, worker, sending, &sending->execution[reply->execution]);
    free(reply);
}

void house_reply(struct run *run, uint64_t at, struct sending *sending, unsigned epoch,
                 unsigned execution)
{
    struct reply_event *reply = memory_get(sizeof(*reply));
    reply->base.incarnation = sending->incarnation;
    reply->base.worker = sending->worker;
    reply->sending = sending;
    reply->epoch = epoch;
    reply->execution = execution;
    run_at(run, at, (int)sending->worker, &reply->base.event, on_reply);
}

/* ---- settings ---- */

static uint64_t msec(uint64_t nsec)
{
    return nsec / PLAN_MSEC;
}

static struct settings *make_settings(const struct plan *plan, uint64_t share)
{
    char text[1024];
    struct settings_error error;
    snprintf(
        text, sizeof text,
        "[service home]\nserver = nas\ncoherence = %s\nage-min = %llums\nage-max = %llums\n"
        "negative-age = %llums\naccess-age = %llums\ndoubt = %llums\n",
        plan->exclusive ? "exclusive" : "shared", (unsigned long long)msec(plan->age_min / share),
        (unsigned long long)msec(plan->age_max / share),
        (unsigned long long)msec(plan->negative_age / share),
        (unsigned long long)msec(plan->access_age / share), (unsigned long long)msec(plan->doubt));
    struct settings *settings = settings_parse(text, strlen(text), "run", &error);
    if (settings == NULL)
        fprintf(stderr, "sim: %s\n", error.text);
    assert(settings != NULL);
    return settings;
}

static void on_apply(struct run *run, struct event *base)
{
    struct worker_event *event = container_of(base, struct worker_event, event);
    struct house_worker *worker = event_worker(run, event);
    const struct house *house = run->house;
    if (worker != NULL)
        service_apply(&worker->service, &house->settings[house->reloads]->services[0]);
    free(event);
}

void house_reload(struct run *run)
{
    struct house *house = run->house;
    if (house->reloads + 1 == HOUSE_SETTINGS_MAX)
        return;
    house->reloads++;
    house->settings[house->reloads] = make_settings(run->plan, house->reloads % 2 ? 2 : 1);
    for (unsigned i = 0; i < run->plan->workers; i++)
        worker_at(run, run->now + i * 10 * PLAN_USEC, i, 0, on_apply);
}

void house_flush(struct run *run)
{
    cache_flush(run->house->cache, NULL);
}

/* ---- from the beginning to the end ---- */

static void worker_open(struct house *house, unsigned number)
{
    struct run *run = house->run;
    struct house_worker *worker = &house->worker[number];
    worker->house = house;
    worker->number = number;
    list_init(&worker->mail);
    worker->engine = (struct engine){
        .now = BIRTH_NSEC + run->now, .cache = house->cache, .order = house->order, .wake = wake};
    worker->first_xid = (house->incarnation * 16 + number) << 20;
    int err = upstream_init(&worker->nfs, &upstream_ops, run->plan->links, worker->first_xid,
                            &worker->service.counters);
    memory_must(err == 0);
    worker->service.engine = &worker->engine;
    worker->service.cache = house->server;
    worker->service.nfs = &worker->nfs;
    service_apply(&worker->service, &house->settings[0]->services[0]);
    for (unsigned i = 0; i < run->plan->links; i++) {
        list_init(&worker->link[i].in_socket);
        upstream_link_up(&worker->nfs, i);
    }
    worker_at(run, run->now + TICK_NSEC, number, 0, on_tick);
}

void house_open(struct run *run, unsigned incarnation)
{
    const struct plan *plan = run->plan;
    struct house *house = memory_get(sizeof(*house));
    uint8_t secret[CACHE_SECRET_LEN];
    struct draw draw = run_draw(run, DECIDE_SECRET, incarnation, 0);
    for (unsigned i = 0; i < sizeof secret; i++)
        secret[i] = (uint8_t)draw_u64(&draw);
    run->house = house;
    house->run = run;
    house->incarnation = incarnation;
    house->opened = run->now;
    house->settings[0] = make_settings(plan, 1);
    house->cache = cache_create(
        &(struct cache_options){.memory = plan->memory, .secret = secret, .fences = plan->fences});
    house->order = order_create(secret, sizeof secret);
    memory_must(house->cache != NULL && house->order != NULL);
    house->server = cache_server_get(house->cache, "nas");
    memory_must(house->server != NULL);
    cache_doubt(house->server, BIRTH_NSEC + run->now + house->settings[0]->services[0].doubt);
    for (unsigned i = 0; i < plan->workers; i++)
        worker_open(house, i);
}

static void abandon(struct house *house, unsigned number)
{
    struct house_worker *worker = &house->worker[number];
    for (unsigned i = 0; i < house->run->plan->links; i++)
        link_drain(worker, i);
    worker->service.nfs = NULL;
    upstream_abandon(&worker->nfs);
}

static void deliver_mail(struct house *house)
{
    bool any = true;
    while (any) {
        any = false;
        for (unsigned i = 0; i < house->run->plan->workers; i++) {
            struct list *mail = &house->worker[i].mail;
            if (list_empty(mail))
                continue;
            struct list *node = mail->next;
            list_remove(node);
            call_granted(call_of_mail(node));
            any = true;
        }
    }
}

void house_close(struct run *run)
{
    struct house *house = run->house;
    const unsigned workers = run->plan->workers;
    for (unsigned i = 0; i < workers; i++)
        abandon(house, i);
    deliver_mail(house);
    for (unsigned i = 0; i < workers; i++) {
        if (house->worker[i].engine.calls != 0)
            run_breach(run, CLAUSE_ONCE, 0, "%llu calls have not ended with the proxy",
                       (unsigned long long)house->worker[i].engine.calls);
        upstream_destroy(&house->worker[i].nfs);
        free(house->worker[i].sending);
    }
    order_destroy(house->order);
    cache_destroy(house->cache);
    for (unsigned i = 0; i <= house->reloads; i++)
        settings_free(house->settings[i]);
    free(house);
    run->house = NULL;
}
