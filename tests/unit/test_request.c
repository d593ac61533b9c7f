/*
 * What call_receive does with a record before it asks the cache: refusals, forwarding, squash,
 * read-only.
 */
#include "stage.h"

#include <errno.h>

#include "proxy/procedure.h"
#include "xdr/mount3.h"
#include "xdr/nfsacl3.h"

struct scene {
    struct stage *stage;
    struct stage_client client;
};

static void scene_open(struct scene *scene, const char *keys)
{
    scene->stage = stage_create(keys, 1);
    stage_client_init(&scene->client, scene->stage, 0, alice);
}

static void scene_close(struct scene *scene)
{
    stage_client_done(&scene->client);
    stage_destroy(scene->stage);
}

/* A call with nothing behind its header. */
static struct body header(uint32_t rpc_version, uint32_t program, uint32_t version,
                          uint32_t procedure)
{
    struct body body = {0};
    const uint32_t words[] = {0x1234,    RPC_CALL,      rpc_version, program,       version,
                              procedure, RPC_AUTH_NONE, 0,           RPC_AUTH_NONE, 0};
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
        body_u32(&body, words[i]);
    return body;
}

/* The client gets exactly these words, and the server nothing. */
static void expect_words(struct scene *scene, struct bytes record, unsigned count,
                         const uint32_t *words)
{
    unsigned replies = scene->client.replies;
    assert_int_equal(stage_receive(&scene->client, record), 0);
    stage_quiet(scene->stage);
    assert_int_equal(scene->client.replies, replies + 1);
    struct body expected = {0};
    for (unsigned i = 0; i < count; i++)
        body_u32(&expected, words[i]);
    const struct stage_reply *reply = &scene->client.reply[replies % STAGE_REPLIES];
    wire_assert_bytes((struct bytes){reply->data, reply->len}, body_bytes(&expected));
}

#define EXPECT_WORDS(scene, record, ...)                                                \
    expect_words((scene), body_bytes(&(record)), sizeof((uint32_t[]){__VA_ARGS__}) / 4, \
                 (const uint32_t[]){__VA_ARGS__})

/* Protects: K31, what is not served is refused as RFC 5531 says, with the range that is. */
static void test_k31_not_served(void **state)
{
    (void)state;
    static const struct {
        uint32_t program, version, procedure, stat;
    } rows[] = {
        {RPC_PROGRAM_NFS, 4, 0, RPC_PROG_MISMATCH},
        {RPC_PROGRAM_NFS, 4, 1, RPC_PROG_MISMATCH},
        {RPC_PROGRAM_NFS, 2, 0, RPC_PROG_MISMATCH},
        {RPC_PROGRAM_NFS, 2, 1, RPC_PROG_MISMATCH},
        {RPC_PROGRAM_NFS, 3, 22, RPC_PROC_UNAVAIL},
        {RPC_PROGRAM_NFS, 3, 0xffffffff, RPC_PROC_UNAVAIL},
        {RPC_PROGRAM_MOUNT, 1, 0, RPC_PROG_MISMATCH},
        {RPC_PROGRAM_MOUNT, 1, 1, RPC_PROG_MISMATCH},
        {RPC_PROGRAM_MOUNT, 3, 6, RPC_PROC_UNAVAIL},
        {RPC_PROGRAM_NFSACL, 2, 1, RPC_PROG_MISMATCH},
        {RPC_PROGRAM_NFSACL, 3, 3, RPC_PROC_UNAVAIL},
        {100021, 4, 0, RPC_PROG_UNAVAIL}, /* NLM */
        {100002, 1, 0, RPC_PROG_UNAVAIL},
        {0, 3, 1, RPC_PROG_UNAVAIL},
    };
    struct scene scene;
    scene_open(&scene, "");
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct body call = header(2, rows[i].program, rows[i].version, rows[i].procedure);
        if (rows[i].stat == RPC_PROG_MISMATCH)
            EXPECT_WORDS(&scene, call, 0x1234, RPC_REPLY, RPC_MSG_ACCEPTED, 0, 0, RPC_PROG_MISMATCH,
                         3, 3);
        else
            EXPECT_WORDS(&scene, call, 0x1234, RPC_REPLY, RPC_MSG_ACCEPTED, 0, 0, rows[i].stat);
    }
    assert_int_equal(counter_read(&scene.client.worker->service.counters.rpc_errors),
                     sizeof rows / sizeof rows[0]);
    scene_close(&scene);
}

