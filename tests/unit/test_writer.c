#include "xdr/writer.h"

#include "wire.h"

/* Protects: the exact octets of each kind of write, the padding being zero over whatever was in the
 * buffer. */
static void test_octets(void **state)
{
    (void)state;
    static const uint8_t expected[] = {
        0xde, 0xad, 0xbe, 0xef,                   /* u32 */
        1,    2,    3,    4,    5,   6,   7,   8, /* u64 */
        'a',  'b',  'c',  'd',  'e', 0,   0,   0, /* fixed */
        0,    0,    0,    3,    'x', 'y', 'z', 0, /* opaque */
        0,    0,    0,    0,                      /* opaque, empty */
        9,    9,    9,                            /* raw */
    };
    uint8_t buffer[64];
    memset(buffer, 0xff, sizeof buffer);
    struct writer w = writer_over(buffer, sizeof buffer);
    writer_u32(&w, 0xdeadbeef);
    writer_u64(&w, 0x0102030405060708u);
    writer_fixed(&w, wire_text("abcde"));
    writer_opaque(&w, wire_text("xyz"));
    writer_opaque(&w, (struct bytes){0});
    writer_raw(&w, (const uint8_t[]){9, 9, 9}, 3);
    writer_raw(&w, NULL, 0);
    assert_true(writer_ok(&w));
    assert_int_equal(writer_len(&w), sizeof expected);
    assert_memory_equal(buffer, expected, sizeof expected);
    assert_int_equal(buffer[sizeof expected], 0xff);
}

static void write_one(struct writer *w, int kind)
{
    switch (kind) {
    case 0:
        writer_u32(w, 1);
        break;
    case 1:
        writer_u64(w, 1);
        break;
    case 2:
        writer_fixed(w, wire_text("abcde"));
        break;
    case 3:
        writer_opaque(w, wire_text("abcde"));
        break;
    default:
        writer_raw(w, (const uint8_t *)"abcdefg", 7);
        break;
    }
}

/* Protects: each kind of write at every size too small for it leaves no octet behind, and the error
   sticks; at its own size it fits. */
static void test_does_not_fit(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {4, 8, 8, 12, 7};
    for (int kind = 0; kind < 5; kind++) {
        for (uint32_t size = 0; size <= sizes[kind]; size++) {
            uint8_t full[16];
            memset(full, 0xff, sizeof full);
            uint8_t *buffer = wire_exact(full, size);
            struct writer w = writer_over(buffer, size);
            write_one(&w, kind);
            bool fits = size == sizes[kind];
            assert_int_equal(writer_ok(&w), fits);
            assert_int_equal(writer_len(&w), fits ? size : 0);
            if (!fits) {
                writer_raw(&w, (const uint8_t *)"", 1);
                writer_raw(&w, NULL, 0);
                assert_false(writer_ok(&w));
                assert_int_equal(writer_len(&w), 0);
                if (size > 0)
                    assert_memory_equal(buffer, full, size);
            }
            free(buffer);
        }
    }
}

/* Protects: after an error what was written before still counts, and nothing more is added to it. */
static void test_error_sticks(void **state)
{
    (void)state;
    uint8_t buffer[12];
    memset(buffer, 0xff, sizeof buffer);
    struct writer w = writer_over(buffer, sizeof buffer);
    writer_u64(&w, 5);
    writer_u64(&w, 6);
    writer_u32(&w, 7);
    assert_false(writer_ok(&w));
    assert_int_equal(writer_len(&w), 8);
    assert_memory_equal(buffer + 8, "\xff\xff\xff\xff", 4);
}

/* Protects: sizes whose padding wraps around 32 bits do not pass as small. The octets are never
 * read. */
static void test_length_wraps(void **state)
{
    (void)state;
    uint8_t buffer[16];
    for (uint32_t len = 0xfffffff8u; len != 0; len++) {
        struct writer w = writer_over(buffer, sizeof buffer);
        writer_opaque(&w, wire_bytes(buffer, len));
        assert_false(writer_ok(&w));
        w = writer_over(buffer, sizeof buffer);
        writer_fixed(&w, wire_bytes(buffer, len));
        assert_false(writer_ok(&w));
        assert_int_equal(writer_len(&w), 0);
    }
}

/* Protects: a writer without any room says so at the first write, and not before. */
static void test_no_room(void **state)
{
    (void)state;
    struct writer w = writer_over(NULL, 0);
    assert_true(writer_ok(&w));
    assert_int_equal(writer_len(&w), 0);
    writer_u32(&w, 0);
    assert_false(writer_ok(&w));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_octets),       cmocka_unit_test(test_does_not_fit),
        cmocka_unit_test(test_error_sticks), cmocka_unit_test(test_length_wraps),
        cmocka_unit_test(test_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
