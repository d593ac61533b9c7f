/*
 * reply: what the server sent back, decoded as far as it is needed; and the replies the proxy makes
 * itself.
 */
#ifndef PROXY_REPLY_H
#define PROXY_REPLY_H

#include "cache/cache.h"
#include "proxy/client.h"
#include "proxy/request.h"
#include "xdr/rpc.h"

struct reply {
    struct rpc_reply rpc;
    bool readable; /* `rpc` is */
    bool executed; /* the server took the call (MSG_ACCEPTED, SUCCESS) */
    bool decoded;  /* … and `res` could be read */
    struct nfs3_res res;
    cache_stamp sent, received;
    uint64_t asked; /* engine.now when its call was sent, the first time */
};

/* Never fails: what can't be read is said by `executed` and `decoded`. */
void reply_read(struct reply *reply, const struct procedure *procedure, struct bytes record);

/* A successful reply's header. */
void reply_put_success(struct writer *w, uint32_t xid);
#define REPLY_HEADER_LEN 24u

/* Replies of the proxy's own, to the client at once. */
void reply_refuse(struct client *client, const struct rpc_reply *refusal);
void reply_null(struct client *client, uint32_t xid);
void reply_failure(struct client *client, const struct request *request, enum nfs3_status status);

#endif
