/*
 * Handles, attributes and octets of the model server: whole results, octet for octet, and who is told of what.
 */
#include "sim/nfsd_fixture.h"

#define BOOT "bootbeef"

/* ---- handles ---- */

static void test_handles(void **state)
{
    struct fixture *fx = *state;
    for (uint32_t len = 16; len <= NFS3_FH_MAX; len++) {
        struct nfsd_options options = plain;
        options.handle_len = len;
        fixture_options(fx, &options);
        fs_node f = make(fx, FS_ROOT, "f", NF3REG, 0644);
        struct file d = file_of(fx, FS_ROOT), file = file_of(fx, f);
        assert_told(fx, "h1=1 h2=2"); /* when it is first given out */
        assert_int_equal(file.handle_len, len);
        assert_memory_equal(file_of(fx, f).handle, file.handle, len);
        assert_told(fx, "");
        assert_memory_not_equal(file.handle, d.handle, len);
        assert_int_equal(nfsd_node(fx->nfsd, file_handle(&file)), f);
        struct body args = args_handle(&file), expected = res_getattr(&file.attr);
        execute(fx, NFS3_GETATTR, &alice, &args);
        assert_results(fx, &expected);
    }
}

static void assert_bad_handle(struct fixture *fx, const struct file *file, uint32_t status)
{
    struct body args = args_handle(file), expected = res_status(status);
    execute(fx, NFS3_GETATTR, &alice, &args);
    assert_results(fx, &expected);
    assert_int_equal(nfsd_node(fx->nfsd, file_handle(file)), 0);
}

static void test_bad_handles(void **state)
{
    struct fixture *fx = *state;
    fs_node f = make(fx, FS_ROOT, "f", NF3REG, 0644);
    struct file good = file_of(fx, f), bad;
    for (uint32_t i = 0; i < good.handle_len; i++) {
        bad = good;
        bad.handle[i] ^= 1;
        assert_bad_handle(fx, &bad, NFS3ERR_BADHANDLE);
    }
    for (bad = good, bad.handle_len = 0; bad.handle_len <= NFS3_FH_MAX; bad.handle_len++)
        if (bad.handle_len != good.handle_len)
            assert_bad_handle(fx, &bad, NFS3ERR_BADHANDLE);
    struct file root_dir = file_of(fx, FS_ROOT);
    struct body args = args_rename(&bad, "x", &root_dir, "x"); /* too long, as it is left */
    execute(fx, NFS3_RENAME, &alice, &args);
    assert_int_equal(bytes_load_u32(fx->executed.reply + 20), RPC_GARBAGE_ARGS);
    bad.handle_len = 1;
    args = args_rename(&bad, "x", &root_dir, "x");
    execute(fx, NFS3_RENAME, &alice, &args);
    assert_int_equal(status_of(fx), NFS3ERR_BADHANDLE);
    args = args_dirop(&root_dir, "f");
    forget_told(fx);
    execute(fx, NFS3_REMOVE, &alice, &args);
    assert_told(fx, "1 h1=0 2 1/f");
    assert_bad_handle(fx, &good, NFS3ERR_STALE);
    uint8_t fattr[NFS3_FATTR_LEN], room[NFS3_FH_MAX];
    struct draw draw = fixture_draw(fx);
    assert_false(nfsd_fattr(fx->nfsd, f, fattr));
    assert_int_equal(nfsd_handle(fx->nfsd, f, &draw, room).len, 0);
    assert_true(nfsd_fattr(fx->nfsd, FS_ROOT, fattr));
    root_dir = file_of(fx, FS_ROOT);
    assert_attr_is(fattr, &root_dir);
}

/* One that only another server of the same file system has given out. */
static void test_handle_of_the_future(void **state)
{
    struct fixture *fx = *state;
    file_of(fx, FS_ROOT);
    struct file later = file_of(fx, make(fx, FS_ROOT, "f", NF3REG, 0644));
    fixture_options(fx, &plain);
    file_of(fx, FS_ROOT);
    assert_bad_handle(fx, &later, NFS3ERR_BADHANDLE);
}

