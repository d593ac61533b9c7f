/*
 * The reader is either between fragments (fragment_left is 0, and mark_len octets of the next mark
 * have come) or inside one. The happy path is a call that came whole: its mark is read, and the
 * record is yielded where it stands.
 *
 * What can fail: a record above its limit, too many fragments, no memory. Each is found at the
 * mark, or when the buffer must grow, before anything is copied.
 */
#include "xdr/record.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/* The collecting buffer starts with this much, and doubles. */
#define FIRST_CAPACITY 4096u
/* What is offered for direct reading before much has come; a socket read that is worth its system
 * call. */
#define FIRST_DIRECT 65536u

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

void record_reader_init(struct record_reader *r, uint32_t limit)
{
    *r = (struct record_reader){.limit = limit};
}

void record_reader_clear(struct record_reader *r)
{
    free(r->data);
    record_reader_init(r, r->limit);
}

/* The record is whole: hands over what was collected, and is ready for the next mark. */
static int yield_collected(struct record_reader *r, struct record *out)
{
    *out = (struct record){.data = r->data, .len = r->len, .owned = true};
    record_reader_init(r, r->limit);
    return 1;
}

static int yield_in_place(struct record_reader *r, uint8_t *data, uint32_t len, struct record *out)
{
    *out = (struct record){.data = data, .len = len, .owned = false};
    record_reader_clear(r);
    return 1;
}

/* The most octets that the record can come to, by what is known so far. */
static uint32_t known_bound(const struct record_reader *r)
{
    return r->last ? r->len + r->fragment_left : r->limit;
}

/* Room for at least `need` octets in all, which known_bound allows. */
static int grow(struct record_reader *r, uint32_t need)
{
    if (need <= r->capacity)
        return 0;
    uint64_t capacity = 2 * (uint64_t)r->capacity;
    if (capacity < FIRST_CAPACITY)
        capacity = FIRST_CAPACITY;
    if (capacity > known_bound(r))
        capacity = known_bound(r);
    if (capacity < need)
        capacity = need;
    uint8_t *data = realloc(r->data, capacity);
    if (!data)
        return -ENOMEM;
    r->data = data;
    r->capacity = (uint32_t)capacity;
    return 0;
}

/* A whole mark has come. */
static int begin_fragment(struct record_reader *r)
{
    uint32_t mark = bytes_load_u32(r->mark);
    uint32_t len = mark & ~RECORD_LAST;
    r->mark_len = 0;
    r->last = (mark & RECORD_LAST) != 0;
    r->empty = len == 0 ? r->empty + 1 : 0;
    r->fragments++;
    if (r->fragments > RECORD_FRAGMENTS_MAX || r->empty > RECORD_EMPTY_MAX)
        return -EPROTO;
    if (len > r->limit - r->len)
        return -EMSGSIZE;
    r->fragment_left = len;
    return 0;
}

static void advance(uint8_t **data, size_t *len, size_t used)
{
    *data += used;
    *len -= used;
}

/* Takes octets of the mark. 1: it is whole and the fragment has begun. */
static int take_mark(struct record_reader *r, uint8_t **data, size_t *len)
{
    size_t n = min_size(RECORD_MARK_LEN - r->mark_len, *len);
    memcpy(r->mark + r->mark_len, *data, n);
    r->mark_len += (uint32_t)n;
    advance(data, len, n);
    if (r->mark_len < RECORD_MARK_LEN)
        return 0;
    int rc = begin_fragment(r);
    return rc < 0 ? rc : 1;
}

/* Copies what has come of the fragment behind what is collected already. */
static int collect(struct record_reader *r, uint8_t **data, size_t *len)
{
    uint32_t n = (uint32_t)min_size(r->fragment_left, *len);
    int rc = grow(r, r->len + n);
    if (rc < 0)
        return rc;
    memcpy(r->data + r->len, *data, n);
    r->len += n;
    r->fragment_left -= n;
    advance(data, len, n);
    return 0;
}

/* The common case, without touching the reader: it is between records, and the next one came whole. */
static bool take_whole(const struct record_reader *r, uint8_t **data, size_t *len,
                       struct record *out)
{
    if (r->fragments > 0 || r->mark_len > 0 || *len < RECORD_MARK_LEN)
        return false;
    uint32_t mark = bytes_load_u32(*data);
    uint32_t whole = mark & ~RECORD_LAST;
    if (mark == whole || whole > r->limit || whole > *len - RECORD_MARK_LEN)
        return false;
    *out = (struct record){.data = *data + RECORD_MARK_LEN, .len = whole, .owned = false};
    advance(data, len, RECORD_MARK_LEN + (size_t)whole);
    return true;
}

/* Any other case. Kept out of record_next, which would save registers for it on every call. */
__attribute__((noinline)) static int take_parts(struct record_reader *r, uint8_t **data,
                                                size_t *len, struct record *out)
{
    while (*len > 0) {
        if (r->fragment_left == 0) {
            int rc = take_mark(r, data, len);
            if (rc <= 0)
                return rc;
        }
        if (r->last && r->len == 0 && r->fragment_left <= *len) {
            uint8_t *start = *data;
            uint32_t whole = r->fragment_left;
            advance(data, len, whole);
            return yield_in_place(r, start, whole, out);
        }
        if (r->fragment_left > 0 && *len > 0) {
            int rc = collect(r, data, len);
            if (rc < 0)
                return rc;
        }
        if (r->last && r->fragment_left == 0)
            return yield_collected(r, out);
    }
    return 0;
}

int record_next(struct record_reader *r, uint8_t **data, size_t *len, struct record *out)
{
    return take_whole(r, data, len, out) ? 1 : take_parts(r, data, len, out);
}

size_t record_want(struct record_reader *r, uint8_t **where)
{
    if (r->fragment_left < RECORD_DIRECT_MIN)
        return 0;
    if (r->capacity - r->len < RECORD_DIRECT_MIN) {
        uint64_t need = (uint64_t)r->len + FIRST_DIRECT;
        if (need > (uint64_t)r->len + r->fragment_left)
            need = (uint64_t)r->len + r->fragment_left;
        if (grow(r, (uint32_t)need) < 0)
            return 0;
    }
    *where = r->data + r->len;
    return min_size(r->fragment_left, r->capacity - r->len);
}

int record_wrote(struct record_reader *r, size_t len, struct record *out)
{
    assert(len <= r->fragment_left && len <= r->capacity - r->len);
    r->len += (uint32_t)len;
    r->fragment_left -= (uint32_t)len;
    if (len > 0 && r->last && r->fragment_left == 0)
        return yield_collected(r, out);
    return 0;
}

void record_mark(uint8_t mark[RECORD_MARK_LEN], uint32_t len)
{
    assert(len < RECORD_LAST);
    bytes_store_u32(mark, RECORD_LAST | len);
}
