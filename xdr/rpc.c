#include "xdr/rpc.h"

#include <assert.h>
#include <stddef.h>

/*
 * Every call comes through here. The cursor is a copy that lives in registers, and fields of fixed
 * size are bounded together: done field by field it takes twice the instructions.
 */
bool rpc_call_decode(struct cursor *cursor, struct rpc_call *call)
{
    struct cursor c = *cursor;
    const uint8_t *start = cursor_take(&c, 12); /* xid, type, RPC version */
    if (!start || bytes_load_u32(start + 4) != RPC_CALL)
        goto malformed;
    uint32_t version = bytes_load_u32(start + 8);
    if (version != RPC_VERSION) {
        *call = (struct rpc_call){.xid = bytes_load_u32(start), .rpc_version = version};
        *cursor = c;
        return true;
    }
    call->xid = bytes_load_u32(start);
    call->rpc_version = version;
    const uint8_t *rest =
        cursor_take(&c, 20); /* three numbers, the credential's flavor and length */
    if (!rest)
        goto malformed;
    call->program = bytes_load_u32(rest);
    call->version = bytes_load_u32(rest + 4);
    call->procedure = bytes_load_u32(rest + 8);
    call->cred_flavor = bytes_load_u32(rest + 12);
    uint32_t cred_len = bytes_load_u32(rest + 16);
    if (cred_len > RPC_AUTH_BODY_MAX)
        goto malformed;
    call->cred = cursor_fixed(&c, cred_len);
    const uint8_t *verf = cursor_take(&c, 8); /* the verifier's flavor and length */
    if (!verf)
        goto malformed;
    call->verf_flavor = bytes_load_u32(verf);
    uint32_t verf_len = bytes_load_u32(verf + 4);
    if (verf_len > RPC_AUTH_BODY_MAX)
        goto malformed;
    call->verf = cursor_fixed(&c, verf_len);
    if (!cursor_ok(&c))
        goto malformed;
    *cursor = c;
    return true;
malformed:
    *call = (struct rpc_call){0};
    cursor_fail(cursor);
    return false;
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
    sys->gid_count = 0;
    sys->stamp = cursor_u32(&c);
    sys->machine = cursor_opaque(&c, RPC_MACHINE_NAME_MAX);
    const uint8_t *ids = cursor_take(&c, 12); /* uid, gid, count of gids */
    if (!ids)
        return false;
    sys->uid = bytes_load_u32(ids);
    sys->gid = bytes_load_u32(ids + 4);
    uint32_t count = bytes_load_u32(ids + 8);
    if (count > RPC_AUTH_SYS_GIDS_MAX || cursor_left(&c) != 4 * count)
        return false;
    for (uint32_t i = 0; i < count; i++)
        sys->gids[i] = bytes_load_u32(c.at + (size_t)4 * i);
    sys->gid_count = count;
    return true;
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
