/*
 * table: buckets split one at a time, in order; the lower bits of a hash that are in use choose one.
 */
#include "cache/table.h"

#include <assert.h>

/* Things per bucket, times two: at 1.5 a look-up compares little more than one thing, and a thing
 * pays 2.7 octets for its bucket. */
#define LOAD_TIMES_TWO 3u

void table_init(struct table *table, uint32_t *buckets, uint32_t max, uint32_t link)
{
    assert(max > 0);
    *table = (struct table){.bucket = buckets, .count = 1, .mask = 0, .max = max, .link = link};
}

void table_insert(struct table *table, const struct arena *arena, uint32_t hash, uint32_t index)
{
    uint32_t *chain = table_chain(table, hash);
    *table_link(table, arena, index) = *chain;
    *chain = index;
    table->items++;
}

void table_remove(struct table *table, const struct arena *arena, uint32_t hash, uint32_t index)
{
    uint32_t *at = table_chain(table, hash);
    while (*at != index) {
        assert(*at != 0);
        at = table_link(table, arena, *at);
    }
    *at = *table_link(table, arena, index);
    table->items--;
}

void table_grow(struct table *table, const struct arena *arena, table_hash *hash,
                const void *context)
{
    if ((uint64_t)table->items * 2 <= (uint64_t)table->count * LOAD_TIMES_TWO ||
        table->count == table->max)
        return;
    if (table->count > table->mask)
        table->mask = table->mask * 2 + 1;
    uint32_t from = table->count & (table->mask >> 1);
    uint32_t index = table->bucket[from];
    table->bucket[from] = 0;
    table->bucket[table->count] = 0;
    table->count++;
    while (index != 0) {
        uint32_t *link = table_link(table, arena, index);
        uint32_t next = *link;
        uint32_t *chain = table_chain(table, hash(context, index));
        *link = *chain;
        *chain = index;
        index = next;
    }
}
