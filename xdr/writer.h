/*
 * writer: a bounded writer of XDR (RFC 4506), the counterpart of cursor.
 *
 * Writes into a buffer that the caller owns. An error sticks as in cursor: what does not fit is not written, later
 * writes do nothing, and `writer_ok` is false.
 */
#ifndef XDR_WRITER_H
#define XDR_WRITER_H

#include "xdr/bytes.h"

struct writer {
    uint8_t *start;
    uint8_t *at;
    uint8_t *end;
    bool failed;
};

struct writer writer_over(uint8_t *data, uint32_t size);
bool writer_ok(const struct writer *w);
/* Octets written so far. */
uint32_t writer_len(const struct writer *w);

void writer_u32(struct writer *w, uint32_t value);
void writer_u64(struct writer *w, uint64_t value);
/* `value.len` octets and zero padding to a multiple of four, without a length in front. */
void writer_fixed(struct writer *w, struct bytes value);
/* The length, then as writer_fixed. */
void writer_opaque(struct writer *w, struct bytes value);
/* Octets as they are, no padding: for what is XDR already. */
void writer_raw(struct writer *w, const uint8_t *data, uint32_t len);

#endif
