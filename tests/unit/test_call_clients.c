/*
 * What clients do while their calls are on the way: they pipeline, use equal xids, leave, and have
 * no memory; and what becomes of calls when the server's connection is lost or the proxy stops.
 */
#include "stage_scene.h"

/* Protects: K02, many clients pipeline calls with equal xids; the server answers out of order; some
 * have gone: everybody gets what he asked for, with his own xid, and nobody gets a late reply. */
static void test_k02_equal_xids(void **state)
{
    (void)state;
    enum {
        CLIENTS = 6,
        CALLS = 8
    };
    struct stage *stage = stage_create("", 2);
    struct stage_client clients[CLIENTS];
    struct file files[CLIENTS][CALLS];
    struct stage_sent *sent[CLIENTS][CALLS];
    uint32_t xids[CALLS] = {0};
    for (unsigned i = 0; i < CLIENTS; i++) {
        stage_client_init(&clients[i], stage, i & 1, alice);
        for (unsigned j = 0; j < CALLS; j++) {
            files[i][j] = file_make("file ..", NF3REG, 10 * i + j);
            files[i][j].handle[5] = (uint8_t)('a' + i);
            files[i][j].handle[6] = (uint8_t)('a' + j);
            sent[i][j] = stage_asks(&clients[i], NFS3_GETATTR, args_handle(&files[i][j]));
            assert_true(i == 0 || sent[i][j]->for_xid == xids[j]);
            xids[j] = sent[i][j]->for_xid;
        }
    }
    stage_client_leave(&clients[1]);
    stage_client_leave(&clients[4]);
    for (unsigned n = 0; n < CLIENTS * CALLS; n++) {
        unsigned i = n * 29 % (CLIENTS * CALLS) / CALLS, j = n * 29 % (CLIENTS * CALLS) % CALLS;
        stage_answer(sent[i][j], res_getattr(&files[i][j].attr));
    }
    for (unsigned i = 0; i < CLIENTS; i++) {
        assert_int_equal(clients[i].replies, clients[i].gone ? 0 : CALLS);
        for (unsigned j = 0; j < CALLS && !clients[i].gone; j++)
            stage_told(&clients[i], xids[j], res_getattr(&files[i][j].attr));
    }
    for (unsigned i = 0; i < CLIENTS; i++)
        stage_client_done(&clients[i]);
    stage_destroy(stage);
}

/* Protects: no two calls that are outstanding have the same xid at the server, and a client's own
 * xid never gets there. */
static void test_xids_of_the_proxys_own(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, "");
    const struct stage_sent *one = stage_asks(&s.c1, NFS3_READLINK, args_handle(&s.f));
    const struct stage_sent *two = stage_asks(&s.c1, NFS3_READLINK, args_handle(&s.f));
    assert_int_equal(two->rpc.xid, one->rpc.xid + 1);
    assert_int_not_equal(one->rpc.xid, one->for_xid);
    scene_close(&s);
}

/* Protects: what a client that has gone asked for is still learnt from. */
static void test_client_gone_reply_is_kept(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    struct stage_sent *sent = stage_asks(&s.c1, NFS3_GETATTR, args_handle(&s.f));
    stage_client_leave(&s.c1);
    stage_answer(sent, res_getattr(&s.f.attr));
    assert_int_equal(s.c1.replies, 0);
    stage_serves(&s.c2, NFS3_GETATTR, args_handle(&s.f), res_getattr(&s.f.attr));
    scene_close(&s);
}

/* Protects: a mutation whose client has gone is tracked to its end. */
static void test_client_gone_mutation_is_tracked(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    warm_attributes(&s, &s.f);
    struct file before = s.f;
    file_write(&s.f);
    struct stage_sent *sent = stage_asks(&s.c1, NFS3_SETATTR, args_setattr_size(&s.f, 1));
    stage_client_leave(&s.c1);
    struct stage_sent *get = stage_asks(&s.c2, NFS3_GETATTR, args_handle(&s.f));
    stage_tells(&s.c2, get, res_getattr(&before.attr));
    stage_answer(sent, res_wcc(NFS3_OK, full_wcc(&before, &s.f)));
    stage_fetches(&s.c2, NFS3_GETATTR, args_handle(&s.f), res_getattr(&s.f.attr));
    scene_close(&s);
}

