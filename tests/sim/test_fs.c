/*
 * Attributes, rights, octets and crashes of the model file system.
 */
#include "sim/fs_fixture.h"

static enum nfs3_status set(struct fixture *fx, const struct fs_who *who, fs_node node,
                            struct fs_set what)
{
    return fs_setattr(fx->fs, who, node, &what, NULL, fx->now);
}

static void test_root(void **state)
{
    struct fixture *fx = *state;
    struct fs_attr attr = attr_of(fx, FS_ROOT);
    assert_int_equal(attr.rights.type, NF3DIR);
    assert_int_equal(attr.rights.mode, 0777);
    assert_int_equal(attr.rights.uid, 0);
    assert_int_equal(attr.rights.gid, 0);
    assert_int_equal(attr.nlink, 2);
    assert_int_equal(attr.size, 4096);
    assert_int_equal(attr.used, 4096);
    assert_int_equal(attr.fsid, 7);
    assert_times(fx, FS_ROOT, 0, 0, 0);
    assert_int_equal(fs_behind(fx->fs, FS_ROOT, "."), FS_ROOT);
    assert_int_equal(fs_behind(fx->fs, FS_ROOT, ".."), FS_ROOT);
    assert_int_equal(fs_last(fx->fs), FS_ROOT);
    assert_told(fx, "");
    assert_true(is_gone(fx, 0));
    assert_true(is_gone(fx, 2));
    assert_true(is_gone(fx, FS_NODES_MAX));
}

/* ---- SETATTR ---- */

static void test_mode(void **state)
{
    struct fixture *fx = *state;
    fs_node f = make_file(fx, FS_ROOT, "f", 0644);
    fx->now = 2009;
    struct fs_set mode = {.mode = true, .mode_value = 0170755};
    assert_int_equal(set(fx, &bob, f, mode), NFS3ERR_PERM);
    assert_told(fx, "");
    assert_int_equal(set(fx, &alice, f, mode), NFS3_OK);
    assert_told(fx, "2");
    assert_int_equal(attr_of(fx, f).rights.mode, 0755);
    assert_times(fx, f, 1100, 1100, 2000);
    mode.mode_value = 0600;
    fx->now = 3000;
    assert_int_equal(set(fx, &root, f, mode), NFS3_OK);
    assert_int_equal(attr_of(fx, f).rights.mode, 0600);
    assert_told(fx, "2");
    assert_int_equal(set(fx, &root, 99, mode), NFS3ERR_STALE);
}

/* Two changes within one tick of the clock have equal times; where nothing else differs nobody is told. */
static void test_granularity(void **state)
{
    struct fixture *fx = *state;
    fs_node f = make_file(fx, FS_ROOT, "f", 0644);
    fx->now = 2001;
    assert_int_equal(set(fx, &alice, f, (struct fs_set){.mode = true, .mode_value = 0600}),
                     NFS3_OK);
    assert_told(fx, "2");
    fx->now = 2009;
    assert_int_equal(set(fx, &alice, f, (struct fs_set){.mode = true, .mode_value = 0600}),
                     NFS3_OK);
    assert_told(fx, "");
    assert_int_equal(attr_of(fx, f).ctime, 2000);
    fx->now = 2010;
    assert_int_equal(set(fx, &alice, f, (struct fs_set){.mode = true, .mode_value = 0600}),
                     NFS3_OK);
    assert_told(fx, "2");
    assert_int_equal(set(fx, &alice, f, (struct fs_set){0}), NFS3_OK);
    assert_told(fx, "");
}

static void test_owner(void **state)
{
    struct fixture *fx = *state;
    fs_node f = make_file(fx, FS_ROOT, "f", 0666);
    struct fs_set uid = {.uid = true, .uid_value = 2000};
    struct fs_set gid = {.gid = true, .gid_value = 300};
    fx->now = 2000;
    assert_int_equal(set(fx, &alice, f, uid), NFS3ERR_PERM);
    assert_int_equal(set(fx, &bob, f, uid), NFS3ERR_PERM);
    assert_int_equal(set(fx, &alice, f, gid), NFS3ERR_PERM); /* she is not in it */
    assert_told(fx, "");
    assert_int_equal(set(fx, &root, f, uid), NFS3_OK);
    assert_told(fx, "2");
    assert_int_equal(set(fx, &bob, f, gid), NFS3_OK);
    assert_told(fx, "2");
    assert_int_equal(set(fx, &alice, f, gid), NFS3ERR_PERM); /* not hers any more */
    assert_int_equal(set(fx, &alice, f, uid), NFS3ERR_PERM); /* nor to whom it belongs */
    assert_int_equal(set(fx, &bob, f, uid), NFS3_OK);        /* as it is */
    assert_int_equal(attr_of(fx, f).rights.uid, 2000);
    assert_int_equal(attr_of(fx, f).rights.gid, 300);
    assert_times(fx, f, 1100, 1100, 2000);
}

