/*
 * request: a call, decoded as far as it is needed.
 *
 * Header, credential, and for NFS and NFSACL the arguments. All views stand in the record.
 */
#ifndef PROXY_REQUEST_H
#define PROXY_REQUEST_H

#include "proxy/credential.h"
#include "proxy/procedure.h"
#include "proxy/service.h"
#include "proxy/upstream.h"
#include "xdr/rpc.h"

struct request {
    struct service *service;
    struct cache_server *cache; /* the service's when the call came; a reload may change that */
    const struct program *program;
    const struct procedure *procedure;
    struct bytes record;
    struct bytes tail; /* what follows the credential: verifier and arguments, never changed */
    struct rpc_call rpc;
    struct credential credential;
    struct nfs3_args args;
};

enum request_verdict {
    REQUEST_OK,
    REQUEST_REFUSED, /* the client gets `refusal` */
    REQUEST_BAD,     /* no RPC call: the connection is closed */
};

/* `refusal` is filled in where REFUSED. The request's views stand in `record`, and live as long as it does. */
enum request_verdict request_read(struct request *request, struct service *service,
                                  struct bytes record, struct rpc_reply *refusal);

/* A header with a credential of any size. */
#define REQUEST_HEAD_MAX (24u + 8u + RPC_AUTH_BODY_MAX)

/*
 * What goes up for it: its record as it came, or the header of a squashed call in front of the same tail. `record` is the
 * request's own; `head` has room for REQUEST_HEAD_MAX octets where the credential is squashed. Both stay until the call
 * is released.
 */
void request_compose(const struct request *request, uint8_t *record, uint8_t *head,
                     struct upstream_call *sent);

/* A view of the request's credential and service for the cache. */
static inline struct cache_reader request_reader(const struct request *request)
{
    return (struct cache_reader){
        .server = request->cache,
        .ages = &request->service->ages,
        .credential = &request->credential.identity,
        .now = request->service->engine->now,
    };
}

/* True when a call of this procedure may change something. */
static inline bool request_mutates(const struct request *request)
{
    return request->procedure->changes != 0;
}

#endif