/* Protects: what was never sent, since no connection to the server is up, goes with its client: it
 * holds no memory, is not sent when the connection is up, and leaves no fence raised. */
static void test_client_gone_before_sending(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    for (unsigned link = 0; link < s.stage->worker[0].nfs.links; link++)
        stage_link_down(s.stage, link);
    stage_call(&s.c1, NFS3_GETATTR, args_handle(&s.g));
    stage_call(&s.c1, NFS3_SETATTR, args_setattr_size(&s.f, 0));
    assert_int_equal(s.stage->worker[0].engine.calls, 2);
    stage_client_leave(&s.c1);
    assert_int_equal(s.stage->worker[0].engine.calls, 0);
    for (unsigned link = 0; link < s.stage->worker[0].nfs.links; link++)
        stage_link_up(s.stage, link);
    stage_quiet(s.stage);
    stage_fetches(&s.c2, NFS3_GETATTR, args_handle(&s.f), res_getattr(&s.f.attr));
    stage_serves(&s.c2, NFS3_GETATTR, args_handle(&s.f), res_getattr(&s.f.attr));
    scene_close(&s);
}

/* Protects: `inflight` and `cost` of a client go up with its calls, and down to nothing. */
static void test_cost(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, "");
    struct stage_sent *small = stage_asks(&s.c1, NFS3_READLINK, args_handle(&s.f));
    uint64_t cost = s.c1.client.cost;
    assert_int_equal(s.c1.client.inflight, 1);
    assert_true(cost >= small->record.len);
    struct stage_sent *large = stage_asks(&s.c1, NFS3_READ, args_read(&s.f, 0, 1 << 20));
    assert_int_equal(s.c1.client.inflight, 2);
    assert_true(s.c1.client.cost - cost >= 1 << 20);
    stage_answer(large, res_post_op(NFS3ERR_IO, NULL));
    assert_int_equal(s.c1.client.inflight, 1);
    assert_int_equal(s.c1.client.cost, cost);
    struct stage_sent *huge = stage_asks(&s.c1, NFS3_READ, args_read(&s.f, 0, 0xffffffff));
    assert_true(s.c1.client.cost - cost <= 1 << 27); /* a count that nobody answers in full */
    stage_answer(huge, res_post_op(NFS3ERR_IO, NULL));
    stage_answer(small, res_post_op(NFS3ERR_IO, NULL));
    assert_int_equal(s.c1.client.inflight, 0);
    assert_int_equal(s.c1.client.cost, 0);
    stage_asks(&s.c1, NFS3_READLINK, args_handle(&s.f));
    stage_client_leave(&s.c1);
    assert_int_equal(s.c1.client.inflight, 0);
    assert_int_equal(s.c1.client.cost, 0);
    scene_close(&s);
}

/* Protects: a client without room for its hit still gets an answer, from the server; without room
 * for that either, it is told to come back, and nothing is left behind. */
static void test_no_memory_for_a_reply(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    warm_attributes(&s, &s.f);
    s.c2.no_memory = true;
    unsigned failures = 0;
    for (unsigned i = 0; i < 2; i++) { /* the reply is its own memory, and is not, by turns */
        struct stage_sent *sent = stage_asks(&s.c2, NFS3_GETATTR, args_handle(&s.f));
        stage_answer(sent, res_getattr(&s.f.attr));
        failures += stage_reply_find(&s.c2, sent->for_xid) == NULL;
        assert_int_equal(s.c2.failures, failures);
        s.stage->turn++;
    }
    assert_int_equal(failures, 1);
    assert_int_equal(s.c2.client.inflight, 0);
    scene_close(&s);
}