/* Each procedure refuses a stale handle, in either place, and shows no attributes of it. */
static void test_stale(void **state)
{
    struct fixture *fx = *state;
    fs_node d = make(fx, FS_ROOT, "d", NF3DIR, 0777);
    struct file good = file_of(fx, FS_ROOT), stale = file_of(fx, d);
    struct body args = args_dirop(&good, "d");
    execute(fx, NFS3_RMDIR, &alice, &args);
    assert_int_equal(status_of(fx), NFS3_OK);
    good = file_of(fx, FS_ROOT);
    struct wcc none = {NULL, NULL}, same = {&good.attr, &good.attr};
    const struct {
        unsigned procedure;
        struct body args, expected;
    } rows[] = {
        {NFS3_SETATTR, args_setattr_size(&stale, 1), res_wcc(NFS3ERR_STALE, none)},
        {NFS3_LOOKUP, args_dirop(&stale, "x"), res_post_op(NFS3ERR_STALE, NULL)},
        {NFS3_ACCESS, args_access(&stale, 1), res_post_op(NFS3ERR_STALE, NULL)},
        {NFS3_READLINK, args_handle(&stale), res_post_op(NFS3ERR_STALE, NULL)},
        {NFS3_READ, args_read(&stale, 0, 1), res_post_op(NFS3ERR_STALE, NULL)},
        {NFS3_WRITE, args_write(&stale, 0, "x"), res_wcc(NFS3ERR_STALE, none)},
        {NFS3_CREATE, args_create(&stale, "x", NFS3_GUARDED, NULL), res_wcc(NFS3ERR_STALE, none)},
        {NFS3_MKDIR, args_mkdir(&stale, "x"), res_wcc(NFS3ERR_STALE, none)},
        {NFS3_SYMLINK, args_symlink(&stale, "x", "y"), res_wcc(NFS3ERR_STALE, none)},
        {NFS3_MKNOD, args_mknod(&stale, "x"), res_wcc(NFS3ERR_STALE, none)},
        {NFS3_REMOVE, args_dirop(&stale, "x"), res_wcc(NFS3ERR_STALE, none)},
        {NFS3_RMDIR, args_dirop(&stale, "x"), res_wcc(NFS3ERR_STALE, none)},
        {NFS3_RENAME, args_rename(&stale, "x", &good, "y"), res_rename(NFS3ERR_STALE, none, same)},
        {NFS3_RENAME, args_rename(&good, "x", &stale, "y"), res_rename(NFS3ERR_STALE, same, none)},
        {NFS3_LINK, args_link(&stale, &good, "y"), res_link(NFS3ERR_STALE, NULL, same)},
        {NFS3_LINK, args_link(&good, &stale, "y"), res_link(NFS3ERR_STALE, &good.attr, none)},
        {NFS3_READDIR, args_readdir(&stale), res_post_op(NFS3ERR_STALE, NULL)},
        {NFS3_READDIRPLUS, args_readdirplus(&stale), res_post_op(NFS3ERR_STALE, NULL)},
        {NFS3_FSSTAT, args_handle(&stale), res_post_op(NFS3ERR_STALE, NULL)},
        {NFS3_FSINFO, args_handle(&stale), res_post_op(NFS3ERR_STALE, NULL)},
        {NFS3_PATHCONF, args_handle(&stale), res_post_op(NFS3ERR_STALE, NULL)},
        {NFS3_COMMIT, args_commit(&stale), res_wcc(NFS3ERR_STALE, none)},
        {GETACL, args_getacl(&stale), res_post_op(NFS3ERR_STALE, NULL)},
        {SETACL, args_setacl(&stale, 2), res_post_op(NFS3ERR_STALE, NULL)},
    };
    forget_told(fx);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        execute(fx, rows[i].procedure, &alice, &rows[i].args);
        assert_results(fx, &rows[i].expected);
        assert_told(fx, "");
    }
}

/* ---- attributes ---- */

