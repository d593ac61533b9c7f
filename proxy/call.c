/*
 * call: the way of a call. Read call_receive first, then call_advance.
 *
 * What can fail: memory (the client's connection is closed, it sends the call again on a new one)
 * and nothing else; the server's trouble is waited out by upstream.
 */
#include "proxy/call.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "proxy/answer.h"
#include "proxy/ask.h"
#include "proxy/reply.h"
#include "proxy/request.h"
#include "proxy/track.h"
#include "proxy/verify.h"

enum call_state {
    CALL_RECEIVED,
    CALL_QUEUED,
    CALL_RESOLVING,
    CALL_FORWARDED,
    CALL_CHECKING,
    CALL_ENDED,
    CALL_STATES,
};

#define TO(state) (1u << (state))

static const unsigned allowed[CALL_STATES] = {
    [CALL_RECEIVED] = TO(CALL_QUEUED) | TO(CALL_RESOLVING) | TO(CALL_FORWARDED) | TO(CALL_ENDED),
    [CALL_QUEUED] = TO(CALL_RESOLVING) | TO(CALL_FORWARDED) | TO(CALL_ENDED),
    [CALL_RESOLVING] = TO(CALL_RESOLVING) | TO(CALL_QUEUED) | TO(CALL_FORWARDED) | TO(CALL_ENDED),
    [CALL_FORWARDED] = TO(CALL_CHECKING) | TO(CALL_ENDED),
    [CALL_CHECKING] = TO(CALL_CHECKING) | TO(CALL_ENDED),
    [CALL_ENDED] = 0,
};

/* Replies without a bound of their own are this large at most, as far as accounting goes. */
#define REPLY_COST 1024u
/* A count that no server answers in full is not accounted in full either. */
#define REPLY_COST_MAX (64u << 20)

struct call {
    struct list of_client; /* client.calls, while the client is there */
    struct list mail;
    struct client *client; /* NULL: gone */
    enum call_state state;
    struct request request;
    uint64_t cost;
    cache_stamp sent_at;
    struct track *track; /* mutations only */
    struct ask *ask;     /* that is open, or NULL */
    struct record reply; /* owned; while CHECKING */
    struct record record;
    struct upstream_call sent;
    uint8_t *head; /* a squashed call's header: REQUEST_HEAD_MAX octets of `room` */
    uint8_t room[];
};

static void call_move(struct call *call, enum call_state state)
{
    assert(allowed[call->state] & TO(state));
    call->state = state;
}

/* ---- the end ---- */

static void call_free(struct call *call)
{
    call->request.service->engine->calls--;
    if (call->record.owned)
        free(call->record.data);
    if (call->reply.owned)
        free(call->reply.data);
    free(call->track);
    free(call);
}

static void call_leave_client(struct call *call)
{
    struct client *client = call->client;
    if (client == NULL)
        return;
    list_remove(&call->of_client);
    call->client = NULL;
    client->inflight--;
    client->cost -= call->cost;
    if (client->ops->relieved != NULL)
        client->ops->relieved(client);
}

/* The reply goes to the client with the xid it knows. What the record owned is gone afterwards. */
static void client_reply(struct client *client, uint32_t xid, struct record *reply)
{
    rpc_xid_replace(reply->data, xid);
    if (reply->owned) {
        client->ops->pass(client, reply->data, reply->len);
        reply->owned = false;
    } else {
        client_copy(client, reply->data, reply->len);
    }
}

/* Fences are lowered first, then the client gets its reply, then the next in line may go. */
static void call_end(struct call *call, struct record *reply)
{
    call_move(call, CALL_ENDED);
    if (call->track != NULL)
        track_end(call->track, &call->request);
    if (call->client != NULL && reply->data != NULL)
        client_reply(call->client, call->request.rpc.xid, reply);
    if (call->track != NULL)
        order_release(&call->track->ticket);
    call_leave_client(call);
}