/* Protects: K31, another RPC version is denied with the range, whatever follows. */
static void test_k31_rpc_version(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, "");
    for (uint32_t version = 0; version < 5; version++) {
        struct body call = header(version, RPC_PROGRAM_NFS, 3, NFS3_NULL);
        if (version == 2)
            continue;
        EXPECT_WORDS(&scene, call, 0x1234, RPC_REPLY, RPC_MSG_DENIED, RPC_MISMATCH, 2, 2);
        call.len = 12; /* nothing follows */
        EXPECT_WORDS(&scene, call, 0x1234, RPC_REPLY, RPC_MSG_DENIED, RPC_MISMATCH, 2, 2);
    }
    scene_close(&scene);
}

/* Protects: NULL of all three programs is answered here. */
static void test_null(void **state)
{
    (void)state;
    static const uint32_t served[] = {RPC_PROGRAM_NFS, RPC_PROGRAM_MOUNT, RPC_PROGRAM_NFSACL};
    struct scene scene;
    scene_open(&scene, "read-only = yes\n");
    for (unsigned i = 0; i < 3; i++) {
        struct body call = header(2, served[i], 3, 0);
        EXPECT_WORDS(&scene, call, 0x1234, RPC_REPLY, RPC_MSG_ACCEPTED, 0, 0, RPC_SUCCESS);
    }
    scene_close(&scene);
}

/* Protects: K20, a GSS call gets one AUTH_ERROR and never reaches the server. */
static void test_k20_gss(void **state)
{
    (void)state;
    struct scene scene;
    struct who gss = {.flavor = RPC_AUTH_GSS};
    struct file f = file_make("f", NF3REG, 1);
    struct body args = args_handle(&f);
    scene_open(&scene, "");
    struct body call = stage_record(9, NFS3_GETATTR, &gss, &args);
    EXPECT_WORDS(&scene, call, 9, RPC_REPLY, RPC_MSG_DENIED, RPC_AUTH_ERROR, RPC_AUTH_TOOWEAK);
    scene_close(&scene);
}

/* Protects: a header whose credential is too long, or that is cut off after its xid and type, is
 * denied; what is no call at all closes the connection; nothing of it is forwarded. */
static void test_bad_headers(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, "");
    struct body call = header(2, RPC_PROGRAM_NFS, 3, NFS3_GETATTR);
    bytes_store_u32(call.data + 28, RPC_AUTH_BODY_MAX + 1);
    call.len += RPC_AUTH_BODY_MAX + 4;
    EXPECT_WORDS(&scene, call, 0x1234, RPC_REPLY, RPC_MSG_DENIED, RPC_AUTH_ERROR, RPC_AUTH_BADCRED);
    call = header(2, RPC_PROGRAM_NFS, 3, NFS3_GETATTR);
    unsigned replies = scene.client.replies;
    for (uint32_t len = 0; len < 8; len++)
        assert_int_equal(stage_receive(&scene.client, (struct bytes){call.data, len}), -EPROTO);
    bytes_store_u32(call.data + 4, RPC_REPLY);
    assert_int_equal(stage_receive(&scene.client, body_bytes(&call)), -EPROTO);
    assert_int_equal(scene.client.replies, replies);
    assert_int_equal(counter_read(&scene.client.worker->service.counters.bad_records), 9);
    bytes_store_u32(call.data + 4, RPC_CALL);
    for (uint32_t len = 8; len < call.len; len++) {
        struct body cut = call;
        cut.len = len;
        EXPECT_WORDS(&scene, cut, 0x1234, RPC_REPLY, RPC_MSG_DENIED, RPC_AUTH_ERROR,
                     RPC_AUTH_BADCRED);
    }
    scene_close(&scene);
}

