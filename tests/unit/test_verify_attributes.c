/*
 * Hits that are also asked of the server: what of attributes is compared, and what goes when they differ.
 */
#include "verify_scene.h"

/* ---- equal ---- */

/* Protects: each kind of hit is asked as its caller asked, after the client has its answer; what is equal is counted so,
 * and stays. */
static void test_equal(void **state)
{
    (void)state;
    struct scene s;
    verify_open(&s, STRICT);
    verify_warm(&s);
    const struct body found = full_lookup(&s.f, &s.d), absent = full_noent(&s.d);
    for (unsigned round = 1; round <= 2; round++) {
        stage_answer(hit_getattr(&s.c2, &s.f), res_getattr(&s.f.attr));
        stage_answer(hit(&s.c2, NFS3_ACCESS, args_access(&s.f, 0x05), res_access(&s.f.attr, 0x05)),
                     res_access(&s.f.attr, 0x05));
        stage_answer(hit(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "f"), found), found);
        stage_answer(hit(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "n"), absent), absent);
        expect_counts(&s, NFS3_GETATTR, round, round, 0, 0, 0, 0);
        expect_counts(&s, NFS3_ACCESS, round, round, 0, 0, 0, 0);
        expect_counts(&s, NFS3_LOOKUP, 2 * round, 2 * round, 0, 0, 0, 0);
    }
    assert_int_equal(verify_told.count, 0);
    assert_int_equal(s.c1.replies, 3 + 4); /* what the server says to a check nobody gets */
    assert_int_equal(s.c2.replies, 4);
    scene_close(&s);
}

/* Protects: what the server does not send can't differ: attributes of ACCESS and LOOKUP. More bits than were asked for
 * say nothing. */
static void test_equal_without_attributes(void **state)
{
    (void)state;
    struct scene s;
    verify_open(&s, STRICT);
    verify_warm(&s);
    stage_answer(hit(&s.c1, NFS3_ACCESS, args_access(&s.f, 0x05), res_access(&s.f.attr, 0x05)),
                 res_access(NULL, 0x3d));
    stage_answer(hit(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "f"), full_lookup(&s.f, &s.d)),
                 res_lookup(&s.f, NULL, NULL));
    stage_answer(hit(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "n"), full_noent(&s.d)),
                 res_post_op(NFS3ERR_NOENT, NULL));
    expect_counts(&s, NFS3_ACCESS, 1, 1, 0, 0, 0, 0);
    expect_counts(&s, NFS3_LOOKUP, 2, 2, 0, 0, 0, 0);
    scene_close(&s);
}

/* Protects: a check does not make anything younger, neither the object nor the clock of the fences. */
static void test_ages_stay(void **state)
{
    (void)state;
    struct scene s;
    verify_open(&s, SHARED "verify = 1\n");
    warm_attributes(&s, &s.f);
    stage_advance(s.stage, 3 * STAGE_SECOND - 1);
    cache_stamp before = cache_clock(s.c1.worker->service.cache);
    still_served(&s.c1, &s.f);
    expect_counts(&s, NFS3_GETATTR, 1, 1, 0, 0, 0, 0);
    assert_int_equal(cache_clock(s.c1.worker->service.cache), before);
    stage_advance(s.stage, 1);
    asked_again(&s.c1, &s.f);
    scene_close(&s);
}

/* ---- attributes ---- */

#define FIELD(name, value, text)                                                       \
    {                                                                                  \
        offsetof(struct attr, name), sizeof(((struct attr *)0)->name), (value), (text) \
    }

static const struct {
    size_t offset, size;
    uint64_t value;   /* what the server says */
    const char *text; /* NULL: no difference */
} fields[] = {
    FIELD(type, NF3FIFO, "type 1, not 7"),
    FIELD(mode, 04711, "mode 0640, not 04711"),
    FIELD(nlink, 77, "nlink 1, not 77"),
    FIELD(uid, 4000000000u, "uid 1002, not 4000000000"),
    FIELD(gid, 5, "gid 103, not 5"),
    FIELD(size, 1ull << 40, "size 100, not 1099511627776"),
    FIELD(used, 512, "used 4096, not 512"),
    FIELD(rdev[1], 9, "rdev 1,2, not 1,9"),
    FIELD(fsid, 10, "fsid 7, not 10"),
    FIELD(fileid, 11, "fileid 2, not 11"),
    FIELD(atime, TIME(1, 1), NULL),
    FIELD(mtime, TIME(7, 8), "mtime 10.000000020, not 7.000000008"),
    FIELD(ctime, TIME(4294967295u, 999999999), "ctime 11.000000021, not 4294967295.999999999"),
};

