/*
 * What the options of the model server do when they are on, and that they do nothing when they are off; restarts, handles
 * that lead elsewhere, grudges.
 */
#include "sim/nfsd_scene.h"

#define ALWAYS 1000u

/* All calls of a scene under these options: what all the results show. */
static struct shown shown_in_all(struct fixture *fx, const struct nfsd_options *options)
{
    struct call calls[CALLS];
    struct shown sum = {0};
    scene(fx, options);
    calls_of(fx, calls);
    for (unsigned i = 0; i < CALLS; i++) {
        execute(fx, calls[i].procedure, &alice, &calls[i].args);
        struct nfs3_res res = decoded(fx, calls[i].decode);
        assert_int_equal(res.status, NFS3_OK);
        struct shown shown = shown_by(&res);
        sum.before += shown.before;
        sum.after += shown.after;
        sum.handles += shown.handles;
    }
    return sum;
}

/* before: SETATTR WRITE COMMIT, four that make, LINK, two of RENAME, REMOVE, RMDIR. after: GETATTR, and one for each call
 * more; two of LOOKUP, of those that make, of LINK and of RENAME; three entries of READDIRPLUS. handles: LOOKUP, four that
 * make, three entries. */
#define ALL_BEFORE  12u
#define ALL_AFTER   (23u + 7 + 3)
#define ALL_HANDLES 8u

static void assert_shown(struct fixture *fx, const struct nfsd_options *options, unsigned before,
                         unsigned after, unsigned handles)
{
    struct shown shown = shown_in_all(fx, options);
    assert_int_equal(shown.before, before);
    assert_int_equal(shown.after, after);
    assert_int_equal(shown.handles, handles);
}

static void test_what_follows(void **state)
{
    struct fixture *fx = *state;
    struct nfsd_options options = plain;
    assert_shown(fx, &options, ALL_BEFORE, ALL_AFTER, ALL_HANDLES);
    options.no_before = ALWAYS;
    assert_shown(fx, &options, 0, ALL_AFTER, ALL_HANDLES);
    options.no_before = 0;
    options.no_after = ALWAYS;
    assert_shown(fx, &options, ALL_BEFORE, 1, ALL_HANDLES); /* GETATTR's are not optional */
    options.no_after = 0;
    options.no_handle = ALWAYS;
    assert_shown(fx, &options, ALL_BEFORE, ALL_AFTER, 1); /* nor is LOOKUP's handle */
    options.no_handle = 0;
    options.shows_handles = false;
    assert_shown(fx, &options, ALL_BEFORE, ALL_AFTER, 1);
}

/* Each piece by its own chance. */
static void test_some_follow(void **state)
{
    struct fixture *fx = *state;
    struct nfsd_options options = plain;
    options.no_before = options.no_after = options.no_handle = 500;
    struct shown shown = shown_in_all(fx, &options);
    assert_in_range(shown.before, 1, ALL_BEFORE - 1);
    assert_in_range(shown.after, 5, ALL_AFTER - 5);
    assert_in_range(shown.handles, 2, ALL_HANDLES - 1);
    options.no_after = 0;
    shown = shown_in_all(fx, &options);
    assert_int_equal(shown.after, ALL_AFTER);
}

/* ---- handles ---- */

static bool given(const struct file *a, const struct file *b)
{
    return bytes_equal(file_handle(a), file_handle(b));
}

static void test_aliases(void **state)
{
    struct fixture *fx = *state;
    struct nfsd_options options = plain;
    for (options.aliases = 1; options.aliases <= NFSD_ALIASES_MAX; options.aliases++) {
        struct file seen[NFSD_ALIASES_MAX];
        unsigned count = 0;
        fixture_options(fx, &options);
        fs_node f = make(fx, FS_ROOT, "f", NF3REG, 0644);
        for (unsigned i = 0; i < 100; i++) {
            unsigned known = 0;
            fx->xid++;
            struct file file = file_of(fx, f);
            while (known < count && !given(&file, &seen[known]))
                known++;
            assert_true(known < options.aliases);
            if (known == count)
                seen[count++] = file;
            assert_int_equal(nfsd_node(fx->nfsd, file_handle(&file)), f);
        }
        assert_int_equal(count, options.aliases);
        assert_int_equal(fs_remove(nfsd_fs(fx->nfsd), &(struct fs_who){0}, 1, "f", 5), NFS3_OK);
        for (unsigned i = 0; i < count; i++)
            assert_int_equal(nfsd_node(fx->nfsd, file_handle(&seen[i])), 0);
    }
}