/* Nothing of it was sent, and nothing will be: its client sends it again, on another connection. */
static void call_abandon(struct call *call)
{
    struct client *client = call->client;
    call_move(call, CALL_ENDED);
    if (call->track != NULL)
        order_release(&call->track->ticket);
    call_leave_client(call);
    call_free(call);
    if (client != NULL)
        client->ops->fail(client);
}

/* Nothing of it has been sent: the server does not know of it, nor of a question on its behalf. */
static bool call_withdraw(struct call *call)
{
    switch (call->state) {
    case CALL_RESOLVING:
        return call->ask != NULL && ask_withdraw(call->ask);
    case CALL_FORWARDED:
        if (!upstream_withdraw(&call->sent))
            return false;
        if (call->track != NULL)
            track_end(call->track, &call->request);
        return true;
    default:
        return false;
    }
}

/* What the server has not been sent it need not be sent any more: the client will send it again. What it may execute
 * goes on. A call that waits for its turn, or for an answer that is on its way, finds out for itself. */
void call_client_gone(struct client *client)
{
    while (!list_empty(&client->calls)) {
        struct call *call = container_of(client->calls.next, struct call, of_client);
        list_remove(&call->of_client);
        call->client = NULL;
        if (call_withdraw(call))
            call_abandon(call);
    }
    client->inflight = 0;
    client->cost = 0;
}

/* What the proxy would have to know can't be asked: then nothing is trusted. */
static void call_doubt(struct call *call)
{
    const struct service *service = call->request.service;
    cache_doubt(call->request.cache, service->engine->now + service->settings->doubt);
}

/* ---- what the proxy asks on behalf of a call (ask.h) ---- */

static void call_advance(struct call *call);

/* A call that the socket still sends from is freed by call_released. */
static void call_end_checked(struct call *call)
{
    call_end(call, &call->reply);
    if (!call->sent.in_socket)
        call_free(call);
}

/* The proxy stops while a question is open. */
static void call_give_up(struct call *call)
{
    if (call->state != CALL_CHECKING) {
        call_abandon(call);
        return;
    }
    call_end_checked(call);
}

static void call_answered(struct call *call, const struct track_question *question,
                          const struct reply *reply)
{
    call->ask = NULL;
    if (reply == NULL) {
        call_give_up(call);
        return;
    }
    track_answer(call->track, &call->request, question, reply);
    call_advance(call);
}

/* False where it can't be asked. */
static bool call_ask(struct call *call, const struct track_question *question)
{
    call->ask = ask_server(call, &call->request, question, call_answered);
    return call->ask != NULL;
}

/* ---- forward, and back ---- */

static void call_released(struct upstream_call *sent)
{
    struct call *call = container_of(sent, struct call, sent);
    /* A call that is still being checked is freed when that is done. */
    if (call->state == CALL_ENDED)
        call_free(call);
}

static void call_keep_reply(struct call *call, struct record *reply)
{
    if (!reply->owned) {
        uint8_t *copy = malloc(reply->len);
        if (copy == NULL) {
            /* The call was executed and stays tracked, but its reply is lost to the client, as on a
             * bad line. */
            if (call->client != NULL)
                call->client->ops->fail(call->client);
            call->reply = (struct record){NULL, 0, false};
            return;
        }
        memcpy(copy, reply->data, reply->len);
        reply->data = copy;
    }
    call->reply = (struct record){reply->data, reply->len, true};
    reply->owned = false;
}

