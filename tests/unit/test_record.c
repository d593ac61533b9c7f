/*
 * The same records must come out however the peer cuts them into fragments and the network into
 * reads.
 */
#include "xdr/record.h"

#include <errno.h>

#include "wire.h"

#define LIMIT 2000000u

/* realloc is wrapped by the linker, so that a test can let it fail. 0: never; n: the n-th call from
 * now on. */
static unsigned realloc_fails_at;

void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_realloc(void *old, size_t size)
{
    if (realloc_fails_at > 0 && --realloc_fails_at == 0)
        return NULL;
    return __real_realloc(old, size);
}

/* Octets as a peer sends them. */
struct stream {
    uint8_t *data;
    size_t len;
    size_t capacity;
};

static void stream_add(struct stream *s, const uint8_t *data, size_t len)
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

static void stream_fragment(struct stream *s, const uint8_t *data, uint32_t len, bool last)
{
    uint8_t mark[RECORD_MARK_LEN];
    bytes_store_u32(mark, len | (last ? RECORD_LAST : 0));
    stream_add(s, mark, sizeof mark);
    stream_add(s, data, len);
}

/* A record in fragments of `size`, with `empty` ones in front of each. */
static void stream_cut(struct stream *s, const uint8_t *data, uint32_t len, uint32_t size,
                       int empty)
{
    for (uint32_t at = 0; at < len; at += size) {
        uint32_t n = len - at < size ? len - at : size;
        for (int i = 0; i < empty; i++)
            stream_fragment(s, NULL, 0, false);
        stream_fragment(s, data + at, n, at + n == len);
    }
}

static uint8_t *pattern(uint32_t len)
{
    struct wire_random random = {.state = len};
    uint8_t *data = malloc(len);
    assert_non_null(data);
    wire_fill(&random, data, len);
    return data;
}

static void release(struct record *record)
{
    if (record->owned)
        free(record->data);
}

/* Feeds `s` in pieces of `piece` octets, each in memory of exactly its size, and expects `count`
 * times this record. */
static void expect_records(const struct stream *s, size_t piece, const uint8_t *data, uint32_t len,
                           int count)
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

/* Protects: the common case is not copied: the record stands in what was fed, and the octets behind
 * it are left. */
static void test_whole_record_stays_in_place(void **state)
{
    (void)state;
    uint8_t data[] = {0x80, 0, 0, 5, 'h', 'e', 'l', 'l', 'o', 0x80, 0, 0, 1, '!', 0x80};
    struct record_reader r;
    record_reader_init(&r, LIMIT);
    uint8_t *next = data;
    size_t left = sizeof data;
    struct record record;
    assert_int_equal(record_next(&r, &next, &left, &record), 1);
    assert_ptr_equal(record.data, data + 4);
    assert_int_equal(record.len, 5);
    assert_false(record.owned);
    assert_ptr_equal(next, data + 9);
    assert_int_equal(left, 6);
    assert_int_equal(record_next(&r, &next, &left, &record), 1);
    assert_ptr_equal(record.data, data + 13);
    assert_int_equal(record.len, 1);
    assert_int_equal(record_next(&r, &next, &left, &record), 0);
    assert_int_equal(left, 0);
    assert_null(r.data);
    record_reader_clear(&r);
}

/* Protects: a record whose mark came with an earlier read is not copied either. */
static void test_mark_alone_then_whole_record(void **state)
{
    (void)state;
    uint8_t mark[] = {0x80, 0, 0, 4};
    uint8_t body[] = {1, 2, 3, 4};
    struct record_reader r;
    record_reader_init(&r, LIMIT);
    uint8_t *next = mark;
    size_t left = sizeof mark;
    struct record record;
    assert_int_equal(record_next(&r, &next, &left, &record), 0);
    next = body;
    left = sizeof body;
    assert_int_equal(record_next(&r, &next, &left, &record), 1);
    assert_ptr_equal(record.data, body);
    assert_false(record.owned);
}

/*
 * Protects: a mark that is cut is completed first, also where the octets that come next look like the
 * mark of a whole record.
 */
