/*
 * listener: one listening socket.
 *
 * The daemon's own thread accepts for all services and hands each connection to a worker, so that
 * workers get their share whatever the clients' ports hash to. Addresses that are not allowed are
 * closed at once.
 */
#ifndef PROXY_LISTENER_H
#define PROXY_LISTENER_H

#include <uv.h>

#include "proxy/container.h"
#include "proxy/counters.h"
#include "proxy/log.h"

struct listener;

struct listener_owner {
    struct log *log;
    struct log_limit *refused_limit;
    struct log_limit *accept_limit;
    /* Whether one more connection may be taken; where not, connections wait. */
    bool (*has_room)(const struct listener_owner *owner);
    /* A connection of `listener`; the socket is the callee's. */
    void (*accepted)(struct listener_owner *owner, struct listener *listener, int fd);
};

struct listener {
    struct list node; /* for the owner */
    struct settings_address address;
    const struct settings_service *settings; /* in force; the owner's to set */
    struct listener_owner *owner;
    int fd;
    uv_poll_t poll;
    uv_timer_t pause; /* when descriptors or memory run out */
    unsigned handles;
    uint64_t refused;
};

/* Binds and listens, but accepts nothing yet. An IPv6 address is for IPv6 clients only. NULL with
 * errno. */
struct listener *listener_bind(const struct settings_address *address);
/* Begins to accept. 0 or a negative error. */
int listener_start(struct listener *listener, uv_loop_t *uv, struct listener_owner *owner);
/* Stops and frees, now or from the loop. Also one that was never started. */
void listener_close(struct listener *listener);

#endif
