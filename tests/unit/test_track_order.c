/*
 * Mutations of one and the same name go to the server one after the other, across workers; those of
 * different names never wait.
 */
#include "stage_scene.h"

static struct body created(const struct file *made)
{
    return res_create(made, &made->attr, no_wcc);
}

/* Protects: the second MKDIR of a name waits for the first's reply, on whichever worker it came; and
 * the line goes on in the order of coming. */
static void test_one_name_across_workers(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    warm_attributes(&s, &s.d);
    struct body args = args_mkdir(&s.d, "n");
    uint32_t xid[4];
    for (unsigned i = 0; i < 4; i++)
        xid[i] = stage_call(i & 1 ? &s.c2 : &s.c1, NFS3_MKDIR, args);
    for (unsigned i = 0; i < 4; i++) {
        struct stage_client *client = i & 1 ? &s.c2 : &s.c1;
        struct stage_sent *sent = stage_takes(s.stage, NFS3_MKDIR, args);
        assert_ptr_equal(sent->worker, client->worker); /* by its own worker */
        stage_quiet(s.stage);
        struct body res = i == 0 ? created(&s.g) : res_wcc(NFS3ERR_EXIST, no_wcc);
        stage_answer(sent, res);
        stage_told(client, xid[i], res);
    }
    stage_quiet(s.stage);
    scene_close(&s);
}

/* Protects: the client has its reply before the next in line goes. */
static void test_reply_before_the_next(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    warm_attributes(&s, &s.d);
    struct body args = args_mkdir(&s.d, "n");
    uint32_t xid = stage_call(&s.c1, NFS3_MKDIR, args);
    stage_call(&s.c2, NFS3_MKDIR, args);
    s.stage->hold_mail = true;
    stage_answer(stage_takes(s.stage, NFS3_MKDIR, args), created(&s.g));
    stage_told(&s.c1, xid, created(&s.g));
    stage_quiet(s.stage);
    stage_deliver(s.stage);
    stage_takes(s.stage, NFS3_MKDIR, args);
    scene_close(&s);
}

/* Protects: the next in line knows what the one before it left: nothing is asked about a name that
 * was just made. */
static void test_next_knows(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    struct file n = file_make("handle of n", NF3DIR, 20), before = s.d;
    warm_attributes(&s, &s.d);
    uint32_t mkdir = stage_call(&s.c1, NFS3_MKDIR, args_mkdir(&s.d, "n"));
    uint32_t rmdir = stage_call(&s.c2, NFS3_RMDIR, args_dirop(&s.d, "n"));
    file_write(&s.d);
    struct body made = res_create(&n, &n.attr, full_wcc(&before, &s.d));
    stage_answer(stage_takes(s.stage, NFS3_MKDIR, args_mkdir(&s.d, "n")), made);
    stage_told(&s.c1, mkdir, made);
    struct stage_sent *sent = stage_takes(s.stage, NFS3_RMDIR, args_dirop(&s.d, "n"));
    stage_answer(sent, res_wcc(NFS3_OK, full_wcc(&s.d, &s.d)));
    stage_told(&s.c2, rmdir, res_wcc(NFS3_OK, full_wcc(&s.d, &s.d)));
    stage_fetches(&s.c1, NFS3_GETATTR, args_handle(&n), res_status(NFS3ERR_STALE));
    scene_close(&s);
}

/* Protects: other names, other directories, and mutations that have no name, never wait. */
static void test_others_do_not_wait(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    struct file e = file_make("handle of e", NF3DIR, 11);
    warm_attributes(&s, &s.d);
    warm_attributes(&s, &e);
    stage_asks(&s.c1, NFS3_MKDIR, args_mkdir(&s.d, "n"));
    stage_asks(&s.c2, NFS3_MKDIR, args_mkdir(&s.d, "m"));
    stage_asks(&s.c2, NFS3_MKDIR, args_mkdir(&e, "n"));
    stage_asks(&s.c1, NFS3_LINK, args_link(&s.f, &s.d, "l"));
    for (unsigned twice = 0; twice < 2; twice++) {
        stage_asks(&s.c1, NFS3_WRITE, args_write(&s.f, 0, "text"));
        stage_asks(&s.c2, NFS3_SETATTR, args_setattr_size(&s.f, 0));
        stage_asks(&s.c1, SETACL, args_setacl(&s.f, 1));
        stage_asks(&s.c2, NFS3_COMMIT, args_commit(&s.f));
    }
    stage_asks(&s.c2, NFS3_LOOKUP, args_dirop(&s.d, "n"));
    scene_close(&s);
}