static void test_size(void **state)
{
    struct fixture *fx = *state;
    fs_node f = make_file(fx, FS_ROOT, "f", 0644), d = make_dir(fx, FS_ROOT, "d", 0777);
    fx->now = 2000;
    struct fs_set size = {.size = true, .size_value = 5000};
    assert_int_equal(set(fx, &bob, f, size), NFS3ERR_ACCES);
    assert_int_equal(set(fx, &root, d, size), NFS3ERR_ISDIR);
    assert_told(fx, "");
    assert_int_equal(set(fx, &alice, f, size), NFS3_OK);
    assert_told(fx, "2");
    assert_int_equal(attr_of(fx, f).size, 5000);
    assert_int_equal(attr_of(fx, f).used, 8192);
    assert_times(fx, f, 1100, 2000, 2000);
    size.size_value = (uint64_t)INT64_MAX + 1;
    assert_int_equal(set(fx, &alice, f, size), NFS3ERR_FBIG);
    /* Also to the size that it has; and all that is asked for at once. */
    fx->now = 3000;
    struct fs_set all = {.size = true,
                         .size_value = 5000,
                         .mode = true,
                         .mode_value = 0400,
                         .mtime = true,
                         .mtime_value = 777};
    assert_int_equal(set(fx, &alice, f, all), NFS3_OK);
    assert_told(fx, "2");
    assert_int_equal(attr_of(fx, f).rights.mode, 0400);
    assert_times(fx, f, 1100, 770, 3000);
    /* The owner may, whatever the mode says. */
    size.size_value = 0;
    assert_int_equal(set(fx, &alice, f, size), NFS3_OK);
    assert_int_equal(attr_of(fx, f).used, 0);
    fs_node link;
    assert_int_equal(
        fs_make(fx->fs, &alice, FS_ROOT, "l", NF3LNK, &(struct fs_set){0}, 9, 3000, &link),
        NFS3_OK);
    assert_int_equal(set(fx, &root, link, size), NFS3ERR_INVAL);
}

static void test_set_times(void **state)
{
    struct fixture *fx = *state;
    fs_node f = make_file(fx, FS_ROOT, "f", 0622);
    fx->now = 2000;
    struct fs_set now = {.atime = true, .atime_now = true, .mtime = true, .mtime_now = true};
    struct fs_set given = {.atime = true, .atime_value = 55, .mtime = true, .mtime_value = 66};
    assert_int_equal(set(fx, &bob, f, given), NFS3ERR_PERM);
    struct fs_set only = {.mtime = true, .mtime_value = 66};
    assert_int_equal(set(fx, &bob, f, only), NFS3ERR_PERM);
    only = (struct fs_set){.atime = true, .atime_value = 55};
    assert_int_equal(set(fx, &bob, f, only), NFS3ERR_PERM);
    assert_int_equal(set(fx, &alice, f, only), NFS3_OK);
    assert_told(fx, "2");
    assert_times(fx, f, 50, 1100, 2000);
    assert_int_equal(set(fx, &bob, f, now), NFS3_OK); /* who may write may say that he did */
    assert_told(fx, "2");
    assert_times(fx, f, 2000, 2000, 2000);
    fx->now = 3000;
    assert_int_equal(set(fx, &alice, f, given), NFS3_OK);
    assert_told(fx, "2");
    assert_times(fx, f, 50, 60, 3000);
    assert_int_equal(set(fx, &alice, f, (struct fs_set){.mode = true, .mode_value = 0644}),
                     NFS3_OK);
    assert_int_equal(set(fx, &bob, f, now), NFS3ERR_ACCES);
}