static void set_field(struct attr *attr, size_t row)
{
    uint32_t narrow = (uint32_t)fields[row].value;
    const void *value = fields[row].size == sizeof(narrow) ? (const void *)&narrow
                                                           : (const void *)&fields[row].value;
    memcpy((uint8_t *)attr + fields[row].offset, value, fields[row].size);
}

/* Protects: each field of fattr3 but atime; its name and both values are told, once; what was served is asked again. */
static void test_each_field(void **state)
{
    (void)state;
    for (unsigned row = 0; row < sizeof(fields) / sizeof(fields[0]); row++) {
        struct scene s;
        char expected[256];
        verify_open(&s, STRICT);
        verify_set_attributes(&s.f);
        warm_attributes(&s, &s.f);
        struct file now = s.f;
        set_field(&now.attr, row);
        stage_answer(hit_getattr(&s.c1, &s.f), res_getattr(&now.attr));
        if (fields[row].text == NULL) {
            expect_counts(&s, NFS3_GETATTR, 1, 1, 0, 0, 0, 0);
            still_served(&s.c2, &s.f);
            assert_int_equal(verify_told.count, 0);
        } else {
            expect_counts(&s, NFS3_GETATTR, 1, 0, 0, 1, 0, 0);
            assert_int_equal(verify_told.count, 1);
            snprintf(expected, sizeof(expected),
                     "home: served what the server does not say: GETATTR "
                     "68616e646c65206f662066; obj_attributes.%s",
                     fields[row].text);
            assert_string_equal(verify_told.text, expected);
            asked_again(&s.c2, &now);
        }
        scene_close(&s);
    }
}

/* Protects: several fields at once are all told. */
static void test_several_fields(void **state)
{
    (void)state;
    struct scene s;
    verify_open(&s, STRICT);
    verify_set_attributes(&s.f);
    warm_attributes(&s, &s.f);
    struct file now = s.f;
    now.attr.mode = 04711;
    now.attr.size = 7;
    stage_answer(hit_getattr(&s.c1, &s.f), res_getattr(&now.attr));
    assert_non_null(strstr(verify_told.text, "; obj_attributes.mode 0640, not 04711; "
                                             "obj_attributes.size 100, not 7"));
    scene_close(&s);
}

/* Protects: the same file under another handle goes too where it says what was not so, and stays where it does not. */
static void test_other_handles(void **state)
{
    (void)state;
    struct scene s;
    verify_open(&s, STRICT);
    struct file alias = file_make("another handle of f", NF3REG, 2);
    alias.attr = s.f.attr;
    warm_attributes(&s, &s.f);
    warm_attributes(&s, &alias);
    warm_attributes(&s, &s.g);
    struct stage_sent *check = hit_getattr(&s.c1, &s.f);
    file_write(&s.f);
    stage_answer(check, res_getattr(&s.f.attr));
    alias.attr = s.f.attr;
    asked_again(&s.c1, &alias);
    asked_again(&s.c2, &s.f);
    still_served(&s.c2, &s.g);
    expect_counts(&s, NFS3_GETATTR, 2, 1, 0, 1, 0, 0);
    scene_close(&s);
}

/* Protects: a change is one violation, however many hits on it were under way. */
static void test_told_once(void **state)
{
    (void)state;
    struct scene s;
    verify_open(&s, STRICT);
    warm_attributes(&s, &s.f);
    struct stage_sent *first = hit_getattr(&s.c1, &s.f), *second = hit_getattr(&s.c2, &s.f);
    file_write(&s.f);
    stage_answer(second, res_getattr(&s.f.attr));
    stage_answer(first, res_getattr(&s.f.attr));
    expect_counts(&s, NFS3_GETATTR, 1, 0, 0, 1, 1, 0);
    assert_int_equal(verify_told.count, 1);
    scene_close(&s);
}

/* Protects: the same where only what a name leads to is another. */
static void test_name_told_once(void **state)
{
    (void)state;
    struct scene s;
    verify_open(&s, STRICT);
    verify_warm(&s);
    struct body found = full_lookup(&s.f, &s.d), now = full_lookup(&s.g, &s.d);
    struct stage_sent *first = hit(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "f"), found);
    struct stage_sent *second = hit(&s.c2, NFS3_LOOKUP, args_dirop(&s.d, "f"), found);
    stage_answer(first, now);
    stage_answer(second, now);
    expect_counts(&s, NFS3_LOOKUP, 1, 0, 0, 1, 1, 0);
    assert_int_equal(verify_told.count, 1);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal),          cmocka_unit_test(test_equal_without_attributes),
        cmocka_unit_test(test_ages_stay),      cmocka_unit_test(test_each_field),
        cmocka_unit_test(test_several_fields), cmocka_unit_test(test_other_handles),
        cmocka_unit_test(test_told_once),      cmocka_unit_test(test_name_told_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
