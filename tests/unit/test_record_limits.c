/*
 * What a peer can make the reader keep: no longer record, no more memory, and no more fragments than
 * it is meant to; and what becomes of it without memory.
 */
#include "record_stream.h"

#include <errno.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limit_is_exact),
        cmocka_unit_test(test_claims_above_the_limit),
        cmocka_unit_test(test_claim_costs_no_memory),
        cmocka_unit_test(test_buffer_follows_what_came),
        cmocka_unit_test(test_empty_fragments_are_bounded),
        cmocka_unit_test(test_fragments_are_bounded),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
