/*
 * slab: the memory of one shard, cut into pages, and pages into slots of one size for one kind of
 * thing. A page whose last slot is freed can be cut anew for any kind and size.
 *
 * An arena is the address space of all shards, mapped once and touched page by page. An index names
 * a granule of 8 octets in it; 0 is no index, since page 0 of each shard is left out. Which shard
 * an index belongs to can be read off its upper bits.
 */
#ifndef CACHE_SLAB_H
#define CACHE_SLAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLAB_GRANULE      8u
#define SLAB_GRANULES_MAX 37u /* the largest slot: a name of 255 octets */

struct arena {
    uint8_t *base;
    size_t size;
    unsigned page_bits;  /* granules in a page, log2 */
    unsigned shard_bits; /* granules in a shard, log2 */
};

static inline void *arena_at(const struct arena *arena, uint32_t index)
{
    return arena->base + (size_t)index * SLAB_GRANULE;
}

static inline uint32_t arena_shard(const struct arena *arena, uint32_t index)
{
    return (uint32_t)((uint64_t)index >> arena->shard_bits);
}

static inline size_t arena_page_size(const struct arena *arena)
{
    return (size_t)SLAB_GRANULE << arena->page_bits;
}

/* 0, or -ENOMEM. */
int arena_map(struct arena *arena, uint32_t shards);
void arena_unmap(struct arena *arena);

enum slab_kind {
    SLAB_FREE,
    SLAB_OBJECT,
    SLAB_NAME,
    SLAB_VERDICT,
    SLAB_CREDENTIAL,
    SLAB_KINDS,
};

struct slab_page {
    uint8_t kind;
    uint8_t granules; /* of a slot */
    uint16_t live;    /* slots in use */
    uint16_t fresh;   /* slots that were ever in use since the page was cut */
    uint16_t free;    /* the last freed slot, plus 1 */
    uint32_t next;    /* of the pages of this kind and size that have room, or of the free pages */
    uint32_t prev;
};

struct slab {
    const struct arena *arena;
    struct slab_page *page; /* [0 .. page_max] */
    uint32_t first;         /* the index of page 0 */
    uint32_t page_max;
    uint32_t page_touched; /* pages that were ever in use */
    uint32_t page_used;
    uint32_t page_free;    /* list */
    uint32_t page_belongs; /* pages in use for what belongs to objects: verdicts, credentials */
    uint32_t room[SLAB_KINDS][SLAB_GRANULES_MAX + 1];
};

void slab_init(struct slab *slab, const struct arena *arena, uint32_t shard,
               struct slab_page *pages, uint32_t page_max);
/* 0 when there is no room. What stands in a new slot is undefined. */
uint32_t slab_alloc(struct slab *slab, enum slab_kind kind, size_t size);
void slab_free(struct slab *slab, uint32_t index);

/* What belongs to objects may not take all the memory away from the objects: another page may be
 * cut for this kind, once there is one. */
bool slab_may_cut(const struct slab *slab, enum slab_kind kind);

static inline bool slab_belongs(unsigned kind)
{
    return kind == SLAB_VERDICT || kind == SLAB_CREDENTIAL;
}

/* Whether a slot of that kind starts there. It may have been freed since; its content says. */
bool slab_holds(const struct slab *slab, uint32_t index, enum slab_kind kind);

static inline uint32_t slab_page_of(const struct slab *slab, uint32_t index)
{
    return (index - slab->first) >> slab->arena->page_bits;
}

static inline uint32_t slab_index(const struct slab *slab, uint32_t page, uint32_t slot)
{
    return slab->first + (page << slab->arena->page_bits) + slot * slab->page[page].granules;
}

/* Octets that a thing takes, the slack of its size included. */
static inline uint32_t slab_size(const struct slab *slab, uint32_t index)
{
    return slab->page[slab_page_of(slab, index)].granules * SLAB_GRANULE;
}

#endif