static void test_rest_of_a_mark_is_no_mark(void **state)
{
    (void)state;
    uint8_t data[4 + 0x80] = {0x80, 0, 0, 0x80, 0, 0, 5};
    struct record_reader r;
    record_reader_init(&r, LIMIT);
    uint8_t *next = data;
    size_t left = 3;
    struct record record;
    assert_int_equal(record_next(&r, &next, &left, &record), 0);
    left = sizeof data - 3;
    assert_int_equal(record_next(&r, &next, &left, &record), 1);
    assert_ptr_equal(record.data, data + 4);
    assert_int_equal(record.len, 0x80);
    assert_int_equal(left, 0);
    record_reader_clear(&r);
}

/* Protects: a read that ends inside a mark, or anywhere else, changes nothing (every single place
 * is tried). */
static void test_split_anywhere(void **state)
{
    (void)state;
    uint8_t *data = pattern(30);
    struct stream s = {0};
    stream_cut(&s, data, 30, 11, 1);
    stream_cut(&s, data, 30, 30, 0);
    for (size_t cut = 1; cut < s.len; cut++) {
        struct record_reader r;
        record_reader_init(&r, LIMIT);
        int seen = 0;
        for (int part = 0; part < 2; part++) {
            size_t left = part == 0 ? cut : s.len - cut;
            uint8_t *copy = wire_exact(part == 0 ? s.data : s.data + cut, (uint32_t)left);
            uint8_t *next = copy;
            struct record record;
            while (record_next(&r, &next, &left, &record) == 1) {
                wire_assert_bytes(wire_bytes(record.data, record.len), wire_bytes(data, 30));
                release(&record);
                seen++;
            }
            assert_int_equal(left, 0);
            free(copy);
        }
        assert_int_equal(seen, 2);
        record_reader_clear(&r);
    }
    free(s.data);
    free(data);
}

/* Protects: fragments of 1, 4 and 40 octets, with empty ones between, are reassembled; octet by
 * octet as in bulk. */
static void test_small_fragments(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {1, 4, 40, 41, 108, 5000};
    static const uint32_t sizes[] = {1, 4, 40};
    static const size_t pieces[] = {1, 3, 4, 64, 4096, SIZE_MAX};
    for (int l = 0; l < 6; l++) {
        uint8_t *data = pattern(lengths[l]);
        for (int f = 0; f < 3; f++) {
            struct stream s = {0};
            stream_cut(&s, data, lengths[l], sizes[f], 0);
            stream_cut(&s, data, lengths[l], sizes[f], 2);
            for (int p = 0; p < 6; p++)
                expect_records(&s, pieces[p] < s.len ? pieces[p] : s.len, data, lengths[l], 2);
            free(s.data);
        }
        free(data);
    }
}

/* Protects: a WRITE of 1 MiB with its header, in fragments of one octet and an empty one before
 * each, is a record. */
static void test_megabyte_in_single_octets(void **state)
{
    (void)state;
    uint32_t len = 1048576 + 200;
    uint8_t *data = pattern(len);
    struct stream s = {0};
    stream_cut(&s, data, len, 1, 1);
    expect_records(&s, 65536, data, len, 1);
    free(s.data);
    free(data);
}

/* Protects: a record may end with an empty fragment, and may be empty as a whole. */
static void test_empty_last_fragment(void **state)
{
    (void)state;
    uint8_t *data = pattern(7);
    struct stream s = {0};
    stream_fragment(&s, data, 7, false);
    stream_fragment(&s, NULL, 0, true);
    expect_records(&s, 1, data, 7, 1);
    expect_records(&s, s.len, data, 7, 1);
    s.len = 0;
    stream_fragment(&s, NULL, 0, true);
    stream_fragment(&s, NULL, 0, false);
    stream_fragment(&s, NULL, 0, true);
    expect_records(&s, 1, data, 0, 2);
    expect_records(&s, s.len, data, 0, 2);
    free(s.data);
    free(data);
}

static int feed(struct record_reader *r, const struct stream *s, struct record *record)
{
    uint8_t *next = s->data;
    size_t left = s->len;
    return record_next(r, &next, &left, record);
}

/* Protects: a record of exactly the limit passes, one octet more fails, in one fragment and over
 * several. */
