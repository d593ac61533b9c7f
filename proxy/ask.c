/*
 * ask: builds the call, and harvests its reply before it is handed on.
 */
#include "proxy/ask.h"

#include <assert.h>
#include <stdlib.h>

#include "proxy/upstream.h"

/* The header with any credential, and the lengths and padding of a handle and a name. */
#define HEADER_MAX (48u + RPC_AUTH_BODY_MAX + 16u)

struct ask {
    struct upstream_call sent;
    struct call *call;
    ask_answered *answered;
    struct track_question question;
    struct request request; /* as if the client had asked; for harvesting */
    cache_stamp sent_at;
    uint32_t size;
    uint8_t record[]; /* `size` octets */
};

static void ask_replied(struct upstream_call *sent, struct record *record)
{
    struct ask *ask = container_of(sent, struct ask, sent);
    if (record == NULL) {
        ask->answered(ask->call, &ask->question, NULL);
        return;
    }
    struct reply reply;
    reply_read(&reply, ask->request.procedure, (struct bytes){record->data, record->len});
    reply.sent = ask->sent_at;
    reply.received = cache_tick(ask->request.cache);
    reply.asked = sent->since;
    if (reply.decoded)
        ask->request.procedure->harvest(&ask->request, &reply);
    ask->answered(ask->call, &ask->question, &reply);
    if (record->owned)
        free(record->data);
}

static void ask_release(struct upstream_call *sent)
{
    free(container_of(sent, struct ask, sent));
}

static bool is_lookup(enum track_question_kind kind)
{
    return kind == TRACK_ASK_BEHIND || kind == TRACK_ASK_BEHIND2;
}

static const struct procedure *ask_procedure(enum track_question_kind kind)
{
    const struct procedure *nfs = programs[PROGRAM_NFS].procedures;
    return is_lookup(kind) ? &nfs[NFS3_LOOKUP] : &nfs[NFS3_GETATTR];
}

/* Whether the call's own credential is squashed or not, the question goes out with what its call
 * goes out with. */
static void ask_encode(struct ask *ask, const struct request *from)
{
    uint8_t body[RPC_AUTH_BODY_MAX];
    struct rpc_call rpc = {
        .rpc_version = RPC_VERSION,
        .program = RPC_PROGRAM_NFS,
        .version = NFS3_VERSION,
        .procedure = (uint32_t)(ask->request.procedure - ask->request.program->procedures),
        .cred_flavor = from->rpc.cred_flavor,
        .cred =
            from->credential.squashed ? credential_encode(&from->credential, body) : from->rpc.cred,
        .verf_flavor = RPC_AUTH_NONE,
    };
    struct writer w = writer_over(ask->record, ask->size);
    rpc_call_encode(&w, &rpc);
    if (is_lookup(ask->question.kind))
        nfs3_put_dirop(&w, ask->question.handle, ask->question.name);
    else
        writer_opaque(&w, ask->question.handle);
    assert(writer_ok(&w));
    ask->size = writer_len(&w);
}

struct ask *ask_server(struct call *call, const struct request *request,
                       const struct track_question *question, ask_answered *answered)
{
    struct service *service = request->service;
    uint32_t size = HEADER_MAX + NFS3_FH_MAX + question->name.len;
    struct ask *ask = malloc(sizeof(*ask) + size);
    if (ask == NULL)
        return NULL;
    *ask = (struct ask){.call = call,
                        .answered = answered,
                        .question = *question,
                        .request = *request,
                        .size = size};
    ask->request.program = &programs[PROGRAM_NFS];
    ask->request.procedure = ask_procedure(question->kind);
    ask->request.args = (struct nfs3_args){.object = question->handle, .name = question->name};
    ask->request.credential.identity.gids = ask->request.credential.sys.gids;
    ask_encode(ask, request);

    ask->sent.head = ask->record;
    ask->sent.head_len = ask->size;
    ask->sent.replied = ask_replied;
    ask->sent.release = ask_release;
    ask->sent_at = cache_tick(request->cache);
    if (service_submit(service, ask->request.program, request->cache, &ask->sent) != 0) {
        free(ask);
        return NULL;
    }
    counter_add(&service_counters(service, ask->request.program, ask->request.procedure)->asked, 1);
    return ask;
}

bool ask_withdraw(struct ask *ask)
{
    if (!upstream_withdraw(&ask->sent))
        return false;
    free(ask);
    return true;
}
