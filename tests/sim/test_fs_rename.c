/*
 * RENAME of the model file system.
 */
#include "sim/fs_fixture.h"

#define TOO_LONG "123456789012345678901234567890123" /* FS_NAME_MAX octets and one */

static enum nfs3_status rename_to(struct fixture *fx, fs_node dir, const char *name, fs_node to_dir,
                                  const char *to_name)
{
    return fs_rename(fx->fs, &alice, dir, name, to_dir, to_name, fx->now);
}

static void test_rename_file(void **state)
{
    struct fixture *fx = *state;
    fs_node d = make_dir(fx, FS_ROOT, "d", 0755), f = make_file(fx, FS_ROOT, "f", 0644);
    fx->now = 2000;
    assert_int_equal(rename_to(fx, FS_ROOT, "f", d, "g"), NFS3_OK);
    assert_told(fx, "1 2 3 1/f 2/g");
    assert_int_equal(fs_behind(fx->fs, FS_ROOT, "f"), 0);
    assert_int_equal(fs_behind(fx->fs, d, "g"), f);
    assert_int_equal(attr_of(fx, f).nlink, 1);
    assert_times(fx, f, 1200, 1200, 2000);
    assert_times(fx, FS_ROOT, 0, 2000, 2000);
    assert_times(fx, d, 1100, 2000, 2000);
    /* Within one directory; and to the name that it has. */
    fx->now = 3000;
    assert_int_equal(rename_to(fx, d, "g", d, "h"), NFS3_OK);
    assert_told(fx, "2 3 2/g 2/h");
    assert_int_equal(rename_to(fx, d, "h", d, "h"), NFS3_OK);
    assert_told(fx, "");
    assert_times(fx, d, 1100, 3000, 3000);
}

static void test_rename_over(void **state)
{
    struct fixture *fx = *state;
    fs_node a = make_file(fx, FS_ROOT, "a", 0644), b = make_file(fx, FS_ROOT, "b", 0644);
    fx->now = 2000;
    assert_int_equal(fs_link(fx->fs, &alice, b, FS_ROOT, "c", fx->now), NFS3_OK);
    assert_told(fx, "3 1 1/c");
    fx->now = 3000;
    assert_int_equal(rename_to(fx, FS_ROOT, "a", FS_ROOT, "b"), NFS3_OK);
    assert_told(fx, "1 2 3 1/a 1/b");
    assert_int_equal(fs_behind(fx->fs, FS_ROOT, "b"), a);
    assert_int_equal(attr_of(fx, b).nlink, 1);
    assert_times(fx, b, 1200, 1200, 3000);
    fx->now = 4000;
    assert_int_equal(rename_to(fx, FS_ROOT, "b", FS_ROOT, "c"), NFS3_OK);
    assert_told(fx, "1 2 3 1/b 1/c");
    assert_true(is_gone(fx, b));
    /* Two names of one file stay. */
    assert_int_equal(fs_link(fx->fs, &alice, a, FS_ROOT, "d", fx->now), NFS3_OK);
    assert_told(fx, "2 1/d");
    fx->now = 5000;
    assert_int_equal(rename_to(fx, FS_ROOT, "c", FS_ROOT, "d"), NFS3_OK);
    assert_told(fx, "");
    assert_int_equal(fs_behind(fx->fs, FS_ROOT, "c"), a);
    assert_int_equal(attr_of(fx, a).nlink, 2);
}

