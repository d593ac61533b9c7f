/*
 * RPC headers and AUTH_SYS against libtirpc's, on the same octets and in both directions. xdr/rpc.h
 * comes first; what libtirpc names alike is given another name before its header is read.
 */
#include "xdr/rpc.h"

#include "wire.h"

#define RPC_SUCCESS  TIRPC_SUCCESS
#define RPC_MISMATCH TIRPC_MISMATCH
#include <rpc/rpc.h>
#undef RPC_SUCCESS
#undef RPC_MISMATCH

#define ROUNDS 2000

/* What a value of theirs looks like on the wire, in memory of exactly its size; the caller frees
 * it. */
struct octets {
    uint8_t *data;
    uint32_t len;
};

static struct octets encoded(XDR *x, const uint8_t *buffer, bool_t ok)
{
    assert_true(ok);
    uint32_t len = xdr_getpos(x);
    xdr_destroy(x);
    return (struct octets){.data = wire_exact(buffer, len), .len = len};
}

static struct octets their_message(struct rpc_msg *msg)
{
    uint8_t buffer[1024] = {0};
    XDR x;
    xdrmem_create(&x, (char *)buffer, sizeof buffer, XDR_ENCODE);
    bool_t ok = msg->rm_direction == CALL ? xdr_callmsg(&x, msg) : xdr_replymsg(&x, msg);
    return encoded(&x, buffer, ok);
}

static struct opaque_auth random_auth(struct wire_random *random, uint8_t body[MAX_AUTH_BYTES])
{
    uint32_t len = wire_len(random, MAX_AUTH_BYTES);
    wire_fill(random, body, len);
    return (struct opaque_auth){
        .oa_flavor = (enum_t)wire_u32(random), .oa_base = (caddr_t)body, .oa_length = len};
}

static void assert_auth(uint32_t flavor, struct bytes body, const struct opaque_auth *expected)
{
    assert_int_equal(flavor, (uint32_t)expected->oa_flavor);
    wire_assert_bytes(body, wire_bytes(expected->oa_base, expected->oa_length));
}

static void assert_our_call(const struct rpc_call *call, const struct rpc_msg *msg)
{
    assert_int_equal(call->xid, msg->rm_xid);
    assert_int_equal(call->rpc_version, RPC_MSG_VERSION);
    assert_int_equal(call->program, msg->rm_call.cb_prog);
    assert_int_equal(call->version, msg->rm_call.cb_vers);
    assert_int_equal(call->procedure, msg->rm_call.cb_proc);
    assert_auth(call->cred_flavor, call->cred, &msg->rm_call.cb_cred);
    assert_auth(call->verf_flavor, call->verf, &msg->rm_call.cb_verf);
}

/* Ours wrote `data`: they must read it, all of it, as `expected`. */
static void assert_they_read_call(struct octets o, const struct rpc_msg *expected)
{
    uint8_t cred[MAX_AUTH_BYTES];
    uint8_t verf[MAX_AUTH_BYTES];
    struct rpc_msg msg = {0};
    msg.rm_call.cb_cred.oa_base = (caddr_t)cred;
    msg.rm_call.cb_verf.oa_base = (caddr_t)verf;
    XDR x;
    xdrmem_create(&x, (char *)o.data, o.len, XDR_DECODE);
    assert_true(xdr_callmsg(&x, &msg));
    assert_int_equal(xdr_getpos(&x), o.len);
    xdr_destroy(&x);
    assert_int_equal(msg.rm_direction, CALL);
    struct rpc_call call = {.xid = msg.rm_xid,
                            .rpc_version = msg.rm_call.cb_rpcvers,
                            .program = msg.rm_call.cb_prog,
                            .version = msg.rm_call.cb_vers,
                            .procedure = msg.rm_call.cb_proc,
                            .cred_flavor = (uint32_t)msg.rm_call.cb_cred.oa_flavor,
                            .cred = wire_bytes(cred, msg.rm_call.cb_cred.oa_length),
                            .verf_flavor = (uint32_t)msg.rm_call.cb_verf.oa_flavor,
                            .verf = wire_bytes(verf, msg.rm_call.cb_verf.oa_length)};
    assert_our_call(&call, expected);
}

/* Protects: every header libtirpc can write is read field by field as it was meant, no prefix of it
   passes, and what we write for the same call are the same octets, which libtirpc reads back. */
