/*
 * Names of the model file system: who is told of what, which attributes change, which errors there are.
 */
#include "sim/fs_fixture.h"

#include <stdio.h>

static const struct fs_set nothing = {0};
static const uint8_t verf_a[NFS3_VERF_LEN] = {0x10, 0, 0, 1, 0x20, 0, 0, 2};
static const uint8_t verf_b[NFS3_VERF_LEN] = {0x10, 0, 0, 1, 0x20, 0, 0, 3};

#define LONGEST "12345678901234567890123456789012" /* FS_NAME_MAX octets */

static enum nfs3_status create(struct fixture *fx, const struct fs_who *who, fs_node dir,
                               const char *name, enum nfs3_create_mode mode,
                               const struct fs_set *set, fs_node *node)
{
    return fs_create_file(fx->fs, who, dir, name, mode, set, verf_a, fx->now, node);
}

/* ---- looking ---- */

static void test_lookup(void **state)
{
    struct fixture *fx = *state;
    fs_node d = make_dir(fx, FS_ROOT, "d", 0700), f = make_file(fx, d, LONGEST, 0644), node;
    const struct {
        const struct fs_who *who;
        fs_node dir;
        const char *name;
        enum nfs3_status status;
        fs_node node;
    } rows[] = {
        {&alice, d, LONGEST, NFS3_OK, f},
        {&root, d, LONGEST, NFS3_OK, f},
        {&bob, d, LONGEST, NFS3ERR_ACCES, 0},
        {&bob, d, "x", NFS3ERR_ACCES, 0},
        {&bob, d, "..", NFS3ERR_ACCES, 0},
        {&alice, d, "x", NFS3ERR_NOENT, 0},
        {&alice, d, ".", NFS3_OK, d},
        {&alice, d, "..", NFS3_OK, FS_ROOT},
        {&alice, FS_ROOT, "..", NFS3_OK, FS_ROOT},
        {&alice, FS_ROOT, "d", NFS3_OK, d},
        {&alice, FS_ROOT, LONGEST, NFS3ERR_NOENT, 0},
        {&alice, d, LONGEST "3", NFS3ERR_NAMETOOLONG, 0},
        {&alice, d, "", NFS3ERR_INVAL, 0},
        {&alice, d, "a/b", NFS3ERR_INVAL, 0},
        {&alice, f, "x", NFS3ERR_NOTDIR, 0},
        {&alice, 99, "x", NFS3ERR_STALE, 0},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        enum nfs3_status status = fs_lookup(fx->fs, rows[i].who, rows[i].dir, rows[i].name, &node);
        assert_int_equal(status, rows[i].status);
        if (status == NFS3_OK)
            assert_int_equal(node, rows[i].node);
    }
    assert_int_equal(fs_behind(fx->fs, f, "x"), 0);
    assert_int_equal(fs_behind(fx->fs, 99, "."), 0);
    assert_told(fx, "");
}

