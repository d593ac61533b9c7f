/*
 * Ages, to the millisecond: each rule's last moment at which the old may be served, and the first at
 * which it may not.
 */
#include "cache_fixture.h"

#include "cache/fresh.h"

#define MS CACHE_NSEC_PER_MSEC

static const struct cache_ages shared = {.age_min = 3000 * MS,
                                         .age_max = 60000 * MS,
                                         .negative_age = 30000 * MS,
                                         .access_age = 60000 * MS};
static const struct cache_ages exclusive = {.exclusive = true,
                                            .age_min = 3000 * MS,
                                            .age_max = 60000 * MS,
                                            .negative_age = 30000 * MS,
                                            .access_age = 60000 * MS,
                                            .settle = 10000 * MS,
                                            .settle_age = 1000 * MS};

static bool at(const struct cache_ages *ages, const struct fresh_state *state, uint64_t msec)
{
    return fresh_attributes(ages, state, msec * MS);
}

/* Between age_min and age_max, an object is fresh for as long as it has not changed. */
static void test_age_grows(void **state)
{
    (void)state;
    static const struct {
        uint64_t unchanged, age;
    } cases[] = {{0, 3000}, {2999, 3000}, {3001, 3001}, {59999, 59999}, {60001, 60000}};
    for (unsigned i = 0; i < 5; i++) {
        struct fresh_state s = {.fetched = 100000 + cases[i].unchanged, .changed = 100000};
        assert_int_equal(fresh_age(&shared, &s), cases[i].age * MS);
        assert_true(at(&shared, &s, s.fetched + cases[i].age - 1));
        assert_false(at(&shared, &s, s.fetched + cases[i].age));
    }
}

/* A part of a millisecond counts as passed for what is kept: it never lives longer than its age. */
static void test_rounding(void **state)
{
    (void)state;
    struct fresh_state s = {.fetched = 1000, .changed = 1000};
    assert_true(fresh_attributes(&shared, &s, 4000 * MS - 1));
    assert_false(fresh_attributes(&shared, &s, 4000 * MS));
    /* another thread's clock may be a little behind */
    assert_true(fresh_attributes(&shared, &s, 999 * MS));
}

/* In exclusive nothing ages, but for what was filled in doubt. */
static void test_exclusive(void **state)
{
    (void)state;
    struct fresh_state s = {.fetched = 1000, .changed = 1000};
    assert_true(at(&exclusive, &s, 1ull << 39));
    s.doubtful = true;
    assert_true(at(&exclusive, &s, 3999));
    assert_false(at(&exclusive, &s, 4000));
}

/* What was asked for within `settle` of a mutation is served for settle_age and no longer, however
 * late it is asked for again; what was asked for later is as good as any. */
static void test_settle(void **state)
{
    (void)state;
    struct cache_ages both = shared;
    both.settle = exclusive.settle;
    both.settle_age = exclusive.settle_age;
    struct fresh_state s = {.fetched = 20000, .changed = 20000, .mutated = 20000};
    assert_true(at(&exclusive, &s, 20999));
    assert_false(at(&exclusive, &s, 21000));
    assert_false(at(&exclusive, &s, 1000000));
    assert_true(at(&both, &s, 20999));
    assert_false(at(&both, &s, 21000));
    s.fetched = 29999;
    assert_true(at(&exclusive, &s, 30998));
    assert_false(at(&exclusive, &s, 30999));
    s.fetched = 30000;
    assert_true(at(&exclusive, &s, 1000000));
    assert_true(at(&shared, &s, 30000)); /* no settle configured */
    s.mutated = 0;
    s.fetched = 1;
    assert_true(at(&exclusive, &s, 1000000)); /* never mutated */
    /* Kept by the mutation's reply, which ended a moment later. */
    s = (struct fresh_state){.fetched = 19999, .changed = 19999, .mutated = 20000};
    assert_true(at(&exclusive, &s, 20998));
    assert_false(at(&exclusive, &s, 20999));
}