static void test_calls(void **state)
{
    (void)state;
    struct wire_random random = {.state = 5531};
    for (int i = 0; i < ROUNDS; i++) {
        uint8_t cred[MAX_AUTH_BYTES];
        uint8_t verf[MAX_AUTH_BYTES];
        struct rpc_msg msg = {.rm_xid = wire_u32(&random), .rm_direction = CALL};
        msg.rm_call = (struct call_body){.cb_rpcvers = RPC_MSG_VERSION,
                                         .cb_prog = wire_u32(&random),
                                         .cb_vers = wire_u32(&random),
                                         .cb_proc = wire_u32(&random),
                                         .cb_cred = random_auth(&random, cred),
                                         .cb_verf = random_auth(&random, verf)};
        struct octets o = their_message(&msg);
        struct cursor c = cursor_over(o.data, o.len);
        struct rpc_call call;
        assert_true(rpc_call_decode(&c, &call));
        assert_int_equal(cursor_left(&c), 0);
        assert_our_call(&call, &msg);

        uint8_t ours[1024];
        struct writer w = writer_over(ours, sizeof ours);
        rpc_call_encode(&w, &call);
        wire_assert_bytes(wire_bytes(ours, writer_len(&w)), wire_bytes(o.data, o.len));
        assert_they_read_call((struct octets){ours, writer_len(&w)}, &msg);

        uint32_t cut = wire_below(&random, o.len);
        uint8_t *part = wire_exact(o.data, cut);
        c = cursor_over(part, cut);
        assert_false(rpc_call_decode(&c, &call));
        free(part);
        free(o.data);
    }
}

static bool_t no_results(XDR *x, ...)
{
    (void)x;
    return TRUE;
}

/* One of the arms of a reply, evenly. */
static struct rpc_msg random_reply(struct wire_random *random, uint8_t verf[MAX_AUTH_BYTES])
{
    struct rpc_msg msg = {.rm_xid = wire_u32(random), .rm_direction = REPLY};
    uint32_t arm = wire_below(random, 8);
    if (arm <= SYSTEM_ERR) {
        msg.rm_reply.rp_stat = MSG_ACCEPTED;
        msg.acpted_rply.ar_verf = random_auth(random, verf);
        msg.acpted_rply.ar_stat = (enum accept_stat)arm;
        if (arm == PROG_MISMATCH) {
            msg.acpted_rply.ar_vers.low = wire_u32(random);
            msg.acpted_rply.ar_vers.high = wire_u32(random);
        } else {
            msg.acpted_rply.ar_results.proc = (xdrproc_t)no_results;
        }
        return msg;
    }
    msg.rm_reply.rp_stat = MSG_DENIED;
    msg.rjcted_rply.rj_stat = (enum reject_stat)(arm - SYSTEM_ERR - 1);
    if (arm == SYSTEM_ERR + 1) {
        msg.rjcted_rply.rj_vers.low = wire_u32(random);
        msg.rjcted_rply.rj_vers.high = wire_u32(random);
    } else {
        msg.rjcted_rply.rj_why = (enum auth_stat)wire_below(random, 15);
    }
    return msg;
}

static void assert_our_reply(const struct rpc_reply *reply, const struct rpc_msg *msg)
{
    assert_int_equal(reply->xid, msg->rm_xid);
    assert_int_equal(reply->stat, msg->rm_reply.rp_stat);
    if (msg->rm_reply.rp_stat == MSG_ACCEPTED) {
        assert_auth(reply->verf_flavor, reply->verf, &msg->acpted_rply.ar_verf);
        assert_int_equal(reply->accepted, msg->acpted_rply.ar_stat);
        bool versions = msg->acpted_rply.ar_stat == PROG_MISMATCH;
        assert_int_equal(reply->low, versions ? msg->acpted_rply.ar_vers.low : 0);
        assert_int_equal(reply->high, versions ? msg->acpted_rply.ar_vers.high : 0);
        return;
    }
    bool versions = msg->rjcted_rply.rj_stat == TIRPC_MISMATCH;
    assert_int_equal(reply->rejected, msg->rjcted_rply.rj_stat);
    assert_int_equal(reply->low, versions ? msg->rjcted_rply.rj_vers.low : 0);
    assert_int_equal(reply->high, versions ? msg->rjcted_rply.rj_vers.high : 0);
    assert_int_equal(reply->auth, versions ? 0 : msg->rjcted_rply.rj_why);
}

static void assert_they_read_reply(struct octets o, const struct rpc_reply *expected)
{
    uint8_t verf[MAX_AUTH_BYTES];
    struct rpc_msg msg = {0};
    msg.acpted_rply.ar_verf.oa_base = (caddr_t)verf;
    msg.acpted_rply.ar_results.proc = (xdrproc_t)no_results;
    XDR x;
    xdrmem_create(&x, (char *)o.data, o.len, XDR_DECODE);
    assert_true(xdr_replymsg(&x, &msg));
    assert_int_equal(xdr_getpos(&x), o.len);
    xdr_destroy(&x);
    assert_our_reply(expected, &msg);
}

