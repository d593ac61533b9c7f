/*
 * The same records must come out however the peer cuts them into fragments and the network into
 * reads.
 */
#include "record_stream.h"

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
        cmocka_unit_test(test_mark),
        cmocka_unit_test(test_random_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
