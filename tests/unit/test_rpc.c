#include "xdr/rpc.h"

#include "wire.h"

/* A GETATTR call with AUTH_SYS credentials: stamp 0x01020304, machine "host1", uid 1000, gid 100,
 * gids 4 and 24. */
static const uint8_t call_octets[] = {
    0x12, 0x34, 0x56, 0x78, /* xid */
    0,    0,    0,    0,    /* CALL */
    0,    0,    0,    2,    /* RPC version */
    0,    1,    0x86, 0xa3, /* program 100003 */
    0,    0,    0,    3,    /* version */
    0,    0,    0,    1,    /* procedure */
    0,    0,    0,    1,    /* AUTH_SYS */
    0,    0,    0,    36,   /* length of the credential */
    1,    2,    3,    4,    /* stamp */
    0,    0,    0,    5,    /* machine name */
    'h',  'o',  's',  't',  /**/
    '1',  0,    0,    0,    /**/
    0,    0,    3,    0xe8, /* uid */
    0,    0,    0,    100,  /* gid */
    0,    0,    0,    2,    /* two gids */
    0,    0,    0,    4,    /**/
    0,    0,    0,    24,   /**/
    0,    0,    0,    0,    /* AUTH_NONE */
    0,    0,    0,    0,    /* no verifier */
};

/* Protects: every field of a call's header, and that the cursor stands at the arguments afterwards. */
static void test_call_decode(void **state)
{
    (void)state;
    uint8_t data[sizeof call_octets + 4] = {0};
    memcpy(data, call_octets, sizeof call_octets);
    bytes_store_u32(data + sizeof call_octets, 0xa5a5a5a5);
    struct cursor c = cursor_over(data, sizeof data);
    struct rpc_call call;
    assert_true(rpc_call_decode(&c, &call));
    assert_int_equal(call.xid, 0x12345678);
    assert_int_equal(call.rpc_version, 2);
    assert_int_equal(call.program, RPC_PROGRAM_NFS);
    assert_int_equal(call.version, 3);
    assert_int_equal(call.procedure, 1);
    assert_int_equal(call.cred_flavor, RPC_AUTH_SYS);
    assert_int_equal(call.cred.len, 36);
    assert_ptr_equal(call.cred.data, data + 32);
    assert_int_equal(call.verf_flavor, RPC_AUTH_NONE);
    assert_int_equal(call.verf.len, 0);
    assert_int_equal(cursor_u32(&c), 0xa5a5a5a5);

    struct rpc_auth_sys sys;
    assert_true(rpc_auth_sys_decode(call.cred, &sys));
    assert_int_equal(sys.stamp, 0x01020304);
    wire_assert_text(sys.machine, "host1");
    assert_int_equal(sys.uid, 1000);
    assert_int_equal(sys.gid, 100);
    assert_int_equal(sys.gid_count, 2);
    assert_int_equal(sys.gids[0], 4);
    assert_int_equal(sys.gids[1], 24);
}

/* Protects: the encoders write exactly the octets that the decoders read. */
static void test_call_encode(void **state)
{
    (void)state;
    struct rpc_auth_sys sys = {.stamp = 0x01020304,
                               .machine = wire_text("host1"),
                               .uid = 1000,
                               .gid = 100,
                               .gid_count = 2,
                               .gids = {4, 24}};
    uint8_t body[RPC_AUTH_BODY_MAX];
    struct writer w = writer_over(body, sizeof body);
    rpc_auth_sys_encode(&w, &sys);
    assert_true(writer_ok(&w));
    struct rpc_call call = {.xid = 0x12345678,
                            .rpc_version = RPC_VERSION,
                            .program = RPC_PROGRAM_NFS,
                            .version = 3,
                            .procedure = 1,
                            .cred_flavor = RPC_AUTH_SYS,
                            .cred = wire_bytes(body, writer_len(&w))};
    uint8_t data[sizeof call_octets];
    w = writer_over(data, sizeof data);
    rpc_call_encode(&w, &call);
    assert_true(writer_ok(&w));
    assert_int_equal(writer_len(&w), sizeof call_octets);
    assert_memory_equal(data, call_octets, sizeof call_octets);
}

