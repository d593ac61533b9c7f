/*
 * What the options of the model server do when they are on, and that they do nothing when they are off; restarts, handles
 * that lead elsewhere, grudges.
 */
#include "sim/nfsd_fixture.h"

#define ALWAYS 1000u

/* The same scene under other options: a directory 2 in the root with a file 3 in it, and a directory 4. */
static void scene(struct fixture *fx, const struct nfsd_options *options)
{
    fixture_options(fx, options);
    fs_node d = make(fx, FS_ROOT, "d", NF3DIR, 0777);
    make(fx, d, "f", NF3REG, 0644);
    make(fx, FS_ROOT, "e", NF3DIR, 0777);
    for (fs_node node = 1; node <= 4; node++)
        file_of(fx, node);
    forget_told(fx);
}

struct call {
    unsigned procedure;
    struct body args;
    nfs3_res_decoder *decode;
    bool changes;
};

#define CALLS 23u

/* One of each procedure that succeeds in a scene. */
static void calls_of(struct fixture *fx, struct call calls[CALLS])
{
    struct file top = file_of(fx, 1), d = file_of(fx, 2), f = file_of(fx, 3), e = file_of(fx, 4);
    fs_node l = make(fx, FS_ROOT, "l", NF3LNK, 0777);
    struct file link = file_of(fx, l);
    const struct call all[CALLS] = {
        {NFS3_GETATTR, args_handle(&f), nfs3_res_getattr, false},
        {NFS3_LOOKUP, args_dirop(&d, "f"), nfs3_res_lookup, false},
        {NFS3_ACCESS, args_access(&f, 63), nfs3_res_access, false},
        {NFS3_READLINK, args_handle(&link), nfs3_res_object, false},
        {NFS3_READ, args_read(&f, 0, 1), nfs3_res_object, false},
        {NFS3_READDIR, args_readdir(&d), nfs3_res_readdir, false},
        {NFS3_READDIRPLUS, args_readdirplus(&d), nfs3_res_readdirplus, false},
        {NFS3_FSSTAT, args_handle(&top), nfs3_res_object, false},
        {NFS3_FSINFO, args_handle(&top), nfs3_res_object, false},
        {NFS3_PATHCONF, args_handle(&top), nfs3_res_object, false},
        {GETACL, args_getacl(&f), nfs3_res_object, false},
        {SETACL, args_setacl(&f, 3), nfs3_res_object, true},
        {NFS3_SETATTR, args_setattr_size(&f, 9), nfs3_res_wcc, true},
        {NFS3_WRITE, args_write(&f, 0, "x"), nfs3_res_write, true},
        {NFS3_COMMIT, args_commit(&f), nfs3_res_commit, true},
        {NFS3_CREATE, args_create(&d, "c", NFS3_GUARDED, NULL), nfs3_res_create, true},
        {NFS3_MKDIR, args_mkdir(&d, "m"), nfs3_res_create, true},
        {NFS3_SYMLINK, args_symlink(&d, "s", "t"), nfs3_res_create, true},
        {NFS3_MKNOD, args_mknod(&d, "p"), nfs3_res_create, true},
        {NFS3_LINK, args_link(&f, &d, "g"), nfs3_res_link, true},
        {NFS3_RENAME, args_rename(&d, "g", &e, "g"), nfs3_res_rename, true},
        {NFS3_REMOVE, args_dirop(&e, "g"), nfs3_res_wcc, true},
        {NFS3_RMDIR, args_dirop(&top, "e"), nfs3_res_wcc, true},
    };
    memcpy(calls, all, sizeof all);
    forget_told(fx);
}

/* How many pieces of each kind the results have. */
struct shown {
    unsigned before, after, handles;
};

static struct shown shown_by(const struct nfs3_res *res)
{
    struct shown shown = {0};
    shown.before = (res->wcc.before != NULL) + (res->wcc2.before != NULL);
    shown.after = (res->object != NULL) + (res->dir != NULL) + (res->wcc.after != NULL) +
                  (res->wcc2.after != NULL);
    shown.handles = res->handle.len > 0;
    struct cursor entries = res->entries;
    struct nfs3_entry entry;
    while (res->entries.at && nfs3_entry_next(&entries, &entry)) {
        shown.after += entry.attributes != NULL;
        shown.handles += entry.handle.len > 0;
    }
    return shown;
}

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

/* ---- errors ---- */