static void test_guard(void **state)
{
    struct fixture *fx = *state;
    fs_node f = make_file(fx, FS_ROOT, "f", 0644);
    struct fs_set mode = {.mode = true, .mode_value = 0600};
    uint64_t guard = 1099;
    fx->now = 2000;
    assert_int_equal(fs_setattr(fx->fs, &alice, f, &mode, &guard, fx->now), NFS3ERR_NOT_SYNC);
    assert_told(fx, "");
    guard = 1101;
    assert_int_equal(fs_setattr(fx->fs, &alice, f, &mode, &guard, fx->now), NFS3ERR_NOT_SYNC);
    guard = 1100;
    assert_int_equal(fs_setattr(fx->fs, &alice, f, &mode, &guard, fx->now), NFS3_OK);
    assert_told(fx, "2");
    assert_int_equal(fs_setattr(fx->fs, &alice, f, &mode, &guard, fx->now), NFS3ERR_NOT_SYNC);
}

static void test_setacl(void **state)
{
    struct fixture *fx = *state;
    fs_node f = make_file(fx, FS_ROOT, "f", 0600);
    fx->now = 2000;
    assert_int_equal(fs_setacl(fx->fs, &bob, f, true, 2000, 7, fx->now), NFS3ERR_PERM);
    assert_told(fx, "");
    assert_int_equal(fs_setacl(fx->fs, &alice, f, true, 2000, 6, fx->now), NFS3_OK);
    assert_told(fx, "2");
    struct fs_rights rights = attr_of(fx, f).rights;
    assert_int_equal(fs_access(&rights, &bob),
                     NFS3_ACCESS_READ | NFS3_ACCESS_MODIFY | NFS3_ACCESS_EXTEND);
    assert_times(fx, f, 1100, 1100, 2000);
    /* Within the same tick the rights differ, and nothing else does. */
    assert_int_equal(fs_setacl(fx->fs, &alice, f, true, 2000, 4, fx->now), NFS3_OK);
    assert_told(fx, "2");
    assert_int_equal(fs_setacl(fx->fs, &alice, f, false, 2000, 4, fx->now), NFS3_OK);
    assert_told(fx, "2");
    rights = attr_of(fx, f).rights;
    assert_int_equal(fs_access(&rights, &bob), 0);
    /* Whom it names counts only while it names somebody. */
    assert_int_equal(fs_setacl(fx->fs, &alice, f, false, 5, 3, fx->now), NFS3_OK);
    assert_told(fx, "");
    assert_int_equal(fs_setacl(fx->fs, &alice, f, true, 0, 0, fx->now), NFS3_OK);
    assert_told(fx, "2");
    assert_int_equal(fs_setacl(fx->fs, &alice, 9, false, 0, 0, fx->now), NFS3ERR_STALE);
}

/* ---- rights ---- */

/* The first class that fits decides: owner, named user, groups, others. */
static void test_access(void **state)
{
    (void)state;
    const uint32_t r = NFS3_ACCESS_READ, w = NFS3_ACCESS_MODIFY | NFS3_ACCESS_EXTEND;
    const uint32_t x = NFS3_ACCESS_EXECUTE, search = NFS3_ACCESS_LOOKUP;
    const struct {
        struct fs_rights rights;
        uint32_t alice, bob, root;
    } rows[] = {
        {{NF3REG, 0400, 1000, 100, false, 0, 0}, r, 0, r | w | x},
        {{NF3REG, 0200, 1000, 100, false, 0, 0}, w, 0, r | w | x},
        {{NF3REG, 0177, 1000, 100, false, 0, 0}, x, r | w | x, r | w | x},
        {{NF3REG, 0070, 5, 100, false, 0, 0}, r | w | x, 0, r | w | x},
        {{NF3REG, 0040, 5, 300, false, 0, 0}, 0, r, r | w | x},
        {{NF3REG, 0707, 5, 200, false, 0, 0}, r | w | x, 0, r | w | x},
        {{NF3REG, 0777, 5, 200, true, 2000, 1}, r | w | x, x, r | w | x},
        {{NF3REG, 0777, 2000, 5, true, 2000, 1}, r | w | x, r | w | x, r | w | x},
        {{NF3LNK, 0001, 5, 5, true, 1000, 4}, r, x, r | w | x},
        {{NF3DIR, 0400, 1000, 5, false, 0, 0}, r, 0, r | search | w | NFS3_ACCESS_DELETE},
        {{NF3DIR, 0200, 1000, 5, false, 0, 0}, 0, 0, r | search | w | NFS3_ACCESS_DELETE},
        {{NF3DIR, 0103, 1000, 5, false, 0, 0},
         search,
         search | w | NFS3_ACCESS_DELETE,
         r | search | w | NFS3_ACCESS_DELETE},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(fs_access(&rows[i].rights, &alice), rows[i].alice);
        assert_int_equal(fs_access(&rows[i].rights, &bob), rows[i].bob);
        assert_int_equal(fs_access(&rows[i].rights, &root), rows[i].root);
    }
}