/* Protects: the same for replies, every arm of them. */
static void test_replies(void **state)
{
    (void)state;
    struct wire_random random = {.state = 1831};
    for (int i = 0; i < ROUNDS; i++) {
        uint8_t verf[MAX_AUTH_BYTES];
        struct rpc_msg msg = random_reply(&random, verf);
        struct octets o = their_message(&msg);
        struct cursor c = cursor_over(o.data, o.len);
        struct rpc_reply reply;
        assert_true(rpc_reply_decode(&c, &reply));
        assert_int_equal(cursor_left(&c), 0);
        assert_our_reply(&reply, &msg);

        uint8_t ours[1024];
        struct writer w = writer_over(ours, sizeof ours);
        rpc_reply_encode(&w, &reply);
        wire_assert_bytes(wire_bytes(ours, writer_len(&w)), wire_bytes(o.data, o.len));
        assert_they_read_reply((struct octets){ours, writer_len(&w)}, &reply);

        uint32_t cut = wire_below(&random, o.len);
        uint8_t *part = wire_exact(o.data, cut);
        c = cursor_over(part, cut);
        assert_false(rpc_reply_decode(&c, &reply));
        free(part);
        free(o.data);
    }
}

static struct octets their_auth_sys(struct authunix_parms *parms)
{
    uint8_t buffer[512] = {0};
    XDR x;
    xdrmem_create(&x, (char *)buffer, sizeof buffer, XDR_ENCODE);
    return encoded(&x, buffer, xdr_authunix_parms(&x, parms));
}

static void assert_our_auth_sys(const struct rpc_auth_sys *sys, const struct authunix_parms *parms)
{
    assert_int_equal(sys->stamp, (uint32_t)parms->aup_time);
    wire_assert_text(sys->machine, parms->aup_machname);
    assert_int_equal(sys->uid, parms->aup_uid);
    assert_int_equal(sys->gid, parms->aup_gid);
    assert_int_equal(sys->gid_count, parms->aup_len);
    for (uint32_t i = 0; i < sys->gid_count; i++)
        assert_int_equal(sys->gids[i], parms->aup_gids[i]);
}

static void assert_they_read_auth_sys(struct octets o, const struct rpc_auth_sys *expected)
{
    struct authunix_parms parms = {0};
    XDR x;
    xdrmem_create(&x, (char *)o.data, o.len, XDR_DECODE);
    assert_true(xdr_authunix_parms(&x, &parms));
    assert_int_equal(xdr_getpos(&x), o.len);
    xdr_destroy(&x);
    assert_our_auth_sys(expected, &parms);
    xdr_free((xdrproc_t)(void (*)(void))xdr_authunix_parms, (char *)&parms);
}

/* Protects: AUTH_SYS bodies, with 0 to 16 gids and names of 0 to 255 octets, in both directions. */
static void test_auth_sys(void **state)
{
    (void)state;
    struct wire_random random = {.state = 16};
    for (int i = 0; i < ROUNDS; i++) {
        char machine[MAX_MACHINE_NAME + 1] = {0};
        memset(machine, 'a' + i % 26, wire_len(&random, MAX_MACHINE_NAME));
        gid_t gids[NGRPS];
        for (int g = 0; g < NGRPS; g++)
            gids[g] = wire_u32(&random);
        struct authunix_parms parms = {.aup_time = wire_u32(&random),
                                       .aup_machname = machine,
                                       .aup_uid = wire_u32(&random),
                                       .aup_gid = wire_u32(&random),
                                       .aup_len = wire_len(&random, NGRPS),
                                       .aup_gids = gids};
        struct octets o = their_auth_sys(&parms);
        struct rpc_auth_sys sys;
        assert_true(rpc_auth_sys_decode(wire_bytes(o.data, o.len), &sys));
        assert_our_auth_sys(&sys, &parms);

        uint8_t ours[RPC_AUTH_BODY_MAX];
        struct writer w = writer_over(ours, sizeof ours);
        rpc_auth_sys_encode(&w, &sys);
        wire_assert_bytes(wire_bytes(ours, writer_len(&w)), wire_bytes(o.data, o.len));
        assert_they_read_auth_sys((struct octets){ours, writer_len(&w)}, &sys);

        uint32_t cut = wire_below(&random, o.len);
        uint8_t *part = wire_exact(o.data, cut);
        assert_false(rpc_auth_sys_decode(wire_bytes(part, cut), &sys));
        free(part);
        free(o.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_replies),
        cmocka_unit_test(test_auth_sys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