/* Protects: each mutation that has a name takes its turn: whatever comes second waits for a MKDIR of
 * it. */
static void test_every_mutation_of_a_name_waits(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    const struct {
        unsigned procedure;
        struct body args;
    } rows[] = {{NFS3_CREATE, args_create(&s.d, "n", NFS3_EXCLUSIVE, "verifier")},
                {NFS3_MKDIR, args_mkdir(&s.d, "n")},
                {NFS3_SYMLINK, args_symlink(&s.d, "n", "t")},
                {NFS3_MKNOD, args_mknod(&s.d, "n")},
                {NFS3_REMOVE, args_dirop(&s.d, "n")},
                {NFS3_RMDIR, args_dirop(&s.d, "n")},
                {NFS3_RENAME, args_rename(&s.d, "n", &s.d, "o")},
                {NFS3_RENAME, args_rename(&s.d, "o", &s.d, "n")},
                {NFS3_LINK, args_link(&s.f, &s.d, "n")}};
    warm_attributes(&s, &s.d);
    struct stage_sent *first = stage_asks(&s.c1, NFS3_MKDIR, args_mkdir(&s.d, "n"));
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        stage_call(&s.c2, rows[i].procedure, rows[i].args);
        stage_quiet(s.stage);
    }
    stage_answer_rpc(first,
                     (struct rpc_reply){.stat = RPC_MSG_ACCEPTED, .accepted = RPC_PROC_UNAVAIL});
    stage_takes(s.stage, NFS3_CREATE, rows[0].args); /* one, and only one, goes on */
    stage_quiet(s.stage);
    scene_close(&s);
}

/* Protects: RENAME holds both of its names, and nothing else. */
static void test_rename_takes_both(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    warm_name(&s, "a", &s.f);
    warm_name(&s, "b", &s.g);
    struct stage_sent *rename = stage_asks(&s.c1, NFS3_RENAME, args_rename(&s.d, "a", &s.d, "b"));
    stage_call(&s.c2, NFS3_MKDIR, args_mkdir(&s.d, "a"));
    stage_call(&s.c2, NFS3_SYMLINK, args_symlink(&s.d, "b", "t"));
    stage_quiet(s.stage);
    stage_asks(&s.c2, NFS3_MKDIR, args_mkdir(&s.d, "c"));
    stage_answer(rename, res_rename(NFS3_OK, full_wcc(&s.d, &s.d), full_wcc(&s.d, &s.d)));
    assert_int_equal(stage_waiting(s.stage), 2);
    scene_close(&s);
}

/* Protects: RENAME a→b and b→a on two workers, in both orders: the second waits, and goes. A RENAME
 * of a name to itself does not wait for itself. */