/* Of all calls of a scene none was executed, and each said a status that `is` allows. */
static void assert_nothing_done(struct fixture *fx, const struct nfsd_options *options,
                                bool (*is)(const struct nfs3_res *res))
{
    struct call calls[CALLS];
    scene(fx, options);
    calls_of(fx, calls);
    for (unsigned i = 0; i < CALLS; i++) {
        execute(fx, calls[i].procedure, &alice, &calls[i].args);
        struct nfs3_res res = decoded(fx, calls[i].decode);
        assert_true(is(&res));
        assert_told(fx, "");
    }
}

static bool is_jukebox(const struct nfs3_res *res)
{
    return res->status == NFS3ERR_JUKEBOX;
}

static bool is_bare(const struct nfs3_res *res)
{
    struct shown shown = shown_by(res);
    assert_int_equal(shown.before + shown.after + shown.handles, 0);
    return true;
}

static bool is_failure(const struct nfs3_res *res)
{
    return is_bare(res) && res->status != NFS3_OK && res->status != NFS3ERR_JUKEBOX &&
           res->status != NFS3ERR_NOENT && res->status != NFS3ERR_EXIST &&
           res->status != NFS3ERR_STALE && nfs3_status_name(res->status);
}

static void test_fails_before(void **state)
{
    struct fixture *fx = *state;
    struct nfsd_options options = plain;
    options.jukebox = ALWAYS;
    assert_nothing_done(fx, &options, is_jukebox);
    options.jukebox = 0;
    options.fails_before = ALWAYS;
    assert_nothing_done(fx, &options, is_failure);
}

/* A mutation is done, and says that it is not (K03); what changes nothing does not fail so. */
static void test_fails_after(void **state)
{
    struct fixture *fx = *state;
    struct nfsd_options options = plain;
    struct call calls[CALLS];
    unsigned told = 0, perm = 0;
    options.fails_after = ALWAYS;
    scene(fx, &options);
    calls_of(fx, calls);
    for (unsigned i = 0; i < CALLS; i++) {
        forget_told(fx);
        execute(fx, calls[i].procedure, &alice, &calls[i].args);
        struct nfs3_res res = decoded(fx, calls[i].decode);
        if (!calls[i].changes) {
            assert_int_equal(res.status, NFS3_OK);
            continue;
        }
        assert_true(res.status == NFS3ERR_PERM || res.status == NFS3ERR_IO);
        assert_true(is_bare(&res));
        perm += res.status == NFS3ERR_PERM;
        told += fx->told[0] != '\0';
    }
    assert_int_equal(told, 11); /* all but COMMIT */
    assert_in_range(perm, 1, 11);
    /* What fails by itself says its own status. */
    execute(fx, NFS3_RMDIR, &alice, &calls[CALLS - 1].args);
    assert_int_equal(status_of(fx), NFS3ERR_NOENT);
}

static void test_rpc_errors(void **state)
{
    struct fixture *fx = *state;
    struct nfsd_options options = plain;
    struct call calls[CALLS];
    unsigned system_errors = 0, denials = 0;
    options.rpc_errors = ALWAYS;
    options.remembers = true;
    scene(fx, &options);
    calls_of(fx, calls);
    for (unsigned i = 0; i < CALLS; i++) {
        execute(fx, calls[i].procedure, &alice, &calls[i].args);
        struct cursor c = cursor_over(fx->executed.reply, fx->executed.reply_len);
        struct rpc_reply reply;
        assert_true(rpc_reply_decode(&c, &reply));
        if (reply.stat == RPC_MSG_ACCEPTED) {
            assert_int_equal(reply.accepted, RPC_SYSTEM_ERR);
            system_errors++;
        } else {
            assert_int_equal(reply.rejected, RPC_AUTH_ERROR);
            denials++;
        }
        execute_again(fx, calls[i].procedure, &alice, &calls[i].args);
        assert_false(fx->executed.again);
    }
    assert_told(fx, "");
    assert_true(system_errors > 0 && denials > 0);
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
        .jukebox = 50,
        .fails_before = 50,
        .fails_after = 50,
        .rpc_errors = 50};
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
        TEST(test_what_follows),  TEST(test_some_follow), TEST(test_fails_before),
        TEST(test_fails_after),   TEST(test_rpc_errors),  TEST(test_aliases),
        TEST(test_reuse_handles), TEST(test_confuse),     TEST(test_confuse_nothing),
        TEST(test_restart),       TEST(test_grudge),      TEST(test_deterministic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
