/*
 * The procedures of the model server that look names up, make, remove and move them: whole results, octet for octet, and who
 * is told of what.
 */
#include "sim/nfsd_fixture.h"

static void test_lookup(void **state)
{
    struct fixture *fx = *state;
    fs_node f = make(fx, FS_ROOT, "f", NF3REG, 0644);
    struct file d = file_of(fx, FS_ROOT);
    struct body args = args_dirop(&d, "f"), expected;
    forget_told(fx);
    execute(fx, NFS3_LOOKUP, &alice, &args);
    assert_told(fx, "h2=2");
    struct file file = file_of(fx, f);
    expected = res_lookup(&file, &file.attr, &d.attr);
    assert_results(fx, &expected);
    const struct {
        const char *name;
        uint32_t status;
    } rows[] = {{"x", NFS3ERR_NOENT},
                {"", NFS3ERR_INVAL},
                {"a/b", NFS3ERR_INVAL},
                {"12345678901234567890123456789012", NFS3ERR_NOENT},
                {"123456789012345678901234567890123", NFS3ERR_NAMETOOLONG},
                {"123456789012345678901234567890123456789", NFS3ERR_NAMETOOLONG}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        args = args_dirop(&d, rows[i].name);
        expected = res_post_op(rows[i].status, &d.attr);
        execute(fx, NFS3_LOOKUP, &alice, &args);
        assert_results(fx, &expected);
    }
    char long_name[1000];
    memset(long_name, 'x', sizeof long_name);
    args = args_handle(&d);
    body_opaque(&args, long_name, sizeof long_name);
    execute(fx, NFS3_LOOKUP, &alice, &args);
    assert_int_equal(status_of(fx), NFS3ERR_NAMETOOLONG);
    args = args_handle(&d);
    body_opaque(&args, "f\0g", 3);
    execute(fx, NFS3_LOOKUP, &alice, &args);
    assert_int_equal(status_of(fx), NFS3ERR_INVAL);
    args = args_dirop(&d, "..");
    execute(fx, NFS3_LOOKUP, &alice, &args);
    expected = res_lookup(&d, &d.attr, &d.attr);
    assert_results(fx, &expected);
}

/* CREATE, MKDIR, SYMLINK, MKNOD: what is made, wcc_data of the directory, and EXIST the second time. */
static void test_making(void **state)
{
    struct fixture *fx = *state;
    struct file d = file_of(fx, FS_ROOT), after, made;
    const struct {
        unsigned procedure;
        struct body args;
        enum nfs3_ftype type;
        uint32_t mode;
        uint64_t size;
        const char *told;
    } rows[] = {
        {NFS3_CREATE, args_create(&d, "f", NFS3_GUARDED, NULL), NF3REG, 0600, 0, "1 2 1/f h2=2"},
        {NFS3_MKDIR, args_mkdir(&d, "d"), NF3DIR, 0700, 4096, "1 3 1/d 3/. 3/.. h3=3"},
        {NFS3_SYMLINK, args_symlink(&d, "l", "where"), NF3LNK, 0, 5, "1 4 1/l h4=4"},
        {NFS3_MKNOD, args_mknod(&d, "p"), NF3FIFO, 0, 0, "1 5 1/p h5=5"},
    };
    forget_told(fx);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        execute(fx, rows[i].procedure, &alice, &rows[i].args);
        assert_told(fx, rows[i].told);
        after = file_of(fx, FS_ROOT);
        made = file_of(fx, i + 2);
        assert_int_equal(made.attr.type, rows[i].type);
        assert_int_equal(made.attr.mode, rows[i].mode);
        assert_int_equal(made.attr.size, rows[i].size);
        assert_int_equal(made.attr.uid, 1000);
        struct body expected = res_create(&made, &made.attr, (struct wcc){&d.attr, &after.attr});
        assert_results(fx, &expected);
        execute(fx, rows[i].procedure, &alice, &rows[i].args);
        expected = res_wcc(NFS3ERR_EXIST, (struct wcc){&after.attr, &after.attr});
        assert_results(fx, &expected);
        assert_told(fx, "");
        d = after;
    }
}

