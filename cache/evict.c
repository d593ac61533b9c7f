/*
 * evict: the ring and the ghosts first, then what goes when a slot is needed, then how one is got.
 *
 * A slot is made by evicting one thing after another, or by emptying a whole page. It may fail: then what needed the
 * slot is not kept.
 */
#include "cache/evict.h"

#include <limits.h>
#include <string.h>

#include "cache/name.h"
#include "cache/object.h"

#define SMALL_SHARE   10u  /* the small queue's share of the memory: one in so many */
#define PROMOTED_USES 2u   /* asked for so often while in the small queue: it stays */
#define SWEEP_MAX     512u /* slots that the hand passes for one eviction */
#define PAGES_SEEN    8u   /* of which one is emptied */
#define EVICTIONS_MAX 64u  /* one after the other for one slot; then a whole page is emptied */

static struct thing *thing_at(const struct cache *cache, uint32_t index)
{
    return arena_at(&cache->arena, index);
}

static unsigned uses(const struct thing *thing)
{
    return (thing->flags & THING_USES) / THING_USE;
}

/* ---- ghosts: 16 bits of the hashes of what left the small queue, the newest in each place ---- */

static uint64_t ghost_spread(const struct cache *cache, uint32_t hash)
{
    /* The shard's bits are the same for all. */
    return shard_rest(cache, hash) * 0x9e3779b97f4a7c15ull;
}

static uint16_t *ghost_place(struct evict *evict, uint64_t spread)
{
    return &evict->ghost[((spread >> 32) * evict->ghosts) >> 32];
}

static uint16_t ghost_mark(uint64_t spread)
{
    return (uint16_t)((spread >> 16) | 1); /* 0: the place is empty */
}

static void ghost_remember(const struct cache *cache, struct evict *evict, uint32_t hash)
{
    uint64_t spread = ghost_spread(cache, hash);
    if (evict->ghosts == 0)
        return;
    *ghost_place(evict, spread) = ghost_mark(spread);
    evict->ghost_used = true;
}

static bool ghost_recall(const struct cache *cache, struct evict *evict, uint32_t hash)
{
    uint64_t spread = ghost_spread(cache, hash);
    if (!evict->ghost_used || *ghost_place(evict, spread) != ghost_mark(spread))
        return false;
    *ghost_place(evict, spread) = 0;
    return true;
}

/* ---- the small queue ---- */

static uint32_t ring_pop(struct evict *evict)
{
    uint32_t index = evict->ring[evict->ring_head];
    evict->ring_head = evict->ring_head + 1 == evict->ring_cap ? 0 : evict->ring_head + 1;
    evict->ring_len--;
    return index;
}

/* More of the ring comes into use; what has wrapped around follows its beginning. */
static void ring_grow(struct evict *evict)
{
    uint32_t cap = evict->ring_cap ? evict->ring_cap * 2 : 16;
    if (cap > evict->ring_max)
        cap = evict->ring_max;
    uint32_t more = cap - evict->ring_cap;
    if (more == 0)
        return;
    uint32_t wrapped = evict->ring_head; /* the ring is full: so many stand before its head */
    uint32_t tail = evict->ring_cap - wrapped;
    memmove(evict->ring + wrapped + more, evict->ring + wrapped, tail * sizeof(*evict->ring));
    evict->ring_head = wrapped + more;
    if (evict->ring_head == cap)
        evict->ring_head = 0;
    evict->ring_cap = cap;
}

static bool in_small(const struct cache *cache, const struct shard *shard, uint32_t index)
{
    uint8_t kind = shard->slab.page[slab_page_of(&shard->slab, index)].kind;
    if ((kind != SLAB_OBJECT && kind != SLAB_NAME) || !slab_holds(&shard->slab, index, kind))
        return false;
    const struct thing *thing = thing_at(cache, index);
    return thing->len != 0 && (thing->flags & THING_SMALL);
}

static void promote(const struct cache *cache, struct shard *shard, uint32_t index)
{
    thing_at(cache, index)->flags &= (uint8_t) ~(THING_SMALL | THING_USES);
    shard->evict.small -= slab_size(&shard->slab, index);
}