/* Entries in the order of their making; cookies that stay when others go. */
static void test_entries(void **state)
{
    struct fixture *fx = *state;
    fs_node d = make_dir(fx, FS_ROOT, "d", 0755), node;
    make_file(fx, d, "c", 0644);
    fs_node a = make_file(fx, d, "a", 0644), b = make_file(fx, d, "b", 0644);
    const char *const names[] = {".", "..", "c", "a", "b"};
    const char *name;
    uint64_t cookie = 0, at_a = 0;
    for (unsigned i = 0; i < 5; i++) {
        assert_true(fs_entry(fx->fs, d, i, &name, &node));
        assert_string_equal(name, names[i]);
        uint64_t before = cookie;
        assert_true(fs_entry_after(fx->fs, d, &cookie, &name, &node));
        assert_string_equal(name, names[i]);
        assert_int_equal(node, fs_behind(fx->fs, d, name));
        assert_true(cookie > before);
        if (i == 3)
            at_a = cookie;
    }
    assert_false(fs_entry(fx->fs, d, 5, &name, &node));
    assert_false(fs_entry_after(fx->fs, d, &cookie, &name, &node));
    assert_int_equal(fs_remove(fx->fs, &alice, d, "c", fx->now), NFS3_OK);
    assert_int_equal(fs_remove(fx->fs, &alice, d, "a", fx->now), NFS3_OK);
    assert_true(fs_entry(fx->fs, d, 2, &name, &node));
    assert_int_equal(node, b);
    cookie = at_a; /* its entry is gone */
    assert_true(fs_entry_after(fx->fs, d, &cookie, &name, &node));
    assert_int_equal(node, b);
    assert_false(fs_entry(fx->fs, a, 0, &name, &node));
    assert_false(fs_entry(fx->fs, b, 0, &name, &node));
    assert_false(fs_entry_after(fx->fs, b, &cookie, &name, &node));
    assert_int_equal(fs_readdir_permitted(fx->fs, &bob, d), NFS3_OK);
    assert_int_equal(fs_readdir_permitted(fx->fs, &alice, b), NFS3ERR_NOTDIR);
    assert_int_equal(fs_readdir_permitted(fx->fs, &alice, a), NFS3ERR_STALE);
    fs_node closed = make_dir(fx, FS_ROOT, "closed", 0733);
    assert_int_equal(fs_readdir_permitted(fx->fs, &bob, closed), NFS3ERR_ACCES);
}

/* Many of them: the table grows, and each is found. */
static void test_many(void **state)
{
    struct fixture *fx = *state;
    char name[16];
    fs_node node;
    for (unsigned i = 2; i < FS_NODES_MAX; i++) {
        snprintf(name, sizeof name, "%u", i);
        assert_int_equal(make_file(fx, FS_ROOT, name, 0644), i);
    }
    for (unsigned i = 2; i < FS_NODES_MAX; i++) {
        snprintf(name, sizeof name, "%u", i);
        assert_int_equal(fs_behind(fx->fs, FS_ROOT, name), i);
    }
    assert_int_equal(create(fx, &alice, FS_ROOT, "x", NFS3_GUARDED, &nothing, &node),
                     NFS3ERR_NOSPC);
    assert_told(fx, "");
    for (unsigned i = 2; i < FS_NODES_MAX; i += 2) {
        snprintf(name, sizeof name, "%u", i);
        assert_int_equal(fs_remove(fx->fs, &alice, FS_ROOT, name, fx->now), NFS3_OK);
        fx->told[0] = '\0';
        assert_int_equal(fs_behind(fx->fs, FS_ROOT, name), 0);
    }
    assert_int_equal(fs_behind(fx->fs, FS_ROOT, "4095"), 4095);
    /* Numbers of those that are gone are not used again. */
    assert_int_equal(create(fx, &alice, FS_ROOT, "x", NFS3_GUARDED, &nothing, &node),
                     NFS3ERR_NOSPC);
}

/* The same name in many directories. */
static void test_same_name(void **state)
{
    struct fixture *fx = *state;
    fs_node dirs[200], files[200];
    char name[16];
    for (unsigned i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "%u", i);
        dirs[i] = make_dir(fx, FS_ROOT, name, 0755);
        files[i] = make_file(fx, dirs[i], "x", 0644);
    }
    for (unsigned i = 0; i < 200; i++)
        assert_int_equal(fs_behind(fx->fs, dirs[i], "x"), files[i]);
}

/* ---- making ---- */

