/*
 * Slots, pages and the hash table that they are found by.
 */
#include "cache_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "cache/slab.h"
#include "cache/table.h"

enum {
    PAGES = 4,
    PAGE_BITS = 7 /* 128 granules: 1 KiB */
};

struct memory {
    struct arena arena;
    struct slab slab;
    struct slab_page pages[PAGES + 1];
};

static void open_memory(struct memory *m)
{
    memset(m, 0, sizeof(*m));
    m->arena.page_bits = PAGE_BITS;
    m->arena.shard_bits = PAGE_BITS + 3;
    assert_int_equal(arena_map(&m->arena, 2), 0);
    slab_init(&m->slab, &m->arena, 1, m->pages, PAGES); /* the second shard */
}

/* A page has as many slots as fit; indexes are distinct, aligned, and of their shard. */
static void test_fill_up(void **state)
{
    (void)state;
    static struct memory m;
    uint32_t seen[PAGES * 128] = {0};
    unsigned count = 0;
    open_memory(&m);
    for (uint32_t i; (i = slab_alloc(&m.slab, SLAB_OBJECT, 100)) != 0;) { /* 13 granules */
        for (unsigned k = 0; k < count; k++)
            assert_true(seen[k] >= i + 13 || i >= seen[k] + 13);
        assert_int_equal(arena_shard(&m.arena, i), 1);
        assert_true(slab_holds(&m.slab, i, SLAB_OBJECT));
        assert_false(slab_holds(&m.slab, i, SLAB_NAME));
        assert_false(slab_holds(&m.slab, i + 1, SLAB_OBJECT));
        assert_int_equal(slab_size(&m.slab, i), 104);
        memset(arena_at(&m.arena, i), 0xff, 104);
        seen[count++] = i;
    }
    assert_int_equal(count, PAGES * (128 / 13));
    assert_int_equal(m.slab.page_used, PAGES);
    assert_int_equal(slab_alloc(&m.slab, SLAB_NAME, 8), 0);
    /* The last of a page gives the page back, for whatever is wanted. */
    for (unsigned k = 0; k < 9; k++) {
        assert_int_equal(m.slab.page_used, PAGES);
        slab_free(&m.slab, seen[k]);
    }
    assert_int_equal(m.slab.page_used, PAGES - 1);
    assert_false(slab_holds(&m.slab, seen[0], SLAB_OBJECT));
    uint32_t name = slab_alloc(&m.slab, SLAB_NAME, 296);
    assert_int_equal(name, seen[0]);
    assert_true(slab_holds(&m.slab, name, SLAB_NAME));
    slab_free(&m.slab, seen[20]);
    assert_int_equal(slab_alloc(&m.slab, SLAB_OBJECT, 97), seen[20]);
    assert_int_equal(slab_alloc(&m.slab, SLAB_OBJECT, 97), 0);
    arena_unmap(&m.arena);
}

/* What belongs to objects gets half of the pages and no more. */
static void test_share(void **state)
{
    (void)state;
    static struct memory m;
    unsigned count = 0;
    open_memory(&m);
    while (slab_alloc(&m.slab, count & 1 ? SLAB_VERDICT : SLAB_CREDENTIAL, 24) != 0)
        count++;
    assert_int_equal(m.slab.page_used, PAGES / 2);
    assert_false(slab_may_cut(&m.slab, SLAB_VERDICT));
    assert_true(slab_may_cut(&m.slab, SLAB_OBJECT));
    assert_int_not_equal(slab_alloc(&m.slab, SLAB_OBJECT, 24), 0);
    arena_unmap(&m.arena);
}

/* ---- the table ---- */

static uint32_t spread(uint32_t value)
{
    return value * 0x9e3779b1u;
}

static uint32_t hash_of(const void *context, uint32_t index)
{
    uint32_t value;
    memcpy(&value, (uint8_t *)arena_at(context, index) + 4, 4);
    return spread(value);
}

static uint32_t find(const struct table *table, const struct arena *arena, uint32_t value)
{
    uint32_t index = *table_chain(table, spread(value)), kept;
    while (index != 0) {
        memcpy(&kept, (uint8_t *)arena_at(arena, index) + 4, 4);
        if (kept == value)
            break;
        index = *table_link(table, arena, index);
    }
    return index;
}

/* Everything is found after each growth, nothing that was removed is, and the table is never half
 * empty nor longer than it may be. */
static void test_table(void **state)
{
    (void)state;
    enum {
        THINGS = 5000,
        MAX = 3000
    };
    struct arena arena = {.page_bits = 10, .shard_bits = 16};
    uint32_t *buckets = calloc(MAX, sizeof(*buckets));
    struct table table;
    assert_non_null(buckets);
    assert_int_equal(arena_map(&arena, 1), 0);
    table_init(&table, buckets, MAX, 0);
    for (uint32_t n = 1; n <= THINGS; n++) {
        memcpy((uint8_t *)arena_at(&arena, n) + 4, &n, 4);
        table_insert(&table, &arena, spread(n), n);
        table_grow(&table, &arena, hash_of, &arena);
        assert_int_equal(table.items, n);
        assert_true(table.count <= MAX);
        assert_true(n < 3 || table.count * 3 <= n * 2 + 3);
        if (table.count < MAX)
            assert_true(n * 2 <= (table.count + 1) * 3);
        if (n % 97 == 0) {
            for (uint32_t k = 1; k <= n; k++)
                assert_int_equal(find(&table, &arena, k), k);
        }
    }
    assert_int_equal(table.count, MAX);
    for (uint32_t n = 1; n <= THINGS; n += 2)
        table_remove(&table, &arena, spread(n), n);
    for (uint32_t n = 1; n <= THINGS; n++)
        assert_int_equal(find(&table, &arena, n), n & 1 ? 0 : n);
    free(buckets);
    arena_unmap(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fill_up),
        cmocka_unit_test(test_share),
        cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
