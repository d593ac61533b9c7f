/*
 * Hits that are also asked of the server: whose turn it is, as whom, what it may cost, and how it ends.
 */
#include "verify_scene.h"

#include "proxy/verify.h"

/* ---- the allocation of a check may fail ---- */

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

static bool no_memory;

void *__wrap_calloc(size_t count, size_t size)
{
    return no_memory ? NULL : __real_calloc(count, size);
}

/* ---- whose turn it is ---- */

/* Protects: the credential that the server would have got, squashed or not; a squashed check has the call's own tail. */
static void test_squash(void **state)
{
    (void)state;
    struct scene s;
    verify_open(&s, STRICT "squash = all\nanonuid = 77\nanongid = 78\n");
    verify_warm(&s);
    struct stage_sent *fetch =
        stage_asks(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "a name that is not short"));
    stage_tells(&s.c1, fetch, full_noent(&s.d));
    struct stage_sent *check =
        hit(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "a name that is not short"), full_noent(&s.d));
    wire_assert_bytes(check->rpc.cred, fetch->rpc.cred);
    struct rpc_auth_sys sys;
    assert_true(rpc_auth_sys_decode(check->rpc.cred, &sys));
    assert_int_equal(sys.uid, 77);
    assert_int_equal(sys.gid, 78);
    stage_answer(check, full_noent(&s.d));
    expect_counts(&s, NFS3_LOOKUP, 1, 1, 0, 0, 0, 0);
    scene_close(&s);
}

/* How many of `hits` hits are checked, and which was the first. */
static unsigned checked_of(struct scene *s, unsigned hits, unsigned *first)
{
    unsigned checked = 0;
    for (unsigned i = 1; i <= hits; i++) {
        uint32_t xid = stage_call(&s->c1, NFS3_GETATTR, args_handle(&s->f));
        stage_told(&s->c1, xid, res_getattr(&s->f.attr));
        if (stage_waiting(s->stage) == 0)
            continue;
        if (checked++ == 0)
            *first = i;
        stage_answer(stage_next(s->stage), res_getattr(&s->f.attr));
    }
    return checked;
}

/* Protects: the share, exactly, and of hits alone. */
static void test_share(void **state)
{
    (void)state;
    static const struct {
        const char *keys;
        unsigned hits, checked, first;
    } rows[] = {
        {EXCLUSIVE "verify = 0.25\n", 4, 1, 4},        {EXCLUSIVE "verify = 0.25\n", 400, 100, 4},
        {EXCLUSIVE "verify = 0.3\n", 1000, 300, 4},    {EXCLUSIVE "verify = 1\n", 50, 50, 1},
        {EXCLUSIVE "verify = 0.999\n", 1000, 999, 2},  {EXCLUSIVE "verify = 0.001\n", 999, 0, 0},
        {EXCLUSIVE "verify = 0.001\n", 1000, 1, 1000}, {EXCLUSIVE, 100, 0, 0},
    };
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct scene s;
        unsigned first = 0;
        verify_open(&s, rows[i].keys);
        warm_attributes(&s, &s.f);
        for (unsigned k = 0; k < 3; k++) /* misses are nobody's turn */
            stage_tells(&s.c1, stage_asks(&s.c1, NFS3_GETATTR, args_handle(&s.g)),
                        res_status(NFS3ERR_IO));
        assert_int_equal(checked_of(&s, rows[i].hits, &first), rows[i].checked);
        assert_int_equal(first, rows[i].first);
        expect_counts(&s, NFS3_GETATTR, rows[i].checked, rows[i].checked, 0, 0, 0, 0);
        scene_close(&s);
    }
}

/* Protects: a reload takes another share into force at once. */
static void test_share_changes(void **state)
{
    (void)state;
    struct scene s;
    unsigned first = 0;
    verify_open(&s, EXCLUSIVE);
    warm_attributes(&s, &s.f);
    assert_int_equal(checked_of(&s, 10, &first), 0);
    s.stage->settings->services[0].verify = 0.5;
    service_apply(&s.c1.worker->service, &s.stage->settings->services[0]);
    assert_int_equal(checked_of(&s, 10, &first), 5);
    s.stage->settings->services[0].verify = 0;
    service_apply(&s.c1.worker->service, &s.stage->settings->services[0]);
    assert_int_equal(checked_of(&s, 10, &first), 0);
    scene_close(&s);
}

/* ---- what it may cost ---- */

/* Protects: a call with more behind its arguments than any has is answered, and not kept to be checked. */
static void test_larger_than_it_need_be(void **state)
{
    (void)state;
    struct scene s;
    verify_open(&s, STRICT);
    warm_attributes(&s, &s.f);
    struct body args = args_handle(&s.f);
    for (uint32_t i = 0; i < 2; i++) {
        uint8_t octets[2 * BODY_MAX] = {0};
        struct body record = stage_record(++s.c1.xid, NFS3_GETATTR, &s.c1.who, &args);
        memcpy(octets, record.data, record.len);
        const struct bytes whole = {octets, VERIFY_RECORD_MAX + i};
        assert_int_equal(stage_receive(&s.c1, whole), 0);
        stage_told(&s.c1, s.c1.xid, res_getattr(&s.f.attr));
        assert_int_equal(stage_waiting(s.stage), 1);
    }
    expect_counts(&s, NFS3_GETATTR, 0, 0, 0, 0, 0, 1);
    scene_close(&s);
}