static void test_create(void **state)
{
    struct fixture *fx = *state;
    fs_node node;
    struct fs_set set = {.mode = true,
                         .mode_value = 0640,
                         .uid = true,
                         .uid_value = 5,
                         .gid = true,
                         .gid_value = 6,
                         .size = true,
                         .size_value = 10,
                         .atime = true,
                         .atime_value = 333};
    fx->now = 2005;
    assert_int_equal(create(fx, &alice, FS_ROOT, "f", NFS3_UNCHECKED, &set, &node), NFS3_OK);
    assert_told(fx, "1 2 1/f");
    assert_int_equal(node, 2);
    struct fs_attr attr = attr_of(fx, node);
    assert_int_equal(attr.rights.type, NF3REG);
    assert_int_equal(attr.rights.mode, 0640);
    assert_int_equal(attr.rights.uid, 1000); /* hers, whatever she asks for */
    assert_int_equal(attr.rights.gid, 100);
    assert_int_equal(attr.nlink, 1);
    assert_int_equal(attr.size, 10);
    assert_int_equal(attr.used, 4096);
    assert_int_equal(attr.fsid, 7);
    assert_times(fx, node, 330, 2000, 2000);
    assert_times(fx, FS_ROOT, 0, 2000, 2000);
    assert_int_equal(attr_of(fx, FS_ROOT).nlink, 2);
    /* Within the same tick only the name says so. */
    assert_int_equal(create(fx, &root, FS_ROOT, "g", NFS3_GUARDED, &set, &node), NFS3_OK);
    assert_told(fx, "3 1/g");
    assert_int_equal(attr_of(fx, node).rights.uid, 5);
    assert_int_equal(attr_of(fx, node).rights.gid, 6);
    assert_true(attr_of(fx, node).fileid != attr.fileid);
    set.size_value = (uint64_t)INT64_MAX + 1;
    assert_int_equal(create(fx, &alice, FS_ROOT, "h", NFS3_UNCHECKED, &set, &node), NFS3ERR_FBIG);
    assert_told(fx, "");
}

static void test_create_again(void **state)
{
    struct fixture *fx = *state;
    fs_node f = make_file(fx, FS_ROOT, "f", 0644), d = make_dir(fx, FS_ROOT, "d", 0777), node;
    assert_int_equal(fs_write(fx->fs, &alice, f, 0, 100, true, fx->now), NFS3_OK);
    assert_told(fx, "2");
    fx->now = 2000;
    struct fs_set empty = {.size = true, .mode = true, .mode_value = 0777};
    struct fs_set ten = {.size = true, .size_value = 10};
    assert_int_equal(create(fx, &alice, FS_ROOT, "f", NFS3_GUARDED, &empty, &node), NFS3ERR_EXIST);
    assert_int_equal(create(fx, &alice, FS_ROOT, "f", NFS3_EXCLUSIVE, &nothing, &node),
                     NFS3ERR_EXIST);
    assert_int_equal(create(fx, &bob, FS_ROOT, "f", NFS3_UNCHECKED, &empty, &node), NFS3ERR_ACCES);
    assert_int_equal(create(fx, &alice, FS_ROOT, "d", NFS3_UNCHECKED, &empty, &node),
                     NFS3ERR_ISDIR);
    assert_int_equal(create(fx, &alice, FS_ROOT, ".", NFS3_UNCHECKED, &empty, &node),
                     NFS3ERR_EXIST);
    assert_int_equal(create(fx, &alice, d, "..", NFS3_EXCLUSIVE, &empty, &node), NFS3ERR_EXIST);
    assert_int_equal(fs_make(fx->fs, &alice, d, "l", NF3LNK, &nothing, 3, 1500, &node), NFS3_OK);
    assert_told(fx, "3 4 3/l");
    assert_int_equal(create(fx, &alice, d, "l", NFS3_UNCHECKED, &empty, &node), NFS3ERR_EXIST);
    assert_int_equal(create(fx, &bob, FS_ROOT, "f", NFS3_UNCHECKED, &nothing, &node), NFS3_OK);
    assert_int_equal(node, f);
    assert_int_equal(create(fx, &alice, FS_ROOT, "f", NFS3_UNCHECKED, &ten, &node), NFS3_OK);
    assert_int_equal(attr_of(fx, f).size, 100);
    assert_told(fx, "");
    assert_int_equal(create(fx, &alice, FS_ROOT, "f", NFS3_UNCHECKED, &empty, &node), NFS3_OK);
    assert_told(fx, "2");
    assert_int_equal(node, f);
    assert_int_equal(attr_of(fx, f).size, 0);
    assert_int_equal(attr_of(fx, f).rights.mode, 0644);
    assert_times(fx, f, 1100, 2000, 2000);
    assert_times(fx, FS_ROOT, 0, 1200, 1200);
}

