/*
 * span: which shards are needed is only known under the identity's stripe, which comes after them in the lock order.
 * So they are locked first, as far as known; where one is missing all are given back, and it begins again with that one
 * too.
 */
#include "cache/span.h"

#include "cache/object.h"

void span_init(struct span *span, struct cache *cache, uint32_t hash)
{
    span->cache = cache;
    span->own = hash & (cache->shards - 1);
    span->count = 1;
    span->shard[0] = span->own;
}

void span_lock(struct span *span)
{
    for (unsigned i = 0; i < span->count; i++)
        lock_acquire(&span->cache->shard[span->shard[i]].lock);
}

void span_unlock(struct span *span, const struct identity *identity)
{
    if (identity)
        lock_release(&identity_stripe(identity)->lock);
    for (unsigned i = span->count; i > 0; i--)
        lock_release(&span->cache->shard[span->shard[i - 1]].lock);
}

static void insert(struct span *span, uint32_t shard)
{
    unsigned i = span->count;
    for (unsigned j = 0; j < span->count; j++) {
        if (span->shard[j] == shard)
            return;
    }
    for (; i > 0 && span->shard[i - 1] > shard; i--)
        span->shard[i] = span->shard[i - 1];
    span->shard[i] = shard;
    span->count++;
}

static bool holds(const struct span *span, uint32_t shard)
{
    for (unsigned i = 0; i < span->count; i++) {
        if (span->shard[i] == shard)
            return true;
    }
    return false;
}

bool span_join(struct span *span, const struct identity *identity)
{
    const struct arena *arena = &span->cache->arena;
    struct span wider;
    bool complete = true;
    lock_acquire(&identity_stripe(identity)->lock);
    span_init(&wider, span->cache, span->own);
    for (uint32_t i = identity_next(identity, 0); i != 0; i = identity_next(identity, i)) {
        uint32_t shard = arena_shard(arena, i);
        complete &= holds(span, shard);
        insert(&wider, shard);
    }
    if (complete)
        return true;
    span_unlock(span, identity);
    *span = wider;
    return false;
}