/* Protects: no more than so many are in flight; further hits are answered and counted as skipped, until there is room
 * again. */
static void test_bound(void **state)
{
    (void)state;
    struct scene s;
    verify_open(&s, STRICT);
    warm_attributes(&s, &s.f);
    for (unsigned i = 0; i < VERIFY_INFLIGHT_MAX; i++)
        stage_call(&s.c1, NFS3_GETATTR, args_handle(&s.f));
    assert_int_equal(stage_waiting(s.stage), VERIFY_INFLIGHT_MAX);
    uint32_t xid = stage_call(&s.c1, NFS3_GETATTR, args_handle(&s.f));
    stage_told(&s.c1, xid, res_getattr(&s.f.attr));
    assert_int_equal(stage_waiting(s.stage), VERIFY_INFLIGHT_MAX);
    expect_counts(&s, NFS3_GETATTR, 0, 0, 0, 0, 0, 1);
    stage_answer(stage_next(s.stage), res_getattr(&s.f.attr));
    stage_call(&s.c1, NFS3_GETATTR, args_handle(&s.f));
    assert_int_equal(stage_waiting(s.stage), VERIFY_INFLIGHT_MAX);
    while (stage_waiting(s.stage) > 0)
        stage_answer(stage_next(s.stage), res_getattr(&s.f.attr));
    expect_counts(&s, NFS3_GETATTR, VERIFY_INFLIGHT_MAX + 1, VERIFY_INFLIGHT_MAX + 1, 0, 0, 0, 1);
    assert_int_equal(s.c1.worker->engine.calls, 0);
    assert_int_equal(s.c1.worker->service.verify.inflight, 0);
    scene_close(&s);
}

/* Protects: a service that goes ends its checks without a word, also those whose octets are still in the socket; what is
 * hit after that is not checked. */
static void test_service_goes(void **state)
{
    (void)state;
    for (unsigned full = 0; full < 2; full++) {
        struct scene s;
        verify_open(&s, STRICT);
        warm_attributes(&s, &s.f);
        s.stage->socket_full = full;
        hit_getattr(&s.c1, &s.f);
        hit_getattr(&s.c1, &s.f);
        assert_int_equal(s.c1.worker->engine.calls, 2);
        stage_abandon(s.stage, 0);
        assert_int_equal(s.c1.worker->engine.calls, 0);
        expect_counts(&s, NFS3_GETATTR, 0, 0, 0, 0, 0, 0);
        uint32_t xid = stage_call(&s.c1, NFS3_GETATTR, args_handle(&s.f));
        stage_told(&s.c1, xid, res_getattr(&s.f.attr));
        expect_counts(&s, NFS3_GETATTR, 0, 0, 0, 0, 0, 1);
        assert_int_equal(s.c1.worker->engine.calls, 0);
        scene_close(&s);
    }
}

/* Protects: a check whose octets are still in the socket when its reply comes. */
static void test_socket_full(void **state)
{
    (void)state;
    struct scene s;
    verify_open(&s, STRICT);
    warm_attributes(&s, &s.f);
    s.stage->socket_full = true;
    stage_answer(hit_getattr(&s.c1, &s.f), res_getattr(&s.f.attr));
    expect_counts(&s, NFS3_GETATTR, 1, 1, 0, 0, 0, 0);
    assert_int_equal(s.c1.worker->engine.calls, 1);
    stage_socket_drain(s.stage);
    assert_int_equal(s.c1.worker->engine.calls, 0);
    scene_close(&s);
}

/* Protects: a client that goes has nothing to do with it. */
static void test_client_goes(void **state)
{
    (void)state;
    struct scene s;
    verify_open(&s, STRICT);
    warm_attributes(&s, &s.f);
    struct stage_sent *check = hit_getattr(&s.c1, &s.f);
    assert_int_equal(s.c1.client.inflight, 0);
    stage_client_leave(&s.c1);
    struct file now = s.f;
    file_write(&now);
    stage_answer(check, res_getattr(&now.attr));
    expect_counts(&s, NFS3_GETATTR, 1, 0, 0, 1, 0, 0);
    scene_close(&s);
}

/* Protects: without memory for the check the hit is a hit. */
static void test_no_memory(void **state)
{
    (void)state;
    struct scene s;
    verify_open(&s, STRICT);
    warm_attributes(&s, &s.f);
    no_memory = true;
    uint32_t xid = stage_call(&s.c1, NFS3_GETATTR, args_handle(&s.f));
    no_memory = false;
    stage_told(&s.c1, xid, res_getattr(&s.f.attr));
    stage_quiet(s.stage);
    assert_int_equal(s.c1.failures, 0);
    expect_counts(&s, NFS3_GETATTR, 0, 0, 0, 0, 0, 1);
    still_served(&s.c1, &s.f);
    expect_counts(&s, NFS3_GETATTR, 1, 1, 0, 0, 0, 1);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_squash),        cmocka_unit_test(test_share),
        cmocka_unit_test(test_share_changes), cmocka_unit_test(test_larger_than_it_need_be),
        cmocka_unit_test(test_bound),         cmocka_unit_test(test_service_goes),
        cmocka_unit_test(test_socket_full),   cmocka_unit_test(test_client_goes),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
