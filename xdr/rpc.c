#include "xdr/rpc.h"

#include <assert.h>

bool rpc_call_decode(struct cursor *c, struct rpc_call *call)
{
    *call = (struct rpc_call){.xid = cursor_u32(c)};
    if (cursor_u32(c) != RPC_CALL)
        cursor_fail(c);
    call->rpc_version = cursor_u32(c);
    if (call->rpc_version != RPC_VERSION)
        return cursor_ok(c);
    call->program = cursor_u32(c);
    call->version = cursor_u32(c);
    call->procedure = cursor_u32(c);
    call->cred_flavor = cursor_u32(c);
    call->cred = cursor_opaque(c, RPC_AUTH_BODY_MAX);
    call->verf_flavor = cursor_u32(c);
    call->verf = cursor_opaque(c, RPC_AUTH_BODY_MAX);
    return cursor_ok(c);
}

static void decode_versions(struct cursor *c, struct rpc_reply *reply)
{
    reply->low = cursor_u32(c);
    reply->high = cursor_u32(c);
}

static void decode_accepted(struct cursor *c, struct rpc_reply *reply)
{
    reply->verf_flavor = cursor_u32(c);
    reply->verf = cursor_opaque(c, RPC_AUTH_BODY_MAX);
    uint32_t accepted = cursor_u32(c);
    if (accepted > RPC_SYSTEM_ERR)
        cursor_fail(c);
    reply->accepted = (enum rpc_accept_stat)accepted;
    if (accepted == RPC_PROG_MISMATCH)
        decode_versions(c, reply);
}

static void decode_denied(struct cursor *c, struct rpc_reply *reply)
{
    uint32_t rejected = cursor_u32(c);
    if (rejected > RPC_AUTH_ERROR)
        cursor_fail(c);
    reply->rejected = (enum rpc_reject_stat)rejected;
    if (rejected == RPC_MISMATCH)
        decode_versions(c, reply);
    else
        reply->auth = (enum rpc_auth_stat)cursor_u32(c);
}

bool rpc_reply_decode(struct cursor *c, struct rpc_reply *reply)
{
    *reply = (struct rpc_reply){.xid = cursor_u32(c)};
    if (cursor_u32(c) != RPC_REPLY)
        cursor_fail(c);
    uint32_t stat = cursor_u32(c);
    if (stat > RPC_MSG_DENIED)
        cursor_fail(c);
    reply->stat = (enum rpc_reply_stat)stat;
    if (stat == RPC_MSG_ACCEPTED)
        decode_accepted(c, reply);
    else
        decode_denied(c, reply);
    return cursor_ok(c);
}

bool rpc_auth_sys_decode(struct bytes body, struct rpc_auth_sys *sys)
{
    struct cursor c = cursor_over(body.data, body.len);
    sys->stamp = cursor_u32(&c);
    sys->machine = cursor_opaque(&c, RPC_MACHINE_NAME_MAX);
    sys->uid = cursor_u32(&c);
    sys->gid = cursor_u32(&c);
    sys->gid_count = cursor_u32(&c);
    if (sys->gid_count > RPC_AUTH_SYS_GIDS_MAX) {
        sys->gid_count = 0;
        return false;
    }
    for (uint32_t i = 0; i < sys->gid_count; i++)
        sys->gids[i] = cursor_u32(&c);
    return cursor_ok(&c) && cursor_left(&c) == 0;
}

void rpc_call_encode(struct writer *w, const struct rpc_call *call)
{
    writer_u32(w, call->xid);
    writer_u32(w, RPC_CALL);
    writer_u32(w, call->rpc_version);
    writer_u32(w, call->program);
    writer_u32(w, call->version);
    writer_u32(w, call->procedure);
    writer_u32(w, call->cred_flavor);
    writer_opaque(w, call->cred);
    writer_u32(w, call->verf_flavor);
    writer_opaque(w, call->verf);
}

void rpc_auth_sys_encode(struct writer *w, const struct rpc_auth_sys *sys)
{
    assert(sys->gid_count <= RPC_AUTH_SYS_GIDS_MAX);
    writer_u32(w, sys->stamp);
    writer_opaque(w, sys->machine);
    writer_u32(w, sys->uid);
    writer_u32(w, sys->gid);
    writer_u32(w, sys->gid_count);
    for (uint32_t i = 0; i < sys->gid_count; i++)
        writer_u32(w, sys->gids[i]);
}

static void encode_versions(struct writer *w, const struct rpc_reply *reply)
{
    writer_u32(w, reply->low);
    writer_u32(w, reply->high);
}

void rpc_reply_encode(struct writer *w, const struct rpc_reply *reply)
{
    writer_u32(w, reply->xid);
    writer_u32(w, RPC_REPLY);
    writer_u32(w, reply->stat);
    if (reply->stat == RPC_MSG_ACCEPTED) {
        writer_u32(w, reply->verf_flavor);
        writer_opaque(w, reply->verf);
        writer_u32(w, reply->accepted);
        if (reply->accepted == RPC_PROG_MISMATCH)
            encode_versions(w, reply);
        return;
    }
    writer_u32(w, reply->rejected);
    if (reply->rejected == RPC_MISMATCH)
        encode_versions(w, reply);
    else
        writer_u32(w, reply->auth);
}

uint32_t rpc_xid(const uint8_t *record)
{
    return bytes_load_u32(record);
}

void rpc_xid_replace(uint8_t *record, uint32_t xid)
{
    bytes_store_u32(record, xid);
}
