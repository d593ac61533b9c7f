/*
 * READDIR and READDIRPLUS of the model server: pages, cookies and their verifiers.
 */
#include "sim/nfsd_fixture.h"

#define NAMES 9u /* with "." and ".." */

static const char *const names[NAMES] = {".", "..", "a", "bb", "ccc", "dddd", "eeeee", "f", "g"};

/* A directory with seven files. */
static fs_node listing(struct fixture *fx)
{
    fs_node d = make(fx, FS_ROOT, "d", NF3DIR, 0755);
    for (unsigned i = 2; i < NAMES; i++)
        make(fx, d, names[i], NF3REG, 0644);
    return d;
}

static struct body args_page(const struct file *dir, uint64_t cookie, const uint8_t *verf,
                             uint32_t count)
{
    static const uint8_t zero[NFS3_VERF_LEN];
    struct body args = args_handle(dir);
    body_u64(&args, cookie);
    body_raw(&args, verf ? verf : zero, NFS3_VERF_LEN);
    body_u32(&args, count);
    return args;
}

static struct body args_page_plus(const struct file *dir, uint64_t cookie, const uint8_t *verf,
                                  uint32_t dircount, uint32_t maxcount)
{
    struct body args = args_page(dir, cookie, verf, dircount);
    body_u32(&args, maxcount);
    return args;
}

/* What a page says, decoded. */
struct page {
    uint8_t verf[NFS3_VERF_LEN];
    uint32_t count;
    struct nfs3_entry entries[NAMES];
    bool eof;
};

static struct page page_of(const struct fixture *fx, bool plus)
{
    struct bytes got = results(fx);
    struct cursor c = cursor_over(got.data, got.len);
    struct page page = {0};
    assert_int_equal(cursor_u32(&c), NFS3_OK);
    assert_non_null(nfs3_post_op_attr(&c));
    bytes_store_u64(page.verf, cursor_u64(&c));
    for (;;) {
        struct nfs3_entry entry = {0};
        if (plus) {
            if (!nfs3_entry_next(&c, &entry))
                break;
        } else {
            if (!cursor_bool(&c))
                break;
            entry.fileid = cursor_u64(&c);
            entry.name = cursor_opaque(&c, 255);
            entry.cookie = cursor_u64(&c);
        }
        assert_true(page.count < NAMES);
        page.entries[page.count++] = entry;
    }
    page.eof = cursor_bool(&c);
    assert_true(cursor_ok(&c));
    assert_int_equal(cursor_left(&c), 0);
    return page;
}

static void assert_entry(struct fixture *fx, fs_node dir, const struct nfs3_entry *entry,
                         unsigned number)
{
    struct bytes name = {(const uint8_t *)names[number], (uint32_t)strlen(names[number])};
    struct file file = file_of(fx, fs_behind(nfsd_fs(fx->nfsd), dir, names[number]));
    assert_true(bytes_equal(entry->name, name));
    assert_int_equal(entry->fileid, file.attr.fileid);
}

static void assert_entry_plus(struct fixture *fx, fs_node dir, const struct nfs3_entry *entry,
                              unsigned number)
{
    struct file file = file_of(fx, fs_behind(nfsd_fs(fx->nfsd), dir, names[number]));
    assert_entry(fx, dir, entry, number);
    assert_attr_is(entry->attributes, &file);
    assert_true(bytes_equal(entry->handle, file_handle(&file)));
}

static void test_whole(void **state)
{
    struct fixture *fx = *state;
    fs_node d = listing(fx);
    struct file dir = file_of(fx, d);
    struct body args = args_page(&dir, 0, NULL, 4096);
    execute(fx, NFS3_READDIR, &alice, &args);
    struct page page = page_of(fx, false);
    assert_int_equal(page.count, NAMES);
    assert_true(page.eof);
    for (unsigned i = 0; i < NAMES; i++)
        assert_entry(fx, d, &page.entries[i], i);
    args = args_page_plus(&dir, 0, NULL, 4096, 8192);
    execute(fx, NFS3_READDIRPLUS, &alice, &args);
    page = page_of(fx, true);
    assert_int_equal(page.count, NAMES);
    assert_true(page.eof);
    for (unsigned i = 0; i < NAMES; i++)
        assert_entry_plus(fx, d, &page.entries[i], i);
    assert_attr_is(decoded(fx, nfs3_res_readdirplus).dir, &dir);
}

