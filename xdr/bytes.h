/*
 * bytes: a view of octets that somebody else owns.
 *
 * Every handle, name and credential that is decoded is such a view into its record. It lives as long as the
 * record does, and nobody frees it.
 */
#ifndef XDR_BYTES_H
#define XDR_BYTES_H

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

#endif
