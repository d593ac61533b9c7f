/*
 * A fence by itself: what it admits, and when a mutation was alone.
 */
#include "cache_fixture.h"

#include "cache/fence.h"

/* A call that was sent at the very stamp, or later, may fill; one that was sent before may not. */
static void test_admits(void **state)
{
    (void)state;
    struct fence fence = {0};
    assert_true(fence_admits(&fence, 1, 7));
    fence_raise(&fence, 10);
    assert_false(fence_admits(&fence, 9, 7));
    assert_true(fence_admits(&fence, 10, 7));
    fence_raise(&fence, 5); /* never lowered */
    assert_false(fence_admits(&fence, 9, 7));
}

/* While a mutation is in flight nothing fills, and after it only what was sent after its end. */
static void test_mutation(void **state)
{
    (void)state;
    struct fence fence = {0};
    uint32_t number = fence_begin(&fence, 10);
    assert_int_equal(fence.inflight, 1);
    assert_false(fence_admits(&fence, 11, 7));
    assert_true(fence_alone(&fence, number, 10, 7));
    fence_end(&fence, 20, 7);
    assert_int_equal(fence.inflight, 0);
    assert_int_equal(fence.ended, 7);
    assert_false(fence_admits(&fence, 19, 7));
    assert_true(fence_admits(&fence, 20, 7));
}

/* Of two in flight neither is alone, in whatever order they end; nor is one during which a reply
 * was shown that was not kept. */
static void test_alone(void **state)
{
    (void)state;
    struct fence fence = {0};
    uint32_t first = fence_begin(&fence, 10);
    uint32_t second = fence_begin(&fence, 11);
    assert_false(fence_latest(&fence, first));
    assert_false(fence_latest(&fence, second));
    fence_end(&fence, 12, 1);
    assert_false(fence_alone(&fence, first, 10, 7)); /* the second ended */
    assert_false(fence_latest(&fence, first));
    assert_true(fence_latest(&fence, second));        /* none has begun since … */
    assert_false(fence_alone(&fence, second, 11, 7)); /* … but one has ended */
    fence_end(&fence, 13, 1);
    uint32_t third = fence_begin(&fence, 14);
    fence_raise(&fence, 15);
    assert_true(fence_latest(&fence, third));
    assert_false(fence_alone(&fence, third, 14, 7));
}

/* A reply that is not kept keeps away what was sent before it was shown and says something else; not
 * what says the same. */
static void test_shown(void **state)
{
    (void)state;
    struct fence fence = {0};
    fence_show(&fence, 5, 10, 7);
    assert_true(fence_admits(&fence, 9, 7));
    assert_false(fence_admits(&fence, 9, 8));
    assert_true(fence_admits(&fence, 10, 8));
    fence_show(&fence, 6, 12, 7); /* the same again: until later */
    assert_false(fence_admits(&fence, 11, 8));
    assert_true(fence_admits(&fence, 12, 8));
    fence_show(&fence, 7, 11, 7); /* never earlier */
    assert_false(fence_admits(&fence, 11, 8));
    assert_int_equal(fence.stamp, 0);
}

/* What was sent after the other was shown is newer, and takes its place. */
static void test_shown_newer(void **state)
{
    (void)state;
    struct fence fence = {0};
    fence_show(&fence, 5, 10, 7);
    fence_show(&fence, 10, 14, 8);
    assert_int_equal(fence.stamp, 0);
    assert_true(fence_admits(&fence, 11, 8));
    assert_false(fence_admits(&fence, 11, 7));
    assert_true(fence_admits(&fence, 14, 7));
}

/* Of two that overlap and differ nobody knows which is newer: neither may come back, by whatever was
 * sent before either was shown. */
static void test_shown_differs(void **state)
{
    (void)state;
    struct fence fence = {0};
    fence_show(&fence, 5, 10, 7);
    fence_show(&fence, 9, 12, 8);
    assert_int_equal(fence.stamp, 12);
    assert_false(fence_admits(&fence, 11, 7));
    assert_false(fence_admits(&fence, 11, 8));
    assert_true(fence_admits(&fence, 12, 7));
    fence = (struct fence){0};
    fence_show(&fence, 5, 12, 7); /* the later one first */
    fence_show(&fence, 4, 10, 8);
    assert_int_equal(fence.stamp, 12);
}

/* A mutation's own word is kept over a reply that was shown meanwhile only if both say the same. */
static void test_alone_with_shown(void **state)
{
    (void)state;
    struct fence fence = {0};
    fence_show(&fence, 3, 9, 6); /* before it began: the mutation is newer */
    uint32_t number = fence_begin(&fence, 10);
    assert_true(fence_alone(&fence, number, 10, 7));
    fence_show(&fence, 9, 11, 7);
    assert_true(fence_alone(&fence, number, 10, 7));
    assert_false(fence_alone(&fence, number, 10, 8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_admits),
        cmocka_unit_test(test_mutation),
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_shown),
        cmocka_unit_test(test_shown_newer),
        cmocka_unit_test(test_shown_differs),
        cmocka_unit_test(test_alone_with_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