/* ---- octets ---- */

static void test_read(void **state)
{
    struct fixture *fx = *state;
    fs_node f = make_file(fx, FS_ROOT, "f", 0640), x = make_file(fx, FS_ROOT, "x", 0611);
    fs_node d = make_dir(fx, FS_ROOT, "d", 0777);
    assert_int_equal(set(fx, &alice, f, (struct fs_set){.size = true, .size_value = 100}), NFS3_OK);
    assert_told(fx, "2");
    fx->now = 2005;
    const struct {
        uint64_t offset;
        uint32_t count, got;
        bool eof;
    } rows[] = {{0, 99, 99, false}, {0, 100, 100, true}, {1, 100, 99, true}, {50, 10, 10, false},
                {100, 5, 0, true},  {900, 5, 0, true},   {0, 0, 0, false}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t count = rows[i].count;
        bool eof;
        assert_int_equal(fs_read(fx->fs, &alice, f, rows[i].offset, &count, &eof, fx->now),
                         NFS3_OK);
        assert_int_equal(count, rows[i].got);
        assert_int_equal(eof, rows[i].eof);
        assert_told(fx, i == 0 ? "2" : ""); /* once in one tick */
    }
    assert_times(fx, f, 2000, 1300, 1300);
    uint32_t count = 1;
    bool eof;
    assert_int_equal(fs_read(fx->fs, &bob, f, 0, &count, &eof, fx->now), NFS3ERR_ACCES);
    assert_int_equal(fs_read(fx->fs, &bob, x, 0, &count, &eof, fx->now),
                     NFS3_OK); /* to execute it */
    assert_told(fx, "3");
    assert_int_equal(fs_read(fx->fs, &alice, d, 0, &count, &eof, fx->now), NFS3ERR_ISDIR);
    assert_int_equal(fs_read(fx->fs, &alice, 99, 0, &count, &eof, fx->now), NFS3ERR_STALE);
    assert_told(fx, "");
}

static void test_write(void **state)
{
    struct fixture *fx = *state;
    fs_node f = make_file(fx, FS_ROOT, "f", 0444);
    fx->now = 2000;
    assert_int_equal(fs_write(fx->fs, &bob, f, 0, 1, true, fx->now), NFS3ERR_ACCES);
    assert_int_equal(fs_write(fx->fs, &alice, FS_ROOT, 0, 1, true, fx->now), NFS3ERR_ISDIR);
    assert_int_equal(fs_write(fx->fs, &alice, f, INT64_MAX, 1, true, fx->now), NFS3ERR_FBIG);
    assert_int_equal(fs_write(fx->fs, &alice, f, UINT64_MAX, 2, true, fx->now), NFS3ERR_FBIG);
    assert_int_equal(fs_write(fx->fs, &alice, 99, 0, 1, true, fx->now), NFS3ERR_STALE);
    assert_int_equal(fs_write(fx->fs, &alice, f, 50, 0, true, fx->now), NFS3_OK);
    assert_told(fx, "");
    assert_int_equal(fs_write(fx->fs, &alice, f, 90, 10, true, fx->now), NFS3_OK);
    assert_told(fx, "2");
    assert_int_equal(attr_of(fx, f).size, 100);
    assert_int_equal(attr_of(fx, f).used, 8192); /* one block more than it needs */
    assert_times(fx, f, 1100, 2000, 2000);
    fx->now = 3000;
    assert_int_equal(fs_write(fx->fs, &alice, f, 0, 10, true, fx->now), NFS3_OK);
    assert_told(fx, "2");
    assert_int_equal(attr_of(fx, f).size, 100);
    assert_times(fx, f, 1100, 3000, 3000);
    assert_true(fs_settle(fx->fs, f));
    assert_told(fx, "2");
    assert_int_equal(attr_of(fx, f).used, 4096);
    assert_times(fx, f, 1100, 3000, 3000);
    assert_false(fs_settle(fx->fs, f));
    assert_told(fx, "");
    /* Within the same tick `used` alone says that it was written. */
    assert_int_equal(fs_write(fx->fs, &alice, f, 0, 10, true, fx->now), NFS3_OK);
    assert_told(fx, "2");
    assert_false(fs_settle(fx->fs, FS_ROOT));
    assert_false(fs_settle(fx->fs, 99));
    assert_told(fx, "");
}

/* ---- crashes ---- */

struct losing {
    unsigned asked;
    fs_node lost;
};

