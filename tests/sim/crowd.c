/*
 * crowd: calls are made at times that do not depend on their replies. A client that has lost its connection comes back, maybe to
 * another worker, and sends again what has no reply.
 */
#include "sim/crowd.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/call.h"
#include "sim/choice.h"
#include "sim/fibers.h"
#include "sim/house.h"
#include "sim/incidents.h"
#include "sim/judge.h"
#include "sim/memory.h"
#include "sim/story.h"
#include "xdr/rpc.h"

#define CALL_MAX    1024u
#define TAG_MAGIC   0x7461672eu /* "tag." */
#define TAG_LEN     8u
#define WAY_IN_LOW  (5 * PLAN_USEC)
#define WAY_IN_HIGH (2 * PLAN_MSEC)
#define AGAIN_LOW   (100 * PLAN_USEC)
#define AGAIN_HIGH  (PLAN_SEC)
#define QUIET_NSEC  (100 * PLAN_MSEC)
#define FIRST_XID   0x1000u

struct sim_client {
    struct run *run;
    unsigned number;
    struct client client; /* the product's side of its connection */
    unsigned worker;
    unsigned connection; /* how many it has had */
    bool connected, closing;
    unsigned waiting;
    uint64_t last_in; /* when the last octets that it sent arrive */
    uint8_t *room;
};

struct crowd {
    unsigned made;   /* calls, all clients together */
    unsigned probes; /* of the end */
    bool ending;
    struct sim_client client[PLAN_CLIENTS_MAX];
};

const struct fs_who *crowd_who(uint32_t who)
{
    static const struct fs_who whos[PLAN_WHOS_MAX] = {
        {.uid = 1000, .gid = 100},
        {.uid = 2000, .gid = 200},
        {.uid = 0},
        {.uid = 1000, .gid = 300, .group_count = 1, .groups = {200}},
        {.uid = 65534, .gid = 65534}, /* AUTH_NONE */
        {.uid = 2000, .gid = 200, .group_count = 2, .groups = {300, 100}},
    };
    assert(who < PLAN_WHOS_MAX);
    return &whos[who];
}

#define WHO_NONE 4u

const char *crowd_name(unsigned number)
{
    static const char *const names[PLAN_NAMES_MAX] = {"a", "b", "c", "d", "e",
                                                      "f", "g", "h", "i", "j"};
    assert(number < PLAN_NAMES_MAX);
    return names[number];
}

bool crowd_done(const struct run *run)
{
    if (!run->crowd->ending)
        return false;
    for (unsigned i = 0; i < run->plan->clients; i++) {
        if (run->crowd->client[i].waiting > 0)
            return false;
    }
    return true;
}

/* ---- what it is told ---- */

static struct call_made *waiting_call(const struct run *run, const struct sim_client *client,
                                      struct bytes reply)
{
    uint32_t number = rpc_xid(reply.data) - FIRST_XID;
    struct call_made *call = number < run->calls ? run->call[number] : NULL;
    return call != NULL && call->client == client->number ? call : NULL;
}

static void told(struct sim_client *client, struct bytes reply)
{
    struct run *run = client->run;
    struct call_made *call = waiting_call(run, client, reply);
    if (call == NULL) {
        run_breach(run, C3, 0, "a client got a reply to a call that it did not make");
        return;
    }
    const struct house_worker *worker = &run->house->worker[client->worker];
    bool local = worker->receiving == call;
    story_told(run, call, reply, local);
    judge_told(run, call, reply, local);
    if (call->waits) {
        call->waits = false;
        client->waiting--;
    }
}

static struct sim_client *of_client(struct client *client)
{
    return container_of(client, struct sim_client, client);
}

static uint8_t *on_reserve(struct client *base, uint32_t size)
{
    struct sim_client *client = of_client(base);
    free(client->room);
    client->room = memory_get(size);
    return client->room;
}

static void on_commit(struct client *base, uint32_t len)
{
    struct sim_client *client = of_client(base);
    uint8_t *room = client->room;
    client->room = NULL;
    fibers_may_switch();
    told(client, (struct bytes){room, len});
    free(room);
}

static void on_pass(struct client *base, uint8_t *data, uint32_t len)
{
    fibers_may_switch();
    told(of_client(base), (struct bytes){data, len});
    free(data);
}

/* The connection has to be closed: that happens a little later, as with a socket. */
static void on_fail(struct client *base)
{
    struct sim_client *client = of_client(base);
    if (!client->closing)
        crowd_disconnect(client->run, client->number);
}