/* Protects: replies larger than any buffer go through as they are, owned or not. */
static void test_large_reply(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, "");
    for (unsigned owned = 0; owned < 2; owned++) {
        struct stage_sent *sent = stage_asks(&s.c1, NFS3_READ, args_read(&s.f, 0, 1 << 20));
        struct body head = {0};
        const uint32_t words[] = {sent->rpc.xid, RPC_REPLY, RPC_MSG_ACCEPTED, 0, 0, RPC_SUCCESS};
        for (unsigned i = 0; i < 6; i++)
            body_u32(&head, words[i]);
        struct body res = res_post_op(NFS3_OK, &s.f.attr);
        body_raw(&head, res.data, res.len);
        uint32_t len = head.len + (1 << 20);
        uint8_t *data = malloc(len);
        assert_non_null(data);
        struct wire_random random = {3};
        wire_fill(&random, data, len);
        memcpy(data, head.data, head.len);
        uint8_t *copy = wire_exact(data, len);
        struct record record = {data, len, owned};
        sent->call = NULL;
        upstream_receive(sent->upstream, 0, &record);
        const struct stage_reply *reply = stage_reply_find(&s.c1, sent->for_xid);
        assert_non_null(reply);
        assert_int_equal(reply->len, len);
        assert_memory_equal(reply->data + 4, copy + 4, len - 4);
        free(copy);
        if (!owned)
            free(data);
    }
    scene_close(&s);
}

/* Protects: RPC errors of the server are passed on as they are, and not remembered. */
static void test_rpc_errors_are_passed_on(void **state)
{
    (void)state;
    static const struct rpc_reply errors[] = {
        {.stat = RPC_MSG_ACCEPTED, .accepted = RPC_SYSTEM_ERR},
        {.stat = RPC_MSG_ACCEPTED, .accepted = RPC_GARBAGE_ARGS},
        {.stat = RPC_MSG_ACCEPTED, .accepted = RPC_PROG_MISMATCH, .low = 2, .high = 4},
        {.stat = RPC_MSG_DENIED, .rejected = RPC_AUTH_ERROR, .auth = RPC_AUTH_TOOWEAK},
        {.stat = RPC_MSG_DENIED, .rejected = RPC_MISMATCH, .low = 2, .high = 2}};
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    for (unsigned i = 0; i < 2 * sizeof errors / sizeof errors[0]; i++) {
        struct rpc_reply error = errors[i / 2];
        uint8_t octets[64];
        struct stage_sent *sent = stage_asks(&s.c1, NFS3_GETATTR, args_handle(&s.f));
        stage_answer_rpc(sent, error);
        error.xid = sent->for_xid;
        struct writer w = writer_over(octets, sizeof octets);
        rpc_reply_encode(&w, &error);
        const struct stage_reply *reply = stage_reply_find(&s.c1, sent->for_xid);
        assert_non_null(reply);
        wire_assert_bytes((struct bytes){reply->data, reply->len},
                          (struct bytes){octets, writer_len(&w)});
    }
    scene_close(&s);
}

/* Protects: results that can't be read go to their caller as they are, and nothing of them is
 * kept. */
static void test_unreadable_results(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    struct body whole = full_lookup(&s.f, &s.d);
    for (uint32_t len = 0; len < whole.len; len += 4) {
        struct body cut = whole;
        cut.len = len;
        stage_fetches(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "f"), cut);
    }
    stage_fetches(&s.c1, NFS3_GETATTR, args_handle(&s.f), res_status(NFS3_OK));
    stage_fetches(&s.c1, NFS3_GETATTR, args_handle(&s.d), res_status(NFS3_OK));
    scene_close(&s);
}

