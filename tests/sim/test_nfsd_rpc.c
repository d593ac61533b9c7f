/*
 * RPC and MOUNT of the model server, and its duplicate request cache.
 */
#include "sim/nfsd_fixture.h"

#include "sim/nfsd_again.h"
#include "xdr/mount3.h"
#include "xdr/nfsacl3.h"

static struct rpc_reply reply_of(const struct fixture *fx)
{
    struct cursor c = cursor_over(fx->executed.reply, fx->executed.reply_len);
    struct rpc_reply reply;
    assert_true(rpc_reply_decode(&c, &reply));
    assert_int_equal(reply.xid, fx->xid);
    return reply;
}

/* ---- RPC ---- */

/* A call without arguments: its six leading numbers, then a credential. */
static void execute_header(struct fixture *fx, const uint32_t header[4], uint32_t flavor,
                           const struct body *cred)
{
    struct body body = {0};
    body_u32(&body, ++fx->xid);
    body_u32(&body, RPC_CALL);
    for (unsigned i = 0; i < 4; i++)
        body_u32(&body, header[i]);
    body_u32(&body, flavor);
    body_opaque(&body, cred->data, cred->len);
    body_u32(&body, RPC_AUTH_NONE);
    body_u32(&body, 0);
    nfsd_execute(fx->nfsd, 1, body_bytes(&body), fx->now, fixture_draw(fx), &fx->executed);
}

/* K31 */
static void test_programs(void **state)
{
    struct fixture *fx = *state;
    const struct body none = {0};
    const struct {
        uint32_t program, version, procedure;
        enum rpc_accept_stat stat;
    } rows[] = {
        {RPC_PROGRAM_NFS, 3, 0, RPC_SUCCESS},
        {RPC_PROGRAM_MOUNT, 3, 0, RPC_SUCCESS},
        {RPC_PROGRAM_NFSACL, 3, 0, RPC_SUCCESS},
        {RPC_PROGRAM_NFS, 3, NFS3_PROCEDURES, RPC_PROC_UNAVAIL},
        {RPC_PROGRAM_NFS, 3, UINT32_MAX, RPC_PROC_UNAVAIL},
        {RPC_PROGRAM_NFS, 2, 1, RPC_PROG_MISMATCH},
        {RPC_PROGRAM_NFS, 4, 0, RPC_PROG_MISMATCH},
        {RPC_PROGRAM_MOUNT, 1, 1, RPC_PROG_MISMATCH},
        {RPC_PROGRAM_MOUNT, 3, MOUNT3_DUMP, RPC_PROC_UNAVAIL},
        {RPC_PROGRAM_NFSACL, 2, 1, RPC_PROG_MISMATCH},
        {RPC_PROGRAM_NFSACL, 3, NFSACL3_PROCEDURES, RPC_PROC_UNAVAIL},
        {100021, 4, 0, RPC_PROG_UNAVAIL},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint32_t header[] = {2, rows[i].program, rows[i].version, rows[i].procedure};
        execute_header(fx, header, RPC_AUTH_NONE, &none);
        struct rpc_reply reply = reply_of(fx);
        assert_int_equal(reply.stat, RPC_MSG_ACCEPTED);
        assert_int_equal(reply.accepted, rows[i].stat);
        bool mismatch = rows[i].stat == RPC_PROG_MISMATCH;
        assert_int_equal(reply.low, mismatch ? 3 : 0);
        assert_int_equal(reply.high, mismatch ? 3 : 0);
        assert_int_equal(fx->executed.reply_len, mismatch ? 32 : 24);
    }
    execute_header(fx, (const uint32_t[]){3, RPC_PROGRAM_NFS, 3, 0}, RPC_AUTH_NONE, &none);
    struct rpc_reply reply = reply_of(fx);
    assert_int_equal(reply.stat, RPC_MSG_DENIED);
    assert_int_equal(reply.rejected, RPC_MISMATCH);
    assert_int_equal(reply.low, 2);
    assert_int_equal(reply.high, 2);
}

static void test_credentials(void **state)
{
    struct fixture *fx = *state;
    const uint32_t header[] = {2, RPC_PROGRAM_NFS, 3, NFS3_GETATTR};
    const struct body cut = {.len = 8};
    const struct {
        uint32_t flavor;
        enum rpc_auth_stat stat;
    } rows[] = {{RPC_AUTH_SYS, RPC_AUTH_BADCRED}, {RPC_AUTH_GSS, RPC_AUTH_TOOWEAK}};
    for (unsigned i = 0; i < 2; i++) {
        execute_header(fx, header, rows[i].flavor, &cut);
        struct rpc_reply reply = reply_of(fx);
        assert_int_equal(reply.stat, RPC_MSG_DENIED);
        assert_int_equal(reply.rejected, RPC_AUTH_ERROR);
        assert_int_equal(reply.auth, rows[i].stat);
        assert_int_equal(fx->executed.reply_len, 20);
    }
}

