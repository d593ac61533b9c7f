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

/*
 * Beside its stamp a fence remembers one state that somebody was shown and that is not kept: `state`, a digest of it, and
 * until when it was shown. What was sent before that and says the same can't be older, and may be kept. Without this, an
 * object that many ask for at once would never be kept again: each reply that is refused would refuse the next one.
 */
struct fence {
    cache_stamp stamp;
    cache_stamp shown; /* 0: nothing is remembered */
    uint64_t state;
    uint32_t inflight; /* mutations that have begun and not ended */
    uint32_t begun;    /* mutations that have begun, ever (it may wrap) */
    uint64_t ended;    /* ms; when the last one ended, 0: never */
};

/* A reply to a call that was sent then, and changed nothing, does not overlap with a mutation. */
static inline bool fence_clean(const struct fence *fence, cache_stamp sent)
{
    return fence->inflight == 0 && fence->stamp <= sent;
}

/* What it says is not older than what was shown. */
static inline bool fence_agrees(const struct fence *fence, cache_stamp sent, uint64_t state)
{
    return fence->shown <= sent || fence->state == state;
}

/* It may be kept. */
static inline bool fence_admits(const struct fence *fence, cache_stamp sent, uint64_t state)
{
    return fence_clean(fence, sent) && fence_agrees(fence, sent, state);
}

/* Nothing that was sent before `stamp` may be kept from now on. */
static inline void fence_raise(struct fence *fence, cache_stamp stamp)
{
    if (fence->stamp < stamp)
        fence->stamp = stamp;
}

/*
 * A reply to a call that was sent then showed that state, and is not kept. Of two states whose order is not known, or of
 * two keys that share the fence, nothing that was sent before either was shown may be kept.
 */
void fence_show(struct fence *fence, cache_stamp sent, cache_stamp received, uint64_t state);

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

/* In addition, none has ended since, and nobody has been shown anything else: what the mutation says may be kept. */
static inline bool fence_alone(const struct fence *fence, uint32_t number, cache_stamp sent,
                               uint64_t state)
{
    return fence_latest(fence, number) && fence->stamp == sent && fence_agrees(fence, sent, state);
}

void fence_end(struct fence *fence, cache_stamp stamp, uint64_t ended);

#endif