/* Protects: no prefix of a call is a call, and none is read past its end. */
static void test_call_truncated(void **state)
{
    (void)state;
    for (uint32_t len = 0; len < sizeof call_octets; len++) {
        uint8_t *data = wire_exact(call_octets, len);
        struct cursor c = cursor_over(data, len);
        struct rpc_call call;
        assert_false(rpc_call_decode(&c, &call));
        free(data);
    }
}

/* Protects: a reply, or any other message type, is not a call. */
static void test_call_type(void **state)
{
    (void)state;
    static const uint32_t types[] = {1, 2, 0xffffffffu};
    for (int i = 0; i < 3; i++) {
        uint8_t data[sizeof call_octets];
        memcpy(data, call_octets, sizeof data);
        bytes_store_u32(data + 4, types[i]);
        struct cursor c = cursor_over(data, sizeof data);
        struct rpc_call call;
        assert_false(rpc_call_decode(&c, &call));
    }
}

/* Protects: RPC version 3 is reported with its xid, so that RPC_MISMATCH can be answered; what
 * follows is not read. */
static void test_call_other_rpc_version(void **state)
{
    (void)state;
    static const uint32_t versions[] = {0, 1, 3, 0xffffffffu};
    for (int i = 0; i < 4; i++) {
        uint8_t *data = wire_exact(call_octets, 12);
        bytes_store_u32(data + 8, versions[i]);
        struct cursor c = cursor_over(data, 12);
        struct rpc_call call;
        memset(&call, 0xff, sizeof call);
        assert_true(rpc_call_decode(&c, &call));
        assert_int_equal(call.xid, 0x12345678);
        assert_int_equal(call.rpc_version, versions[i]);
        assert_int_equal(call.program, 0);
        assert_int_equal(call.procedure, 0);
        assert_int_equal(call.cred.len, 0);
        assert_null(call.cred.data);
        free(data);
    }
}

static uint32_t put_call(uint8_t *data, uint32_t size, uint32_t cred_len, uint32_t verf_len)
{
    static const uint8_t zeros[404];
    struct rpc_call call = {.rpc_version = RPC_VERSION,
                            .cred_flavor = 390003,
                            .cred = wire_bytes(zeros, cred_len),
                            .verf_flavor = RPC_AUTH_GSS,
                            .verf = wire_bytes(zeros, verf_len)};
    struct writer w = writer_over(data, size);
    rpc_call_encode(&w, &call);
    assert_true(writer_ok(&w));
    return writer_len(&w);
}

/* Protects: credentials and verifiers of an unknown flavor stay as they came, up to 400 octets and
 * not one more. */
static void test_auth_body_bounds(void **state)
{
    (void)state;
    static const struct {
        uint32_t cred, verf;
        bool ok;
    } cases[] = {
        {400, 400, true}, {399, 0, true}, {401, 0, false}, {0, 401, false}, {404, 404, false}};
    for (int i = 0; i < 5; i++) {
        uint8_t data[1024];
        uint32_t len = put_call(data, sizeof data, cases[i].cred, cases[i].verf);
        struct cursor c = cursor_over(data, len);
        struct rpc_call call;
        assert_int_equal(rpc_call_decode(&c, &call), cases[i].ok);
        if (!cases[i].ok)
            continue;
        assert_int_equal(call.cred_flavor, 390003);
        assert_int_equal(call.cred.len, cases[i].cred);
        assert_int_equal(call.verf_flavor, RPC_AUTH_GSS);
        assert_int_equal(call.verf.len, cases[i].verf);
        assert_int_equal(cursor_left(&c), 0);
    }
}

static uint32_t put_sys(uint8_t *data, uint32_t size, uint32_t machine, uint32_t gids)
{
    static const uint8_t name[260] = {'m'};
    struct writer w = writer_over(data, size);
    writer_u32(&w, 1);
    writer_opaque(&w, wire_bytes(name, machine));
    writer_u32(&w, 0xfffffffe);
    writer_u32(&w, 0xffffffff);
    writer_u32(&w, gids);
    for (uint32_t i = 0; i < gids; i++)
        writer_u32(&w, 0xffffff00 + i);
    assert_true(writer_ok(&w));
    return writer_len(&w);
}

/* Protects: AUTH_SYS at its bounds (0, 1, 16 gids; a name of 255 octets; uid 2^32-2), above them,
   cut off and with something behind it. 17 gids are refused and never shortened to 16. */
