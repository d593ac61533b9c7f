/*
 * What chance decides: the same for the same decision, another for another one, and within its bounds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sim/draw.h"

static uint64_t first(uint64_t seed, uint32_t what, uint64_t a, uint64_t b)
{
    struct draw draw = draw_of(seed, what, a, b);
    return draw_u64(&draw);
}

static void test_decisions(void **state)
{
    (void)state;
    uint64_t value = first(1, 2, 3, 4);
    assert_int_equal(value, first(1, 2, 3, 4));
    assert_true(value != first(2, 2, 3, 4));
    assert_true(value != first(1, 3, 3, 4));
    assert_true(value != first(1, 2, 4, 4));
    assert_true(value != first(1, 2, 3, 5));
    assert_true(value != first(1, 2, 4, 3));
}

static void test_spread(void **state)
{
    (void)state;
    struct draw draw = draw_of(1, 0, 0, 0);
    unsigned ends = 0, decades[3] = {0};
    for (unsigned i = 0; i < 3000; i++) {
        uint64_t value = draw_spread(&draw, 10, 9999);
        assert_true(value >= 10 && value <= 9999);
        decades[value < 100 ? 0 : value < 1000 ? 1 : 2]++;
        value = draw_spread(&draw, 5, 7);
        assert_true(value >= 5 && value <= 7);
        ends |= 1u << (value - 5);
        assert_int_equal(draw_spread(&draw, 9, 9), 9);
        assert_true(draw_spread(&draw, 1, UINT64_MAX) >= 1);
    }
    assert_int_equal(ends, 7);
    for (unsigned i = 0; i < 3; i++)
        assert_in_range(decades[i], 800, 1200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decisions),
        cmocka_unit_test(test_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
