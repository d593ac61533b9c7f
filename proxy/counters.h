/*
 * counters: what one worker counts for one service.
 *
 * Only its worker writes; anybody may read at any time (relaxed atomics, no torn values). A total
 * is the sum over the workers.
 */
#ifndef PROXY_COUNTERS_H
#define PROXY_COUNTERS_H

#include <stdatomic.h>
#include <stdint.h>

#include "proxy/procedure.h"

typedef _Atomic uint64_t counter;

struct procedure_counters {
    counter calls;     /* came from clients */
    counter hits;      /* answered from cache */
    counter forwarded; /* sent to the server for a client */
    counter asked;     /* sent to the server by the proxy itself, to know what a mutation touches */
    counter refused;   /* answered with an RPC or NFS error of the proxy's own */
};

/* Hits that were also asked of the server (verify.h). */
struct verify_counters {
    counter verified; /* compared: the sum of the next three */
    counter equal;
    counter outdated;   /* the contract allows it */
    counter violations; /* it does not */
    counter unclear;    /* a change, a doubt, or a reply that says nothing came in between */
    counter skipped;    /* not asked: too many under way, too large, no memory, no server */
};

/* How long ago what was outdated had been learned: less than 0.1, 1, 3, 10, 30, 60, 300 seconds; or longer. */
#define VERIFY_AGES 8u

struct counters {
    struct procedure_counters procedures[PROGRAMS][PROCEDURES_MAX];
    struct verify_counters verify[PROCEDURES_MAX]; /* of NFS */
    counter outdated_age[VERIFY_AGES];
    counter connections; /* clients connected now */
    counter bad_records; /* connections closed for octets that are no RPC call */
    counter rpc_errors;  /* calls answered with an RPC error */
    counter upstream_connects;
    counter upstream_losses;
    counter resends; /* calls sent again after a loss */
    counter strays;  /* replies that answer no call */
};

static inline void counter_add(counter *c, uint64_t n)
{
    /* One writer: no read-modify-write is needed. */
    atomic_store_explicit(c, atomic_load_explicit(c, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

static inline uint64_t counter_read(const counter *c)
{
    return atomic_load_explicit(c, memory_order_relaxed);
}

#endif
