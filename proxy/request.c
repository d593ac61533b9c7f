/*
 * request: RFC 5531's order of refusals: RPC version, credential, program, version, procedure,
 * arguments.
 */
#include "proxy/request.h"

#include <assert.h>

static enum request_verdict accepted(struct rpc_reply *refusal, enum rpc_accept_stat stat)
{
    refusal->stat = RPC_MSG_ACCEPTED;
    refusal->accepted = stat;
    return REQUEST_REFUSED;
}

static enum request_verdict denied(struct rpc_reply *refusal, enum rpc_auth_stat why)
{
    refusal->stat = RPC_MSG_DENIED;
    refusal->rejected = RPC_AUTH_ERROR;
    refusal->auth = why;
    return REQUEST_REFUSED;
}

static enum request_verdict rpc_mismatch(struct rpc_reply *refusal)
{
    refusal->stat = RPC_MSG_DENIED;
    refusal->rejected = RPC_MISMATCH;
    refusal->low = RPC_VERSION;
    refusal->high = RPC_VERSION;
    return REQUEST_REFUSED;
}

/* The header can't be decoded. A call whose xid can be read gets an answer; anything else is no
 * RPC. */
static enum request_verdict undecodable(struct bytes record, struct rpc_reply *refusal)
{
    struct cursor c = cursor_over(record.data, record.len);
    refusal->xid = cursor_u32(&c);
    uint32_t type = cursor_u32(&c);
    if (!cursor_ok(&c) || type != RPC_CALL)
        return REQUEST_BAD;
    return denied(refusal, RPC_AUTH_BADCRED);
}

static enum request_verdict find_procedure(struct request *request, struct rpc_reply *refusal)
{
    const struct program *program = program_find(request->rpc.program);
    if (program == NULL)
        return accepted(refusal, RPC_PROG_UNAVAIL);
    if (request->rpc.version != program->version) {
        refusal->low = program->version;
        refusal->high = program->version;
        return accepted(refusal, RPC_PROG_MISMATCH);
    }
    if (request->rpc.procedure >= program->procedure_count)
        return accepted(refusal, RPC_PROC_UNAVAIL);
    request->program = program;
    request->procedure = &program->procedures[request->rpc.procedure];
    return REQUEST_OK;
}

enum request_verdict request_read(struct request *request, struct service *service,
                                  struct bytes record, struct rpc_reply *refusal)
{
    *refusal = (struct rpc_reply){.verf_flavor = RPC_AUTH_NONE};
    request->service = service;
    request->cache = service->cache;
    request->record = record;

    struct cursor c = cursor_over(record.data, record.len);
    if (!rpc_call_decode(&c, &request->rpc))
        return undecodable(record, refusal);
    refusal->xid = request->rpc.xid;
    if (request->rpc.rpc_version != RPC_VERSION)
        return rpc_mismatch(refusal);
    enum rpc_auth_stat auth =
        credential_read(&request->credential, &request->rpc, service->settings);
    if (auth != RPC_AUTH_OK)
        return denied(refusal, auth);
    enum request_verdict verdict = find_procedure(request, refusal);
    if (verdict != REQUEST_OK)
        return verdict;

    const uint8_t *cred_end = request->rpc.cred.data + ((request->rpc.cred.len + 3) & ~3u);
    request->tail = (struct bytes){cred_end, (uint32_t)(record.data + record.len - cred_end)};
    if (request->procedure->args != NULL) {
        memset(&request->args, 0, sizeof(request->args));
        if (!request->procedure->args(&c, &request->args))
            return accepted(refusal, RPC_GARBAGE_ARGS);
    }
    return REQUEST_OK;
}

void request_compose(const struct request *request, uint8_t *record, uint8_t *head,
                     struct upstream_call *sent)
{
    if (!request->credential.squashed) {
        sent->head = record;
        sent->head_len = request->record.len;
        sent->tail_len = 0;
        return;
    }
    assert(head != NULL);
    uint8_t body[RPC_AUTH_BODY_MAX];
    struct bytes cred = credential_encode(&request->credential, body);
    struct writer w = writer_over(head, REQUEST_HEAD_MAX);
    writer_u32(&w, request->rpc.xid);
    writer_u32(&w, RPC_CALL);
    writer_u32(&w, RPC_VERSION);
    writer_u32(&w, request->rpc.program);
    writer_u32(&w, request->rpc.version);
    writer_u32(&w, request->rpc.procedure);
    writer_u32(&w, RPC_AUTH_SYS);
    writer_opaque(&w, cred);
    assert(writer_ok(&w));
    sent->head = head;
    sent->head_len = writer_len(&w);
    sent->tail = request->tail.data;
    sent->tail_len = request->tail.len;
}