static void ring_push(const struct cache *cache, struct shard *shard, uint32_t index)
{
    struct evict *state = &shard->evict;
    uint64_t share = shard->slab.page_used * arena_page_size(&cache->arena) / SMALL_SHARE;
    if (state->ring_len == state->ring_cap && state->small <= share)
        ring_grow(state);
    if (state->ring_len == state->ring_cap && state->ring_len > 0) {
        uint32_t oldest = ring_pop(state);
        if (in_small(cache, shard, oldest))
            promote(cache, shard, oldest);
    }
    if (state->ring_cap == 0)
        return;
    uint32_t at = state->ring_head + state->ring_len;
    state->ring[at >= state->ring_cap ? at - state->ring_cap : at] = index;
    state->ring_len++;
}

void evict_added(struct cache *cache, struct shard *shard, uint32_t index, uint32_t hash)
{
    struct evict *state = &shard->evict;
    if (state->ring_max == 0 || ghost_recall(cache, state, hash))
        return;
    ring_push(cache, shard, index);
    thing_at(cache, index)->flags |= THING_SMALL;
    state->small += slab_size(&shard->slab, index);
}

void evict_removed(struct shard *shard, uint32_t index)
{
    struct thing *thing = arena_at(shard->slab.arena, index);
    if (thing->flags & THING_SMALL)
        shard->evict.small -= slab_size(&shard->slab, index);
    thing->len = 0;
    thing->flags = 0;
    slab_free(&shard->slab, index);
}

/* ---- eviction ---- */

static void evict(struct cache *cache, struct shard *shard, uint32_t index)
{
    bool small = thing_at(cache, index)->flags & THING_SMALL;
    uint32_t hash;
    if (shard->slab.page[slab_page_of(&shard->slab, index)].kind == SLAB_OBJECT) {
        struct object *object = object_at(cache, index);
        struct cache_server *server = cache->server[object->server];
        hash = object_hash(server, object_handle(object));
        object_drop(server, index, hash);
    } else {
        hash = name_at(cache, index)->hash;
        name_remove(cache->server[name_at(cache, index)->server], index);
    }
    if (small)
        ghost_remember(cache, &shard->evict, hash);
    shard->evictions++;
}

/* The oldest of the small queue that was not asked for again goes. */
static bool evict_small(struct cache *cache, struct shard *shard)
{
    struct evict *state = &shard->evict;
    for (uint32_t left = state->ring_len; left > 0; left--) {
        uint32_t index = ring_pop(state);
        if (!in_small(cache, shard, index))
            continue;
        if (uses(thing_at(cache, index)) >= PROMOTED_USES) {
            promote(cache, shard, index);
            continue;
        }
        evict(cache, shard, index);
        return true;
    }
    return false;
}

static bool goes_round(const struct slab_page *page, bool names)
{
    return page->kind == SLAB_OBJECT || (names && page->kind == SLAB_NAME);
}

/* Moves a hand by one slot of objects (or names, too); 0 where it now stands on nothing. */
static uint32_t hand_step(const struct cache *cache, const struct slab *slab,
                          struct evict_hand *hand, bool names)
{
    const struct slab_page *page = &slab->page[hand->page];
    hand->slot++;
    if (hand->page == 0 || !goes_round(page, names) || hand->slot >= page->fresh) {
        hand->page = hand->page >= slab->page_touched ? 1 : hand->page + 1;
        hand->slot = 0;
        page = &slab->page[hand->page];
        if (!goes_round(page, names))
            return 0;
    }
    uint32_t index = slab_index(slab, hand->page, hand->slot);
    return thing_at(cache, index)->len != 0 ? index : 0;
}

/* The hand goes on to one of the main queue that nobody asked for since it last came by. Where all
 * are in use, it does not search for long. */
static bool evict_main(struct cache *cache, struct shard *shard)
{
    uint32_t limit = 2 * shard->slab.page_touched + SWEEP_MAX;
    uint32_t last = 0;
    if (shard->slab.page_touched == 0)
        return false;
    for (uint32_t steps = 0; steps < limit; steps++) {
        uint32_t index = hand_step(cache, &shard->slab, &shard->evict.hand, true);
        if (index == 0)
            continue;
        struct thing *thing = thing_at(cache, index);
        if (thing->flags & THING_SMALL)
            continue;
        if (uses(thing) == 0) {
            evict(cache, shard, index);
            return true;
        }
        thing->flags -= THING_USE;
        last = index;
    }
    if (last == 0)
        return false;
    evict(cache, shard, last);
    return true;
}

static bool evict_one(struct cache *cache, struct shard *shard)
{
    uint64_t share = shard->slab.page_used * arena_page_size(&cache->arena) / SMALL_SHARE;
    if (shard->evict.small > share && evict_small(cache, shard))
        return true;
    return evict_main(cache, shard) || evict_small(cache, shard);
}