/* Protects: calls wait out a lost connection, and go again with their xids; nobody sees an error. */
static void test_connection_lost(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, "");
    const struct stage_sent *first = stage_asks(&s.c1, NFS3_READLINK, args_handle(&s.f));
    const struct stage_sent *second = stage_asks(&s.c1, NFS3_READLINK, args_handle(&s.g));
    stage_link_down(s.stage, 0);
    uint32_t third = stage_call(&s.c1, NFS3_READLINK, args_handle(&s.d));
    stage_quiet(s.stage);
    stage_link_up(s.stage, 0);
    struct stage_sent *again[3] = {stage_takes(s.stage, NFS3_READLINK, args_handle(&s.f)),
                                   stage_takes(s.stage, NFS3_READLINK, args_handle(&s.g)),
                                   stage_takes(s.stage, NFS3_READLINK, args_handle(&s.d))};
    assert_int_equal(again[0]->rpc.xid, first->rpc.xid);
    assert_int_equal(again[1]->rpc.xid, second->rpc.xid);
    assert_int_equal(again[2]->rpc.xid, second->rpc.xid + 1);
    for (unsigned i = 0; i < 3; i++)
        stage_answer(again[i], res_post_op(NFS3ERR_INVAL, NULL));
    stage_told(&s.c1, first->for_xid, res_post_op(NFS3ERR_INVAL, NULL));
    stage_told(&s.c1, second->for_xid, res_post_op(NFS3ERR_INVAL, NULL));
    stage_told(&s.c1, third, res_post_op(NFS3ERR_INVAL, NULL));
    assert_int_equal(s.c1.failures, 0);
    scene_close(&s);
}

/* Protects: with the server away, mutations of clients that have gone are not kept, nor is what was to be asked for them
 * first; those of others are. */
static void test_gone_before_a_question_is_sent(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, "");
    stage_link_down(s.stage, 0);
    for (unsigned i = 0; i < 10; i++) {
        stage_call(&s.c1, NFS3_MKDIR, args_mkdir(&s.d, "a"));
        stage_call(&s.c1, NFS3_REMOVE, args_dirop(&s.d, "a"));
        stage_call(&s.c1, NFS3_RENAME, args_rename(&s.d, "a", &s.d, "b"));
    }
    assert_int_equal(s.stage->worker[0].engine.calls, 30);
    stage_client_leave(&s.c1);
    assert_int_equal(s.stage->worker[0].engine.calls, 0);
    stage_link_up(s.stage, 0);
    stage_quiet(s.stage);
    struct body args = args_dirop(&s.d, "a");
    uint32_t xid = stage_call(&s.c2, NFS3_REMOVE, args);
    stage_answer(stage_takes(s.stage, NFS3_GETATTR, args_handle(&s.d)), res_getattr(&s.d.attr));
    stage_answer(stage_takes(s.stage, NFS3_LOOKUP, args), full_noent(&s.d));
    stage_answer(stage_takes(s.stage, NFS3_REMOVE, args), res_wcc(NFS3ERR_NOENT, no_wcc));
    stage_told(&s.c2, xid, res_wcc(NFS3ERR_NOENT, no_wcc));
    scene_close(&s);
}

/* Protects: a squashed call that is sent again has the squashed credential again. */
static void test_connection_lost_squashed(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, "squash = all\n");
    const struct stage_sent *first = stage_asks(&s.c1, NFS3_WRITE, args_write(&s.f, 0, "text"));
    stage_link_down(s.stage, 0);
    stage_link_up(s.stage, 0);
    const struct stage_sent *again = stage_takes(s.stage, NFS3_WRITE, args_write(&s.f, 0, "text"));
    wire_assert_bytes(again->record, first->record);
    scene_close(&s);
}

/* Protects: octets that are still in a socket keep their call: answered first and sent after, for
 * calls that are done and for those that still have a question open. */
static void test_reply_before_the_socket_is_done(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, "");
    s.stage->socket_full = true;
    struct stage_sent *read = stage_asks(&s.c1, NFS3_READLINK, args_handle(&s.f));
    stage_tells(&s.c1, read, res_post_op(NFS3ERR_INVAL, NULL));
    struct stage_sent *set = stage_asks(&s.c1, NFS3_SETATTR, args_setattr_size(&s.f, 0));
    stage_answer(set, res_wcc(NFS3_OK, no_wcc));
    struct stage_sent *get = stage_takes(s.stage, NFS3_GETATTR, args_handle(&s.f));
    assert_int_equal(s.stage->worker[0].engine.calls, 2);
    stage_answer(get, res_getattr(&s.f.attr));
    stage_told(&s.c1, set->for_xid, res_wcc(NFS3_OK, no_wcc));
    assert_int_equal(s.stage->worker[0].engine.calls, 2);
    stage_socket_drain(s.stage);
    assert_int_equal(s.stage->worker[0].engine.calls, 0);

    set = stage_asks(&s.c1, NFS3_SETATTR, args_setattr_size(&s.g, 0));
    stage_answer(set, res_wcc(NFS3_OK, no_wcc));
    get = stage_takes(s.stage, NFS3_GETATTR, args_handle(&s.g));
    stage_socket_drain(s.stage); /* before the question is answered */
    assert_int_equal(s.stage->worker[0].engine.calls, 1);
    stage_answer(get, res_getattr(&s.g.attr));
    stage_told(&s.c1, set->for_xid, res_wcc(NFS3_OK, no_wcc));
    assert_int_equal(s.stage->worker[0].engine.calls, 0);
    scene_close(&s);
}