static void call_replied(struct upstream_call *sent, struct record *record)
{
    struct call *call = container_of(sent, struct call, sent);
    const struct request *request = &call->request;
    if (record == NULL) {
        struct record none = {NULL, 0, false};
        call_end(call, &none);
        return;
    }
    struct reply reply;
    reply_read(&reply, request->procedure, (struct bytes){record->data, record->len});
    reply.sent = call->sent_at;
    reply.received = cache_tick(request->cache);
    reply.asked = sent->since;

    if (call->track != NULL) {
        track_reply(call->track, request, &reply);
        struct track_question question = track_question(call->track, request);
        if (question.kind != TRACK_NOTHING) {
            call_move(call, CALL_CHECKING);
            call_keep_reply(call, record);
            if (call_ask(call, &question))
                return;
            call_doubt(call); /* it can't be asked: then nothing is trusted */
            record = &call->reply;
        }
    } else if (reply.decoded && request->procedure->harvest != NULL) {
        request->procedure->harvest(request, &reply);
    }
    call_end(call, record);
    if (record->owned) {
        free(record->data);
        record->owned = false;
    }
}

static void call_forward(struct call *call)
{
    struct service *service = call->request.service;
    if (call->track != NULL)
        call->sent_at = track_begin(call->track, &call->request);
    else
        call->sent_at = cache_tick(service->cache);
    call_move(call, CALL_FORWARDED);
    request_compose(&call->request, call->record.data, call->head, &call->sent);
    int err = service_submit(service, call->request.program, call->request.cache, &call->sent);
    if (err != 0) {
        if (call->track != NULL)
            track_end(call->track, &call->request);
        call_abandon(call);
        return;
    }
    counter_add(
        &service_counters(service, call->request.program, call->request.procedure)->forwarded, 1);
}

/* Nothing more can be found out about the directories. */
static void call_line_up(struct call *call)
{
    call_move(call, CALL_QUEUED);
    track_order(call->track, &call->request);
    if (order_take(&call->track->ticket))
        call_granted(call);
}

/* What has to be known is known, or is asked for. */
static void call_advance(struct call *call)
{
    struct track_question question = track_question(call->track, &call->request);
    bool before = call->state != CALL_CHECKING;
    if (before && call->client == NULL) {
        call_abandon(call);
        return;
    }
    if (question.kind != TRACK_NOTHING) {
        if (before)
            call_move(call, CALL_RESOLVING);
        if (call_ask(call, &question))
            return;
        if (before) {
            call_abandon(call);
            return;
        }
        call_doubt(call);
    }
    if (before && !call->track->ordered) {
        call_line_up(call);
        return;
    }
    if (before) {
        call_forward(call);
        return;
    }
    call_end_checked(call);
}

void call_granted(struct call *call)
{
    assert(call->state == CALL_QUEUED);
    track_resolve(call->track, &call->request);
    call_advance(call);
}

static void ticket_granted(struct order_ticket *ticket)
{
    struct track *track = container_of(ticket, struct track, ticket);
    struct call *call = track->call;
    struct engine *engine = call->request.service->engine;
    engine->wake(engine, call);
}

struct list *call_mail(struct call *call)
{
    return &call->mail;
}

struct call *call_of_mail(struct list *node)
{
    return container_of(node, struct call, mail);
}

/* ---- the beginning ---- */

static uint64_t call_cost(const struct request *request)
{
    uint64_t reply = REPLY_COST;
    if (request->procedure->sized)
        reply += request->args.count < REPLY_COST_MAX ? request->args.count : REPLY_COST_MAX;
    return request->record.len + reply;
}

/* The call takes over what `record` owns, or a copy of it; on -ENOMEM it is as it was. */
static struct call *call_create(const struct request *request, struct client *client,
                                struct record *record)
{
    size_t head = request->credential.squashed ? REQUEST_HEAD_MAX : 0;
    struct call *call = calloc(1, sizeof(*call) + head + (record->owned ? 0 : record->len));
    if (call == NULL)
        return NULL;
    if (request_mutates(request)) {
        call->track = malloc(sizeof(*call->track));
        if (call->track == NULL) {
            free(call);
            return NULL;
        }
    }
    call->head = call->room;
    call->record = *record;
    if (!record->owned) {
        call->record.data = call->room + head;
        memcpy(call->record.data, record->data, record->len);
    }
    record->owned = false;