static void test_limit_is_exact(void **state)
{
    (void)state;
    uint8_t *data = pattern(101);
    for (uint32_t size = 1; size <= 101; size += 25) {
        struct stream s = {0};
        stream_cut(&s, data, 100, size, 0);
        struct record_reader r;
        record_reader_init(&r, 100);
        struct record record;
        assert_int_equal(feed(&r, &s, &record), 1);
        wire_assert_bytes(wire_bytes(record.data, record.len), wire_bytes(data, 100));
        release(&record);
        s.len = 0;
        stream_cut(&s, data, 101, size, 0);
        assert_int_equal(feed(&r, &s, &record), -EMSGSIZE);
        record_reader_clear(&r);
        assert_null(r.data);
        free(s.data);
    }
    free(data);
}

/* Protects: what is too large is refused at its mark, before one octet of it has come; sums do not
 * wrap. */
static void test_claims_above_the_limit(void **state)
{
    (void)state;
    static const uint32_t marks[] = {0xffffffffu, 0x7fffffffu, 0x80000000u | 100, 100};
    for (int i = 0; i < 4; i++) {
        struct record_reader r;
        record_reader_init(&r, 99);
        uint8_t mark[4];
        bytes_store_u32(mark, marks[i]);
        uint8_t *next = mark;
        size_t left = 4;
        struct record record;
        assert_int_equal(record_next(&r, &next, &left, &record), -EMSGSIZE);
        assert_null(r.data);
        record_reader_clear(&r);
    }
    uint8_t one[] = {0, 0, 0, 1, 'x', 0xff, 0xff, 0xff, 0xff};
    struct record_reader r;
    record_reader_init(&r, 0x7fffffff);
    uint8_t *next = one;
    size_t left = sizeof one;
    struct record record;
    assert_int_equal(record_next(&r, &next, &left, &record), -EMSGSIZE);
    record_reader_clear(&r);

    /* As if 4 GiB had been collected, which no test has the time for. */
    r = (struct record_reader){.limit = UINT32_MAX, .fragments = 2, .len = UINT32_MAX - 10};
    uint8_t eleven[] = {0, 0, 0, 11};
    next = eleven;
    left = sizeof eleven;
    assert_int_equal(record_next(&r, &next, &left, &record), -EMSGSIZE);
    record_reader_clear(&r);
}

/* Protects: memory follows what has come. A claim of 2^31-1 octets, within its limit, costs next to
 * nothing. */
static void test_claim_costs_no_memory(void **state)
{
    (void)state;
    uint8_t start[4 + 60] = {0xff, 0xff, 0xff, 0xff};
    struct record_reader r;
    record_reader_init(&r, UINT32_MAX);
    uint8_t *next = start;
    size_t left = 4;
    struct record record;
    assert_int_equal(record_next(&r, &next, &left, &record), 0);
    assert_int_equal(r.capacity, 0);
    left = 60;
    assert_int_equal(record_next(&r, &next, &left, &record), 0);
    assert_int_equal(r.len, 60);
    assert_in_range(r.capacity, 60, 4096);

    uint8_t *where = NULL;
    assert_in_range(record_want(&r, &where), 4096, 65536);
    assert_in_range(r.capacity, 4096, 65536 + 60);
    record_reader_clear(&r);
    assert_null(r.data);
    assert_int_equal(r.capacity, 0);
    assert_int_equal(r.limit, UINT32_MAX);
}

/* Protects: while a record is collected, its buffer is never above twice what has come (or its
   first size), nor above what its last mark says. */
static void test_buffer_follows_what_came(void **state)
{
    (void)state;
    uint32_t len = 100001;
    uint8_t *data = pattern(len);
    struct stream s = {0};
    stream_fragment(&s, data, len, true);
    struct record_reader r;
    record_reader_init(&r, LIMIT);
    struct record record = {0};
    int rc = 0;
    for (size_t at = 0; at < s.len; at++) {
        uint8_t *next = s.data + at;
        size_t left = 1;
        assert_int_equal(rc, 0);
        rc = record_next(&r, &next, &left, &record);
        assert_true(r.capacity <= 4096 || r.capacity <= 2 * r.len);
        assert_true(r.capacity <= len);
    }
    assert_int_equal(rc, 1);
    assert_true(record.owned);
    wire_assert_bytes(wire_bytes(record.data, record.len), wire_bytes(data, len));
    release(&record);
    free(s.data);
    free(data);
}