/* Cut off anywhere: in its header it is no call, in its arguments they are garbage; nothing is done. */
static void test_cut_off(void **state)
{
    struct fixture *fx = *state;
    struct file d = file_of(fx, FS_ROOT);
    struct body args = args_create(&d, "f", NFS3_UNCHECKED, NULL), none = {0};
    struct body record = stage_record(1, NFS3_CREATE, &alice, &args);
    uint32_t header = stage_record(1, NFS3_CREATE, &alice, &none).len;
    fx->xid = 1;
    forget_told(fx);
    for (uint32_t len = 0; len < record.len; len++) {
        nfsd_execute(fx->nfsd, 1, (struct bytes){record.data, len}, fx->now, fixture_draw(fx),
                     &fx->executed);
        if (len < header)
            assert_int_equal(fx->executed.reply_len, 0);
        else
            assert_int_equal(reply_of(fx).accepted, RPC_GARBAGE_ARGS);
        assert_told(fx, "");
    }
    record.data[7] = RPC_REPLY;
    nfsd_execute(fx->nfsd, 1, body_bytes(&record), fx->now, fixture_draw(fx), &fx->executed);
    assert_int_equal(fx->executed.reply_len, 0);
}

/* Every procedure without arguments: garbage, and no more. */
static void test_no_arguments(void **state)
{
    struct fixture *fx = *state;
    const struct body none = {0};
    for (unsigned procedure = 1; procedure < NFS3_PROCEDURES; procedure++) {
        execute(fx, procedure, &alice, &none);
        assert_int_equal(reply_of(fx).accepted, RPC_GARBAGE_ARGS);
    }
    const unsigned others[] = {GETACL, SETACL, MNT};
    for (unsigned i = 0; i < 3; i++) {
        execute(fx, others[i], &alice, &none);
        assert_int_equal(reply_of(fx).accepted, RPC_GARBAGE_ARGS);
    }
    assert_told(fx, "");
}

/* One number less than each procedure needs: garbage too. */
static void test_short_arguments(void **state)
{
    struct fixture *fx = *state;
    struct file d = file_of(fx, FS_ROOT);
    struct body chr = args_dirop(&d, "c");
    body_u32(&chr, NF3CHR);
    for (unsigned i = 0; i < 8; i++) /* sattr3, specdata3 */
        body_u32(&chr, 0);
    const struct {
        unsigned procedure;
        struct body args;
    } rows[] = {{NFS3_SETATTR, args_setattr_guarded(&d, 0700, 1)},
                {NFS3_ACCESS, args_access(&d, 1)},
                {NFS3_READ, args_read(&d, 0, 1)},
                {NFS3_WRITE, args_write(&d, 0, "abc")},
                {NFS3_CREATE, args_create(&d, "f", NFS3_EXCLUSIVE, "12345678")},
                {NFS3_MKDIR, args_mkdir(&d, "m")},
                {NFS3_SYMLINK, args_symlink(&d, "s", "t")},
                {NFS3_MKNOD, chr},
                {NFS3_RENAME, args_rename(&d, "a", &d, "b")},
                {NFS3_LINK, args_link(&d, &d, "b")},
                {NFS3_READDIR, args_readdir(&d)},
                {NFS3_READDIRPLUS, args_readdirplus(&d)},
                {NFS3_COMMIT, args_commit(&d)},
                {GETACL, args_getacl(&d)},
                {SETACL, args_setacl(&d, 2)}};
    forget_told(fx);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct body args = rows[i].args;
        args.len -= 4;
        execute(fx, rows[i].procedure, &root, &args);
        assert_int_equal(reply_of(fx).accepted, RPC_GARBAGE_ARGS);
        assert_told(fx, "");
        execute(fx, rows[i].procedure, &root, &rows[i].args);
        assert_int_equal(reply_of(fx).accepted, RPC_SUCCESS);
        forget_told(fx);
    }
}

/* ---- MOUNT ---- */

static void test_mount(void **state)
{
    struct fixture *fx = *state;
    struct body args = {0}, expected = res_status(MNT3_OK);
    body_opaque(&args, "/", 1);
    execute(fx, MNT, &root, &args);
    struct file d = file_of(fx, FS_ROOT);
    body_opaque(&expected, d.handle, d.handle_len);
    body_u32(&expected, 1);
    body_u32(&expected, RPC_AUTH_SYS);
    assert_results(fx, &expected);
    const char *const others[] = {"", "/x", "//", "x"};
    for (unsigned i = 0; i < 4; i++) {
        args.len = 0;
        body_opaque(&args, others[i], (uint32_t)strlen(others[i]));
        expected = res_status(MNT3ERR_NOENT);
        execute(fx, MNT, &root, &args);
        assert_results(fx, &expected);
    }
}

