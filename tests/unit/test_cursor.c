#include "xdr/cursor.h"

#include "wire.h"

/* Protects: numbers are big-endian, whatever their alignment, and the position moves by their size. */
static void test_numbers(void **state)
{
    (void)state;
    static const uint8_t data[] = {0xde, 0xad, 0xbe, 0xef, 1, 2, 3, 4, 5,
                                   6,    7,    8,    0x80, 0, 0, 1, 9};
    uint8_t *unaligned = malloc(1 + sizeof data);
    assert_non_null(unaligned);
    memcpy(unaligned + 1, data, sizeof data);
    struct cursor c = cursor_over(unaligned + 1, sizeof data);
    assert_int_equal(cursor_left(&c), 17);
    assert_int_equal(cursor_u32(&c), 0xdeadbeef);
    assert_true(cursor_u64(&c) == 0x0102030405060708u);
    assert_int_equal(cursor_u32(&c), 0x80000001);
    assert_int_equal(cursor_left(&c), 1);
    assert_true(cursor_ok(&c));
    free(unaligned);
}

/* Protects: one missing octet fails the read, and everything after it, also what would fit. */
static void test_error_sticks(void **state)
{
    (void)state;
    static const uint8_t seven[7] = {0, 0, 0, 1, 0xff, 0xff, 0xff};
    uint8_t *data = wire_exact(seven, sizeof seven);
    struct cursor c = cursor_over(data, sizeof seven);
    assert_true(cursor_u64(&c) == 0);
    assert_false(cursor_ok(&c));
    assert_int_equal(cursor_left(&c), 0);
    assert_int_equal(cursor_u32(&c), 0);
    assert_false(cursor_bool(&c));
    assert_int_equal(cursor_fixed(&c, 0).len, 0);
    assert_null(cursor_fixed(&c, 4).data);
    assert_int_equal(cursor_opaque(&c, 400).len, 0);
    assert_null(cursor_take(&c, 4));
    assert_false(cursor_ok(&c));

    c = cursor_over(data, sizeof seven);
    assert_int_equal(cursor_u32(&c), 1);
    assert_int_equal(cursor_u32(&c), 0);
    assert_false(cursor_ok(&c));
    free(data);
}

/* Protects: an empty buffer, also one without an address, is at its end and not yet failed. */
static void test_empty(void **state)
{
    (void)state;
    struct cursor c = cursor_over(NULL, 0);
    assert_true(cursor_ok(&c));
    assert_int_equal(cursor_left(&c), 0);
    struct bytes none = cursor_fixed(&c, 0);
    assert_int_equal(none.len, 0);
    assert_true(cursor_ok(&c));
    assert_int_equal(cursor_u32(&c), 0);
    assert_false(cursor_ok(&c));
}

/* Protects: octets taken together are all there or none of them is. */
static void test_take(void **state)
{
    (void)state;
    static const uint8_t twelve[12];
    uint8_t *data = wire_exact(twelve, sizeof twelve);
    struct cursor c = cursor_over(data, sizeof twelve);
    assert_ptr_equal(cursor_take(&c, 8), data);
    assert_ptr_equal(cursor_take(&c, 4), data + 8);
    assert_true(cursor_ok(&c));
    c = cursor_over(data, sizeof twelve);
    assert_null(cursor_take(&c, 16));
    assert_false(cursor_ok(&c));
    assert_int_equal(cursor_left(&c), 0);
    free(data);
}

/* Protects: a decoder's own verdict (cursor_fail) is as final as a missing octet. */
static void test_fail(void **state)
{
    (void)state;
    static const uint8_t data[8] = {0, 0, 0, 1, 0, 0, 0, 2};
    struct cursor c = cursor_over(data, sizeof data);
    assert_int_equal(cursor_u32(&c), 1);
    cursor_fail(&c);
    assert_int_equal(cursor_left(&c), 0);
    assert_int_equal(cursor_u32(&c), 0);
    assert_false(cursor_ok(&c));
}

/* Protects: RFC 4506 4.4, a bool is 0 or 1; 2 and 2^32-1 are errors and not true. */
static void test_bool(void **state)
{
    (void)state;
    static const uint8_t good[8] = {0, 0, 0, 1, 0, 0, 0, 0};
    struct cursor c = cursor_over(good, sizeof good);
    assert_true(cursor_bool(&c));
    assert_false(cursor_bool(&c));
    assert_true(cursor_ok(&c));

    static const uint8_t bad[2][4] = {{0, 0, 0, 2}, {0xff, 0xff, 0xff, 0xff}};
    for (int i = 0; i < 2; i++) {
        c = cursor_over(bad[i], 4);
        assert_false(cursor_bool(&c));
        assert_false(cursor_ok(&c));
    }
}

