/*
 * cursor: a bounded reader of XDR (RFC 4506).
 *
 * xdr/ is the wire and nothing else: XDR, record marking, RPC headers, NFSv3, MOUNT, NFSACL. It includes nothing of
 * ours, allocates only in record.c, and trusts no octet.
 *
 * An error sticks: once a read would pass the end, or a length is above the protocol's maximum, every later read
 * yields zero (or an empty view) and `cursor_ok` is false. So a decoder reads straight on and asks once, at its end.
 */
#ifndef XDR_CURSOR_H
#define XDR_CURSOR_H

#include "xdr/bytes.h"

struct cursor {
    const uint8_t *at;
    const uint8_t *end;
    bool failed;
};

struct cursor cursor_over(const uint8_t *data, uint32_t len);
bool cursor_ok(const struct cursor *c);
/* How many octets are left; 0 after an error. */
uint32_t cursor_left(const struct cursor *c);
/* Makes the error stick: for decoders that find a value out of its range. */
void cursor_fail(struct cursor *c);

uint32_t cursor_u32(struct cursor *c);
uint64_t cursor_u64(struct cursor *c);
/* RFC 4506 4.4: 0 or 1; any other value is an error. */
bool cursor_bool(struct cursor *c);
/* Exactly `len` octets and their padding to a multiple of four. Padding octets are skipped, not checked. */
struct bytes cursor_fixed(struct cursor *c, uint32_t len);
/* A variable-length opaque or string of at most `max` octets. */
struct bytes cursor_opaque(struct cursor *c, uint32_t max);

#endif