/* Protects: once the server is gone for good, clients are sent away to come back; nobody waits, and
 * the mutations in line go on to their end. */
static void test_service_closed(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, "");
    struct service *service = &s.stage->worker[0].service;
    warm_attributes(&s, &s.d);
    stage_call(&s.c1, NFS3_MKDIR, args_mkdir(&s.d, "x"));
    stage_call(&s.c1, NFS3_RMDIR, args_dirop(&s.d, "x")); /* waits for the name */
    service->nfs = NULL;
    stage_call(&s.c1, NFS3_READLINK, args_handle(&s.f));
    assert_int_equal(s.c1.failures, 1);
    stage_call(&s.c1, NFS3_MKDIR, args_mkdir(&s.d, "y"));
    assert_int_equal(s.c1.failures, 2);
    stage_call(&s.c1, NFS3_REMOVE, args_dirop(&s.d, "z"));
    assert_int_equal(s.c1.failures, 3);
    assert_int_equal(s.stage->worker[0].engine.calls, 2);
    assert_int_equal(s.c1.client.inflight, 2);
    stage_abandon(s.stage, 0);
    assert_int_equal(s.c1.failures, 4); /* RMDIR, which was never sent */
    assert_int_equal(s.stage->worker[0].engine.calls, 0);
    assert_int_equal(s.c1.replies, 1); /* of what made d known */
    scene_close(&s);
}

/* Protects: a reload that gives the service another server does not send old calls there. */
static void test_server_replaced(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, "");
    warm_attributes(&s, &s.d);
    stage_call(&s.c1, NFS3_MKDIR, args_mkdir(&s.d, "x"));
    struct stage_sent *mkdir = stage_takes(s.stage, NFS3_MKDIR, args_mkdir(&s.d, "x"));
    stage_call(&s.c1, NFS3_RMDIR, args_dirop(&s.d, "x"));
    s.stage->worker[0].service.cache = cache_server_get(s.stage->cache, "other:2049");
    stage_answer(mkdir, res_create(&s.g, &s.g.attr, no_wcc));
    stage_quiet(s.stage);
    assert_int_equal(s.c1.failures, 1);
    assert_int_equal(s.c1.replies, 2); /* MKDIR's, and that of what made d known */
    assert_int_equal(s.stage->worker[0].engine.calls, 0);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_k02_equal_xids),
        cmocka_unit_test(test_xids_of_the_proxys_own),
        cmocka_unit_test(test_client_gone_reply_is_kept),
        cmocka_unit_test(test_client_gone_mutation_is_tracked),
        cmocka_unit_test(test_client_gone_before_sending),
        cmocka_unit_test(test_cost),
        cmocka_unit_test(test_no_memory_for_a_reply),
        cmocka_unit_test(test_large_reply),
        cmocka_unit_test(test_rpc_errors_are_passed_on),
        cmocka_unit_test(test_unreadable_results),
        cmocka_unit_test(test_connection_lost),
        cmocka_unit_test(test_gone_before_a_question_is_sent),
        cmocka_unit_test(test_connection_lost_squashed),
        cmocka_unit_test(test_reply_before_the_socket_is_done),
        cmocka_unit_test(test_service_closed),
        cmocka_unit_test(test_server_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
