/*
 * writer: a bounded writer of XDR (RFC 4506), the counterpart of cursor.
 *
 * Writes into a buffer that the caller owns. An error sticks as in cursor: what does not fit is not
 * written, later writes do nothing, and `writer_ok` is false.
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

/* After an error `end` is `at`: so each later write fails by its ordinary bounds check. */

static inline struct writer writer_over(uint8_t *data, uint32_t size)
{
    return (struct writer){.start = data, .at = data, .end = size > 0 ? data + size : data};
}

static inline bool writer_ok(const struct writer *w)
{
    return !w->failed;
}

/* Octets written so far. */
static inline uint32_t writer_len(const struct writer *w)
{
    return (uint32_t)(w->at - w->start);
}

/* Room for `len` octets, to be filled by the caller, or NULL where it does not fit. */
static inline uint8_t *writer_room(struct writer *w, uint64_t len)
{
    if (len > (uint64_t)(w->end - w->at)) {
        w->failed = true;
        w->end = w->at;
        return NULL;
    }
    uint8_t *room = w->at;
    if (len > 0)
        w->at += len;
    return room;
}

static inline void writer_u32(struct writer *w, uint32_t value)
{
    uint8_t *room = writer_room(w, sizeof value);
    if (room)
        bytes_store_u32(room, value);
}

static inline void writer_u64(struct writer *w, uint64_t value)
{
    uint8_t *room = writer_room(w, sizeof value);
    if (room)
        bytes_store_u64(room, value);
}

/* `value.len` octets and zero padding to a multiple of four, without a length in front. */
void writer_fixed(struct writer *w, struct bytes value);
/* The length, then as writer_fixed. Nothing is written where the whole does not fit. */
void writer_opaque(struct writer *w, struct bytes value);
/* Octets as they are, no padding: for what is XDR already. */
void writer_raw(struct writer *w, const uint8_t *data, uint32_t len);

#endif