static void test_setattr(void **state)
{
    struct fixture *fx = *state;
    fs_node f = make(fx, FS_ROOT, "f", NF3REG, 0644);
    struct file before = file_of(fx, f), after;
    struct body args = args_setattr_size(&before, 5000), expected;
    forget_told(fx);
    execute(fx, NFS3_SETATTR, &alice, &args);
    after = file_of(fx, f);
    assert_told(fx, "2");
    assert_int_equal(after.attr.size, 5000);
    assert_int_equal(after.attr.ctime, TIME(1001, 5));
    expected = res_wcc(NFS3_OK, (struct wcc){&before.attr, &after.attr});
    assert_results(fx, &expected);
    before = after;
    args = args_setattr_guarded(&before, 0600, TIME(1000, 5));
    execute(fx, NFS3_SETATTR, &alice, &args);
    expected = res_wcc(NFS3ERR_NOT_SYNC, (struct wcc){&before.attr, &before.attr});
    assert_results(fx, &expected);
    args = args_setattr_guarded(&before, 0600, TIME(1001, 5));
    execute(fx, NFS3_SETATTR, &bob, &args);
    assert_int_equal(status_of(fx), NFS3ERR_PERM);
    execute(fx, NFS3_SETATTR, &alice, &args);
    after = file_of(fx, f);
    assert_int_equal(after.attr.mode, 0600);
    expected = res_wcc(NFS3_OK, (struct wcc){&before.attr, &after.attr});
    assert_results(fx, &expected);
}

/* Every field of sattr3 at its place. */
static void test_sattr(void **state)
{
    struct fixture *fx = *state;
    fs_node f = make(fx, FS_ROOT, "f", NF3REG, 0644);
    struct file file = file_of(fx, f);
    struct body args = args_handle(&file);
    const uint32_t ids[] = {0751, 31, 32};
    for (unsigned i = 0; i < 3; i++) {
        body_u32(&args, 1);
        body_u32(&args, ids[i]);
    }
    body_u32(&args, 1);
    body_u64(&args, 0x100000001u);
    body_u32(&args, 2); /* atime: the client's */
    body_u64(&args, TIME(77, 999999999));
    body_u32(&args, 1); /* mtime: the server's */
    body_u32(&args, 0);
    execute(fx, NFS3_SETATTR, &root, &args);
    assert_int_equal(status_of(fx), NFS3_OK);
    struct attr attr = file_of(fx, f).attr;
    assert_int_equal(attr.mode, 0751);
    assert_int_equal(attr.uid, 31);
    assert_int_equal(attr.gid, 32);
    assert_int_equal(attr.size, 0x100000001u);
    assert_int_equal(attr.atime, TIME(77, 999999999));
    assert_int_equal(attr.mtime, TIME(1001, 5));
}

static void test_access(void **state)
{
    struct fixture *fx = *state;
    fs_node f = make(fx, FS_ROOT, "f", NF3REG, 0640);
    struct file file = file_of(fx, f);
    const struct who grouped = {RPC_AUTH_SYS, 5, 6, 2, {7, 100}};
    const struct who stranger = {RPC_AUTH_SYS, 5, 6, 0, {0}};
    const struct {
        const struct who *who;
        uint32_t mask, granted;
    } rows[] = {
        {&alice, 0x3f, 0x0d}, {&alice, 0x01, 0x01},   {&alice, 0x20, 0},  {&bob, 0x3f, 0x01},
        {&root, 0x3f, 0x2d},  {&grouped, 0x3f, 0x01}, {&nobody, 0x3f, 0}, {&stranger, 0x3f, 0},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct body args = args_access(&file, rows[i].mask);
        struct body expected = res_access(&file.attr, rows[i].granted);
        execute(fx, NFS3_ACCESS, rows[i].who, &args);
        assert_results(fx, &expected);
    }
}

/* AUTH_NONE is uid and gid 65534. */
static void test_nobody(void **state)
{
    struct fixture *fx = *state;
    struct file d = file_of(fx, FS_ROOT);
    struct body args = args_mkdir(&d, "d");
    execute(fx, NFS3_MKDIR, &nobody, &args);
    struct attr attr = file_of(fx, 2).attr;
    assert_int_equal(attr.uid, 65534);
    assert_int_equal(attr.gid, 65534);
}

