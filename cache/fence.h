/*
 * fence: what may become of a reply, kept apart from what is cached so that eviction forgets
 * nothing. The rules stand in cache.h.
 *
 * Every server has two tables of them: for handles and names (guarded by the shard that the key
 * belongs to), and for identities (guarded by the stripe that the identity belongs to).
 */
#ifndef CACHE_FENCE_H
#define CACHE_FENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "cache/cache.h"

struct fence {
    cache_stamp stamp;
    uint32_t inflight; /* mutations that have begun and not ended */
    uint32_t begun;    /* mutations that have begun, ever (it may wrap) */
    uint64_t ended;    /* ms; when the last one ended, 0: never */
};

/* A reply to a call that was sent then, and changed nothing, may be kept. */
static inline bool fence_admits(const struct fence *fence, cache_stamp sent)
{
    return fence->inflight == 0 && fence->stamp <= sent;
}

/* Nothing that was sent before `stamp` may be kept from now on. */
static inline void fence_raise(struct fence *fence, cache_stamp stamp)
{
    if (fence->stamp < stamp)
        fence->stamp = stamp;
}

/* Returns the mutation's number at this fence. */
static inline uint32_t fence_begin(struct fence *fence, cache_stamp sent)
{
    fence->inflight++;
    fence_raise(fence, sent);
    return ++fence->begun;
}

/* No other mutation is in flight here, and none has begun since the one with that number. */
static inline bool fence_latest(const struct fence *fence, uint32_t number)
{
    return fence->inflight == 1 && fence->begun == number;
}

/* In addition, none has ended since, and nobody has been shown anything that was not kept: what the
 * mutation says may be. */
static inline bool fence_alone(const struct fence *fence, uint32_t number, cache_stamp sent)
{
    return fence_latest(fence, number) && fence->stamp == sent;
}

void fence_end(struct fence *fence, cache_stamp stamp, uint64_t ended);

#endif
