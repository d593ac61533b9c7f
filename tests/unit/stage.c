#include "stage.h"

#include <errno.h>
#include <stdio.h>

#include "cache/cache.h"
#include "proxy/call.h"

#define FIRST_XID        0x70000000u
#define CLIENT_FIRST_XID 0x1000u
#define HEADER_OK        24u

/* Not by malloc or calloc: a test may let these fail, which is meant for the proxy alone. */
static void *grab(size_t size)
{
    void *memory = reallocarray(NULL, 1, size > 0 ? size : 1);
    assert_non_null(memory);
    return memory;
}

static uint8_t *grab_copy(const uint8_t *data, uint32_t len)
{
    uint8_t *copy = grab(len);
    memcpy(copy, data, len);
    return copy;
}

/* ---- the server's side of upstream ---- */

static struct stage_worker *of_nfs(struct upstream *upstream)
{
    return container_of(upstream, struct stage_worker, nfs);
}

static struct stage_worker *of_mount(struct upstream *upstream)
{
    return container_of(upstream, struct stage_worker, mount);
}

static void sent_add(struct stage_worker *worker, struct upstream *upstream, unsigned link,
                     struct upstream_call *call)
{
    struct stage *stage = worker->stage;
    if (stage->sent_count == stage->sent_room) {
        stage->sent_room = stage->sent_room > 0 ? 2 * stage->sent_room : 64;
        stage->sent = reallocarray(stage->sent, stage->sent_room, sizeof(struct stage_sent *));
        assert_non_null(stage->sent);
    }
    struct stage_sent *sent = grab(sizeof(*sent));
    uint32_t len = call->head_len + call->tail_len;
    uint8_t *record = grab(len);
    memcpy(record, call->head, call->head_len);
    if (call->tail_len > 0)
        memcpy(record + call->head_len, call->tail, call->tail_len);
    *sent = (struct stage_sent){.worker = worker,
                                .upstream = upstream,
                                .link = link,
                                .call = call,
                                .record = {record, len}};
    struct cursor c = cursor_over(record, len);
    assert_true(rpc_call_decode(&c, &sent->rpc));
    assert_int_equal(sent->rpc.xid, call->xid);
    sent->args = (struct bytes){c.at, cursor_left(&c)};
    stage->sent[stage->sent_count++] = sent;
    if (!stage->socket_full)
        upstream_sent(upstream, call);
}

static void send_nfs(struct upstream *upstream, unsigned link, struct upstream_call *call)
{
    sent_add(of_nfs(upstream), upstream, link, call);
}

static void send_mount(struct upstream *upstream, unsigned link, struct upstream_call *call)
{
    sent_add(of_mount(upstream), upstream, link, call);
}

static void reset_nfs(struct upstream *upstream, unsigned link, enum upstream_reset why)
{
    (void)why;
    (void)link;
    of_nfs(upstream)->stage->resets++;
}

static void reset_mount(struct upstream *upstream, unsigned link, enum upstream_reset why)
{
    (void)why;
    (void)link;
    of_mount(upstream)->stage->resets++;
}

static void doubt_nfs(struct upstream *upstream)
{
    of_nfs(upstream)->stage->doubts++;
    service_doubt(&of_nfs(upstream)->service);
}

static void responding_nfs(struct upstream *upstream, bool responding)
{
    struct stage *stage = of_nfs(upstream)->stage;
    *(responding ? &stage->recoveries : &stage->silences) += 1;
}

static void responding_mount(struct upstream *upstream, bool responding)
{
    (void)upstream;
    (void)responding;
}

static const struct upstream_ops nfs_ops = {
    .send = send_nfs, .reset = reset_nfs, .doubt = doubt_nfs, .responding = responding_nfs};
static const struct upstream_ops mount_ops = {
    .send = send_mount, .reset = reset_mount, .responding = responding_mount};

/* ---- the stage ---- */

static void wake(struct engine *engine, struct call *call)
{
    struct stage_worker *worker = container_of(engine, struct stage_worker, engine);
    list_append(&worker->mail, call_mail(call));
}

static void worker_init(struct stage *stage, unsigned number, struct cache_server *server)
{
    struct stage_worker *worker = &stage->worker[number];
    struct counters *counters = &worker->service.counters;
    worker->stage = stage;
    list_init(&worker->mail);
    worker->engine = (struct engine){
        .now = 1000 * STAGE_SECOND, .cache = stage->cache, .order = stage->order, .wake = wake};
    uint32_t xid = FIRST_XID + number * 0x1000000;
    assert_int_equal(upstream_init(&worker->nfs, &nfs_ops, 1, xid, counters), 0);
    assert_int_equal(upstream_init(&worker->mount, &mount_ops, 1, xid, counters), 0);
    worker->service.engine = &worker->engine;
    worker->service.cache = server;
    worker->service.nfs = &worker->nfs;
    worker->service.mount = &worker->mount;
    service_apply(&worker->service, &stage->settings->services[0]);
    upstream_link_up(&worker->nfs, 0);
    upstream_link_up(&worker->mount, 0);
}