/* ---- the duplicate request cache ---- */

/* A REMOVE that comes twice is executed once, and answered with the same octets (K19). */
static void test_again(void **state)
{
    struct fixture *fx = *state;
    struct nfsd_options options = plain;
    options.remembers = true;
    fixture_options(fx, &options);
    make(fx, FS_ROOT, "f", NF3REG, 0644);
    struct file d = file_of(fx, FS_ROOT);
    struct body args = args_dirop(&d, "f"), other = args_dirop(&d, "g");
    execute(fx, NFS3_REMOVE, &alice, &args);
    assert_int_equal(status_of(fx), NFS3_OK);
    struct nfsd_executed first = fx->executed;
    forget_told(fx);
    execute_again(fx, NFS3_REMOVE, &alice, &args);
    assert_true(fx->executed.again);
    assert_int_equal(fx->executed.reply_len, first.reply_len);
    assert_memory_equal(fx->executed.reply, first.reply, first.reply_len);
    assert_told(fx, "");
    /* Not with another xid, credential or argument, nor on another connection. */
    execute_again(fx, NFS3_REMOVE, &bob, &args);
    assert_false(fx->executed.again);
    execute_again(fx, NFS3_REMOVE, &alice, &other);
    assert_false(fx->executed.again);
    execute_again(fx, NFS3_RMDIR, &alice, &args);
    assert_false(fx->executed.again);
    fx->connection = 2;
    execute_again(fx, NFS3_REMOVE, &alice, &args);
    assert_false(fx->executed.again);
    assert_int_equal(status_of(fx), NFS3ERR_NOENT);
    fx->connection = 1;
    execute(fx, NFS3_REMOVE, &alice, &args);
    assert_int_equal(status_of(fx), NFS3ERR_NOENT);
    execute_again(fx, NFS3_REMOVE, &alice, &args); /* a failure too */
    assert_true(fx->executed.again);
}

static void test_not_remembered(void **state)
{
    struct fixture *fx = *state;
    struct file d = file_of(fx, FS_ROOT);
    struct body args = args_mkdir(&d, "d");
    execute(fx, NFS3_MKDIR, &alice, &args);
    execute_again(fx, NFS3_MKDIR, &alice, &args);
    assert_false(fx->executed.again);
    assert_int_equal(status_of(fx), NFS3ERR_EXIST);
    struct nfsd_options options = plain;
    options.remembers = true;
    fixture_options(fx, &options);
    d = file_of(fx, FS_ROOT);
    const struct {
        unsigned procedure;
        struct body args;
    } rows[] = {{NFS3_GETATTR, args_handle(&d)},
                {NFS3_LOOKUP, args_dirop(&d, "x")},
                {NFS3_READDIRPLUS, args_readdirplus(&d)},
                {GETACL, args_getacl(&d)}};
    for (unsigned i = 0; i < 4; i++) {
        execute(fx, rows[i].procedure, &alice, &rows[i].args);
        execute_again(fx, rows[i].procedure, &alice, &rows[i].args);
        assert_false(fx->executed.again);
    }
}

/* The last ones are remembered, and nothing of them after a restart. */
static void test_ring(void **state)
{
    struct fixture *fx = *state;
    struct nfsd_options options = plain;
    options.remembers = true;
    fixture_options(fx, &options);
    struct file d = file_of(fx, FS_ROOT);
    struct body args = args_dirop(&d, "x");
    for (unsigned i = 0; i < NFSD_AGAIN_MAX + 5; i++)
        execute(fx, NFS3_REMOVE, &alice, &args);
    uint32_t last = fx->xid;
    for (fx->xid = 6; fx->xid <= last; fx->xid++) {
        execute_again(fx, NFS3_REMOVE, &alice, &args);
        assert_true(fx->executed.again);
        assert_int_equal(status_of(fx), NFS3ERR_NOENT);
    }
    fx->xid = 5;
    execute_again(fx, NFS3_REMOVE, &alice, &args);
    assert_false(fx->executed.again);
    nfsd_restart(fx->nfsd, fixture_draw(fx));
    fx->xid = last;
    execute_again(fx, NFS3_REMOVE, &alice, &args);
    assert_false(fx->executed.again);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_programs),     TEST(test_credentials),     TEST(test_cut_off),
        TEST(test_no_arguments), TEST(test_short_arguments), TEST(test_mount),
        TEST(test_again),        TEST(test_not_remembered),  TEST(test_ring),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