static void test_acl(void **state)
{
    struct fixture *fx = *state;
    fs_node f = make(fx, FS_ROOT, "f", NF3REG, 0640);
    struct file file = file_of(fx, f);
    struct body args = args_setacl(&file, 4); /* user 1001: 6, among others */
    forget_told(fx);
    execute(fx, SETACL, &alice, &args);
    assert_told(fx, "2");
    file = file_of(fx, f);
    assert_int_equal(file.attr.ctime, TIME(1001, 5));
    struct body expected = res_post_op(NFS3_OK, &file.attr);
    assert_results(fx, &expected);
    execute(fx, SETACL, &bob, &args);
    expected = res_post_op(NFS3ERR_PERM, &file.attr);
    assert_results(fx, &expected);
    args = args_getacl(&file);
    execute(fx, GETACL, &bob, &args);
    expected = res_post_op(NFS3_OK, &file.attr);
    const uint32_t words[] = {0xf, 5, 5,  1, 1000, 6,  2, 1001, 6, 4,
                              100, 4, 16, 0, 7,    32, 0, 0,    0, 0};
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
        body_u32(&expected, words[i]);
    assert_results(fx, &expected);
    const struct who named = {RPC_AUTH_SYS, 1001, 5, 0, {0}};
    args = args_access(&file, 0x3f);
    expected = res_access(&file.attr, 0x0d);
    execute(fx, NFS3_ACCESS, &named, &args);
    assert_results(fx, &expected);
    args = args_setacl(&file, 1); /* no named user */
    execute(fx, SETACL, &alice, &args);
    file = file_of(fx, f);
    args = args_handle(&file);
    body_u32(&args, 2); /* only the count */
    execute(fx, GETACL, &alice, &args);
    expected = res_post_op(NFS3_OK, &file.attr);
    const uint32_t counts[] = {2, 4, 0, 0, 0};
    for (unsigned i = 0; i < 5; i++)
        body_u32(&expected, counts[i]);
    assert_results(fx, &expected);
    args.data[args.len - 1] = 0x10;
    execute(fx, GETACL, &alice, &args);
    assert_int_equal(status_of(fx), NFS3ERR_INVAL);
    for (unsigned i = 0; i < 4; i++)
        body_u32(&args, 0);
    execute(fx, SETACL, &alice, &args);
    assert_int_equal(status_of(fx), NFS3ERR_INVAL);
    /* Of two named users the first. */
    args = args_handle(&file);
    const uint32_t two[] = {1, 2, 2, 2, 31, 4, 2, 32, 7, 0, 0};
    for (unsigned i = 0; i < 11; i++)
        body_u32(&args, two[i]);
    execute(fx, SETACL, &alice, &args);
    struct fs_attr attr;
    assert_true(fs_attr(nfsd_fs(fx->nfsd), f, &attr));
    assert_true(attr.rights.has_named);
    assert_int_equal(attr.rights.named_uid, 31);
    assert_int_equal(attr.rights.named_mode, 4);
}

/* ---- octets ---- */

static void test_read_write(void **state)
{
    struct fixture *fx = *state;
    fs_node f = make(fx, FS_ROOT, "f", NF3REG, 0644);
    struct file before = file_of(fx, f), after;
    struct body args = args_write(&before, 10, "abc"), expected;
    forget_told(fx);
    execute(fx, NFS3_WRITE, &alice, &args);
    assert_told(fx, "2");
    after = file_of(fx, f);
    assert_int_equal(after.attr.size, 13);
    expected = res_write((struct wcc){&before.attr, &after.attr}, 3, BOOT);
    assert_results(fx, &expected);
    args = args_commit(&after);
    execute(fx, NFS3_COMMIT, &alice, &args);
    expected = res_commit((struct wcc){&after.attr, &after.attr}, BOOT);
    assert_results(fx, &expected);
    args = args_read(&after, 11, 100);
    execute(fx, NFS3_READ, &bob, &args);
    assert_told(fx, "2");
    after = file_of(fx, f);
    assert_int_equal(after.attr.atime, TIME(1003, 5));
    expected = res_post_op(NFS3_OK, &after.attr);
    body_u32(&expected, 2);
    body_u32(&expected, 1);
    body_opaque(&expected, "cc", 2);
    assert_results(fx, &expected);
    args = args_write(&after, 0, "x");
    execute(fx, NFS3_WRITE, &bob, &args);
    expected = res_wcc(NFS3ERR_ACCES, (struct wcc){&after.attr, &after.attr});
    assert_results(fx, &expected);
    execute(fx, NFS3_COMMIT, &bob, &args);
    expected = res_wcc(NFS3ERR_ACCES, (struct wcc){&after.attr, &after.attr});
    assert_results(fx, &expected);
    struct file d = file_of(fx, FS_ROOT);
    args = args_read(&d, 0, 1);
    execute(fx, NFS3_READ, &alice, &args);
    expected = res_post_op(NFS3ERR_ISDIR, &d.attr);
    assert_results(fx, &expected);
}