static const struct client_ops client_ops = {
    .reserve = on_reserve, .commit = on_commit, .pass = on_pass, .fail = on_fail};

/* ---- connections ---- */

struct client_event {
    struct event event;
    unsigned client, connection;
    uint32_t call;
};

static void client_at(struct run *run, uint64_t at, int place, const struct sim_client *client,
                      uint32_t call, void (*happen)(struct run *run, struct event *event))
{
    struct client_event *event = memory_get(sizeof(*event));
    event->client = client->number;
    event->connection = client->connection;
    event->call = call;
    run_at(run, at, place, &event->event, happen);
}

/* NULL where the connection is no more that it was meant for. */
static struct sim_client *event_client(struct run *run, const struct client_event *event)
{
    struct sim_client *client = &run->crowd->client[event->client];
    return client->connection == event->connection ? client : NULL;
}

static void on_arrive(struct run *run, struct event *base)
{
    struct client_event *event = container_of(base, struct client_event, event);
    struct sim_client *client = event_client(run, event);
    struct call_made *call = run->call[event->call];
    free(event);
    if (client == NULL || !client->connected || client->closing)
        return;
    struct house_worker *worker = &run->house->worker[client->worker];
    struct draw draw = run_draw(run, DECIDE_RECORD, call->number, call->attempts);
    bool owned = draw_permille(&draw, 500);
    uint8_t *octets = memory_copy(call->octets, call->len);
    struct record record = {octets, call->len, owned};
    house_set_clock(run, client->worker);
    call->arrived = ledger_tick(&run->ledger);
    call->answers = 0;
    worker->receiving = call;
    int err = call_receive(&worker->service, &client->client, &record);
    worker->receiving = NULL;
    if (!owned)
        free(octets);
    if (err != 0)
        run_breach(run, C3, call->number, "the proxy does not take a call: %s", strerror(-err));
}

static void send_in(struct run *run, struct sim_client *client, struct call_made *call)
{
    struct draw draw = run_draw(run, DECIDE_WAY_IN, call->number, ++call->attempts);
    uint64_t at = run->now + draw_spread(&draw, WAY_IN_LOW, WAY_IN_HIGH);
    if (at <= client->last_in)
        at = client->last_in + 1; /* octets come in the order in which they were sent */
    client->last_in = at;
    client_at(run, at, (int)client->worker, client, call->number, on_arrive);
}

/* Connects, maybe to another worker, and sends again what has no reply. */
static void on_connect(struct run *run, struct event *base)
{
    struct client_event *event = container_of(base, struct client_event, event);
    struct sim_client *client = event_client(run, event);
    free(event);
    if (client == NULL)
        return;
    struct draw draw = run_draw(run, DECIDE_WAY_IN, client->number, client->connection << 16);
    client->worker = (unsigned)draw_below(&draw, run->plan->workers);
    client->connected = true;
    client_init(&client->client, &client_ops);
    story(run, "c%u connects to w%u", client->number, client->worker);
    for (uint32_t i = 1; i < run->calls; i++) {
        if (run->call[i] != NULL && run->call[i]->client == client->number && run->call[i]->waits)
            send_in(run, client, run->call[i]);
    }
}

static void on_close(struct run *run, struct event *base)
{
    struct client_event *event = container_of(base, struct client_event, event);
    struct sim_client *client = event_client(run, event);
    free(event);
    if (client == NULL || !client->connected)
        return;
    house_set_clock(run, client->worker);
    call_client_gone(&client->client);
    free(client->room);
    client->room = NULL;
    client->connected = client->closing = false;
    client->connection++;
    struct draw draw = run_draw(run, DECIDE_WAY_IN, client->number, client->connection);
    client_at(run, run->now + draw_spread(&draw, AGAIN_LOW, AGAIN_HIGH), PLACE_OUTSIDE, client, 0,
              on_connect);
}

void crowd_disconnect(struct run *run, unsigned number)
{
    struct sim_client *client = &run->crowd->client[number];
    if (!client->connected || client->closing)
        return;
    story(run, "c%u loses its connection", number);
    client->closing = true;
    client_at(run, run->now, (int)client->worker, client, 0, on_close);
}

