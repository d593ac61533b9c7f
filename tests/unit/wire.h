/*
 * wire: what the tests of xdr/ have in common: reproducible random numbers, and buffers that end
 * where the data does, so that a sanitizer sees the first octet read past it.
 */
#ifndef UNIT_WIRE_H
#define UNIT_WIRE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "xdr/bytes.h"

/* splitmix64: a run is the same on every machine, its seed stands in the test. */
struct wire_random {
    uint64_t state;
};

static inline uint64_t wire_u64(struct wire_random *r)
{
    uint64_t z = (r->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* 0 to n-1. */
static inline uint32_t wire_below(struct wire_random *r, uint32_t n)
{
    return n > 0 ? (uint32_t)(wire_u64(r) % n) : 0;
}

/* Numbers as they break decoders: every fourth is at an end of its range. */
static inline uint32_t wire_u32(struct wire_random *r)
{
    static const uint32_t ends[] = {0, 1, 0x7fffffffu, 0x80000000u, 0xfffffffeu, 0xffffffffu};
    if (wire_below(r, 4) == 0)
        return ends[wire_below(r, sizeof ends / sizeof ends[0])];
    return (uint32_t)wire_u64(r);
}

/* A length of at most `max`: every fourth is 0 or `max`. */
static inline uint32_t wire_len(struct wire_random *r, uint32_t max)
{
    switch (wire_below(r, 8)) {
    case 0:
        return 0;
    case 1:
        return max;
    default:
        return wire_below(r, max + 1);
    }
}

static inline void wire_fill(struct wire_random *r, uint8_t *data, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++)
        data[i] = (uint8_t)wire_u64(r);
}

/* A copy in memory of exactly `len` octets; the caller frees it. NULL for none. */
static inline uint8_t *wire_exact(const uint8_t *data, uint32_t len)
{
    if (len == 0)
        return NULL;
    uint8_t *copy = malloc(len);
    assert_non_null(copy);
    memcpy(copy, data, len);
    return copy;
}

/* A copy with one word, or one octet, replaced by something random. */
static inline uint8_t *wire_damaged(struct wire_random *r, const uint8_t *data, uint32_t len)
{
    uint8_t *copy = wire_exact(data, len);
    uint32_t at = wire_below(r, len);
    if (at + 4 <= len && wire_below(r, 2) == 0)
        bytes_store_u32(copy + at / 4 * 4, wire_u32(r));
    else
        copy[at] ^= (uint8_t)(1 + wire_below(r, 255));
    return copy;
}

static inline struct bytes wire_bytes(const void *data, uint32_t len)
{
    return (struct bytes){.data = data, .len = len};
}

static inline struct bytes wire_text(const char *text)
{
    return wire_bytes(text, (uint32_t)strlen(text));
}

static inline void wire_assert_bytes(struct bytes actual, struct bytes expected)
{
    assert_int_equal(actual.len, expected.len);
    if (expected.len > 0)
        assert_memory_equal(actual.data, expected.data, expected.len);
}

#define wire_assert_text(actual, text) wire_assert_bytes((actual), wire_text(text))

/* A view that a decoder gave out stands in what it was given. */
static inline void wire_assert_inside(struct bytes view, const uint8_t *data, uint32_t len)
{
    if (view.len == 0)
        return;
    assert_true(view.data >= data && view.data <= data + len);
    assert_true(view.len <= (size_t)(data + len - view.data));
}

#endif
