/*
 * table: a hash table of 32-bit indexes, chained through a word inside each thing. It grows by one
 * bucket at a time (linear hashing), so that it is never half empty and never stops to be rebuilt.
 */
#ifndef CACHE_TABLE_H
#define CACHE_TABLE_H

#include <stdint.h>

#include "cache/slab.h"

struct table {
    uint32_t *bucket; /* `max` of them, touched as they come into use */
    uint32_t count;   /* in use */
    uint32_t mask;    /* the power of two at or above count, less one */
    uint32_t max;
    uint32_t items;
    uint32_t link; /* where in a thing the chain's next index stands */
};

/* The hash of a thing, of which the shard's bits have been taken off. */
typedef uint32_t table_hash(const void *context, uint32_t index);

void table_init(struct table *table, uint32_t *buckets, uint32_t max, uint32_t link);
void table_insert(struct table *table, const struct arena *arena, uint32_t hash, uint32_t index);
void table_remove(struct table *table, const struct arena *arena, uint32_t hash, uint32_t index);
/* After an insert: another bucket if it is time for one. */
void table_grow(struct table *table, const struct arena *arena, table_hash *hash,
                const void *context);

/* The first index of the chain that a hash is in; 0 where there is none. */
static inline uint32_t *table_chain(const struct table *table, uint32_t hash)
{
    uint32_t bucket = hash & table->mask;
    if (bucket >= table->count)
        bucket &= table->mask >> 1;
    return &table->bucket[bucket];
}

static inline uint32_t *table_link(const struct table *table, const struct arena *arena,
                                   uint32_t index)
{
    return (uint32_t *)(void *)((uint8_t *)arena_at(arena, index) + table->link);
}

#endif