/* The verifier stands in the times, to the second (K13). */
static void test_exclusive(void **state)
{
    struct fixture *fx = *state;
    fs_node f, again;
    struct fs_set mode = {.mode = true, .mode_value = 0644};
    assert_int_equal(create(fx, &alice, FS_ROOT, "f", NFS3_EXCLUSIVE, &mode, &f), NFS3_OK);
    assert_told(fx, "1 2 1/f");
    assert_int_equal(attr_of(fx, f).rights.mode, 0); /* EXCLUSIVE has no attributes */
    assert_times(fx, f, 0x20000002ull * 1000000000, 0x10000001ull * 1000000000, 1000);
    assert_int_equal(create(fx, &alice, FS_ROOT, "f", NFS3_EXCLUSIVE, &mode, &again), NFS3_OK);
    assert_int_equal(again, f);
    assert_int_equal(fs_create_file(fx->fs, &alice, FS_ROOT, "f", NFS3_EXCLUSIVE, &nothing, verf_b,
                                    fx->now, &again),
                     NFS3ERR_EXIST);
    assert_told(fx, "");
    struct fs_set now = {.mtime = true, .mtime_now = true};
    assert_int_equal(fs_setattr(fx->fs, &alice, f, &now, NULL, fx->now), NFS3_OK);
    assert_int_equal(create(fx, &alice, FS_ROOT, "f", NFS3_EXCLUSIVE, &mode, &again),
                     NFS3ERR_EXIST);
}

static void test_make(void **state)
{
    struct fixture *fx = *state;
    struct fs_set mode = {.mode = true, .mode_value = 0711, .size = true, .size_value = 9};
    fs_node d, node;
    fx->now = 2000;
    assert_int_equal(fs_make(fx->fs, &alice, FS_ROOT, "d", NF3DIR, &mode, 0, fx->now, &d), NFS3_OK);
    assert_told(fx, "1 2 1/d 2/. 2/..");
    assert_int_equal(attr_of(fx, d).rights.type, NF3DIR);
    assert_int_equal(attr_of(fx, d).rights.mode, 0711);
    assert_int_equal(attr_of(fx, d).nlink, 2);
    assert_int_equal(attr_of(fx, d).size, 4096);
    assert_int_equal(attr_of(fx, FS_ROOT).nlink, 3);
    assert_times(fx, FS_ROOT, 0, 2000, 2000);
    fx->now = 3000;
    assert_int_equal(fs_make(fx->fs, &alice, d, "l", NF3LNK, &mode, 12, fx->now, &node), NFS3_OK);
    assert_told(fx, "2 3 2/l");
    assert_int_equal(attr_of(fx, node).size, 12);
    assert_int_equal(attr_of(fx, d).nlink, 2);
    assert_int_equal(fs_make(fx->fs, &alice, d, "p", NF3FIFO, &mode, 12, fx->now, &node), NFS3_OK);
    assert_told(fx, "4 2/p");
    assert_int_equal(attr_of(fx, node).rights.type, NF3FIFO);
    assert_int_equal(attr_of(fx, node).size, 0);
    assert_int_equal(fs_make(fx->fs, &alice, d, "b", NF3BLK, &mode, 0, fx->now, &node),
                     NFS3ERR_PERM);
    assert_int_equal(fs_make(fx->fs, &alice, d, "b", NF3CHR, &mode, 0, fx->now, &node),
                     NFS3ERR_PERM);
    assert_int_equal(fs_make(fx->fs, &root, d, "b", NF3BLK, &mode, 0, fx->now, &node), NFS3_OK);
    assert_told(fx, "5 2/b");
    assert_int_equal(fs_make(fx->fs, &alice, d, "p", NF3DIR, &mode, 0, fx->now, &node),
                     NFS3ERR_EXIST);
    assert_int_equal(fs_make(fx->fs, &alice, d, ".", NF3DIR, &mode, 0, fx->now, &node),
                     NFS3ERR_EXIST);
    assert_int_equal(fs_make(fx->fs, &alice, d, "x", NF3REG, &mode, 0, fx->now, &node),
                     NFS3ERR_BADTYPE);
    assert_int_equal(fs_make(fx->fs, &bob, d, "x", NF3DIR, &mode, 0, fx->now, &node),
                     NFS3ERR_ACCES);
    assert_int_equal(fs_make(fx->fs, &alice, d, LONGEST "3", NF3DIR, &mode, 0, fx->now, &node),
                     NFS3ERR_NAMETOOLONG);
    assert_int_equal(fs_make(fx->fs, &alice, 3, "x", NF3DIR, &mode, 0, fx->now, &node),
                     NFS3ERR_NOTDIR);
    assert_int_equal(fs_make(fx->fs, &alice, 99, "x", NF3DIR, &mode, 0, fx->now, &node),
                     NFS3ERR_STALE);
    assert_told(fx, "");
}