static void test_auth_sys_bounds(void **state)
{
    (void)state;
    static const struct {
        uint32_t machine, gids;
        bool ok;
    } cases[] = {{0, 0, true},    {255, 1, true}, {255, 16, true}, {1, 16, true},
                 {256, 0, false}, {0, 17, false}, {255, 17, false}};
    for (int i = 0; i < 7; i++) {
        uint8_t content[512] = {0};
        uint32_t len = put_sys(content, sizeof content, cases[i].machine, cases[i].gids);
        struct rpc_auth_sys sys;
        assert_int_equal(rpc_auth_sys_decode(wire_bytes(content, len), &sys), cases[i].ok);
        if (!cases[i].ok) {
            assert_in_range(sys.gid_count, 0, RPC_AUTH_SYS_GIDS_MAX);
            continue;
        }
        assert_int_equal(sys.machine.len, cases[i].machine);
        assert_int_equal(sys.uid, 0xfffffffe);
        assert_int_equal(sys.gid, 0xffffffff);
        assert_int_equal(sys.gid_count, cases[i].gids);
        for (uint32_t g = 0; g < cases[i].gids; g++)
            assert_int_equal(sys.gids[g], 0xffffff00 + g);
        assert_false(rpc_auth_sys_decode(wire_bytes(content, len + 4), &sys));
        assert_false(rpc_auth_sys_decode(wire_bytes(content, len + 1), &sys));
        for (uint32_t cut = 0; cut < len; cut++) {
            uint8_t *data = wire_exact(content, cut);
            assert_false(rpc_auth_sys_decode(wire_bytes(data, cut), &sys));
            free(data);
        }
    }
}

/* Protects: a gid count near 2^32 is refused before anything is written to the array of sixteen. */
static void test_auth_sys_gid_count_wraps(void **state)
{
    (void)state;
    uint8_t data[20] = {0};
    bytes_store_u32(data + 16, 0xffffffff);
    struct rpc_auth_sys sys;
    assert_false(rpc_auth_sys_decode(wire_bytes(data, sizeof data), &sys));
    assert_false(rpc_auth_sys_decode((struct bytes){0}, &sys));
}

struct reply_case {
    struct rpc_reply reply;
    uint32_t len;
    uint8_t octets[40];
};

#define XID 0xab, 0xcd, 0xef, 0x01

static const struct reply_case reply_cases[] = {
    {{.stat = RPC_MSG_ACCEPTED, .accepted = RPC_SUCCESS}, 24, {XID, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0,
                                                               0,   0, 0, 0, 0, 0, 0, 0, 0, 0}},
    {{.stat = RPC_MSG_ACCEPTED,
      .accepted = RPC_SUCCESS,
      .verf_flavor = RPC_AUTH_GSS,
      .verf = {(const uint8_t *)"mic", 3}},
     28,
     {XID, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 3, 'm', 'i', 'c', 0, 0, 0, 0, 0}},
    {{.stat = RPC_MSG_ACCEPTED, .accepted = RPC_PROG_UNAVAIL},
     24,
     {XID, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}},
    {{.stat = RPC_MSG_ACCEPTED, .accepted = RPC_PROG_MISMATCH, .low = 3, .high = 0x104},
     32,
     {XID, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 1, 4}},
    {{.stat = RPC_MSG_ACCEPTED, .accepted = RPC_PROC_UNAVAIL},
     24,
     {XID, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3}},
    {{.stat = RPC_MSG_ACCEPTED, .accepted = RPC_GARBAGE_ARGS},
     24,
     {XID, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4}},
    {{.stat = RPC_MSG_ACCEPTED, .accepted = RPC_SYSTEM_ERR}, 24, {XID, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0,
                                                                  0,   0, 0, 0, 0, 0, 0, 0, 0, 5}},
    {{.stat = RPC_MSG_DENIED, .rejected = RPC_MISMATCH, .low = 2, .high = 2},
     24,
     {XID, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 2}},
    {{.stat = RPC_MSG_DENIED, .rejected = RPC_AUTH_ERROR, .auth = RPC_AUTH_TOOWEAK},
     20,
     {XID, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 5}},
    {{.stat = RPC_MSG_DENIED, .rejected = RPC_AUTH_ERROR, .auth = (enum rpc_auth_stat)14},
     20,
     {XID, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 14}},
};

