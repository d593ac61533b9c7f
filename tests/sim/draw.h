/*
 * draw: what chance decides in a run.
 *
 * Every decision is drawn from the run's seed and from the name of what is decided, and from nothing else: leaving one
 * call out of a run changes no other decision. That is what makes a failing run small enough to read.
 */
#ifndef SIM_DRAW_H
#define SIM_DRAW_H

#include <stdbool.h>
#include <stdint.h>

/* A stream of numbers, for the parts of one decision. */
struct draw {
    uint64_t state;
};

static inline uint64_t draw_mix(uint64_t x)
{
    /* The finalizer of splitmix64. */
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* The stream for decision `what` about things number a and b. */
static inline struct draw draw_of(uint64_t seed, uint32_t what, uint64_t a, uint64_t b)
{
    uint64_t x = draw_mix(seed + 0x9e3779b97f4a7c15u);
    x = draw_mix(x + what + 0x9e3779b97f4a7c15u);
    x = draw_mix(x + a + 0x9e3779b97f4a7c15u);
    return (struct draw){draw_mix(x + b + 0x9e3779b97f4a7c15u)};
}

static inline uint64_t draw_u64(struct draw *draw)
{
    draw->state += 0x9e3779b97f4a7c15u;
    return draw_mix(draw->state);
}

/* 0 … n-1; n is at least 1. */
static inline uint64_t draw_below(struct draw *draw, uint64_t n)
{
    return draw_u64(draw) % n;
}

/* low … high */
static inline uint64_t draw_between(struct draw *draw, uint64_t low, uint64_t high)
{
    return low + draw_below(draw, high - low + 1);
}

/* True in so many of a thousand. */
static inline bool draw_permille(struct draw *draw, unsigned permille)
{
    return draw_below(draw, 1000) < permille;
}

/* low … high, mostly near low: as many between 10 and 100 as between 100 and 1000. `low` is at least 1. */
uint64_t draw_spread(struct draw *draw, uint64_t low, uint64_t high);

#endif
