/*
 * connection: one client's TCP connection.
 *
 * Hands its records to call.c and queues the replies. Stops reading while the client has more in
 * flight, or takes less of what is queued for it, than the limits below; so nobody waits but the
 * client itself.
 */
#ifndef PROXY_CONNECTION_H
#define PROXY_CONNECTION_H

#include "proxy/client.h"
#include "proxy/log.h"
#include "proxy/service.h"
#include "proxy/stream.h"

/* A record larger than what servers announce (FSINFO wtmax) with room for the header is nobody's
 * call. */
#define CONNECTION_RECORD_MAX   ((64u << 20) + 4096u)
#define CONNECTION_INFLIGHT_MAX 1024u
#define CONNECTION_OCTETS_MAX   (16u << 20) /* held by calls, expected as replies, and queued */

struct connection;

struct connection_owner {
    struct log *log;
    struct log_limit *bad_records;
    /* The connection is gone and freed. */
    void (*closed)(struct connection_owner *owner);
};

struct connection {
    struct list node; /* for the owner */
    struct client client;
    struct stream stream;
    struct service *service;
    struct connection_owner *owner;
    char peer[64];
    bool draining; /* no more calls; closes when those in flight are answered */
};

/*
 * Takes over an accepted socket. 0, or a negative error: the socket is closed then. The connection frees itself, and
 * owner.closed is called once in either case.
 */
int connection_open(struct stream_loop *loop, struct service *service,
                    struct connection_owner *owner, struct list *list, int fd);
/* Takes no more calls, answers those in flight, then closes. */
void connection_drain(struct connection *connection);
void connection_close(struct connection *connection);

#endif