    call->state = CALL_RECEIVED;
    call->client = client;
    call->cost = call_cost(request);
    call->sent.replied = call_replied;
    call->sent.release = call_released;
    list_append(&client->calls, &call->of_client);
    list_init(&call->mail);
    client->inflight++;
    client->cost += call->cost;
    request->service->engine->calls++;
    return call;
}

static int call_start(const struct request *request, struct client *client, struct record *record)
{
    struct rpc_reply refusal;
    struct call *call = call_create(request, client, record);
    if (call == NULL)
        return -ENOMEM;
    /* Once more, so that all views stand in memory that the call owns. */
    enum request_verdict verdict =
        request_read(&call->request, request->service,
                     (struct bytes){call->record.data, call->record.len}, &refusal);
    assert(verdict == REQUEST_OK);

    if (call->track == NULL) {
        call_forward(call);
        return 0;
    }
    track_init(call->track, &call->request, call, ticket_granted);
    call_advance(call);
    return 0;
}

/* Into memory of the client's, to be committed at once. NULL where the cache can't say. */
static inline uint8_t *call_answer(const struct request *request, struct client *client,
                                   uint32_t *len)
{
    const uint32_t size = REPLY_HEADER_LEN + ANSWER_MAX;
    uint8_t *room = client->ops->reserve(client, size);
    if (room == NULL)
        return NULL;
    struct writer w = writer_over(room, size);
    reply_put_success(&w, request->rpc.xid);
    if (!request->procedure->answer(request, &w))
        return NULL;
    assert(writer_ok(&w));
    *len = writer_len(&w);
    return room;
}

/* By itself, so that hits that are not checked pay for one branch and nothing else. */
static __attribute__((noinline)) bool call_hit_verified(const struct request *request,
                                                        struct client *client)
{
    struct verify_before before;
    uint32_t len;
    verify_look(request, &before);
    const uint8_t *reply = call_answer(request, client, &len);
    if (reply == NULL)
        return false;
    struct bytes results = {reply + REPLY_HEADER_LEN, len - REPLY_HEADER_LEN};
    struct verification *verification = verify_take(request, &before, results);
    client->ops->commit(client, len);
    if (verification != NULL)
        verify_send(verification);
    return true;
}

/* True when the cache has answered. */
static bool call_hit(const struct request *request, struct client *client)
{
    uint32_t len;
    if (request->procedure->answer == NULL || !request->credential.plain)
        return false;
    if (verify_on(request->service))
        return call_hit_verified(request, client);
    if (call_answer(request, client, &len) == NULL)
        return false;
    client->ops->commit(client, len);
    return true;
}

static int call_dispatch(const struct request *request, struct client *client,
                         struct record *record)
{
    struct procedure_counters *counters =
        service_counters(request->service, request->program, request->procedure);
    counter_add(&counters->calls, 1);
    if (request->procedure->local) {
        reply_null(client, request->rpc.xid);
        return 0;
    }
    if (request_mutates(request) && request->service->settings->read_only) {
        counter_add(&counters->refused, 1);
        reply_failure(client, request, NFS3ERR_ROFS);
        return 0;
    }
    if (call_hit(request, client)) {
        counter_add(&counters->hits, 1);
        return 0;
    }
    return call_start(request, client, record);
}

int call_receive(struct service *service, struct client *client, struct record *record)
{
    struct request request;
    struct rpc_reply refusal;
    int err = 0;
    switch (request_read(&request, service, (struct bytes){record->data, record->len}, &refusal)) {
    case REQUEST_OK:
        err = call_dispatch(&request, client, record);
        break;
    case REQUEST_REFUSED:
        counter_add(&service->counters.rpc_errors, 1);
        reply_refuse(client, &refusal);
        break;
    case REQUEST_BAD:
        counter_add(&service->counters.bad_records, 1);
        err = -EPROTO;
        break;
    }
    if (record->owned) {
        free(record->data);
        record->owned = false;
    }
    return err;
}