static void test_link(void **state)
{
    struct fixture *fx = *state;
    fs_node f = make_file(fx, FS_ROOT, "f", 0600), d = make_dir(fx, FS_ROOT, "d", 0755);
    fx->now = 2000;
    assert_int_equal(fs_link(fx->fs, &alice, f, d, "g", fx->now), NFS3_OK);
    assert_told(fx, "2 3 3/g");
    assert_int_equal(fs_behind(fx->fs, d, "g"), f);
    assert_int_equal(attr_of(fx, f).nlink, 2);
    assert_times(fx, f, 1100, 1100, 2000);
    assert_times(fx, d, 1200, 2000, 2000);
    assert_int_equal(fs_link(fx->fs, &alice, f, d, "g", fx->now), NFS3ERR_EXIST);
    assert_int_equal(fs_link(fx->fs, &alice, f, d, "..", fx->now), NFS3ERR_EXIST);
    assert_int_equal(fs_link(fx->fs, &alice, d, FS_ROOT, "x", fx->now), NFS3ERR_ISDIR);
    assert_int_equal(fs_link(fx->fs, &bob, f, d, "x", fx->now), NFS3ERR_ACCES);
    assert_int_equal(fs_link(fx->fs, &alice, f, f, "x", fx->now), NFS3ERR_NOTDIR);
    assert_int_equal(fs_link(fx->fs, &alice, 99, d, "x", fx->now), NFS3ERR_STALE);
    assert_int_equal(fs_link(fx->fs, &alice, f, 99, "x", fx->now), NFS3ERR_STALE);
    assert_told(fx, "");
}

/* ---- removing ---- */

static void test_remove(void **state)
{
    struct fixture *fx = *state;
    fs_node f = make_file(fx, FS_ROOT, "f", 0600), d = make_dir(fx, FS_ROOT, "d", 0755);
    assert_int_equal(fs_link(fx->fs, &alice, f, d, "g", fx->now), NFS3_OK);
    assert_told(fx, "2 3/g");
    fx->now = 2000;
    assert_int_equal(fs_remove(fx->fs, &bob, d, "g", fx->now), NFS3ERR_ACCES);
    assert_int_equal(fs_remove(fx->fs, &bob, d, "x", fx->now), NFS3ERR_NOENT);
    assert_int_equal(fs_remove(fx->fs, &alice, FS_ROOT, "d", fx->now), NFS3ERR_ISDIR);
    assert_int_equal(fs_remove(fx->fs, &alice, d, ".", fx->now), NFS3ERR_INVAL);
    assert_int_equal(fs_remove(fx->fs, &alice, d, "..", fx->now), NFS3ERR_INVAL);
    assert_int_equal(fs_remove(fx->fs, &alice, f, "x", fx->now), NFS3ERR_NOTDIR);
    assert_int_equal(fs_remove(fx->fs, &alice, 99, "x", fx->now), NFS3ERR_STALE);
    assert_told(fx, "");
    assert_int_equal(fs_remove(fx->fs, &alice, FS_ROOT, "f", fx->now), NFS3_OK);
    assert_told(fx, "1 2 1/f");
    assert_int_equal(attr_of(fx, f).nlink, 1);
    assert_times(fx, f, 1100, 1100, 2000);
    assert_times(fx, FS_ROOT, 0, 2000, 2000);
    fx->now = 3000;
    assert_int_equal(fs_remove(fx->fs, &alice, d, "g", fx->now), NFS3_OK);
    assert_told(fx, "3 2 3/g");
    assert_true(is_gone(fx, f));
    assert_int_equal(fs_behind(fx->fs, d, "g"), 0);
    assert_int_equal(fs_remove(fx->fs, &alice, d, "g", fx->now), NFS3ERR_NOENT);
    fs_node again = make_file(fx, d, "g", 0600);
    assert_int_equal(again, 4);
}

