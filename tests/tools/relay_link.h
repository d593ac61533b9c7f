/*
 * relay_link: the connections of the test relay, and the delay between their two ends.
 *
 * Each octet that comes in at one end leaves at the other end `delay` later. What comes is put with
 * its due time into one queue that all connections share, and leaves it when that time has come:
 * nothing sleeps, calls that follow each other closely leave as closely, and only what a sender may
 * have under way (LINK_PENDING_MAX) bounds the bandwidth. Making a connection is not delayed;
 * closing one is.
 *
 * A reset at one end resets the other at once.
 */
#ifndef TOOLS_RELAY_LINK_H
#define TOOLS_RELAY_LINK_H

#include <sys/queue.h>
#include <sys/socket.h>
#include <uv.h>

#include "tools/call_counts.h"

#define LINK_PENDING_MAX (32u << 20) /* octets per direction; above it the sender is not read */

struct link;
struct chunk;
STAILQ_HEAD(chunk_queue, chunk);
LIST_HEAD(link_list, link);

/* All connections of one relay. Embedded in the relay; lives as long as its loop runs. */
struct relay_links {
    uv_loop_t *loop;
    uint64_t delay; /* nanoseconds, one way */
    bool held;      /* nothing leaves the queue */
    uint64_t last_due;
    struct chunk_queue queue;
    struct link_list links;
    struct call_counts counts; /* of what the clients sent */
    int timer_fd;
    uv_poll_t timer;
    char buffer[256 << 10]; /* what one read may bring */
};

/* 0 or a negative errno. */
int relay_links_init(struct relay_links *links, uv_loop_t *loop, uint64_t delay_ns);
/* Takes the connection that waits at `listener` and connects it to `target`. */
void relay_links_accept(struct relay_links *links, uv_stream_t *listener,
                        const struct sockaddr *target);
/* For what comes from now on; never lets it overtake what came before. */
void relay_links_delay(struct relay_links *links, uint64_t delay_ns);
void relay_links_hold(struct relay_links *links, bool held);
/* Resets every connection. */
void relay_links_drop(struct relay_links *links);

#endif