/* A call of every procedure that names a file or directory. */
static struct body arguments(unsigned procedure, const struct file *f)
{
    switch (procedure) {
    case NFS3_SETATTR:
        return args_setattr_size(f, 0);
    case NFS3_LOOKUP:
    case NFS3_REMOVE:
    case NFS3_RMDIR:
        return args_dirop(f, "name");
    case NFS3_ACCESS:
        return args_access(f, 0x3f);
    case NFS3_READ:
        return args_read(f, 0, 512);
    case NFS3_WRITE:
        return args_write(f, 0, "text");
    case NFS3_CREATE:
        return args_create(f, "name", NFS3_GUARDED, NULL);
    case NFS3_MKDIR:
        return args_mkdir(f, "name");
    case NFS3_SYMLINK:
        return args_symlink(f, "name", "target");
    case NFS3_MKNOD:
        return args_mknod(f, "name");
    case NFS3_RENAME:
        return args_rename(f, "name", f, "name2");
    case NFS3_LINK:
        return args_link(f, f, "name");
    case NFS3_READDIR:
        return args_readdir(f);
    case NFS3_READDIRPLUS:
        return args_readdirplus(f);
    case NFS3_COMMIT:
        return args_commit(f);
    case STAGE_NFSACL + NFSACL3_SETACL:
        return args_setacl(f, 2);
    case STAGE_NFSACL + NFSACL3_GETACL:
        return args_getacl(f);
    default:
        return args_handle(f);
    }
}

/* Protects: K22, a handle of 65 octets is GARBAGE_ARGS for every procedure, one of 64 is not; so are
 * arguments that end early. Octets after them don't matter. */
static void test_k22_bounds_of_arguments(void **state)
{
    (void)state;
    struct file f = file_make("f", NF3DIR, 1);
    f.handle_len = NFS3_FH_MAX;
    for (unsigned p = 1; p < STAGE_NFSACL + NFSACL3_PROCEDURES; p++) {
        if (p == NFS3_PROCEDURES)
            p = STAGE_NFSACL + 1;
        struct scene scene;
        scene_open(&scene, "");
        struct body args = arguments(p, &f);
        struct body longer = {0};
        body_u32(&longer, NFS3_FH_MAX + 1);
        body_raw(&longer, args.data + 4, NFS3_FH_MAX);
        body_raw(&longer, "xxxx", 4);
        body_raw(&longer, args.data + 4 + NFS3_FH_MAX, args.len - 4 - NFS3_FH_MAX);
        struct body call = stage_record(1, p, &alice, &longer);
        EXPECT_WORDS(&scene, call, 1, RPC_REPLY, RPC_MSG_ACCEPTED, 0, 0, RPC_GARBAGE_ARGS);
        args.len -= 4;
        call = stage_record(2, p, &alice, &args);
        EXPECT_WORDS(&scene, call, 2, RPC_REPLY, RPC_MSG_ACCEPTED, 0, 0, RPC_GARBAGE_ARGS);
        args.len += 4;
        body_raw(&args, "trailing", 8);
        call = stage_record(3, p, &alice, &args);
        assert_int_equal(stage_receive(&scene.client, body_bytes(&call)), 0);
        assert_int_equal(stage_waiting(scene.stage), 1);
        scene_close(&scene);
    }
}

/* The server gets the call as it came, but for four octets. */
static void expect_forwarded(struct scene *scene, struct bytes call)
{
    assert_int_equal(stage_receive(&scene->client, call), 0);
    struct stage_sent *sent = stage_next(scene->stage);
    assert_non_null(sent);
    assert_int_equal(sent->record.len, call.len);
    assert_memory_equal(sent->record.data + 4, call.data + 4, call.len - 4);
    stage_answer(sent, res_status(NFS3ERR_IO));
    stage_told(&scene->client, rpc_xid(call.data), res_status(NFS3ERR_IO));
}

/* Protects: K21, credentials of every size go up byte-identical: 0, 1, 16 and 17 gids, the largest
 * uid. */
static void test_k21_credentials(void **state)
{
    (void)state;
    static const uint32_t counts[] = {0, 1, 16, 17};
    struct scene scene;
    struct file f = file_make("f", NF3REG, 1);
    struct body args = args_handle(&f);
    scene_open(&scene, "");
    for (unsigned i = 0; i < 4; i++) {
        struct who who = {.flavor = RPC_AUTH_SYS, .uid = 0xfffffffe, .gid_count = counts[i]};
        for (uint32_t j = 0; j < counts[i]; j++)
            who.gids[j] = 0xffffff00 + j;
        struct body call = stage_record(10 + i, NFS3_GETATTR, &who, &args);
        expect_forwarded(&scene, body_bytes(&call));
    }
    scene_close(&scene);
}