static void test_rename_dir(void **state)
{
    struct fixture *fx = *state;
    fs_node d = make_dir(fx, FS_ROOT, "d", 0755), e = make_dir(fx, FS_ROOT, "e", 0755);
    fs_node m = make_dir(fx, d, "m", 0755), o = make_dir(fx, e, "o", 0755);
    make_file(fx, m, "f", 0644);
    fx->now = 3000;
    assert_int_equal(rename_to(fx, d, "m", e, "n"), NFS3_OK);
    assert_told(fx, "2 3 4 2/m 3/n 4/..");
    assert_int_equal(attr_of(fx, d).nlink, 2);
    assert_int_equal(attr_of(fx, e).nlink, 4);
    assert_int_equal(fs_behind(fx->fs, m, ".."), e);
    assert_times(fx, m, 1300, 1500, 3000);
    /* Over an empty directory. */
    fx->now = 4000;
    assert_int_equal(rename_to(fx, e, "n", e, "o"), NFS3_OK);
    assert_told(fx, "3 4 5 3/n 3/o 5/. 5/..");
    assert_true(is_gone(fx, o));
    assert_int_equal(attr_of(fx, e).nlink, 3);
    fs_node p = make_dir(fx, d, "p", 0755);
    fx->now = 5000;
    assert_int_equal(rename_to(fx, e, "o", d, "p"), NFS3_OK);
    assert_told(fx, "3 2 4 7 3/o 2/p 4/.. 7/. 7/..");
    assert_true(is_gone(fx, p));
    assert_int_equal(attr_of(fx, e).nlink, 2);
    assert_int_equal(attr_of(fx, d).nlink, 3);
    assert_int_equal(fs_behind(fx->fs, m, ".."), d);
    assert_int_equal(rename_to(fx, d, "p", d, "p"), NFS3_OK); /* it is not empty */
    assert_told(fx, "");
}

static void test_rename_errors(void **state)
{
    struct fixture *fx = *state;
    fs_node d = make_dir(fx, FS_ROOT, "d", 0777), e = make_dir(fx, d, "e", 0777);
    fs_node f = make_file(fx, FS_ROOT, "f", 0644), empty = make_dir(fx, FS_ROOT, "empty", 0777);
    fs_node closed = make_dir(fx, FS_ROOT, "closed", 0755);
    make_file(fx, closed, "c", 0644);
    const struct {
        const struct fs_who *who;
        fs_node dir;
        const char *name;
        fs_node to_dir;
        const char *to_name;
        enum nfs3_status status;
    } rows[] = {
        {&alice, FS_ROOT, "x", FS_ROOT, "y", NFS3ERR_NOENT},
        {&alice, FS_ROOT, "d", FS_ROOT, "f", NFS3ERR_NOTDIR},
        {&alice, FS_ROOT, "f", FS_ROOT, "empty", NFS3ERR_ISDIR},
        {&alice, FS_ROOT, "empty", FS_ROOT, "d", NFS3ERR_NOTEMPTY},
        {&alice, FS_ROOT, "d", d, "x", NFS3ERR_INVAL},
        {&alice, FS_ROOT, "d", e, "x", NFS3ERR_INVAL},
        {&alice, FS_ROOT, "d", d, "e", NFS3ERR_INVAL},
        {&alice, d, "e", FS_ROOT, "d", NFS3ERR_NOTEMPTY},
        {&alice, d, ".", FS_ROOT, "x", NFS3ERR_INVAL},
        {&alice, FS_ROOT, "f", d, "..", NFS3ERR_INVAL},
        {&alice, FS_ROOT, "f", FS_ROOT, "", NFS3ERR_INVAL},
        {&alice, FS_ROOT, "f", FS_ROOT, TOO_LONG, NFS3ERR_NAMETOOLONG},
        {&alice, FS_ROOT, "f", f, "x", NFS3ERR_NOTDIR},
        {&alice, f, "x", FS_ROOT, "x", NFS3ERR_NOTDIR},
        {&alice, FS_ROOT, "f", 99, "x", NFS3ERR_STALE},
        {&alice, 99, "f", FS_ROOT, "x", NFS3ERR_STALE},
        {&bob, closed, "c", FS_ROOT, "x", NFS3ERR_ACCES},
        {&bob, FS_ROOT, "f", closed, "x", NFS3ERR_ACCES},
        {&bob, FS_ROOT, "closed", d, "x", NFS3ERR_ACCES}, /* its ".." is written */
    };
    fx->now = 5000;
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(fs_rename(fx->fs, rows[i].who, rows[i].dir, rows[i].name, rows[i].to_dir,
                                   rows[i].to_name, fx->now),
                         rows[i].status);
        assert_told(fx, "");
    }
    assert_int_equal(fs_rename(fx->fs, &bob, FS_ROOT, "closed", FS_ROOT, "x", fx->now), NFS3_OK);
    assert_told(fx, "1 6 1/closed 1/x");
    assert_int_equal(fs_behind(fx->fs, FS_ROOT, "empty"), empty);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_rename_file),
        TEST(test_rename_over),
        TEST(test_rename_dir),
        TEST(test_rename_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
