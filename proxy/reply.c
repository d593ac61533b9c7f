/*
 * reply: reading the server's, and making the proxy's own.
 */
#include "proxy/reply.h"

#define REFUSAL_MAX 64u

void reply_read(struct reply *reply, const struct procedure *procedure, struct bytes record)
{
    struct cursor c = cursor_over(record.data, record.len);
    memset(&reply->res, 0, sizeof(reply->res));
    reply->decoded = false;
    reply->readable = rpc_reply_decode(&c, &reply->rpc);
    reply->executed = reply->readable && reply->rpc.stat == RPC_MSG_ACCEPTED &&
                      reply->rpc.accepted == RPC_SUCCESS;
    if (!reply->executed || procedure->res == NULL)
        return;
    reply->decoded = procedure->res(&c, &reply->res);
    if (!reply->decoded)
        memset(&reply->res, 0, sizeof(reply->res));
}

void reply_put_success(struct writer *w, uint32_t xid)
{
    writer_u32(w, xid);
    writer_u32(w, RPC_REPLY);
    writer_u32(w, RPC_MSG_ACCEPTED);
    writer_u32(w, RPC_AUTH_NONE);
    writer_u32(w, 0);
    writer_u32(w, RPC_SUCCESS);
}

static bool begin(struct client *client, uint32_t size, struct writer *w)
{
    uint8_t *room = client->ops->reserve(client, size);
    if (room == NULL) {
        client->ops->fail(client);
        return false;
    }
    *w = writer_over(room, size);
    return true;
}

void reply_refuse(struct client *client, const struct rpc_reply *refusal)
{
    struct writer w;
    if (!begin(client, REFUSAL_MAX, &w))
        return;
    rpc_reply_encode(&w, refusal);
    client->ops->commit(client, writer_len(&w));
}

void reply_null(struct client *client, uint32_t xid)
{
    struct writer w;
    if (!begin(client, REPLY_HEADER_LEN, &w))
        return;
    reply_put_success(&w, xid);
    client->ops->commit(client, writer_len(&w));
}

void reply_failure(struct client *client, const struct request *request, enum nfs3_status status)
{
    struct writer w;
    uint32_t size = REPLY_HEADER_LEN + 4 + 4 * request->procedure->absent;
    if (!begin(client, size, &w))
        return;
    reply_put_success(&w, request->rpc.xid);
    nfs3_put_failure(&w, status, request->procedure->absent);
    client->ops->commit(client, writer_len(&w));
}