/* Protects: RECORD_EMPTY_MAX empty fragments in a row pass, one more is an error; an octet starts
 * the count anew. */
static void test_empty_fragments_are_bounded(void **state)
{
    (void)state;
    uint8_t octet = 7;
    struct stream s = {0};
    for (int run = 0; run < 3; run++) {
        for (unsigned i = 0; i < RECORD_EMPTY_MAX; i++)
            stream_fragment(&s, NULL, 0, false);
        stream_fragment(&s, &octet, 1, run == 2);
    }
    uint8_t sevens[3] = {7, 7, 7};
    expect_records(&s, 1, sevens, 3, 1);
    expect_records(&s, s.len, sevens, 3, 1);

    s.len = 0;
    for (unsigned i = 0; i <= RECORD_EMPTY_MAX; i++)
        stream_fragment(&s, NULL, 0, false);
    struct record_reader r;
    record_reader_init(&r, LIMIT);
    struct record record;
    assert_int_equal(feed(&r, &s, &record), -EPROTO);
    record_reader_clear(&r);
    s.len -= RECORD_MARK_LEN;
    assert_int_equal(feed(&r, &s, &record), 0);
    record_reader_clear(&r);
    free(s.data);
}

/* Protects: the number of fragments of one record is bounded, whatever is in them. */
static void test_fragments_are_bounded(void **state)
{
    (void)state;
    struct record_reader r;
    record_reader_init(&r, UINT32_MAX);
    uint8_t fragment[] = {0, 0, 0, 1, 'x'};
    struct record record;
    for (uint32_t i = 0; i <= RECORD_FRAGMENTS_MAX; i++) {
        uint8_t *next = fragment;
        size_t left = sizeof fragment;
        int rc = record_next(&r, &next, &left, &record);
        if (rc != (i < RECORD_FRAGMENTS_MAX ? 0 : -EPROTO))
            fail_msg("fragment %u: %d", i, rc);
    }
    assert_int_equal(r.len, RECORD_FRAGMENTS_MAX);
    record_reader_clear(&r);
}

/* Protects: a long record is read straight into the reader's buffer, in reads of any size, and
 * comes out whole. */
static void test_direct_reading(void **state)
{
    (void)state;
    uint32_t len = 1048576 + 77;
    uint8_t *data = pattern(len);
    struct wire_random random = {.state = 1};
    for (int round = 0; round < 20; round++) {
        struct record_reader r;
        record_reader_init(&r, LIMIT);
        uint8_t first[4 + 100];
        record_mark(first, len);
        memcpy(first + 4, data, 100);
        uint8_t *next = first;
        size_t left = sizeof first;
        struct record record = {0};
        assert_int_equal(record_next(&r, &next, &left, &record), 0);
        uint32_t at = 100;
        int rc = 0;
        uint8_t *where = NULL;
        size_t want;
        while (rc == 0 && (want = record_want(&r, &where)) > 0) {
            /* It grows with what has come; a rest below RECORD_DIRECT_MIN may be offered with it. */
            assert_true(want <= 65536 || want <= at + 2 * RECORD_DIRECT_MIN);
            assert_true(want <= len - at);
            size_t n = round == 0 ? want : 1 + wire_below(&random, (uint32_t)want);
            memcpy(where, data + at, n);
            at += (uint32_t)n;
            rc = record_wrote(&r, n, &record);
        }
        if (rc == 0) { /* the short end is fed as ever */
            assert_in_range(len - at, 1, RECORD_DIRECT_MIN - 1);
            next = data + at;
            left = len - at;
            rc = record_next(&r, &next, &left, &record);
            assert_int_equal(left, 0);
        }
        assert_int_equal(rc, 1);
        assert_true(record.owned);
        wire_assert_bytes(wire_bytes(record.data, record.len), wire_bytes(data, len));
        free(record.data);
        assert_int_equal(record_want(&r, &where), 0);
    }
    free(data);
}

/* Protects: direct reading ends with its fragment: octets of the next mark never land in the
 * record. */