static void remove_file(struct fixture *fx, const char *name)
{
    assert_int_equal(fs_remove(nfsd_fs(fx->nfsd), &(struct fs_who){0}, FS_ROOT, name, fx->now),
                     NFS3_OK);
}

static void test_reuse_handles(void **state)
{
    struct fixture *fx = *state;
    struct nfsd_options options = plain;
    for (unsigned reuse = 0; reuse < 2; reuse++) {
        options.reuse_handles = reuse;
        fixture_options(fx, &options);
        file_of(fx, FS_ROOT);
        struct file f = file_of(fx, make(fx, FS_ROOT, "f", NF3REG, 0644));
        struct file g = file_of(fx, make(fx, FS_ROOT, "g", NF3REG, 0644));
        forget_told(fx);
        remove_file(fx, "f");
        remove_file(fx, "g");
        assert_told(fx, "h2=0 2 1/f h3=0 3 1/g");
        struct file a = file_of(fx, make(fx, FS_ROOT, "a", NF3REG, 0644));
        assert_told(fx, reuse ? "h3=4" : "h4=4");
        assert_int_equal(given(&a, &g), reuse);
        struct file b = file_of(fx, make(fx, FS_ROOT, "b", NF3REG, 0644));
        assert_told(fx, reuse ? "h2=5" : "h5=5");
        assert_int_equal(given(&b, &f), reuse);
        file_of(fx, make(fx, FS_ROOT, "c", NF3REG, 0644));
        assert_told(fx, reuse ? "h4=6" : "h6=6");
    }
}

/* K18: one that is gone comes back as another; when none is gone, one that is there. */
static void test_confuse(void **state)
{
    struct fixture *fx = *state;
    fs_node f = make(fx, FS_ROOT, "f", NF3REG, 0644);
    struct file top = file_of(fx, FS_ROOT), file = file_of(fx, f);
    forget_told(fx);
    nfsd_confuse(
        fx->nfsd,
        fixture_draw(fx)); /* the root's handle stays: only this one may change, and to the root */
    assert_told(fx, "h2=1");
    assert_int_equal(nfsd_node(fx->nfsd, file_handle(&file)), FS_ROOT);
    assert_int_equal(nfsd_node(fx->nfsd, file_handle(&top)), FS_ROOT);
    struct file same = file_of(fx, FS_ROOT);
    assert_true(given(&same, &top)); /* a handle that leads there is not one of its own */
    assert_told(fx, "");
    struct file again = file_of(fx, f);
    assert_told(fx, "h3=2"); /* the file has another one from now on */
    assert_false(given(&again, &file));
    struct file gone = file_of(fx, make(fx, FS_ROOT, "g", NF3REG, 0644));
    remove_file(fx, "g");
    forget_told(fx);
    nfsd_confuse(fx->nfsd, fixture_draw(fx));
    fs_node now = nfsd_node(fx->nfsd, file_handle(&gone));
    assert_true(now == FS_ROOT || now == f);
    assert_told(fx, now == f ? "h4=2" : "h4=1");
    remove_file(fx, "f"); /* with all handles that lead there */
    assert_int_equal(nfsd_node(fx->nfsd, file_handle(&again)), 0);
    assert_int_equal(nfsd_node(fx->nfsd, file_handle(&gone)), now == f ? 0 : FS_ROOT);
}

static void test_confuse_nothing(void **state)
{
    struct fixture *fx = *state;
    nfsd_confuse(fx->nfsd, fixture_draw(fx));
    file_of(fx, FS_ROOT);
    forget_told(fx);
    nfsd_confuse(fx->nfsd, fixture_draw(fx));
    assert_told(fx, "");
    make(fx, FS_ROOT, "f", NF3REG, 0644); /* has no handle yet */
    nfsd_confuse(fx->nfsd, fixture_draw(fx));
    assert_told(fx, "");
}

/* ---- restarts ---- */

static uint64_t verifier(struct fixture *fx, const struct file *file)
{
    struct body args = args_commit(file);
    execute(fx, NFS3_COMMIT, &alice, &args);
    return bytes_load_u64(decoded(fx, nfs3_res_commit).verf);
}

