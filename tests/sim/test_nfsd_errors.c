/*
 * Errors of the model server: before and after the work is done, of NFS and of the RPC layer, and replies that can't be read.
 */
#include "sim/nfsd_scene.h"

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

static bool is_stale(const struct nfs3_res *res)
{
    return is_bare(res) && res->status == NFS3ERR_STALE;
}

static bool is_refusal(const struct nfs3_res *res)
{
    return is_bare(res) && (res->status == NFS3ERR_PERM || res->status == NFS3ERR_ACCES);
}

static void test_fails_before(void **state)
{
    struct fixture *fx = *state;
    struct nfsd_options options = plain;
    options.errors.jukebox = ALWAYS;
    assert_nothing_done(fx, &options, is_jukebox);
    options.errors.jukebox = 0;
    options.errors.fails_before = ALWAYS;
    assert_nothing_done(fx, &options, is_failure);
}

/* A mutation is done, and says that it is not (K03); what changes nothing does not fail so. */
static void test_fails_after(void **state)
{
    struct fixture *fx = *state;
    struct nfsd_options options = plain;
    struct call calls[CALLS];
    unsigned told = 0, perm = 0;
    options.errors.fails_after = ALWAYS;
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
    options.errors.rpc_errors = ALWAYS;
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

static void test_stale_and_refusals(void **state)
{
    struct fixture *fx = *state;
    struct nfsd_options options = plain;
    options.errors.stale = ALWAYS;
    assert_nothing_done(fx, &options, is_stale);
    options.errors.stale = 0;
    options.errors.refuses = ALWAYS;
    assert_nothing_done(fx, &options, is_refusal);
}

enum broken {
    BROKEN_STATUS, /* IO or SERVERFAULT, and no attributes */
    BROKEN_SYSTEM,
    BROKEN_HEADER,
    BROKEN_RESULTS,
    BROKEN_KINDS,
};

/* How the last reply is broken; BROKEN_KINDS: not at all. It has the call's xid. */
static enum broken broken(const struct fixture *fx, nfs3_res_decoder *decode)
{
    struct cursor c = cursor_over(fx->executed.reply, fx->executed.reply_len);
    struct rpc_reply reply;
    struct nfs3_res res = {.status = NFS3_OK};
    assert_int_equal(bytes_load_u32(fx->executed.reply), fx->xid);
    assert_int_equal(bytes_load_u32(fx->executed.reply + 4), RPC_REPLY);
    if (!rpc_reply_decode(&c, &reply))
        return BROKEN_HEADER;
    assert_int_equal(reply.stat, RPC_MSG_ACCEPTED);
    if (reply.accepted != RPC_SUCCESS) {
        assert_int_equal(reply.accepted, RPC_SYSTEM_ERR);
        return BROKEN_SYSTEM;
    }
    if (!decode(&c, &res))
        return BROKEN_RESULTS;
    if (res.status == NFS3_OK)
        return BROKEN_KINDS;
    assert_true(res.status == NFS3ERR_IO || res.status == NFS3ERR_SERVERFAULT);
    assert_true(is_bare(&res));
    return BROKEN_STATUS;
}

/* Of a scene's calls: how many replies are broken in each way. Counts the mutations that were done. */
static unsigned break_all(struct fixture *fx, const struct nfsd_options *options,
                          unsigned kinds[BROKEN_KINDS + 1])
{
    struct call calls[CALLS];
    unsigned done = 0;
    memset(kinds, 0, (BROKEN_KINDS + 1) * sizeof kinds[0]);
    scene(fx, options);
    calls_of(fx, calls);
    for (unsigned i = 0; i < CALLS; i++) {
        forget_told(fx);
        execute(fx, calls[i].procedure, &alice, &calls[i].args);
        enum broken kind = broken(fx, calls[i].decode);
        bool changes = calls[i].changes || options->errors.breaks_before > 0;
        assert_int_equal(kind == BROKEN_KINDS, !changes);
        kinds[kind]++;
        done += calls[i].changes && fx->told[0] != '\0';
    }
    return done;
}

static void test_breaks(void **state)
{
    struct fixture *fx = *state;
    struct nfsd_options options = plain;
    unsigned kinds[BROKEN_KINDS + 1];
    options.errors.breaks_before = ALWAYS;
    assert_int_equal(break_all(fx, &options, kinds), 0);
    for (unsigned i = 0; i < BROKEN_KINDS; i++)
        assert_true(kinds[i] > 0);
    options.errors.breaks_before = 0;
    options.errors.breaks_after = ALWAYS;
    assert_int_equal(break_all(fx, &options, kinds), 11); /* all that change something but COMMIT */
    for (unsigned i = 0; i < BROKEN_KINDS; i++)
        assert_true(kinds[i] > 0);
}

/* Of one that was done the duplicate request cache says the same again; one that was not done is done then. */
static void test_breaks_again(void **state)
{
    struct fixture *fx = *state;
    struct nfsd_options options = plain;
    const struct nfsd_errors none = {.jukebox = 0};
    struct call calls[CALLS];
    options.remembers = true;
    options.errors.breaks_after = ALWAYS;
    scene(fx, &options);
    calls_of(fx, calls);
    execute(fx, calls[CALLS - 1].procedure, &alice, &calls[CALLS - 1].args);
    nfsd_set_errors(fx->nfsd, &none);
    execute_again(fx, calls[CALLS - 1].procedure, &alice, &calls[CALLS - 1].args);
    assert_true(fx->executed.again);
    assert_true(broken(fx, calls[CALLS - 1].decode) != BROKEN_KINDS);
    options.errors = (struct nfsd_errors){.breaks_before = ALWAYS};
    scene(fx, &options);
    calls_of(fx, calls);
    execute(fx, calls[CALLS - 1].procedure, &alice, &calls[CALLS - 1].args);
    nfsd_set_errors(fx->nfsd, &none);
    execute_again(fx, calls[CALLS - 1].procedure, &alice, &calls[CALLS - 1].args);
    assert_false(fx->executed.again);
    assert_int_equal(status_of(fx), NFS3_OK);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_fails_before),       TEST(test_fails_after), TEST(test_rpc_errors),
        TEST(test_stale_and_refusals), TEST(test_breaks),      TEST(test_breaks_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