/* From page to page of that size; returns how many there were. */
static unsigned walk(struct fixture *fx, fs_node d, bool plus, uint32_t dircount, uint32_t count)
{
    struct file dir = file_of(fx, d);
    uint64_t cookie = 0;
    unsigned pages = 0;
    struct page page = {0};
    for (unsigned seen = 0; !page.eof;) {
        struct body args = plus ? args_page_plus(&dir, cookie, page.verf, dircount, count)
                                : args_page(&dir, cookie, page.verf, count);
        execute(fx, plus ? NFS3_READDIRPLUS : NFS3_READDIR, &alice, &args);
        assert_true(results(fx).len <= 4 + count);
        page = page_of(fx, plus);
        pages++;
        for (unsigned i = 0; i < page.count; i++)
            assert_entry(fx, d, &page.entries[i], seen++);
        assert_int_equal(page.eof, seen == NAMES);
        assert_true(page.count > 0);
        cookie = page.entries[page.count - 1].cookie;
    }
    return pages;
}

static void test_pages(void **state)
{
    struct fixture *fx = *state;
    fs_node d = listing(fx);
    assert_int_equal(walk(fx, d, false, 0, 104 + 32), 9);
    assert_int_equal(walk(fx, d, false, 0, 104 + 2 * 28), 5);
    assert_int_equal(walk(fx, d, false, 0, 4096), 1);
    /* What is left may be too small for the most that an entry could be. */
    assert_int_equal(walk(fx, d, true, 4096, 104 + 160), 9);
    assert_int_equal(walk(fx, d, true, 4096, 104 + 3 * 160), 3);
    assert_int_equal(walk(fx, d, true, 0, 8192), 9);
    assert_int_equal(walk(fx, d, true, 2 * 24, 8192), 5);
    assert_int_equal(walk(fx, d, true, UINT32_MAX, UINT32_MAX / 2), 1);
}

static void test_too_small(void **state)
{
    struct fixture *fx = *state;
    struct file dir = file_of(fx, listing(fx));
    struct body expected = res_post_op(NFS3ERR_TOOSMALL, &dir.attr);
    for (uint32_t count = 0; count < 104 + 28; count += 4) {
        struct body args = args_page(&dir, 0, NULL, count);
        execute(fx, NFS3_READDIR, &alice, &args);
        assert_results(fx, &expected);
    }
    struct body at_end = args_page(&dir, UINT64_MAX, NULL, 103);
    execute(fx, NFS3_READDIR, &alice, &at_end);
    assert_results(fx, &expected);
    for (uint32_t count = 0; count < 104 + 156; count += 4) {
        struct body args = args_page_plus(&dir, 0, NULL, 4096, count);
        execute(fx, NFS3_READDIRPLUS, &alice, &args);
        assert_results(fx, &expected);
    }
}

/* More than a reply may hold. */
static void test_large(void **state)
{
    struct fixture *fx = *state;
    fs_node d = make(fx, FS_ROOT, "d", NF3DIR, 0755);
    char name[4] = "aaa";
    for (unsigned i = 0; i < 200; i++) {
        name[0] = (char)('a' + i % 26);
        name[1] = (char)('a' + i / 26);
        make(fx, d, name, NF3REG, 0644);
    }
    struct file dir = file_of(fx, d);
    struct body args = args_page_plus(&dir, 0, NULL, UINT32_MAX, UINT32_MAX);
    execute(fx, NFS3_READDIRPLUS, &alice, &args);
    assert_in_range(fx->executed.reply_len, NFSD_REPLY_MAX - 256, NFSD_REPLY_MAX);
    struct bytes got = results(fx);
    assert_int_equal(bytes_load_u32(got.data + got.len - 4), 0); /* not all */
}