/* The shorter of the two holds where both do. */
static void test_settle_age_longer_than_age(void **state)
{
    (void)state;
    struct cache_ages ages = shared;
    ages.settle = 10000 * MS;
    ages.settle_age = 5000 * MS;
    struct fresh_state s = {.fetched = 20000, .changed = 20000, .mutated = 20000};
    assert_true(at(&ages, &s, 22999));
    assert_false(at(&ages, &s, 23000));
}

/* A name by itself is as old as its directory allows. */
static void test_name_age(void **state)
{
    (void)state;
    struct fresh_state dir = {.fetched = 110000, .changed = 100000}; /* age 10 s */
    struct fresh_name n = {.fetched = 105000};
    assert_true(fresh_lookup(&shared, &n, &dir, 114999 * MS));
    assert_false(fresh_lookup(&shared, &n, &dir, 115000 * MS));
    assert_true(fresh_resolve(&shared, &n, &dir, 114999 * MS));
    assert_false(fresh_resolve(&shared, &n, &dir, 115000 * MS));
    assert_true(fresh_lookup(&exclusive, &n, &dir, 900000 * MS));
    assert_true(fresh_resolve(&exclusive, &n, &dir, 900000 * MS));
    n.doubtful = true;
    assert_false(fresh_lookup(&exclusive, &n, &dir, 115000 * MS));
    assert_false(fresh_resolve(&exclusive, &n, &dir, 115000 * MS));
}

/* A directory that was asked again and is the same vouches for the names that were read at least
 * two seconds after it was first seen so: a change within its clock's granularity does not show. */
static void test_name_extended(void **state)
{
    (void)state;
    struct fresh_state dir = {.fetched = 190000, .changed = 100000};
    struct fresh_name n = {.fetched = 102000, .matched = true};
    assert_true(fresh_lookup(&shared, &n, &dir, 200000 * MS));
    n.fetched = 101999;
    assert_false(fresh_lookup(&shared, &n, &dir, 200000 * MS));
    n.fetched = 102000;
    n.matched = false; /* the directory's state was not seen with it */
    assert_false(fresh_lookup(&shared, &n, &dir, 200000 * MS));
    n.matched = true; /* where nothing is known of the directory now, it vouches for nothing */
    assert_false(fresh_resolve(&shared, &n, &dir, 200000 * MS));
}

/* NOENT has its own age on top, in shared only. */
static void test_negative(void **state)
{
    (void)state;
    struct fresh_state dir = {.fetched = 190000, .changed = 100000};
    struct fresh_name n = {.fetched = 150000, .matched = true, .negative = true};
    assert_true(fresh_lookup(&shared, &n, &dir, 179999 * MS));
    assert_false(fresh_lookup(&shared, &n, &dir, 180000 * MS));
    assert_true(fresh_resolve(&shared, &n, &dir, 179999 * MS));
    assert_false(fresh_resolve(&shared, &n, &dir, 180000 * MS));
    assert_true(fresh_lookup(&exclusive, &n, &dir, 900000 * MS));
    n.negative = false;
    assert_true(fresh_lookup(&shared, &n, &dir, 180000 * MS));
}

/* Verdicts age in both modes. */
static void test_verdict(void **state)
{
    (void)state;
    assert_true(fresh_verdict(&shared, 1000, 60999 * MS));
    assert_false(fresh_verdict(&shared, 1000, 61000 * MS));
    assert_true(fresh_verdict(&exclusive, 1000, 60999 * MS));
    assert_false(fresh_verdict(&exclusive, 1000, 61000 * MS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_age_grows),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_exclusive),
        cmocka_unit_test(test_settle),
        cmocka_unit_test(test_settle_age_longer_than_age),
        cmocka_unit_test(test_name_age),
        cmocka_unit_test(test_name_extended),
        cmocka_unit_test(test_negative),
        cmocka_unit_test(test_verdict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