struct stage *stage_create_sized(const char *keys, unsigned workers, uint64_t memory)
{
    uint8_t secret[CACHE_SECRET_LEN];
    char text[1024];
    struct settings_error error;
    struct stage *stage = calloc(1, sizeof(*stage));
    assert_non_null(stage);
    snprintf(text, sizeof text, "[service home]\nserver = nas\n%s", keys);
    stage->settings = settings_parse(text, strlen(text), "f", &error);
    if (stage->settings == NULL)
        fail_msg("%s", error.text);
    struct wire_random random = {1};
    wire_fill(&random, secret, sizeof secret);
    stage->cache = cache_create(&(struct cache_options){.memory = memory, .secret = secret});
    stage->order = order_create(secret, sizeof secret);
    assert_non_null(stage->cache);
    assert_non_null(stage->order);
    struct cache_server *server = cache_server_get(stage->cache, "nas:2049");
    assert_non_null(server);
    stage->workers = workers;
    for (unsigned i = 0; i < workers; i++)
        worker_init(stage, i, server);
    return stage;
}

struct stage *stage_create(const char *keys, unsigned workers)
{
    return stage_create_sized(keys, workers, 64u << 20);
}

void stage_socket_drain(struct stage *stage)
{
    for (unsigned i = 0; i < stage->sent_count; i++) {
        struct stage_sent *sent = stage->sent[i];
        struct upstream_call *call = sent->call;
        if (call == NULL || !call->in_socket)
            continue;
        if (call->answered)
            sent->call = NULL;
        upstream_sent(sent->upstream, call);
    }
}

void stage_abandon(struct stage *stage, unsigned worker_number)
{
    struct stage_worker *worker = &stage->worker[worker_number];
    stage_socket_drain(stage);
    for (unsigned i = 0; i < stage->sent_count; i++) {
        if (stage->sent[i]->worker == worker)
            stage->sent[i]->call = NULL;
    }
    worker->service.nfs = NULL; /* what is woken now has nowhere to go */
    worker->service.mount = NULL;
    upstream_abandon(&worker->nfs);
    upstream_abandon(&worker->mount);
    stage_deliver(stage);
}

void stage_destroy(struct stage *stage)
{
    stage->socket_full = false;
    for (unsigned i = 0; i < stage->workers; i++)
        stage_abandon(stage, i);
    for (unsigned i = 0; i < stage->workers; i++) {
        assert_int_equal(stage->worker[i].engine.calls, 0);
        upstream_destroy(&stage->worker[i].nfs);
        upstream_destroy(&stage->worker[i].mount);
    }
    for (unsigned i = 0; i < stage->sent_count; i++) {
        free((void *)(uintptr_t)stage->sent[i]->record.data);
        free(stage->sent[i]);
    }
    free(stage->sent);
    order_destroy(stage->order);
    cache_destroy(stage->cache);
    settings_free(stage->settings);
    free(stage);
}

void stage_advance(struct stage *stage, uint64_t nsec)
{
    for (unsigned i = 0; i < stage->workers; i++)
        stage->worker[i].engine.now += nsec;
}

void stage_deliver(struct stage *stage)
{
    bool any = true;
    while (any) {
        any = false;
        for (unsigned i = 0; i < stage->workers; i++) {
            struct list *mail = &stage->worker[i].mail;
            if (list_empty(mail))
                continue;
            struct list *node = mail->next;
            list_remove(node);
            call_granted(call_of_mail(node));
            any = true;
        }
    }
}

static void settle(struct stage *stage)
{
    if (!stage->hold_mail)
        stage_deliver(stage);
}

void stage_link_down(struct stage *stage, unsigned worker)
{
    struct upstream *upstream = &stage->worker[worker].nfs;
    for (unsigned i = 0; i < stage->sent_count; i++) {
        struct stage_sent *sent = stage->sent[i];
        if (sent->upstream != upstream || sent->call == NULL)
            continue;
        struct upstream_call *call = sent->call;
        sent->call = NULL;
        if (call->in_socket)
            upstream_sent(upstream, call);
    }
    upstream_link_down(upstream, 0);
}

void stage_link_up(struct stage *stage, unsigned worker)
{
    upstream_link_up(&stage->worker[worker].nfs, 0);
}

/* ---- clients ---- */

static struct stage_client *of_client(struct client *client)
{
    return container_of(client, struct stage_client, client);
}

/* What was reserved before and not committed is forgotten. */
static uint8_t *client_reserve(struct client *base, uint32_t size)
{
    struct stage_client *client = of_client(base);
    assert_false(client->gone);
    free(client->room);
    client->room = client->no_memory ? NULL : grab(size);
    client->room_size = size;
    return client->room;
}

