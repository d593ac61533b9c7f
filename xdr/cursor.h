/*
 * cursor: a bounded reader of XDR (RFC 4506).
 *
 * xdr/ is the wire and nothing else: XDR, record marking, RPC headers, NFSv3, MOUNT, NFSACL. It
 * includes nothing of ours, allocates only in record.c, and trusts no octet.
 *
 * An error sticks: once a read would pass the end, or a length is above the protocol's maximum,
 * every later read yields zero (or an empty view) and `cursor_ok` is false. So a decoder reads
 * straight on and asks once, at its end.
 */
#ifndef XDR_CURSOR_H
#define XDR_CURSOR_H

#include "xdr/bytes.h"

struct cursor {
    const uint8_t *at;
    const uint8_t *end;
    bool failed;
};

/*
 * What every call goes through (its header, credential, handle and name) is inline.
 *
 * After an error `at` is `end`: so nothing is left, and each later read fails by its ordinary
 * bounds check.
 */

static inline struct cursor cursor_over(const uint8_t *data, uint32_t len)
{
    if (len == 0)
        data = (const uint8_t *)""; /* so that `at` is never NULL, to which nothing may be added */
    return (struct cursor){.at = data, .end = data + len};
}

static inline bool cursor_ok(const struct cursor *c)
{
    return !c->failed;
}

/* How many octets are left; 0 after an error. */
static inline uint32_t cursor_left(const struct cursor *c)
{
    return (uint32_t)(c->end - c->at);
}

/* Makes the error stick: for decoders that find a value out of its range. */
static inline void cursor_fail(struct cursor *c)
{
    c->failed = true;
    c->at = c->end;
}

static inline uint32_t cursor_u32(struct cursor *c)
{
    if (cursor_left(c) < sizeof(uint32_t)) {
        cursor_fail(c);
        return 0;
    }
    uint32_t value = bytes_load_u32(c->at);
    c->at += sizeof value;
    return value;
}

static inline uint64_t cursor_u64(struct cursor *c)
{
    if (cursor_left(c) < sizeof(uint64_t)) {
        cursor_fail(c);
        return 0;
    }
    uint64_t value = bytes_load_u64(c->at);
    c->at += sizeof value;
    return value;
}

/* RFC 4506 4.4: 0 or 1; any other value is an error. */
static inline bool cursor_bool(struct cursor *c)
{
    uint32_t value = cursor_u32(c);
    if (value > 1) {
        cursor_fail(c);
        return false;
    }
    return value == 1;
}

/*
 * `len` octets, a multiple of four, or NULL: several fields of fixed size with one check, to be
 * read with bytes_load_u32 and bytes_load_u64.
 */
static inline const uint8_t *cursor_take(struct cursor *c, uint32_t len)
{
    if (cursor_left(c) < len) {
        cursor_fail(c);
        return NULL;
    }
    const uint8_t *at = c->at;
    c->at += len;
    return at;
}

/*
 * Exactly `len` octets and their padding to a multiple of four. Padding octets are skipped, not
 * checked.
 */
static inline struct bytes cursor_fixed(struct cursor *c, uint32_t len)
{
    uint64_t padded = ((uint64_t)len + 3) & ~(uint64_t)3; /* would wrap in 32 bits */
    if (padded > cursor_left(c)) {
        cursor_fail(c);
        return (struct bytes){0};
    }
    struct bytes value = {.data = c->at, .len = len};
    c->at += padded;
    return value;
}

/* A variable-length opaque or string of at most `max` octets. */
static inline struct bytes cursor_opaque(struct cursor *c, uint32_t max)
{
    uint32_t len = cursor_u32(c);
    if (len > max)
        cursor_fail(c);
    return cursor_fixed(c, len);
}

/* Passes over `count` elements of `size` octets each, `size` being a multiple of four. */
void cursor_skip_array(struct cursor *c, uint32_t count, uint32_t size);

#endif