#define REPLY_CASES (sizeof reply_cases / sizeof reply_cases[0])

/* Protects: each kind of reply in both directions, to the octet. A denial's auth_stat is kept
   whatever it is (14 is RPCSEC_GSS_CTXPROBLEM). */
static void test_reply(void **state)
{
    (void)state;
    for (size_t i = 0; i < REPLY_CASES; i++) {
        const struct reply_case *k = &reply_cases[i];
        struct cursor c = cursor_over(k->octets, sizeof k->octets);
        struct rpc_reply reply;
        assert_true(rpc_reply_decode(&c, &reply));
        assert_ptr_equal(c.at, k->octets + k->len);
        assert_int_equal(reply.xid, 0xabcdef01);
        assert_int_equal(reply.stat, k->reply.stat);
        assert_int_equal(reply.accepted, k->reply.accepted);
        assert_int_equal(reply.rejected, k->reply.rejected);
        assert_int_equal(reply.auth, k->reply.auth);
        assert_int_equal(reply.low, k->reply.low);
        assert_int_equal(reply.high, k->reply.high);
        assert_int_equal(reply.verf_flavor, k->reply.verf_flavor);
        wire_assert_bytes(reply.verf, k->reply.verf);

        uint8_t data[40];
        struct writer w = writer_over(data, sizeof data);
        rpc_reply_encode(&w, &reply);
        assert_int_equal(writer_len(&w), k->len);
        assert_memory_equal(data, k->octets, k->len);
    }
}

/* Protects: no prefix of a reply is a reply. */
static void test_reply_truncated(void **state)
{
    (void)state;
    for (size_t i = 0; i < REPLY_CASES; i++) {
        for (uint32_t len = 0; len < reply_cases[i].len; len++) {
            uint8_t *data = wire_exact(reply_cases[i].octets, len);
            struct cursor c = cursor_over(data, len);
            struct rpc_reply reply;
            assert_false(rpc_reply_decode(&c, &reply));
            free(data);
        }
    }
}

/* Protects: values outside the protocol's unions, and a verifier above 400 octets, are malformed. */
static void test_reply_malformed(void **state)
{
    (void)state;
    static const struct {
        size_t reply;
        uint32_t at, value;
    } damage[] = {
        {0, 4, 0},           /* a call */
        {0, 4, 2},           /* neither */
        {0, 8, 2},           /* reply_stat */
        {0, 20, 6},          /* accept_stat */
        {0, 20, 0xffffffff}, /* accept_stat */
        {0, 16, 401},        /* verifier */
        {0, 16, 0xfffffffd}, /* verifier */
        {8, 12, 2},          /* reject_stat */
    };
    for (size_t i = 0; i < sizeof damage / sizeof damage[0]; i++) {
        uint8_t data[512] = {0};
        memcpy(data, reply_cases[damage[i].reply].octets, 40);
        struct cursor c = cursor_over(data, sizeof data);
        struct rpc_reply reply;
        assert_true(rpc_reply_decode(&c, &reply));
        bytes_store_u32(data + damage[i].at, damage[i].value);
        c = cursor_over(data, sizeof data);
        assert_false(rpc_reply_decode(&c, &reply));
    }
}

/* Protects: replacing the xid changes its four octets and nothing else. */
static void test_xid(void **state)
{
    (void)state;
    uint8_t data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    assert_int_equal(rpc_xid(data), 0x01020304);
    rpc_xid_replace(data, 0xcafef00d);
    assert_memory_equal(data, "\xca\xfe\xf0\x0d\x05\x06\x07\x08", 8);
    assert_int_equal(rpc_xid(data), 0xcafef00d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_call_decode),
        cmocka_unit_test(test_call_encode),
        cmocka_unit_test(test_call_truncated),
        cmocka_unit_test(test_call_type),
        cmocka_unit_test(test_call_other_rpc_version),
        cmocka_unit_test(test_auth_body_bounds),
        cmocka_unit_test(test_auth_sys_bounds),
        cmocka_unit_test(test_auth_sys_gid_count_wraps),
        cmocka_unit_test(test_reply),
        cmocka_unit_test(test_reply_truncated),
        cmocka_unit_test(test_reply_malformed),
        cmocka_unit_test(test_xid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