static void test_refused(void **state)
{
    struct fixture *fx = *state;
    fs_node d = make(fx, FS_ROOT, "d", NF3DIR, 0733), f = make(fx, FS_ROOT, "f", NF3REG, 0644);
    struct file dir = file_of(fx, d), file = file_of(fx, f);
    struct body args = args_readdir(&dir), expected = res_post_op(NFS3ERR_ACCES, &dir.attr);
    execute(fx, NFS3_READDIR, &bob, &args);
    assert_results(fx, &expected);
    args = args_readdirplus(&file);
    expected = res_post_op(NFS3ERR_NOTDIR, &file.attr);
    execute(fx, NFS3_READDIRPLUS, &alice, &args);
    assert_results(fx, &expected);
}

/* The cookie after `number` entries. */
static struct page first_page(struct fixture *fx, const struct file *dir)
{
    struct body args = args_page(dir, 0, NULL, 4096);
    execute(fx, NFS3_READDIR, &alice, &args);
    return page_of(fx, false);
}

/* Whatever goes or comes between two pages: what was there and stays is listed, and once (K15, K29). */
static void test_changes_between(void **state)
{
    struct fixture *fx = *state;
    fs_node d = listing(fx);
    struct file dir = file_of(fx, d);
    struct page before = first_page(fx, &dir);
    struct body args = args_dirop(&dir, "ccc");
    execute(fx, NFS3_REMOVE, &alice, &args);
    args = args_dirop(&dir, "a");
    execute(fx, NFS3_REMOVE, &alice, &args);
    args = args_page(&dir, before.entries[4].cookie, before.verf, 4096);
    execute(fx, NFS3_READDIR, &alice, &args);
    struct page page = page_of(fx, false);
    assert_int_equal(page.count, 4);
    for (unsigned i = 0; i < 4; i++)
        assert_entry(fx, d, &page.entries[i], 5 + i);
    assert_int_equal(page.entries[0].cookie, before.entries[5].cookie);
    args = args_page(&dir, before.entries[8].cookie, before.verf, 4096);
    execute(fx, NFS3_READDIR, &alice, &args);
    page = page_of(fx, false);
    assert_int_equal(page.count, 0);
    assert_true(page.eof);
}

static void test_constant_verifier(void **state)
{
    struct fixture *fx = *state;
    struct file dir = file_of(fx, listing(fx));
    struct page page = first_page(fx, &dir);
    static const uint8_t zero[NFS3_VERF_LEN], other[NFS3_VERF_LEN] = {1};
    assert_memory_equal(page.verf, zero, NFS3_VERF_LEN);
    struct body args = args_page(&dir, 1, other, 4096);
    struct body expected = res_post_op(NFS3ERR_BAD_COOKIE, &dir.attr);
    execute(fx, NFS3_READDIR, &alice, &args);
    assert_results(fx, &expected);
    args = args_page(&dir, 0, other, 4096); /* from the beginning it means nothing */
    execute(fx, NFS3_READDIR, &alice, &args);
    assert_int_equal(page_of(fx, false).count, NAMES);
}

static void test_changing_verifier(void **state)
{
    struct fixture *fx = *state;
    struct nfsd_options options = plain;
    options.changing_cookieverf = true;
    fixture_options(fx, &options);
    struct file dir = file_of(fx, listing(fx));
    struct page page = first_page(fx, &dir);
    assert_int_equal(bytes_load_u64(page.verf), 1000000000005u);
    struct body next = args_page(&dir, page.entries[3].cookie, page.verf, 4096);
    execute(fx, NFS3_READDIR, &alice, &next);
    assert_int_equal(page_of(fx, false).count, 5);
    struct body args = args_dirop(&dir, "a");
    execute(fx, NFS3_REMOVE, &alice, &args);
    execute(fx, NFS3_READDIR, &alice, &next);
    assert_int_equal(status_of(fx), NFS3ERR_BAD_COOKIE);
    next = args_page_plus(&dir, page.entries[3].cookie, page.verf, 4096, 4096);
    execute(fx, NFS3_READDIRPLUS, &alice, &next);
    assert_int_equal(status_of(fx), NFS3ERR_BAD_COOKIE);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_whole),
        TEST(test_pages),
        TEST(test_too_small),
        TEST(test_large),
        TEST(test_refused),
        TEST(test_changes_between),
        TEST(test_constant_verifier),
        TEST(test_changing_verifier),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