/* Protects: padding to four octets, which must be there and may hold anything. */
static void test_fixed(void **state)
{
    (void)state;
    for (uint32_t len = 0; len <= 9; len++) {
        uint32_t padded = (len + 3) / 4 * 4;
        uint8_t content[12];
        memset(content, 0xa5, sizeof content);
        for (uint32_t size = 0; size <= padded; size++) {
            uint8_t *data = wire_exact(content, size);
            struct cursor c = cursor_over(data, size);
            struct bytes value = cursor_fixed(&c, len);
            assert_int_equal(cursor_ok(&c), size == padded);
            assert_int_equal(value.len, size == padded ? len : 0);
            if (size == padded && len > 0)
                assert_ptr_equal(value.data, data);
            assert_int_equal(cursor_left(&c), 0);
            free(data);
        }
    }
}

/* Protects: a length at the maximum passes and one above fails, even where that many octets are
 * there. */
static void test_opaque_maximum(void **state)
{
    (void)state;
    uint8_t data[4 + 72 + 4] = {0};
    bytes_store_u32(data, 64);
    struct cursor c = cursor_over(data, sizeof data);
    struct bytes value = cursor_opaque(&c, 64);
    assert_int_equal(value.len, 64);
    assert_ptr_equal(value.data, data + 4);
    assert_int_equal(cursor_left(&c), 12);

    bytes_store_u32(data, 65);
    c = cursor_over(data, sizeof data);
    value = cursor_opaque(&c, 64);
    assert_int_equal(value.len, 0);
    assert_null(value.data);
    assert_false(cursor_ok(&c));
    assert_int_equal(cursor_left(&c), 0);
}

/* Protects: lengths whose padded size wraps around 32 bits never pass as small ones. */
static void test_length_wraps(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {
        0xffffffffu, 0xfffffffeu, 0xfffffffdu, 0xfffffffcu, 0x80000000u, 0x7fffffffu, 5};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        uint8_t content[8] = {0};
        bytes_store_u32(content, lengths[i]);
        uint8_t *data = wire_exact(content, sizeof content);
        struct cursor c = cursor_over(data, sizeof content);
        struct bytes value = cursor_opaque(&c, UINT32_MAX);
        assert_false(cursor_ok(&c));
        assert_null(value.data);
        free(data);
    }
}

/* Protects: an array's size is checked without multiplying: 0x15555556 * 12 is 8 in 32 bits. */
static void test_skip_array(void **state)
{
    (void)state;
    uint8_t data[28] = {0};
    bytes_store_u32(data + 24, 7);
    struct cursor c = cursor_over(data, sizeof data);
    cursor_skip_array(&c, 2, 12);
    assert_int_equal(cursor_u32(&c), 7);
    assert_true(cursor_ok(&c));

    c = cursor_over(data, sizeof data);
    cursor_skip_array(&c, 0, 12);
    assert_int_equal(cursor_left(&c), 28);

    static const uint32_t too_many[] = {3, 0x15555556u, 0xffffffffu};
    for (int i = 0; i < 3; i++) {
        c = cursor_over(data, sizeof data);
        cursor_skip_array(&c, too_many[i], 12);
        assert_false(cursor_ok(&c));
        assert_int_equal(cursor_left(&c), 0);
    }
}

/* Protects: views are equal by content and length; two empty ones are equal whatever they point to. */
static void test_bytes_equal(void **state)
{
    (void)state;
    assert_true(bytes_equal(wire_text("name"), wire_text("name")));
    assert_false(bytes_equal(wire_text("name"), wire_text("nam")));
    assert_false(bytes_equal(wire_text("name"), wire_text("namf")));
    assert_true(bytes_equal((struct bytes){0}, wire_text("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),      cmocka_unit_test(test_error_sticks),
        cmocka_unit_test(test_empty),        cmocka_unit_test(test_fail),
        cmocka_unit_test(test_take),         cmocka_unit_test(test_bool),
        cmocka_unit_test(test_fixed),        cmocka_unit_test(test_opaque_maximum),
        cmocka_unit_test(test_length_wraps), cmocka_unit_test(test_skip_array),
        cmocka_unit_test(test_bytes_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
