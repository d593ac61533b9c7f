/*
 * Reading without a copy: the octets of a long record go from the socket to where they will stand.
 */
#include "record_stream.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_direct_reading),
        cmocka_unit_test(test_direct_reading_ends_with_the_fragment),
        cmocka_unit_test(test_want_then_feed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