/* About half of the files lose what was not stable; handles stay. */
static void test_restart(void **state)
{
    struct fixture *fx = *state;
    struct file files[40];
    char name[3] = "aa";
    unsigned lost = 0;
    for (unsigned i = 0; i < 40; i++) {
        name[1] = (char)('a' + i % 26);
        name[0] = (char)('a' + i / 26);
        files[i] = file_of(fx, make(fx, FS_ROOT, name, NF3REG, 0644));
        struct body args = args_write(&files[i], 0, "abc");
        execute(fx, NFS3_WRITE, &alice, &args);
        assert_int_equal(bytes_load_u64(decoded(fx, nfs3_res_write).verf), plain.boot);
    }
    nfsd_restart(fx->nfsd, fixture_draw(fx));
    for (unsigned i = 0; i < 40; i++) {
        struct file after = file_of(fx, i + 2);
        assert_true(given(&after, &files[i]));
        assert_true(after.attr.size == 3 || after.attr.size == 0);
        lost += after.attr.size == 0;
    }
    assert_in_range(lost, 10, 30);
    uint64_t second = verifier(fx, &files[0]);
    assert_true(second != plain.boot);
    assert_int_equal(verifier(fx, &files[0]), second);
    nfsd_restart(fx->nfsd, fixture_draw(fx));
    uint64_t third = verifier(fx, &files[0]);
    assert_true(third != second && third != plain.boot);
}

/* ---- grudges ---- */

/* K12 */
static void assert_let_in(struct fixture *fx, const struct who *who, bool let_in)
{
    struct file d = file_of(fx, 2);
    struct body access = args_access(&d, 0x3f), lookup = args_dirop(&d, "f");
    struct body missing = args_dirop(&d, "x");
    execute(fx, NFS3_ACCESS, who, &access);
    assert_int_equal(decoded(fx, nfs3_res_access).access, let_in ? 0x1f : 0);
    execute(fx, NFS3_LOOKUP, who, &lookup);
    assert_int_equal(status_of(fx), let_in ? NFS3_OK : NFS3ERR_ACCES);
    execute(fx, NFS3_LOOKUP, who, &missing);
    assert_int_equal(status_of(fx), let_in ? NFS3ERR_NOENT : NFS3ERR_ACCES);
}

static void test_grudge(void **state)
{
    struct fixture *fx = *state;
    scene(fx, &plain);
    assert_let_in(fx, &root, true);
    nfsd_grudge(fx->nfsd, 0);
    assert_let_in(fx, &root, false);
    assert_let_in(fx, &alice, true);
    nfsd_grudge(fx->nfsd, 1000);
    assert_let_in(fx, &root, true);
    assert_let_in(fx, &alice, false);
    nfsd_grudge(fx->nfsd, UINT32_MAX);
    assert_let_in(fx, &alice, true);
    assert_told(fx, "");
}

/* ---- determinism ---- */

static uint64_t digest_of_run(struct fixture *fx, uint64_t seed)
{
    const struct nfsd_options options = {
        .fs = {.granularity = 1000, .fsid = 3, .reuse_fileids = true},
        .boot = 9,
        .handle_len = 61,
        .aliases = 3,
        .reuse_handles = true,
        .remembers = true,
        .shows_handles = true,
        .changing_cookieverf = true,
        .no_before = 300,
        .no_after = 300,
        .no_handle = 300,
        .errors = {.jukebox = 50,
                   .fails_before = 50,
                   .refuses = 50,
                   .stale = 50,
                   .fails_after = 50,
                   .breaks_before = 50,
                   .breaks_after = 50,
                   .rpc_errors = 50}};
    struct call calls[CALLS];
    uint64_t digest = seed;
    scene(fx, &options);
    calls_of(fx, calls);
    for (unsigned i = 0; i < 10 * CALLS; i++) {
        struct body record =
            stage_record(i, calls[i % CALLS].procedure, &alice, &calls[i % CALLS].args);
        nfsd_execute(fx->nfsd, 1, body_bytes(&record), fx->now + i, draw_of(seed, 0, i, 0),
                     &fx->executed);
        for (uint32_t j = 0; j < fx->executed.reply_len; j++)
            digest = draw_mix(digest + fx->executed.reply[j]);
        if (i % CALLS == 0)
            nfsd_confuse(fx->nfsd, draw_of(seed, 1, i, 0));
        if (i == 5 * CALLS)
            nfsd_restart(fx->nfsd, draw_of(seed, 2, i, 0));
    }
    for (const char *at = fx->told; *at; at++)
        digest = draw_mix(digest + (uint8_t)*at);
    return digest;
}

static void test_deterministic(void **state)
{
    struct fixture *fx = *state;
    uint64_t first = digest_of_run(fx, 1);
    assert_int_equal(digest_of_run(fx, 1), first);
    assert_true(digest_of_run(fx, 2) != first);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_what_follows),  TEST(test_some_follow), TEST(test_aliases),
        TEST(test_reuse_handles), TEST(test_confuse),     TEST(test_confuse_nothing),
        TEST(test_restart),       TEST(test_grudge),      TEST(test_deterministic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