void crowd_disconnect_all(struct run *run)
{
    for (unsigned i = 0; i < run->plan->clients; i++) {
        struct sim_client *client = &run->crowd->client[i];
        if (!client->connected)
            continue;
        struct client_event *event = memory_get(sizeof(*event));
        event->client = i;
        event->connection = client->connection;
        on_close(run, &event->event);
    }
}

/* ---- calls ---- */

static void put_credential(struct writer *w, uint32_t who)
{
    const struct fs_who *as = crowd_who(who);
    struct rpc_auth_sys sys = {.stamp = who,
                               .machine = {(const uint8_t *)"client", 6},
                               .uid = as->uid,
                               .gid = as->gid,
                               .gid_count = as->group_count};
    memcpy(sys.gids, as->groups, sizeof(as->groups));
    uint8_t body[RPC_AUTH_BODY_MAX];
    struct writer credential = writer_over(body, sizeof body);
    rpc_auth_sys_encode(&credential, &sys);
    writer_u32(w, who == WHO_NONE ? RPC_AUTH_NONE : RPC_AUTH_SYS);
    writer_opaque(w, (struct bytes){body, who == WHO_NONE ? 0 : writer_len(&credential)});
}

static void put_header(struct writer *w, uint32_t number, uint32_t procedure, uint32_t who)
{
    bool acl = procedure >= FACTS_NFSACL;
    writer_u32(w, FIRST_XID + number);
    writer_u32(w, RPC_CALL);
    writer_u32(w, RPC_VERSION);
    writer_u32(w, acl ? RPC_PROGRAM_NFSACL : RPC_PROGRAM_NFS);
    writer_u32(w, NFS3_VERSION);
    writer_u32(w, acl ? procedure - FACTS_NFSACL : procedure);
    put_credential(w, who);
    writer_u32(w, RPC_AUTH_NONE);
    writer_u32(w, 0);
}

static void make_call(struct run *run, struct sim_client *client, uint32_t procedure, uint32_t who,
                      struct bytes args)
{
    uint8_t octets[CALL_MAX];
    struct writer w = writer_over(octets, sizeof octets);
    struct call_made *call = run->call[run->calls - 1];
    put_header(&w, call->number, procedure, who);
    uint32_t args_at = writer_len(&w);
    memcpy(writer_room(&w, args.len), args.data, args.len);
    writer_u32(&w, TAG_MAGIC);
    writer_u32(&w, call->number);
    assert(writer_ok(&w));
    call->client = client->number;
    call->who = who;
    call->len = writer_len(&w);
    call->octets = memory_copy(octets, call->len);
    call->args = (struct bytes){call->octets + args_at, args.len};
    facts_read_call(&call->read, (struct bytes){call->octets, call->len});
    call->waits = true;
    client->waiting++;
    story(run, "c%u calls %s, number %u, as uid %u", client->number, story_call(run, &call->read),
          call->number, crowd_who(who)->uid);
    if (client->connected)
        send_in(run, client, call);
}

/* The next number, whether a call is made of it or not. */
static uint32_t next_number(struct run *run)
{
    run->call = memory_room(run->call, run->calls, &run->call_room, sizeof(struct call_made *));
    run->call[run->calls] = memory_get(sizeof(struct call_made));
    run->call[run->calls]->number = run->calls;
    return run->calls++;
}

static bool omitted(const struct run *run, uint32_t number)
{
    const struct omissions *omissions = run->omissions;
    return omissions != NULL && number < omissions->size && omissions->call[number];
}

static void next_call(struct run *run, struct sim_client *client)
{
    uint8_t args[CALL_MAX];
    struct writer w = writer_over(args, sizeof args);
    uint32_t number = next_number(run);
    run->crowd->made++;
    struct draw draw = run_draw(run, DECIDE_CALL, number, 2);
    uint32_t who = (uint32_t)draw_below(&draw, run->plan->whos);
    if (!omitted(run, number)) {
        uint32_t procedure = choice_make(run, number, &w, &who);
        assert(writer_ok(&w));
        make_call(run, client, procedure, who, (struct bytes){args, writer_len(&w)});
    }
    incidents_after(run, number);
}

/*
 * Calls come when they come, whether those before are answered or not: so leaving one out changes nothing about the others.
 */
static void on_act(struct run *run, struct event *event)
{
    struct crowd *crowd = run->crowd;
    if (crowd->made == run->plan->calls) {
        free(event);
        return;
    }
    struct draw draw = run_draw(run, DECIDE_PAUSE, crowd->made, 0);
    next_call(run, &crowd->client[draw_below(&draw, run->plan->clients)]);
    run_at(run, run->now + draw_spread(&draw, run->plan->pause_low, run->plan->pause_high),
           PLACE_OUTSIDE, event, on_act);
}

