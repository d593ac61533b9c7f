#include "xdr/mount3.h"

#include "wire.h"

static const uint8_t zeros[2048];

/* In memory of exactly its size; `c` stands over it, and the caller frees it. */
static uint8_t *over(struct cursor *c, const struct writer *w)
{
    assert_true(writer_ok(w));
    uint8_t *copy = wire_exact(w->start, writer_len(w));
    *c = cursor_over(copy, writer_len(w));
    return copy;
}

/* Protects: a path of 1,024 octets passes and one of 1,025 does not; an empty one does. */
static void test_path_bound(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {0, 1, MOUNT3_PATH_MAX, MOUNT3_PATH_MAX + 1, 2000};
    for (int i = 0; i < 5; i++) {
        uint8_t buffer[2048];
        struct writer w = writer_over(buffer, sizeof buffer);
        writer_opaque(&w, wire_bytes(zeros, lengths[i]));
        struct cursor c;
        uint8_t *copy = over(&c, &w);
        struct bytes path;
        assert_int_equal(mount3_path_args(&c, &path), lengths[i] <= MOUNT3_PATH_MAX);
        assert_int_equal(path.len, lengths[i] <= MOUNT3_PATH_MAX ? lengths[i] : 0);
        free(copy);
    }
}

/* Protects: MNT's result octet by octet, the flavors in the order they were sent in. */
static void test_mnt(void **state)
{
    (void)state;
    static const uint8_t ok[] = {0, 0, 0, 0, 0, 0, 0,    2,    0xab, 0xcd, 0, 0,
                                 0, 0, 0, 2, 0, 5, 0xf3, 0x73, 0,    0,    0, 1};
    struct cursor c = cursor_over(ok, sizeof ok);
    struct mount3_mnt_res res;
    assert_true(mount3_mnt_res(&c, &res));
    assert_int_equal(res.status, MNT3_OK);
    assert_ptr_equal(res.handle.data, ok + 8);
    assert_int_equal(res.handle.len, 2);
    assert_int_equal(res.flavor_count, 2);
    assert_int_equal(res.flavors[0], 390003);
    assert_int_equal(res.flavors[1], 1);

    static const uint8_t denied[] = {0, 0, 0, 13};
    c = cursor_over(denied, sizeof denied);
    assert_true(mount3_mnt_res(&c, &res));
    assert_int_equal(res.status, MNT3ERR_ACCES);
    assert_int_equal(res.handle.len, 0);
    assert_int_equal(res.flavor_count, 0);
}

/* Protects: the array of flavors is not overrun, nor a handle above 64 octets taken. */
static void test_mnt_bounds(void **state)
{
    (void)state;
    static const struct {
        uint32_t handle, flavors, words;
        bool ok;
    } cases[] = {{64, 64, 64, true},          {65, 1, 1, false},           {64, 65, 65, false},
                 {64, 0xffffffff, 64, false}, {64, 0x40000001, 64, false}, {0, 0, 0, true}};
    for (int i = 0; i < 6; i++) {
        uint8_t buffer[1024];
        struct writer w = writer_over(buffer, sizeof buffer);
        writer_u32(&w, MNT3_OK);
        writer_opaque(&w, wire_bytes(zeros, cases[i].handle));
        writer_u32(&w, cases[i].flavors);
        for (uint32_t n = 0; n < cases[i].words; n++)
            writer_u32(&w, n);
        struct cursor c;
        uint8_t *copy = over(&c, &w);
        struct mount3_mnt_res res;
        assert_int_equal(mount3_mnt_res(&c, &res), cases[i].ok);
        assert_int_equal(res.flavor_count, cases[i].ok ? cases[i].flavors : 0);
        free(copy);
    }
}

/* Protects: names of hosts and groups have 255 octets at most; one more ends the list with an
 * error. */
static void test_name_bounds(void **state)
{
    (void)state;
    for (uint32_t len = MOUNT3_NAME_MAX; len <= MOUNT3_NAME_MAX + 1; len++) {
        bool ok = len <= MOUNT3_NAME_MAX;
        uint8_t buffer[1024];
        struct writer w = writer_over(buffer, sizeof buffer);
        writer_u32(&w, 1);
        writer_opaque(&w, wire_bytes(zeros, len));
        writer_opaque(&w, wire_text("/export"));
        writer_u32(&w, 0);
        struct cursor c;
        uint8_t *copy = over(&c, &w);
        struct bytes host;
        struct bytes dir;
        assert_int_equal(mount3_mount_next(&c, &host, &dir), ok);
        assert_false(mount3_mount_next(&c, &host, &dir));
        assert_int_equal(cursor_ok(&c), ok);
        free(copy);

        w = writer_over(buffer, sizeof buffer);
        writer_u32(&w, 1);
        writer_opaque(&w, wire_text("/export"));
        writer_u32(&w, 1);
        writer_opaque(&w, wire_bytes(zeros, len));
        writer_u64(&w, 0);
        copy = over(&c, &w);
        struct mount3_export export_;
        assert_int_equal(mount3_export_next(&c, &export_), ok);
        assert_false(mount3_export_next(&c, &export_));
        assert_int_equal(cursor_ok(&c), ok);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_path_bound),
        cmocka_unit_test(test_mnt),
        cmocka_unit_test(test_mnt_bounds),
        cmocka_unit_test(test_name_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
