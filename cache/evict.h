/*
 * evict: room for what is new, made the way S3-FIFO does: what is new goes through a small queue
 * (a tenth of the memory), and only what was asked for again before its end stays in the main one.
 * What left the small queue and comes back soon (a ghost) goes to the main one at once. A walk over
 * ten million files so pushes out nothing but itself.
 *
 * The small queue is a ring of indexes. The main queue is the address space itself, with a hand
 * that goes round it. Since anything may be evicted at any time, an entry of the ring whose thing
 * has gone, and whose slot has another, does no harm. Objects and names are things; verdicts and
 * credentials go with their objects.
 */
#ifndef CACHE_EVICT_H
#define CACHE_EVICT_H

#include "cache/slab.h"

struct cache;
struct shard;

/* Where objects and names look the same. `len` is 0 in a slot that is not in use. */
struct thing {
    uint32_t link;
    uint8_t theirs[22];
    uint8_t len;
    uint8_t flags;
};

#define THING_SMALL 0x80u /* in the small queue */
#define THING_USES  0x60u /* how often it was asked for, up to 3 */
#define THING_USE   0x20u
#define THING_OWN   0x1fu /* the rest is the thing's own */

struct evict_hand {
    uint32_t page, slot;
};

struct evict {
    uint32_t *ring;
    uint32_t ring_cap; /* in use so far; it grows up to ring_max */
    uint32_t ring_max;
    uint32_t ring_head, ring_len;
    uint64_t small;                  /* octets of the things in the small queue */
    struct evict_hand hand;          /* of the main queue */
    struct evict_hand verdicts_hand; /* of what belongs to objects */
    uint16_t *ghost;
    uint32_t ghosts;
    bool ghost_used;
};

static inline void thing_use(struct thing *thing)
{
    if ((thing->flags & THING_USES) != THING_USES)
        thing->flags += THING_USE;
}

/*
 * A slot for a thing, or for a verdict or a credential of the object `keep`, which is not evicted;
 * evicts what it must. 0 when there is no room at all. A new object's or name's slot is marked as not in use. Called
 * with the shard held, and no stripe.
 */
uint32_t evict_alloc(struct cache *cache, struct shard *shard, enum slab_kind kind, size_t size,
                     uint32_t keep);
/* A thing was put into the slot, with its `len` set and its flags' upper bits clear. */
void evict_added(struct cache *cache, struct shard *shard, uint32_t index, uint32_t hash);
/* A thing leaves; frees its slot. */
void evict_removed(struct shard *shard, uint32_t index);

#endif