/* How many of a page's things were asked for lately. */
static unsigned page_uses(const struct cache *cache, const struct slab *slab, uint32_t number)
{
    unsigned count = 0;
    for (uint32_t slot = 0; slot < slab->page[number].fresh; slot++) {
        const struct thing *thing = thing_at(cache, slab_index(slab, number, slot));
        count += thing->len != 0 && uses(thing) > 0;
    }
    return count;
}

/* Of the next few pages, the one that would be missed least; 0: there is none but that of `keep`. */
static uint32_t page_to_empty(const struct cache *cache, struct shard *shard, uint32_t keep)
{
    const struct slab *slab = &shard->slab;
    struct evict_hand *hand = &shard->evict.hand;
    uint32_t best = 0, kept = keep ? slab_page_of(slab, keep) : 0;
    unsigned fewest = UINT_MAX, seen = 0;
    hand->slot = 0;
    for (uint32_t i = 0; i < slab->page_touched && seen < PAGES_SEEN && fewest > 0; i++) {
        hand->page = hand->page >= slab->page_touched ? 1 : hand->page + 1;
        if (!goes_round(&slab->page[hand->page], true) || hand->page == kept)
            continue;
        unsigned count = page_uses(cache, slab, hand->page);
        seen++;
        if (count < fewest) {
            fewest = count;
            best = hand->page;
        }
    }
    return best;
}

/* Empties a page, so that it can be cut anew: memory that is all in slots of other sizes must not
 * stay so. */
static void evict_page(struct cache *cache, struct shard *shard, uint32_t keep)
{
    const struct slab *slab = &shard->slab;
    uint32_t number = page_to_empty(cache, shard, keep);
    const struct slab_page *page = &slab->page[number];
    if (number == 0)
        return;
    for (uint32_t slot = 0; page->kind != SLAB_FREE && slot < page->fresh; slot++) {
        uint32_t index = slab_index(slab, number, slot);
        if (thing_at(cache, index)->len != 0)
            evict(cache, shard, index);
    }
}

/* The next object's verdicts go, and the object stays. */
static bool evict_verdicts(struct cache *cache, struct shard *shard, uint32_t keep)
{
    struct evict *state = &shard->evict;
    const struct slab *slab = &shard->slab;
    for (uint32_t steps = 0; steps < slab->page_touched + SWEEP_MAX; steps++) {
        uint32_t index = hand_step(cache, slab, &state->verdicts_hand, false);
        if (index == 0 || index == keep)
            continue;
        struct object *object = object_at(cache, index);
        struct cache_server *server = cache->server[object->server];
        if (object->verdicts == 0)
            continue;
        object_drop_verdicts(server, object, object_hash(server, object_handle(object)));
        shard->evictions++;
        return true;
    }
    return false;
}

/* A slot for an object or a name. */
static uint32_t alloc_thing(struct cache *cache, struct shard *shard, enum slab_kind kind,
                            size_t size)
{
    uint32_t index = slab_alloc(&shard->slab, kind, size);
    for (unsigned i = 0; index == 0 && i < EVICTIONS_MAX; i++) {
        if (!evict_one(cache, shard))
            break;
        index = slab_alloc(&shard->slab, kind, size);
    }
    if (index == 0) {
        evict_page(cache, shard, 0);
        index = slab_alloc(&shard->slab, kind, size);
    }
    if (index != 0) {
        thing_at(cache, index)->len = 0;
        thing_at(cache, index)->flags = 0;
    }
    return index;
}

/* A slot for a verdict or a credential. While they have less than their share, things make room for
 * them; then they make room for each other. */
static uint32_t alloc_belonging(struct cache *cache, struct shard *shard, enum slab_kind kind,
                                size_t size, uint32_t keep)
{
    uint32_t index = slab_alloc(&shard->slab, kind, size);
    if (index == 0 && slab_may_cut(&shard->slab, kind)) {
        evict_page(cache, shard, keep);
        index = slab_alloc(&shard->slab, kind, size);
    }
    for (unsigned i = 0; index == 0 && i < EVICTIONS_MAX; i++) {
        if (!evict_verdicts(cache, shard, keep))
            break;
        index = slab_alloc(&shard->slab, kind, size);
    }
    return index;
}

uint32_t evict_alloc(struct cache *cache, struct shard *shard, enum slab_kind kind, size_t size,
                     uint32_t keep)
{
    if (slab_belongs(kind))
        return alloc_belonging(cache, shard, kind, size, keep);
    return alloc_thing(cache, shard, kind, size);
}