static void test_rmdir(void **state)
{
    struct fixture *fx = *state;
    fs_node d = make_dir(fx, FS_ROOT, "d", 0755), e = make_dir(fx, d, "e", 0755);
    make_file(fx, d, "f", 0644);
    fx->now = 2000;
    assert_int_equal(attr_of(fx, d).nlink, 3);
    assert_int_equal(fs_rmdir(fx->fs, &alice, FS_ROOT, "d", fx->now), NFS3ERR_NOTEMPTY);
    assert_int_equal(fs_rmdir(fx->fs, &alice, d, "f", fx->now), NFS3ERR_NOTDIR);
    assert_int_equal(fs_rmdir(fx->fs, &alice, d, "x", fx->now), NFS3ERR_NOENT);
    assert_int_equal(fs_rmdir(fx->fs, &alice, d, ".", fx->now), NFS3ERR_INVAL);
    assert_int_equal(fs_rmdir(fx->fs, &alice, d, "..", fx->now), NFS3ERR_EXIST);
    assert_int_equal(fs_rmdir(fx->fs, &bob, d, "e", fx->now), NFS3ERR_ACCES);
    assert_told(fx, "");
    assert_int_equal(fs_rmdir(fx->fs, &alice, d, "e", fx->now), NFS3_OK);
    assert_told(fx, "2 3 2/e 3/. 3/..");
    assert_true(is_gone(fx, e));
    assert_int_equal(fs_behind(fx->fs, e, "."), 0);
    assert_int_equal(fs_behind(fx->fs, e, ".."), 0);
    assert_int_equal(attr_of(fx, d).nlink, 2);
    assert_times(fx, d, 1100, 2000, 2000);
    fs_node node;
    assert_int_equal(create(fx, &alice, e, "x", NFS3_UNCHECKED, &nothing, &node), NFS3ERR_STALE);
}

/* ---- fileids ---- */

static uint64_t fileid_after_removal(struct fixture *fx, uint64_t *first, uint64_t *second)
{
    *first = attr_of(fx, make_file(fx, FS_ROOT, "a", 0644)).fileid;
    *second = attr_of(fx, make_dir(fx, FS_ROOT, "b", 0755)).fileid;
    assert_int_equal(fs_remove(fx->fs, &alice, FS_ROOT, "a", fx->now), NFS3_OK);
    assert_int_equal(fs_rmdir(fx->fs, &alice, FS_ROOT, "b", fx->now), NFS3_OK);
    return attr_of(fx, make_file(fx, FS_ROOT, "c", 0644)).fileid;
}

static void test_fileids(void **state)
{
    struct fixture *fx = *state;
    uint64_t a, b, c = fileid_after_removal(fx, &a, &b);
    assert_true(a != b && c != a && c != b);
    fixture_options(fx, (struct fs_options){.granularity = 1, .reuse_fileids = true});
    c = fileid_after_removal(fx, &a, &b);
    assert_int_equal(c, b); /* that of the last one, whatever it was */
    assert_int_equal(attr_of(fx, make_dir(fx, FS_ROOT, "d", 0755)).fileid, a);
    uint64_t e = attr_of(fx, make_file(fx, FS_ROOT, "e", 0644)).fileid;
    assert_true(e != a && e != b);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_lookup),  TEST(test_entries),      TEST(test_many),      TEST(test_same_name),
        TEST(test_create),  TEST(test_create_again), TEST(test_exclusive), TEST(test_make),
        TEST(test_link),    TEST(test_remove),       TEST(test_rmdir),

        TEST(test_fileids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