static bool loses(void *context, fs_node node)
{
    struct losing *losing = context;
    losing->asked++;
    return node == losing->lost;
}

/* Returns for how many files it was asked. */
static unsigned crash(struct fixture *fx, fs_node lost)
{
    struct losing losing = {.lost = lost};
    fs_crash(fx->fs, loses, &losing);
    return losing.asked;
}

static void write_at(struct fixture *fx, fs_node node, uint64_t now, uint32_t len, bool stable)
{
    assert_int_equal(fs_write(fx->fs, &alice, node, 0, len, stable, now), NFS3_OK);
    assert_told(fx, node == 2 ? "2" : "3");
}

static void test_crash(void **state)
{
    struct fixture *fx = *state;
    fs_node f = make_file(fx, FS_ROOT, "f", 0644), g = make_file(fx, FS_ROOT, "g", 0644);
    write_at(fx, f, 2000, 100, true);
    assert_int_equal(crash(fx, f), 0);
    write_at(fx, f, 3000, 200, false);
    write_at(fx, f, 4000, 5000, false);
    assert_int_equal(attr_of(fx, f).used, 12288);
    write_at(fx, g, 4000, 10, false);
    assert_int_equal(crash(fx, f), 2);
    assert_told(fx, "2");
    assert_int_equal(attr_of(fx, f).size, 100);
    assert_int_equal(attr_of(fx, f).used, 8192);
    assert_times(fx, f, 1100, 2000, 2000);
    assert_int_equal(attr_of(fx, g).size, 10);
    assert_times(fx, g, 1200, 4000, 4000);
    assert_int_equal(crash(fx, f), 0); /* what survived is stable now */
}

static void test_commit(void **state)
{
    struct fixture *fx = *state;
    fs_node f = make_file(fx, FS_ROOT, "f", 0644);
    write_at(fx, f, 3000, 200, false);
    assert_int_equal(fs_commit(fx->fs, &bob, f), NFS3ERR_ACCES);
    assert_int_equal(fs_commit(fx->fs, &alice, FS_ROOT), NFS3ERR_ISDIR);
    assert_int_equal(fs_commit(fx->fs, &alice, 99), NFS3ERR_STALE);
    assert_int_equal(fs_commit(fx->fs, &alice, f), NFS3_OK);
    assert_told(fx, "");
    assert_int_equal(crash(fx, f), 0);
    assert_int_equal(attr_of(fx, f).size, 200);
    /* A stable write takes what was there along. */
    write_at(fx, f, 4000, 300, false);
    write_at(fx, f, 5000, 100, true);
    assert_int_equal(crash(fx, f), 0);
    assert_int_equal(attr_of(fx, f).size, 300);
}

/* What other calls did to a file with unstable data is not lost with it. */
static void test_crash_after_changes(void **state)
{
    struct fixture *fx = *state;
    fs_node f = make_file(fx, FS_ROOT, "f", 0644);
    write_at(fx, f, 2000, 200, false);
    assert_int_equal(fs_link(fx->fs, &alice, f, FS_ROOT, "g", 3000), NFS3_OK);
    assert_told(fx, "2 1 1/g");
    assert_int_equal(crash(fx, f), 1);
    assert_told(fx, "2");
    assert_int_equal(attr_of(fx, f).size, 0);
    assert_int_equal(attr_of(fx, f).nlink, 2);
    assert_times(fx, f, 1100, 1100, 3000);
    write_at(fx, f, 4000, 200, false);
    fx->now = 5000;
    assert_int_equal(set(fx, &alice, f, (struct fs_set){.mtime = true, .mtime_value = 4500}),
                     NFS3_OK);
    assert_told(fx, "2");
    assert_int_equal(crash(fx, f), 1);
    assert_told(fx, "2");
    assert_int_equal(attr_of(fx, f).size, 0);
    assert_times(fx, f, 1100, 4500, 5000);
    write_at(fx, f, 6000, 200, false);
    assert_int_equal(set(fx, &alice, f, (struct fs_set){.size = true, .size_value = 50}), NFS3_OK);
    assert_int_equal(crash(fx, f), 0);
    assert_int_equal(attr_of(fx, f).size, 50);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_root),        TEST(test_mode),
        TEST(test_granularity), TEST(test_owner),
        TEST(test_size),        TEST(test_set_times),
        TEST(test_guard),       TEST(test_setacl),
        TEST(test_access),      TEST(test_read),
        TEST(test_write),       TEST(test_crash),
        TEST(test_commit),      TEST(test_crash_after_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