/* Stable as it was asked for, and no more than fits into a reply. */
static void test_stable_and_large(void **state)
{
    struct fixture *fx = *state;
    fs_node f = make(fx, FS_ROOT, "f", NF3REG, 0644);
    struct file file = file_of(fx, f);
    for (uint32_t stable = 0; stable <= 3; stable++) {
        struct body args = args_read(&file, 0, 2);
        body_u32(&args, stable);
        body_opaque(&args, "abc", 3); /* more than `count` */
        execute(fx, NFS3_WRITE, &alice, &args);
        if (stable == 3) {
            assert_int_equal(bytes_load_u32(fx->executed.reply + 20), RPC_GARBAGE_ARGS);
            break;
        }
        struct bytes got = results(fx);
        assert_int_equal(bytes_load_u32(got.data + got.len - 16), 2);
        assert_int_equal(bytes_load_u32(got.data + got.len - 12), stable ? 2 : 0);
    }
    assert_int_equal(file_of(fx, f).attr.size, 2);
    struct body args = args_read(&file, 0, 4);
    body_u32(&args, 0);
    body_opaque(&args, "abc", 3); /* less than `count` */
    execute(fx, NFS3_WRITE, &alice, &args);
    assert_int_equal(bytes_load_u32(fx->executed.reply + 20), RPC_GARBAGE_ARGS);
    args = args_setattr_size(&file, 1000000);
    execute(fx, NFS3_SETATTR, &alice, &args);
    args = args_read(&file, 0, UINT32_MAX);
    execute(fx, NFS3_READ, &alice, &args);
    assert_int_equal(results(fx).len, 4 + 88 + 12 + 8192);
    assert_int_equal(bytes_load_u32(results(fx).data + 92), 8192);
    assert_int_equal(bytes_load_u32(results(fx).data + 96), 0);
}

static void test_readlink(void **state)
{
    struct fixture *fx = *state;
    fs_node l = make(fx, FS_ROOT, "l", NF3LNK, 0777);
    struct file link = file_of(fx, l), d = file_of(fx, FS_ROOT);
    struct body args = args_handle(&link), expected = res_post_op(NFS3_OK, &link.attr);
    body_opaque(&expected, "ccccc", 5);
    execute(fx, NFS3_READLINK, &alice, &args);
    assert_results(fx, &expected);
    args = args_handle(&d);
    expected = res_post_op(NFS3ERR_INVAL, &d.attr);
    execute(fx, NFS3_READLINK, &alice, &args);
    assert_results(fx, &expected);
}

/* ---- the file system ---- */

static void test_statics(void **state)
{
    struct fixture *fx = *state;
    struct file d = file_of(fx, FS_ROOT);
    struct body args = args_handle(&d);
    static const uint32_t fsstat[] = {256, 0, 256, 0, 256, 0, 0, 4096, 0, 4096, 0, 4096, 0};
    static const uint32_t fsinfo[] = {8192, 8192,       1,          8192, 8192, 1,
                                      4096, 0x7fffffff, 0xffffffff, 0,    1,    0x1b};
    static const uint32_t pathconf[] = {0xffffffff, 32, 1, 1, 0, 1};
    const struct {
        unsigned procedure, count;
        const uint32_t *words;
    } rows[] = {{NFS3_FSSTAT, 13, fsstat}, {NFS3_FSINFO, 12, fsinfo}, {NFS3_PATHCONF, 6, pathconf}};
    for (unsigned i = 0; i < 3; i++) {
        struct body expected = res_post_op(NFS3_OK, &d.attr);
        for (unsigned j = 0; j < rows[i].count; j++)
            body_u32(&expected, rows[i].words[j]);
        execute(fx, rows[i].procedure, &alice, &args);
        assert_results(fx, &expected);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_handles),    TEST(test_bad_handles),      TEST(test_handle_of_the_future),
        TEST(test_stale),      TEST(test_setattr),          TEST(test_sattr),
        TEST(test_access),     TEST(test_nobody),           TEST(test_acl),
        TEST(test_read_write), TEST(test_stable_and_large), TEST(test_readlink),

        TEST(test_statics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
