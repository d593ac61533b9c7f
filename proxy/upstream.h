/*
 * upstream: calls outstanding at one port of the server, over a few connections (links) of one
 * worker.
 *
 * Hard, as a hard mount is: a call that was submitted is kept, and sent again after a link was
 * lost, until its reply comes. Every call has an xid of its own, in sequence over all links, so
 * that the server's duplicate request cache never takes a new call for an old one; a call that is
 * sent again keeps xid and link (and the link its source port).
 *
 * This part decides; sockets are behind upstream_ops (port.c), or a test.
 */
#ifndef PROXY_UPSTREAM_H
#define PROXY_UPSTREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "proxy/container.h"
#include "proxy/counters.h"
#include "xdr/record.h"

#define UPSTREAM_LINKS_MAX 64u
#define UPSTREAM_PATIENCE  60000000000ull /* ns */

struct upstream;

/* A call on its way. Lives in its submitter's memory until `release`. */
struct upstream_call {
    struct list node; /* outstanding on its link, in the order of sending */
    struct upstream *upstream;
    unsigned link;
    uint32_t xid;
    uint8_t *head; /* the record; its xid is replaced by upstream_submit */
    uint32_t head_len;
    const uint8_t *tail; /* sent after it; may be empty */
    uint32_t tail_len;
    uint64_t since;   /* when it was submitted */
    uint64_t sent_at; /* when it was last sent, to the second */
    bool answered;
    bool was_sent;  /* at least once */
    bool in_socket; /* its octets are being sent */

    /* The reply, with the upstream's xid. Exactly once. What `reply` does not own stands only
     * during the call. */
    void (*replied)(struct upstream_call *call, struct record *reply);
    /* Nothing refers to the call any more. Exactly once, after `replied`. */
    void (*release)(struct upstream_call *call);
};

enum upstream_reset {
    UPSTREAM_GARBAGE, /* what came is no RPC reply */
    UPSTREAM_SILENCE, /* a call has not been answered for UPSTREAM_PATIENCE */
};

struct upstream_ops {
    /* Queues a call's octets on a link that is up; upstream_sent when they are no longer needed. */
    void (*send)(struct upstream *upstream, unsigned link, struct upstream_call *call);
    /* Something is wrong with this link: close it, then connect again. */
    void (*reset)(struct upstream *upstream, unsigned link, enum upstream_reset why);
    /* A link went down, or is up (again): what is cached is in doubt. May be NULL. */
    void (*doubt)(struct upstream *upstream);
    /* For the log: the oldest call has been waiting for long; or an answer came again. */
    void (*responding)(struct upstream *upstream, bool responding);
};

struct upstream_link {
    bool up;
    bool was_up;
    struct list outstanding;
    uint32_t count;
};

struct upstream {
    const struct upstream_ops *ops;
    struct counters *counters;
    uint32_t next_xid;
    uint64_t now; /* of the last call or tick */
    uint32_t outstanding;
    bool not_responding;
    unsigned links;
    struct upstream_link link[UPSTREAM_LINKS_MAX];
    struct upstream_call **by_xid; /* a ring: xid modulo its size */
    uint32_t ring;                 /* a power of two */
};

/* `first_xid` should be random: a process must not repeat the xids of the one before it. 0 or
 * -ENOMEM. */
int upstream_init(struct upstream *upstream, const struct upstream_ops *ops, unsigned links,
                  uint32_t first_xid, struct counters *counters);
/* Nothing may be outstanding. */
void upstream_destroy(struct upstream *upstream);

/* 0, or -ENOMEM: nothing was kept of the call. `now` as engine.now. */
int upstream_submit(struct upstream *upstream, struct upstream_call *call, uint64_t now);

/* Takes back a call that has never been sent, since no link was up: it is the submitter's again, and neither `replied`
 * nor `release` will be called. False when it was sent: its reply has to be waited for. */
bool upstream_withdraw(struct upstream_call *call);

/* From whoever holds the sockets. */
void upstream_link_up(struct upstream *upstream, unsigned link);
void upstream_link_down(struct upstream *upstream, unsigned link);
void upstream_sent(struct upstream *upstream, struct upstream_call *call);
/* A record came. Strays (no such call, or one of another link) are counted and dropped. */
void upstream_receive(struct upstream *upstream, unsigned link, struct record *reply);
/* The proxy stops: what is outstanding ends without a reply. */
void upstream_abandon(struct upstream *upstream);
/* About once a second: notices that the server does not answer. A link on which a call has not been answered for
 * UPSTREAM_PATIENCE is reset, as the kernel's client does, so that all its calls are sent again on a new connection. */
void upstream_tick(struct upstream *upstream, uint64_t now);

#endif
