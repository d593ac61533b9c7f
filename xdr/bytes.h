/*
 * bytes: a view of octets that somebody else owns.
 *
 * Every handle, name and credential that is decoded is such a view into its record. It lives as
 * long as the record does, and nobody frees it.
 */
#ifndef XDR_BYTES_H
#define XDR_BYTES_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct bytes {
    const uint8_t *data; /* NULL only when nothing was there to be decoded; len is 0 then */
    uint32_t len;
};

static inline bool bytes_equal(struct bytes a, struct bytes b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

/* Big-endian numbers, at any alignment. */
static inline uint32_t bytes_load_u32(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return be32toh(value);
}

static inline uint64_t bytes_load_u64(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return be64toh(value);
}

static inline void bytes_store_u32(uint8_t *at, uint32_t value)
{
    value = htobe32(value);
    memcpy(at, &value, sizeof value);
}

static inline void bytes_store_u64(uint8_t *at, uint64_t value)
{
    value = htobe64(value);
    memcpy(at, &value, sizeof value);
}

/* How many octets of padding follow `len` octets (RFC 4506 section 3: the multiple of four). */
static inline uint32_t bytes_padding(uint32_t len)
{
    return -len & 3u;
}

#endif