/* ---- the end ---- */

static void on_probe(struct run *run, struct event *event);

static void probe_later(struct run *run, struct event *event, uint64_t pause)
{
    run_at(run, run->now + pause, PLACE_OUTSIDE, event, on_probe);
}

static bool all_quiet(const struct run *run)
{
    if (run->crowd->made < run->plan->calls)
        return false;
    for (unsigned i = 0; i < run->plan->clients; i++) {
        if (run->crowd->client[i].waiting > 0 || !run->crowd->client[i].connected)
            return false;
    }
    return true;
}

/* One after the other, each as soon as the one before is answered. */
static void on_probe(struct run *run, struct event *event)
{
    struct crowd *crowd = run->crowd;
    uint8_t args[CALL_MAX];
    struct writer w = writer_over(args, sizeof args);
    uint32_t procedure;
    if (!all_quiet(run)) {
        probe_later(run, event, crowd->ending ? PLAN_MSEC : QUIET_NSEC);
        return;
    }
    crowd->ending = true;
    if (!choice_probe(run, crowd->probes, &w, &procedure)) {
        free(event);
        return;
    }
    struct sim_client *client = &crowd->client[crowd->probes % run->plan->clients];
    if (!omitted(run, next_number(run)))
        make_call(run, client, procedure, crowd->probes % run->plan->whos,
                  (struct bytes){args, writer_len(&w)});
    crowd->probes++;
    probe_later(run, event, PLAN_USEC);
}

/* ---- from the beginning to the end ---- */

void crowd_open(struct run *run)
{
    struct crowd *crowd = memory_get(sizeof(*crowd));
    run->crowd = crowd;
    next_number(run); /* number 0 is none */
    for (unsigned i = 0; i < run->plan->clients; i++) {
        struct sim_client *client = &crowd->client[i];
        client->run = run;
        client->number = i;
        client->worker = i % run->plan->workers;
        client->connected = true;
        client_init(&client->client, &client_ops);
    }
    run_at(run, 0, PLACE_OUTSIDE, memory_get(sizeof(struct event)), on_act);
    probe_later(run, memory_get(sizeof(struct event)), QUIET_NSEC);
}

static void free_call(struct call_made *call)
{
    free(call->octets);
    free(call->effect);
    free(call);
}

void crowd_close(struct run *run)
{
    for (unsigned i = 0; i < run->plan->clients; i++)
        free(run->crowd->client[i].room);
    for (unsigned i = 0; i < run->calls; i++)
        free_call(run->call[i]);
    free(run->call);
    free(run->crowd);
}

/* ---- whose call it is that the proxy sends ---- */

/* Ours: with another xid, and nothing else different. */
static bool same_but_xid(const struct call_made *call, const struct sending *sending)
{
    return call->len == sending->len &&
           memcmp(call->octets + 4, sending->octets + 4, call->len - 4) == 0;
}

static uint32_t who_of(struct bytes octets)
{
    struct cursor c = cursor_over(octets.data, octets.len);
    struct rpc_call rpc;
    struct rpc_auth_sys sys;
    bool whole = rpc_call_decode(&c, &rpc);
    assert(whole);
    if (rpc.cred_flavor != RPC_AUTH_SYS)
        return WHO_NONE;
    whole = rpc_auth_sys_decode(rpc.cred, &sys);
    assert(whole);
    return sys.stamp;
}

void crowd_claim(struct run *run, struct sending *sending)
{
    struct bytes octets = {sending->octets, sending->len};
    const uint8_t *tag = octets.data + octets.len - TAG_LEN;
    sending->who = who_of(octets);
    sending->name = digest(octets.data + 4, octets.len - 4);
    if (bytes_load_u32(tag) != TAG_MAGIC)
        return;
    uint32_t number = bytes_load_u32(tag + 4);
    struct call_made *call = number < run->calls ? run->call[number] : NULL;
    if (call == NULL || !same_but_xid(call, sending)) {
        run_breach(run, C3, number, "a call is not forwarded as it came");
        return;
    }
    sending->call = call;
    sending->arrived = call->arrived;
    sending->next_of_call = call->sendings;
    call->sendings = sending;
}