/* Protects: K21, 17 gids that would have to be squashed are refused: nothing is cut off. */
static void test_k21_too_many_to_squash(void **state)
{
    (void)state;
    static const char *const keys[] = {"squash = root\n", "squash = all\n"};
    struct who who = {.flavor = RPC_AUTH_SYS, .uid = 1000, .gid_count = 17};
    struct file f = file_make("f", NF3REG, 1);
    struct body args = args_handle(&f);
    struct body call = stage_record(10, NFS3_GETATTR, &who, &args);
    for (unsigned i = 0; i < 2; i++) {
        struct scene scene;
        scene_open(&scene, keys[i]);
        EXPECT_WORDS(&scene, call, 10, RPC_REPLY, RPC_MSG_DENIED, RPC_AUTH_ERROR, RPC_AUTH_BADCRED);
        scene_close(&scene);
    }
}

/* Protects: a machine name of 255 octets, and a verifier, go as they came. */
static void test_k21_machine_and_verifier(void **state)
{
    (void)state;
    struct scene scene;
    struct file f = file_make("f", NF3REG, 1);
    struct body call = {0}, cred = {0};
    uint8_t machine[RPC_MACHINE_NAME_MAX];
    memset(machine, 'm', sizeof machine);
    body_u32(&cred, 1);
    body_opaque(&cred, machine, sizeof machine);
    for (unsigned i = 0; i < 3; i++)
        body_u32(&cred, 0); /* uid, gid, no gids */
    const uint32_t words[] = {77, RPC_CALL, 2, RPC_PROGRAM_NFS, 3, NFS3_READLINK, RPC_AUTH_SYS};
    for (unsigned i = 0; i < 7; i++)
        body_u32(&call, words[i]);
    body_opaque(&call, cred.data, cred.len);
    body_u32(&call, RPC_AUTH_SHORT);
    body_opaque(&call, "verifier.", 9);
    body_opaque(&call, f.handle, f.handle_len);
    scene_open(&scene, "");
    expect_forwarded(&scene, body_bytes(&call));
    scene_close(&scene);
}

/* Protects: K22, every procedure's arguments, with handles of 0 to 64 octets, go up as they came. */
static void test_k22_forwarded_untouched(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 16, 60, 63, 64};
    for (unsigned i = 0; i < 5; i++) {
        struct file f = file_make("f", NF3DIR, 1);
        f.handle_len = sizes[i];
        memset(f.handle, 0xe0 + (int)i, sizes[i]);
        const unsigned plain[] = {NFS3_GETATTR, NFS3_SETATTR,     NFS3_LOOKUP,
                                  NFS3_ACCESS,  NFS3_READLINK,    NFS3_READ,
                                  NFS3_READDIR, NFS3_READDIRPLUS, NFS3_FSSTAT,
                                  NFS3_FSINFO,  NFS3_PATHCONF,    STAGE_NFSACL + NFSACL3_GETACL};
        for (unsigned j = 0; j < sizeof plain / sizeof plain[0]; j++) {
            struct scene scene;
            scene_open(&scene, "");
            struct body args = arguments(plain[j], &f);
            struct body call = stage_record(5, plain[j], &alice, &args);
            if (plain[j] != NFS3_SETATTR)
                expect_forwarded(&scene, body_bytes(&call));
            else
                assert_int_equal(stage_receive(&scene.client, body_bytes(&call)), 0);
            scene_close(&scene);
        }
    }
}

/* Protects: MOUNT goes to the mount port, with arguments that nobody decodes. */
static void test_mount_goes_to_its_port(void **state)
{
    (void)state;
    struct scene scene;
    struct body path = {0};
    body_opaque(&path, "//export/./dir", 14);
    scene_open(&scene, "");
    for (unsigned p = MOUNT3_MNT; p < MOUNT3_PROCEDURES; p++) {
        uint32_t xid = stage_call(&scene.client, STAGE_MOUNT + p, path);
        struct stage_sent *sent = stage_takes(scene.stage, p, path);
        assert_ptr_equal(sent->upstream, &scene.client.worker->mount);
        stage_answer(sent, path);
        stage_told(&scene.client, xid, path);
    }
    scene_close(&scene);
}

/* Protects: squash replaces the credential and no other octet, of the call and of its verifier and
 * arguments. */
