/*
 * record_stream: octets as a peer sends them, and what a reader makes of them.
 */
#ifndef UNIT_RECORD_STREAM_H
#define UNIT_RECORD_STREAM_H

#include "xdr/record.h"

#include "wire.h"

#define LIMIT 2000000u

struct stream {
    uint8_t *data;
    size_t len;
    size_t capacity;
};

static inline void stream_add(struct stream *s, const uint8_t *data, size_t len)
{
    if (s->len + len > s->capacity) {
        s->capacity = 2 * (s->len + len);
        s->data = realloc(s->data, s->capacity);
        assert_non_null(s->data);
    }
    if (len > 0)
        memcpy(s->data + s->len, data, len);
    s->len += len;
}

static inline void stream_fragment(struct stream *s, const uint8_t *data, uint32_t len, bool last)
{
    uint8_t mark[RECORD_MARK_LEN];
    bytes_store_u32(mark, len | (last ? RECORD_LAST : 0));
    stream_add(s, mark, sizeof mark);
    stream_add(s, data, len);
}

/* A record in fragments of `size`, with `empty` ones in front of each. */
static inline void stream_cut(struct stream *s, const uint8_t *data, uint32_t len, uint32_t size,
                              int empty)
{
    for (uint32_t at = 0; at < len; at += size) {
        uint32_t n = len - at < size ? len - at : size;
        for (int i = 0; i < empty; i++)
            stream_fragment(s, NULL, 0, false);
        stream_fragment(s, data + at, n, at + n == len);
    }
}

static inline uint8_t *pattern(uint32_t len)
{
    struct wire_random random = {.state = len};
    uint8_t *data = malloc(len);
    assert_non_null(data);
    wire_fill(&random, data, len);
    return data;
}

static inline void release(struct record *record)
{
    if (record->owned)
        free(record->data);
}

static inline int feed(struct record_reader *r, const struct stream *s, struct record *record)
{
    uint8_t *next = s->data;
    size_t left = s->len;
    return record_next(r, &next, &left, record);
}

/* Feeds `s` in pieces of `piece` octets, each in memory of exactly its size, and expects `count`
 * times this record. */
static inline void expect_records(const struct stream *s, size_t piece, const uint8_t *data,
                                  uint32_t len, int count)
{
    struct record_reader r;
    record_reader_init(&r, LIMIT);
    int seen = 0;
    for (size_t at = 0; at < s->len; at += piece) {
        size_t left = s->len - at < piece ? s->len - at : piece;
        uint8_t *copy = wire_exact(s->data + at, (uint32_t)left);
        uint8_t *next = copy;
        struct record record;
        int rc;
        while ((rc = record_next(&r, &next, &left, &record)) == 1) {
            wire_assert_bytes(wire_bytes(record.data, record.len), wire_bytes(data, len));
            release(&record);
            seen++;
        }
        assert_int_equal(rc, 0);
        assert_int_equal(left, 0);
        free(copy);
    }
    assert_int_equal(seen, count);
    assert_null(r.data);
    assert_int_equal(r.mark_len, 0);
}

#endif