static void client_keep(struct stage_client *client, uint8_t *data, uint32_t len)
{
    struct stage_reply *reply = &client->reply[client->replies++ % STAGE_REPLIES];
    assert_true(len >= 8);
    free(reply->data);
    *reply = (struct stage_reply){rpc_xid(data), data, len};
}

static void client_commit(struct client *base, uint32_t len)
{
    struct stage_client *client = of_client(base);
    assert_non_null(client->room);
    assert_true(len <= client->room_size);
    client_keep(client, grab_copy(client->room, len), len);
    free(client->room);
    client->room = NULL;
}

static void client_pass(struct client *base, uint8_t *data, uint32_t len)
{
    assert_false(of_client(base)->gone);
    client_keep(of_client(base), data, len);
}

static void client_fail(struct client *base)
{
    of_client(base)->failures++;
}

static const struct client_ops client_ops = {
    .reserve = client_reserve, .commit = client_commit, .pass = client_pass, .fail = client_fail};

void stage_client_init(struct stage_client *client, struct stage *stage, unsigned worker,
                       struct who who)
{
    memset(client, 0, sizeof(*client));
    client_init(&client->client, &client_ops);
    client->worker = &stage->worker[worker];
    client->who = who;
    client->xid = CLIENT_FIRST_XID;
}

void stage_client_leave(struct stage_client *client)
{
    call_client_gone(&client->client);
    client->gone = true;
}

void stage_client_done(struct stage_client *client)
{
    if (!client->gone)
        stage_client_leave(client);
    for (unsigned i = 0; i < STAGE_REPLIES; i++) {
        free(client->reply[i].data);
        client->reply[i].data = NULL;
    }
    free(client->room);
    client->room = NULL;
}

const struct stage_reply *stage_reply_find(const struct stage_client *client, uint32_t xid)
{
    const struct stage_reply *found = NULL;
    for (unsigned i = 0; i < STAGE_REPLIES; i++) {
        if (client->reply[i].data == NULL || client->reply[i].xid != xid)
            continue;
        assert_null(found); /* a call is answered once */
        found = &client->reply[i];
    }
    return found;
}

int stage_receive(struct stage_client *client, struct bytes octets)
{
    struct stage *stage = client->worker->stage;
    bool owned = stage->turn++ & 1;
    uint8_t *data = grab_copy(octets.data, octets.len);
    struct record record = {data, octets.len, owned};
    int err = call_receive(&client->worker->service, &client->client, &record);
    if (!owned)
        free(data);
    settle(stage);
    return err;
}

uint32_t stage_call(struct stage_client *client, unsigned procedure, struct body args)
{
    struct body record = stage_record(++client->xid, procedure, &client->who, &args);
    assert_int_equal(stage_receive(client, body_bytes(&record)), 0);
    return client->xid;
}

/* ---- the server ---- */

struct stage_sent *stage_next(struct stage *stage)
{
    for (unsigned i = 0; i < stage->sent_count; i++) {
        struct stage_sent *sent = stage->sent[i];
        if (sent->call == NULL || sent->taken)
            continue;
        sent->taken = true;
        return sent;
    }
    return NULL;
}

unsigned stage_waiting(const struct stage *stage)
{
    unsigned count = 0;
    for (unsigned i = 0; i < stage->sent_count; i++)
        count += stage->sent[i]->call != NULL && !stage->sent[i]->taken;
    return count;
}

static void answer(struct stage_sent *sent, const uint8_t *octets, uint32_t len)
{
    struct stage *stage = sent->worker->stage;
    assert_non_null(sent->call);
    bool owned = stage->turn++ & 1;
    uint8_t *data = grab_copy(octets, len);
    struct record record = {data, len, owned};
    rpc_xid_replace(data, sent->rpc.xid);
    if (sent->call->in_socket)
        sent->taken = true; /* drained later */
    else
        sent->call = NULL;
    upstream_receive(sent->upstream, sent->link, &record);
    if (!owned)
        free(data);
    settle(stage);
}

void stage_answer(struct stage_sent *sent, struct body results)
{
    struct body body = {0};
    const uint32_t header[] = {0, RPC_REPLY, RPC_MSG_ACCEPTED, RPC_AUTH_NONE, 0, RPC_SUCCESS};
    for (unsigned i = 0; i < sizeof(header) / sizeof(header[0]); i++)
        body_u32(&body, header[i]);
    body_raw(&body, results.data, results.len);
    answer(sent, body.data, body.len);
}

void stage_answer_rpc(struct stage_sent *sent, struct rpc_reply reply)
{
    uint8_t octets[64];
    struct writer w = writer_over(octets, sizeof octets);
    rpc_reply_encode(&w, &reply);
    answer(sent, octets, writer_len(&w));
}

void stage_answer_raw(struct stage_sent *sent, struct bytes octets)
{
    struct body body = {0};
    body_u32(&body, 0);
    body_raw(&body, octets.data, octets.len);
    answer(sent, body.data, body.len);
}