static void test_squash_replaces_only_the_credential(void **state)
{
    (void)state;
    struct scene scene;
    struct file f = file_make("fh", NF3REG, 1);
    struct body args = args_write(&f, 10, "payload");
    struct who anonymous = {.flavor = RPC_AUTH_SYS, .uid = 65534, .gid = 65534};
    scene_open(&scene, "squash = all\n");
    struct body call = stage_record(0x51, NFS3_WRITE, &alice, &args);
    struct body expected = stage_record(0x51, NFS3_WRITE, &anonymous, &args);
    assert_int_equal(stage_receive(&scene.client, body_bytes(&call)), 0);
    struct stage_sent *sent = stage_next(scene.stage);
    assert_non_null(sent);
    assert_int_equal(sent->record.len, expected.len);
    assert_memory_equal(sent->record.data + 4, expected.data + 4, expected.len - 4);
    scene_close(&scene);
}

/* Protects: a read-only service answers ROFS to every call that changes something, with results
 * that are whole and say nothing; and forwards none of them. */
static void test_read_only(void **state)
{
    (void)state;
    struct scene scene;
    struct file f = file_make("f", NF3DIR, 1);
    unsigned refused = 0;
    scene_open(&scene, "read-only = yes\n");
    static const struct {
        unsigned procedure;
        nfs3_res_decoder *decode;
    } rows[] = {
        {NFS3_SETATTR, nfs3_res_wcc},    {NFS3_WRITE, nfs3_res_write},
        {NFS3_CREATE, nfs3_res_create},  {NFS3_MKDIR, nfs3_res_create},
        {NFS3_SYMLINK, nfs3_res_create}, {NFS3_MKNOD, nfs3_res_create},
        {NFS3_REMOVE, nfs3_res_wcc},     {NFS3_RMDIR, nfs3_res_wcc},
        {NFS3_RENAME, nfs3_res_rename},  {NFS3_LINK, nfs3_res_link},
        {NFS3_COMMIT, nfs3_res_commit},  {STAGE_NFSACL + NFSACL3_SETACL, nfsacl3_res_setacl}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t xid =
            stage_call(&scene.client, rows[i].procedure, arguments(rows[i].procedure, &f));
        const struct stage_reply *reply = stage_reply_find(&scene.client, xid);
        assert_non_null(reply);
        struct cursor c = cursor_over(reply->data, reply->len);
        struct rpc_reply rpc;
        struct nfs3_res res;
        assert_true(rpc_reply_decode(&c, &rpc));
        assert_int_equal(rpc.stat, RPC_MSG_ACCEPTED);
        assert_int_equal(rpc.accepted, RPC_SUCCESS);
        assert_true(rows[i].decode(&c, &res));
        assert_int_equal(cursor_left(&c), 0);
        assert_int_equal(res.status, NFS3ERR_ROFS);
        assert_true(res.object == NULL && res.wcc.before == NULL && res.wcc.after == NULL &&
                    res.wcc2.before == NULL && res.wcc2.after == NULL && res.verf == NULL);
        refused++;
    }
    stage_quiet(scene.stage);
    assert_int_equal(refused, 12);
    stage_fetches(&scene.client, NFS3_READLINK, args_handle(&f), res_post_op(NFS3ERR_INVAL, NULL));
    scene_close(&scene);
}

/* Protects: a client without memory for a reply is told to go, and no call is left. */
static void test_no_memory_for_a_refusal(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, "");
    struct body call = header(2, RPC_PROGRAM_NFS, 4, 1);
    scene.client.no_memory = true;
    assert_int_equal(stage_receive(&scene.client, body_bytes(&call)), 0);
    assert_int_equal(scene.client.failures, 1);
    assert_int_equal(scene.client.replies, 0);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_k31_not_served),
        cmocka_unit_test(test_k31_rpc_version),
        cmocka_unit_test(test_null),
        cmocka_unit_test(test_k20_gss),
        cmocka_unit_test(test_bad_headers),
        cmocka_unit_test(test_k22_bounds_of_arguments),
        cmocka_unit_test(test_k21_credentials),
        cmocka_unit_test(test_k21_too_many_to_squash),
        cmocka_unit_test(test_k21_machine_and_verifier),
        cmocka_unit_test(test_k22_forwarded_untouched),
        cmocka_unit_test(test_mount_goes_to_its_port),
        cmocka_unit_test(test_squash_replaces_only_the_credential),
        cmocka_unit_test(test_read_only),
        cmocka_unit_test(test_no_memory_for_a_refusal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
