/*
 * draw: numbers of which each size is as likely as the others.
 */
#include "sim/draw.h"

#include <assert.h>

uint64_t draw_spread(struct draw *draw, uint64_t low, uint64_t high)
{
    assert(low >= 1 && low <= high);
    /* First the power of two, each as likely as the others; then a number from there to the next. */
    unsigned doublings = 63 - (unsigned)__builtin_clzll(high / low);
    uint64_t from = low << draw_below(draw, doublings + 1);
    uint64_t to = from <= high / 2 ? 2 * from - 1 : high;
    return draw_between(draw, from, to);
}