static void test_create_modes(void **state)
{
    struct fixture *fx = *state;
    struct file d = file_of(fx, FS_ROOT);
    struct body args = args_create(&d, "f", NFS3_EXCLUSIVE, "\0\0\0\1\0\0\0\2");
    execute(fx, NFS3_CREATE, &alice, &args);
    struct file f = file_of(fx, 2), after = file_of(fx, FS_ROOT);
    struct body expected = res_create(&f, &f.attr, (struct wcc){&d.attr, &after.attr});
    assert_results(fx, &expected);
    assert_int_equal(f.attr.mtime, TIME(1, 0));
    assert_int_equal(f.attr.atime, TIME(2, 0));
    execute(fx, NFS3_CREATE, &alice, &args);
    expected = res_create(&f, &f.attr, (struct wcc){&after.attr, &after.attr});
    assert_results(fx, &expected);
    args = args_create(&d, "f", NFS3_EXCLUSIVE, "\0\0\0\1\0\0\0\3");
    execute(fx, NFS3_CREATE, &alice, &args);
    assert_int_equal(status_of(fx), NFS3ERR_EXIST);
    args = args_write(&f, 0, "abc");
    execute(fx, NFS3_WRITE, &alice, &args);
    args = args_dirop(&d, "f");
    const uint32_t words[] = {0, 0, 0, 0, 1, 0, 0, 0, 0}; /* UNCHECKED; only size: 0 */
    for (unsigned i = 0; i < 9; i++)
        body_u32(&args, words[i]);
    forget_told(fx);
    execute(fx, NFS3_CREATE, &alice, &args);
    assert_told(fx, "2");
    f = file_of(fx, 2);
    assert_int_equal(f.attr.size, 0);
    expected = res_create(&f, &f.attr, (struct wcc){&after.attr, &after.attr});
    assert_results(fx, &expected);
}

static void test_mknod_types(void **state)
{
    struct fixture *fx = *state;
    struct file d = file_of(fx, FS_ROOT);
    const struct {
        uint32_t type, words;
        const struct who *who;
        uint32_t status;
    } rows[] = {{NF3CHR, 8, &root, NFS3_OK},         {NF3BLK, 8, &root, NFS3ERR_EXIST},
                {NF3CHR, 8, &alice, NFS3ERR_EXIST},  {NF3SOCK, 6, &alice, NFS3ERR_EXIST},
                {NF3REG, 0, &root, NFS3ERR_BADTYPE}, {NF3DIR, 0, &root, NFS3ERR_BADTYPE},
                {NF3LNK, 0, &root, NFS3ERR_BADTYPE}, {99, 0, &root, NFS3ERR_BADTYPE}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct body args = args_dirop(&d, "n");
        body_u32(&args, rows[i].type);
        for (unsigned j = 0; j < rows[i].words; j++)
            body_u32(&args, 0);
        execute(fx, NFS3_MKNOD, rows[i].who, &args);
        assert_int_equal(status_of(fx), rows[i].status);
    }
    assert_int_equal(file_of(fx, 2).attr.type, NF3CHR);
}

static void test_symlink_text(void **state)
{
    struct fixture *fx = *state;
    struct file d = file_of(fx, FS_ROOT);
    char text[1026];
    memset(text, 'x', sizeof text);
    for (uint32_t len = 1025; len >= 1024; len--) {
        text[len] = '\0';
        struct body args = args_symlink(&d, "l", text);
        execute(fx, NFS3_SYMLINK, &alice, &args);
        assert_int_equal(status_of(fx), len == 1024 ? NFS3_OK : NFS3ERR_NAMETOOLONG);
    }
    struct file link = file_of(fx, 2);
    struct body args = args_handle(&link);
    execute(fx, NFS3_READLINK, &alice, &args);
    assert_int_equal(results(fx).len, 4 + 88 + 4 + 1024);
}