static void test_direct_reading_ends_with_the_fragment(void **state)
{
    (void)state;
    uint8_t *data = pattern(10000);
    struct record_reader r;
    record_reader_init(&r, LIMIT);
    uint8_t *where = NULL;
    assert_int_equal(record_want(&r, &where), 0); /* between records */
    uint8_t mark[4] = {0, 0, 0x13, 0x88};         /* 5000, not the last */
    uint8_t *next = mark;
    size_t left = 4;
    struct record record = {0};
    assert_int_equal(record_next(&r, &next, &left, &record), 0);
    assert_int_equal(record_want(&r, &where), 5000);
    assert_int_equal(r.capacity, 5000); /* no more than the fragment needs */
    memcpy(where, data, 5000);
    assert_int_equal(record_wrote(&r, 0, &record), 0);
    assert_int_equal(record_wrote(&r, 5000, &record), 0);
    assert_int_equal(record_want(&r, &where), 0); /* between fragments */
    record_mark(mark, 5000);
    next = mark;
    left = 4;
    assert_int_equal(record_next(&r, &next, &left, &record), 0);
    assert_int_equal(record_want(&r, &where), 5000);
    memcpy(where, data + 5000, 5000);
    assert_int_equal(record_wrote(&r, 5000, &record), 1);
    wire_assert_bytes(wire_bytes(record.data, record.len), wire_bytes(data, 10000));
    release(&record);

    record_mark(mark, RECORD_DIRECT_MIN - 1); /* too short to be worth it */
    next = mark;
    left = 4;
    assert_int_equal(record_next(&r, &next, &left, &record), 0);
    assert_int_equal(record_want(&r, &where), 0);
    record_reader_clear(&r);
    free(data);
}

/* Protects: a buffer made for direct reading that was then not used does not leak when the record
 * comes by feeding. */
static void test_want_then_feed(void **state)
{
    (void)state;
    uint8_t *data = pattern(8000);
    struct record_reader r;
    record_reader_init(&r, LIMIT);
    uint8_t mark[4];
    record_mark(mark, 8000);
    uint8_t *next = mark;
    size_t left = 4;
    struct record record;
    assert_int_equal(record_next(&r, &next, &left, &record), 0);
    uint8_t *where = NULL;
    assert_int_equal(record_want(&r, &where), 8000);
    next = data;
    left = 8000;
    assert_int_equal(record_next(&r, &next, &left, &record), 1);
    assert_ptr_equal(record.data, data);
    assert_false(record.owned);
    assert_null(r.data);
    free(data);
}

/* Protects: without memory the reader says so and loses nothing it owns; what it held is freed by
 * clear. */
static void test_no_memory(void **state)
{
    (void)state;
    uint8_t *data = pattern(20000);
    struct stream s = {0};
    stream_fragment(&s, data, 20000, true);
    for (unsigned n = 1; n <= 2; n++) {
        struct record_reader r;
        record_reader_init(&r, LIMIT);
        uint8_t *next = s.data;
        size_t left = 100;
        struct record record;
        realloc_fails_at = n;
        int rc = record_next(&r, &next, &left, &record);
        assert_int_equal(rc, n == 1 ? -ENOMEM : 0);
        if (n == 2) {
            uint8_t *where = NULL;
            assert_int_equal(record_want(&r, &where), 0);
            realloc_fails_at = 1;
            left = 10000;
            assert_int_equal(record_next(&r, &next, &left, &record), -ENOMEM);
            assert_int_equal(r.len, 100 - RECORD_MARK_LEN);
        }
        realloc_fails_at = 0;
        record_reader_clear(&r);
        assert_int_equal(feed(&r, &s, &record), 1);
    }
    free(s.data);
    free(data);
}

/* Protects: clear in the middle of a mark, or of a record, forgets all of it. */
static void test_clear(void **state)
{
    (void)state;
    uint8_t *data = pattern(50);
    struct stream s = {0};
    stream_cut(&s, data, 50, 20, 0);
    for (size_t stop = 1; stop < s.len; stop++) {
        struct record_reader r;
        record_reader_init(&r, LIMIT);
        uint8_t *next = s.data;
        size_t left = stop;
        struct record record;
        assert_int_equal(record_next(&r, &next, &left, &record), 0);
        record_reader_clear(&r);
        assert_int_equal(feed(&r, &s, &record), 1);
        wire_assert_bytes(wire_bytes(record.data, record.len), wire_bytes(data, 50));
        release(&record);
    }
    free(s.data);
    free(data);
}

