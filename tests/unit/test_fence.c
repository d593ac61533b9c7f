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
    assert_true(fence_admits(&fence, 1));
    fence_raise(&fence, 10);
    assert_false(fence_admits(&fence, 9));
    assert_true(fence_admits(&fence, 10));
    fence_raise(&fence, 5); /* never lowered */
    assert_false(fence_admits(&fence, 9));
}

/* While a mutation is in flight nothing fills, and after it only what was sent after its end. */
static void test_mutation(void **state)
{
    (void)state;
    struct fence fence = {0};
    uint32_t number = fence_begin(&fence, 10);
    assert_int_equal(fence.inflight, 1);
    assert_false(fence_admits(&fence, 11));
    assert_true(fence_alone(&fence, number, 10));
    fence_end(&fence, 20, 7);
    assert_int_equal(fence.inflight, 0);
    assert_int_equal(fence.ended, 7);
    assert_false(fence_admits(&fence, 19));
    assert_true(fence_admits(&fence, 20));
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
    assert_false(fence_alone(&fence, first, 10)); /* the second ended */
    assert_false(fence_latest(&fence, first));
    assert_true(fence_latest(&fence, second));     /* none has begun since … */
    assert_false(fence_alone(&fence, second, 11)); /* … but one has ended */
    fence_end(&fence, 13, 1);
    uint32_t third = fence_begin(&fence, 14);
    fence_raise(&fence, 15);
    assert_true(fence_latest(&fence, third));
    assert_false(fence_alone(&fence, third, 14));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_admits),
        cmocka_unit_test(test_mutation),
        cmocka_unit_test(test_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