static void test_crossed_renames(void **state)
{
    (void)state;
    for (unsigned order = 0; order < 2; order++) {
        struct scene s;
        scene_open(&s, EXCLUSIVE);
        const struct body there = args_rename(&s.d, "a", &s.d, "b"),
                          back = args_rename(&s.d, "b", &s.d, "a");
        const struct body *first = order ? &back : &there, *second = order ? &there : &back;
        struct body done = res_rename(NFS3_OK, full_wcc(&s.d, &s.d), full_wcc(&s.d, &s.d));
        warm_name(&s, "a", &s.f);
        warm_name(&s, "b", &s.g);
        struct stage_sent *sent = stage_asks(&s.c1, NFS3_RENAME, *first);
        uint32_t xid = stage_call(&s.c2, NFS3_RENAME, *second);
        stage_quiet(s.stage);
        stage_tells(&s.c1, sent, done);
        stage_answer(stage_takes(s.stage, NFS3_LOOKUP, args_dirop(&s.d, order ? "a" : "b")),
                     full_noent(&s.d));
        stage_answer(stage_takes(s.stage, NFS3_LOOKUP, args_dirop(&s.d, order ? "b" : "a")),
                     full_noent(&s.d));
        sent = stage_takes(s.stage, NFS3_RENAME, *second);
        stage_answer(sent, res_rename(NFS3ERR_NOENT, no_wcc, no_wcc));
        stage_told(&s.c2, xid, res_rename(NFS3ERR_NOENT, no_wcc, no_wcc));
        stage_fetches(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "x"), full_lookup(&s.f, &s.d));
        stage_asks(&s.c1, NFS3_RENAME, args_rename(&s.d, "x", &s.d, "x"));
        scene_close(&s);
    }
}

/* Protects: a turn outlives its client, and the loss of the server's connection; who waits behind
 * still gets it, and once. */
static void test_turn_outlives_client_and_connection(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    struct body args = args_mkdir(&s.d, "n");
    warm_attributes(&s, &s.d);
    stage_call(&s.c1, NFS3_MKDIR, args);
    stage_takes(s.stage, NFS3_MKDIR, args);
    uint32_t xid = stage_call(&s.c2, NFS3_MKDIR, args);
    stage_client_leave(&s.c1);
    stage_quiet(s.stage);
    stage_link_down(s.stage, 0);
    stage_quiet(s.stage);
    stage_link_up(s.stage, 0);
    struct stage_sent *again = stage_takes(s.stage, NFS3_MKDIR, args);
    stage_quiet(s.stage);
    stage_answer(again, res_create(&s.g, &s.g.attr, full_wcc(&s.d, &s.d)));
    struct stage_sent *second = stage_takes(s.stage, NFS3_MKDIR, args);
    assert_ptr_equal(second->worker, s.c2.worker);
    stage_answer(second, res_wcc(NFS3ERR_EXIST, full_wcc(&s.d, &s.d)));
    stage_told(&s.c2, xid, res_wcc(NFS3ERR_EXIST, full_wcc(&s.d, &s.d)));
    scene_close(&s);
}

/* Protects: a client that leaves while its call is in line leaves no hole in the line. */
static void test_waiting_client_leaves(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    struct stage_client c3;
    stage_client_init(&c3, s.stage, 0, bob);
    warm_attributes(&s, &s.d);
    struct body args = args_mkdir(&s.d, "n"), res = res_wcc(NFS3ERR_EXIST, full_wcc(&s.d, &s.d));
    struct stage_sent *first = stage_asks(&s.c1, NFS3_MKDIR, args);
    stage_call(&s.c2, NFS3_MKDIR, args);
    uint32_t xid = stage_call(&c3, NFS3_MKDIR, args);
    stage_client_leave(&s.c2);
    stage_tells(&s.c1, first, res);
    for (unsigned i = 0; i < 2 && stage_waiting(s.stage) > 0; i++)
        stage_answer(stage_takes(s.stage, NFS3_MKDIR, args), res);
    stage_told(&c3, xid, res);
    assert_int_equal(s.stage->worker[1].engine.calls, 0);
    stage_client_done(&c3);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_name_across_workers),
        cmocka_unit_test(test_reply_before_the_next),
        cmocka_unit_test(test_next_knows),
        cmocka_unit_test(test_others_do_not_wait),
        cmocka_unit_test(test_every_mutation_of_a_name_waits),
        cmocka_unit_test(test_rename_takes_both),
        cmocka_unit_test(test_crossed_renames),
        cmocka_unit_test(test_turn_outlives_client_and_connection),
        cmocka_unit_test(test_waiting_client_leaves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
