/*
 * listeners: all listening sockets, kept in step with the configuration in force.
 *
 * Sockets that a new configuration needs are bound before it comes into force, since that may fail; those that it does
 * not name any more are closed afterwards. An address that stays keeps its socket, and what waits in its queue.
 */
#ifndef PROXY_LISTENERS_H
#define PROXY_LISTENERS_H

#include "proxy/listener.h"

struct listeners {
    struct list all;
    struct list fresh; /* bound, not in use yet */
    uv_loop_t *uv;
    struct listener_owner *owner;
};

void listeners_init(struct listeners *listeners, uv_loop_t *uv, struct listener_owner *owner);
/* Binds what is missing. 0, or a negative error that is logged: nothing is bound then. */
int listeners_prepare(struct listeners *listeners, const struct settings *settings);
/* Gives up what listeners_prepare bound. */
void listeners_cancel(struct listeners *listeners);
/* What was prepared accepts from now on; what `settings` do not name is closed. They stay valid until the next call. */
void listeners_follow(struct listeners *listeners, const struct settings *settings);
void listeners_close(struct listeners *listeners);
/* Connections of a service that were refused so far, at the addresses that it has now. */
uint64_t listeners_refused(const struct listeners *listeners, const char *service);

#endif