/* Protects: the mark's octets, up to the longest record there is. */
static void test_mark(void **state)
{
    (void)state;
    uint8_t mark[4];
    record_mark(mark, 0);
    assert_memory_equal(mark, "\x80\x00\x00\x00", 4);
    record_mark(mark, 0x012345);
    assert_memory_equal(mark, "\x80\x01\x23\x45", 4);
    record_mark(mark, 0x7fffffff);
    assert_memory_equal(mark, "\xff\xff\xff\xff", 4);
}

/* One read, as a connection does it: directly where the reader wants it so, else through a buffer
 * of its own. */
static size_t read_some(struct wire_random *random, struct record_reader *r, const struct stream *s,
                        size_t at, struct stream *out, uint32_t *records)
{
    size_t left = s->len - at;
    uint8_t *where = NULL;
    size_t want = record_want(r, &where);
    struct record record;
    if (want > 0 && wire_below(random, 4) > 0) {
        size_t n = 1 + wire_below(random, (uint32_t)(want < left ? want : left));
        memcpy(where, s->data + at, n);
        if (record_wrote(r, n, &record) == 1) {
            stream_fragment(out, record.data, record.len, true);
            release(&record);
            ++*records;
        }
        return n;
    }
    size_t n = 1 + wire_below(random, left < 9000 ? (uint32_t)left : 9000);
    uint8_t *copy = wire_exact(s->data + at, (uint32_t)n);
    uint8_t *next = copy;
    size_t unused = n;
    int rc;
    while ((rc = record_next(r, &next, &unused, &record)) == 1) {
        stream_fragment(out, record.data, record.len, true);
        release(&record);
        ++*records;
    }
    assert_int_equal(rc, 0);
    free(copy);
    return n;
}

/* Protects: many records, cut at random into fragments and reads of both kinds, come out in order
 * and unchanged. */
static void test_random_streams(void **state)
{
    (void)state;
    struct wire_random random = {.state = 20240501};
    for (int round = 0; round < 150; round++) {
        struct stream sent = {0};
        struct stream expected = {0};
        struct stream got = {0};
        uint32_t records = 0;
        for (int i = 0; i < 8; i++) {
            uint32_t len = 1 + wire_below(&random, wire_below(&random, 3) == 0 ? 60000 : 300);
            uint8_t *data = pattern(len);
            uint32_t size = 1 + wire_below(&random, len);
            stream_cut(&sent, data, len, size, (int)wire_below(&random, 3));
            stream_fragment(&expected, data, len, true);
            free(data);
        }
        struct record_reader r;
        record_reader_init(&r, LIMIT);
        for (size_t at = 0; at < sent.len;)
            at += read_some(&random, &r, &sent, at, &got, &records);
        assert_int_equal(records, 8);
        assert_int_equal(got.len, expected.len);
        assert_memory_equal(got.data, expected.data, expected.len);
        assert_null(r.data);
        free(sent.data);
        free(expected.data);
        free(got.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_record_stays_in_place),
        cmocka_unit_test(test_mark_alone_then_whole_record),
        cmocka_unit_test(test_rest_of_a_mark_is_no_mark),
        cmocka_unit_test(test_split_anywhere),
        cmocka_unit_test(test_small_fragments),
        cmocka_unit_test(test_megabyte_in_single_octets),
        cmocka_unit_test(test_empty_last_fragment),
        cmocka_unit_test(test_limit_is_exact),
        cmocka_unit_test(test_claims_above_the_limit),
        cmocka_unit_test(test_claim_costs_no_memory),
        cmocka_unit_test(test_buffer_follows_what_came),
        cmocka_unit_test(test_empty_fragments_are_bounded),
        cmocka_unit_test(test_fragments_are_bounded),
        cmocka_unit_test(test_direct_reading),
        cmocka_unit_test(test_direct_reading_ends_with_the_fragment),
        cmocka_unit_test(test_want_then_feed),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_clear),
        cmocka_unit_test(test_mark),
        cmocka_unit_test(test_random_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