static void test_remove(void **state)
{
    struct fixture *fx = *state;
    make(fx, FS_ROOT, "f", NF3REG, 0644);
    make(fx, FS_ROOT, "d", NF3DIR, 0755);
    struct file before = file_of(fx, FS_ROOT), after;
    struct body file = args_dirop(&before, "f"), dir = args_dirop(&before, "d"), expected;
    forget_told(fx);
    execute(fx, NFS3_RMDIR, &alice, &file);
    expected = res_wcc(NFS3ERR_NOTDIR, (struct wcc){&before.attr, &before.attr});
    assert_results(fx, &expected);
    execute(fx, NFS3_REMOVE, &alice, &dir);
    expected = res_wcc(NFS3ERR_ISDIR, (struct wcc){&before.attr, &before.attr});
    assert_results(fx, &expected);
    assert_told(fx, "");
    execute(fx, NFS3_REMOVE, &alice, &file);
    assert_told(fx, "1 2 1/f");
    after = file_of(fx, FS_ROOT);
    expected = res_wcc(NFS3_OK, (struct wcc){&before.attr, &after.attr});
    assert_results(fx, &expected);
    before = after;
    execute(fx, NFS3_RMDIR, &alice, &dir);
    assert_told(fx, "1 3 1/d 3/. 3/..");
    after = file_of(fx, FS_ROOT);
    assert_int_equal(after.attr.nlink, 2);
    expected = res_wcc(NFS3_OK, (struct wcc){&before.attr, &after.attr});
    assert_results(fx, &expected);
}

static void test_rename(void **state)
{
    struct fixture *fx = *state;
    fs_node d = make(fx, FS_ROOT, "d", NF3DIR, 0755);
    make(fx, FS_ROOT, "f", NF3REG, 0644);
    make(fx, d, "g", NF3REG, 0644);
    struct file from = file_of(fx, FS_ROOT), to = file_of(fx, d), from_after, to_after;
    file_of(fx, 4);
    struct body args = args_rename(&from, "f", &to, "g"), expected;
    forget_told(fx);
    execute(fx, NFS3_RENAME, &alice, &args);
    assert_told(fx, "1 2 3 h3=0 4 1/f 2/g");
    from_after = file_of(fx, FS_ROOT);
    to_after = file_of(fx, d);
    expected = res_rename(NFS3_OK, (struct wcc){&from.attr, &from_after.attr},
                          (struct wcc){&to.attr, &to_after.attr});
    assert_results(fx, &expected);
    execute(fx, NFS3_RENAME, &alice, &args);
    expected = res_rename(NFS3ERR_NOENT, (struct wcc){&from_after.attr, &from_after.attr},
                          (struct wcc){&to_after.attr, &to_after.attr});
    assert_results(fx, &expected);
}

static void test_link(void **state)
{
    struct fixture *fx = *state;
    fs_node f = make(fx, FS_ROOT, "f", NF3REG, 0644);
    struct file file = file_of(fx, f), d = file_of(fx, FS_ROOT), after;
    struct body args = args_link(&file, &d, "g"), expected;
    forget_told(fx);
    execute(fx, NFS3_LINK, &alice, &args);
    assert_told(fx, "2 1 1/g");
    file = file_of(fx, f);
    after = file_of(fx, FS_ROOT);
    assert_int_equal(file.attr.nlink, 2);
    expected = res_link(NFS3_OK, &file.attr, (struct wcc){&d.attr, &after.attr});
    assert_results(fx, &expected);
    execute(fx, NFS3_LINK, &alice, &args);
    expected = res_link(NFS3ERR_EXIST, &file.attr, (struct wcc){&after.attr, &after.attr});
    assert_results(fx, &expected);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_lookup),       TEST(test_making), TEST(test_create_modes), TEST(test_mknod_types),
        TEST(test_symlink_text), TEST(test_remove), TEST(test_rename),       TEST(test_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
