/*
 * sweep_client: one NFS client of the sweep, on a libnfs connection of its own.
 *
 * It mounts, then sweeps the tree as `du` does on the Linux kernel's client. The first sweep finds
 * everything: ACCESS and READDIRPLUS of each directory, and LOOKUP of some names. Later sweeps ask
 * for what is known: GETATTR of everything, ACCESS of every directory, LOOKUP of every name. A
 * number of calls (the window) is always under way.
 *
 * Anything but a success ends the client: see `failed`.
 */
#ifndef TOOLS_SWEEP_CLIENT_H
#define TOOLS_SWEEP_CLIENT_H

#include "tools/call_counts.h"
#include "tools/sweep_objects.h"

#define SWEEP_WINDOW_MAX 1024u

struct rpc_context;

struct sweep_target {
    const char *host;
    int port;
    int mount_port;
    char *path;      /* not changed; libnfs takes no const */
    unsigned window; /* calls under way, 1 to SWEEP_WINDOW_MAX */
};

struct sweep_task;
struct sweep_call;

struct sweep_client {
    const struct sweep_target *target;
    struct rpc_context *rpc;
    struct objects objects;
    struct call_counts counts; /* of the calls sent; the caller may reset it */
    uint64_t replies;
    bool failed; /* told on stderr */

    bool first;              /* this sweep is the first */
    struct sweep_task *walk; /* first sweep: what is to be asked, in the order found */
    uint32_t walk_head, walk_count, walk_capacity;
    uint64_t next; /* later sweeps: how many questions have been asked */
    uint32_t names_seen;
    struct sweep_call *calls; /* `window` of them */
    struct sweep_call *idle;
    unsigned in_flight;
};

/* Mounts; blocks until it is done. 0 or a negative errno. */
int sweep_client_start(struct sweep_client *c, const struct sweep_target *target);
/* Begins the next sweep: sends the first calls. */
void sweep_client_begin(struct sweep_client *c);
/* True while calls of the sweep are under way. */
bool sweep_client_busy(const struct sweep_client *c);
/* What to poll for, and to be called with what has come. */
int sweep_client_fd(const struct sweep_client *c);
short sweep_client_events(const struct sweep_client *c);
void sweep_client_service(struct sweep_client *c, short events);
void sweep_client_stop(struct sweep_client *c);

#endif
