/*
 * What a CREATE met: the object behind its name may have been there before, and may be known under
 * other handles.
 */
#include "stage_scene.h"

static void expect_asked_again(struct scene *s, const struct file *file)
{
    stage_fetches(&s->c2, NFS3_GETATTR, args_handle(file), res_getattr(&file->attr));
}

static void expect_served(struct scene *s, const struct file *file)
{
    stage_serves(&s->c2, NFS3_GETATTR, args_handle(file), res_getattr(&file->attr));
}

struct open_scene {
    struct scene s;
    struct file alias;   /* f under another handle, cached */
    struct file old_d;   /* d before */
    struct file witness; /* cached, and touched by nothing but a doubt */
};

/* d, f, its alias and a witness are cached, and no name is. Then a CREATE of d/f truncates f, and
 * changes d. */
static struct stage_sent *create_open(struct open_scene *o, enum nfs3_create_mode mode)
{
    struct scene *s = &o->s;
    scene_open(s, EXCLUSIVE);
    o->alias = file_make("another handle of f", NF3REG, 2);
    o->witness = file_make("witness", NF3REG, 77);
    warm_attributes(s, &s->d);
    warm_attributes(s, &s->f);
    warm_attributes(s, &o->alias);
    warm_attributes(s, &o->witness);
    o->old_d = s->d;
    struct stage_sent *sent =
        stage_asks(&s->c1, NFS3_CREATE, args_create(&s->d, "f", mode, "verifier"));
    file_write(&s->d);
    s->f.attr.size = 0;
    file_write(&s->f);
    o->alias.attr = s->f.attr;
    return sent;
}

/* Protects: without a handle in the reply the server is asked what the name leads to, before the
 * client gets the reply; and that file is not served as it was before, under no handle. */
static void test_no_handle(void **state)
{
    (void)state;
    struct open_scene o;
    struct scene *s = &o.s;
    struct stage_sent *create = create_open(&o, NFS3_UNCHECKED);
    struct body done = res_create(NULL, NULL, full_wcc(&o.old_d, &s->d));
    stage_answer(create, done);
    stage_untold(&s->c1, create->for_xid);
    struct stage_sent *look = stage_takes(s->stage, NFS3_LOOKUP, args_dirop(&s->d, "f"));
    wire_assert_bytes(look->rpc.cred, create->rpc.cred);
    stage_answer(look, full_lookup(&s->f, &s->d));
    stage_told(&s->c1, create->for_xid, done);
    stage_quiet(s->stage);
    const struct stage_reply *reply = stage_reply_find(&s->c1, create->for_xid);
    assert_int_equal(rpc_xid(reply->data), create->for_xid);
    uint32_t xid = stage_call(&s->c2, NFS3_GETATTR, args_handle(&s->f));
    if (stage_waiting(s->stage) > 0)
        stage_answer(stage_next(s->stage), res_getattr(&s->f.attr));
    stage_told(&s->c2, xid, res_getattr(&s->f.attr)); /* new in either case */
    expect_asked_again(s, &o.alias);
    expect_served(s, &o.witness);
    scene_close(s);
}

/* Protects: the same when the LOOKUP says nothing but the handle. */
static void test_no_handle_and_no_attributes(void **state)
{
    (void)state;
    struct open_scene o;
    struct scene *s = &o.s;
    struct stage_sent *create = create_open(&o, NFS3_UNCHECKED);
    struct body done = res_create(NULL, NULL, no_wcc);
    stage_answer(create, done);
    stage_answer(stage_takes(s->stage, NFS3_LOOKUP, args_dirop(&s->d, "f")),
                 res_lookup(&s->f, NULL, NULL));
    stage_told(&s->c1, create->for_xid, done);
    expect_asked_again(s, &s->f);
    expect_asked_again(s, &o.alias);
    scene_close(s);
}

/* Protects: a handle and attributes in the reply answer the question: f is served as it is now. */
static void test_handle(void **state)
{
    (void)state;
    struct open_scene o;
    struct scene *s = &o.s;
    struct stage_sent *create = create_open(&o, NFS3_UNCHECKED);
    stage_tells(&s->c1, create, res_create(&s->f, &s->f.attr, full_wcc(&o.old_d, &s->d)));
    stage_quiet(s->stage);
    expect_served(s, &s->f);
    expect_served(s, &s->d);
    expect_asked_again(s, &o.alias);
    stage_fetches(&s->c2, NFS3_ACCESS, args_access(&s->d, 2), res_access(&s->d.attr, 2));
    stage_serves(&s->c2, NFS3_LOOKUP, args_dirop(&s->d, "f"), full_lookup(&s->f, &s->d));
    scene_close(s);
}

/* Protects: a handle without attributes: f and its alias are asked again. */
static void test_handle_without_attributes(void **state)
{
    (void)state;
    struct open_scene o;
    struct scene *s = &o.s;
    struct stage_sent *create = create_open(&o, NFS3_UNCHECKED);
    stage_tells(&s->c1, create, res_create(&s->f, NULL, no_wcc));
    expect_asked_again(s, &s->f);
    expect_asked_again(s, &o.alias);
    expect_served(s, &o.witness);
    scene_close(s);
}

/* f is cached under another handle only: the CREATE brings the handle to light that nobody had seen,
 * and no attributes with it. */
static struct stage_sent *create_unseen(struct open_scene *o)
{
    struct scene *s = &o->s;
    scene_open(s, EXCLUSIVE);
    o->alias = file_make("another handle of f", NF3REG, 2);
    o->witness = file_make("witness", NF3REG, 77);
    warm_attributes(s, &s->d);
    warm_attributes(s, &o->alias);
    warm_attributes(s, &o->witness);
    struct stage_sent *create =
        stage_asks(&s->c1, NFS3_CREATE, args_create(&s->d, "f", NFS3_UNCHECKED, NULL));
    s->f.attr.size = 0;
    file_write(&s->f);
    o->alias.attr = s->f.attr;
    stage_answer(create, res_create(&s->f, NULL, full_wcc(&s->d, &s->d)));
    stage_untold(&s->c1, create->for_xid);
    return create;
}

/* Protects: C1. Which file that is, is asked before the client gets the reply, so that it is not
 * served as it was under the handle that is cached. */
static void test_unseen_handle(void **state)
{
    (void)state;
    struct open_scene o;
    struct scene *s = &o.s;
    struct stage_sent *create = create_unseen(&o);
    stage_answer(stage_takes(s->stage, NFS3_GETATTR, args_handle(&s->f)), res_getattr(&s->f.attr));
    stage_told(&s->c1, create->for_xid, res_create(&s->f, NULL, full_wcc(&s->d, &s->d)));
    stage_quiet(s->stage);
    expect_asked_again(s, &o.alias);
    expect_served(s, &o.witness);
    scene_close(s);
}

/* Protects: the file that the answer tells has just been changed, under all its handles: a server may be settling it for ten
 * seconds. */
static void test_unseen_handle_settles(void **state)
{
    (void)state;
    struct open_scene o;
    struct scene *s = &o.s;
    create_unseen(&o);
    stage_answer(stage_takes(s->stage, NFS3_GETATTR, args_handle(&s->f)), res_getattr(&s->f.attr));
    struct file third = file_make("a third handle of f", NF3REG, 2);
    third.attr = s->f.attr;
    const struct file *const files[] = {&s->f, &third};
    for (unsigned i = 0; i < 2; i++)
        expect_asked_again(s, files[i]);
    stage_advance(s->stage, STAGE_SECOND - 1);
    for (unsigned i = 0; i < 2; i++)
        expect_served(s, files[i]);
    stage_advance(s->stage, 1);
    for (unsigned i = 0; i < 2; i++)
        expect_asked_again(s, files[i]);
    stage_advance(s->stage, 9 * STAGE_SECOND);
    for (unsigned i = 0; i < 2; i++)
        expect_asked_again(s, files[i]);
    stage_advance(s->stage, 1000 * STAGE_SECOND);
    for (unsigned i = 0; i < 2; i++)
        expect_served(s, files[i]);
    scene_close(s);
}

/* Protects: where that question is not answered, or the answer ends before the attributes, or the file is gone, nothing is
 * trusted. */
static void test_unseen_handle_unknown(void **state)
{
    (void)state;
    static const uint32_t statuses[] = {NFS3ERR_IO, NFS3_OK, NFS3ERR_STALE};
    for (unsigned i = 0; i < 3; i++) {
        struct open_scene o;
        struct scene *s = &o.s;
        struct stage_sent *create = create_unseen(&o);
        stage_answer(stage_takes(s->stage, NFS3_GETATTR, args_handle(&s->f)),
                     res_status(statuses[i]));
        stage_told(&s->c1, create->for_xid, res_create(&s->f, NULL, full_wcc(&s->d, &s->d)));
        expect_asked_again(s, &o.witness);
        scene_close(s);
    }
}

/* Protects: a CREATE that failed may have truncated: it is asked too. EXIST says that nothing was
 * touched, STALE that there is no directory: these ask nothing. */
static void test_errors(void **state)
{
    (void)state;
    static const struct {
        uint32_t status;
        bool asks;
    } rows[] = {{NFS3ERR_IO, true},     {NFS3ERR_NOSPC, true},  {NFS3ERR_DQUOT, true},
                {NFS3ERR_EXIST, false}, {NFS3ERR_STALE, false}, {NFS3ERR_BADHANDLE, false}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct open_scene o;
        struct scene *s = &o.s;
        struct stage_sent *create = create_open(&o, NFS3_GUARDED);
        stage_answer(create, res_wcc(rows[i].status, no_wcc));
        if (rows[i].asks) {
            stage_untold(&s->c1, create->for_xid);
            stage_answer(stage_takes(s->stage, NFS3_LOOKUP, args_dirop(&s->d, "f")),
                         full_lookup(&s->f, &s->d));
        }
        stage_told(&s->c1, create->for_xid, res_wcc(rows[i].status, no_wcc));
        stage_quiet(s->stage);
        if (rows[i].asks)
            expect_asked_again(s, &o.alias);
        expect_served(s, &o.witness);
        scene_close(s);
    }
}

/* Protects: results that can't be read, and SYSTEM_ERR, prove nothing: it is asked too. */
static void test_no_results(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct open_scene o;
        struct scene *s = &o.s;
        struct stage_sent *create = create_open(&o, NFS3_UNCHECKED);
        if (i == 0)
            stage_answer(create, res_status(NFS3_OK));
        else
            stage_answer_rpc(create, (struct rpc_reply){.accepted = RPC_SYSTEM_ERR});
        stage_untold(&s->c1, create->for_xid);
        stage_answer(stage_takes(s->stage, NFS3_LOOKUP, args_dirop(&s->d, "f")),
                     full_lookup(&s->f, &s->d));
        assert_non_null(stage_reply_find(&s->c1, create->for_xid));
        expect_asked_again(s, &o.alias);
        expect_served(s, &o.witness);
        scene_close(s);
    }
}

/* Protects: what is asked after a CREATE that said nothing, and answered by an error. NOENT: there is
 * nothing, and nothing is dropped but the name and the directory. ACCES: a caller who was not let
 * see it may have changed it all the same if his CREATE succeeded, and has not if it failed. Any
 * other, and one of the RPC layer, says nothing: everything is in doubt. */
static void test_answers(void **state)
{
    (void)state;
    static const struct rpc_reply auth_error = {
        .stat = RPC_MSG_DENIED, .rejected = RPC_AUTH_ERROR, .auth = RPC_AUTH_REJECTEDCRED};
    static const struct {
        uint32_t status; /* 0: auth_error */
        bool doubt[2];   /* CREATE succeeded, failed */
    } rows[] = {{NFS3ERR_NOENT, {false, false}},
                {NFS3ERR_ACCES, {true, false}},
                {NFS3ERR_PERM, {true, false}},
                {NFS3ERR_STALE, {true, false}},
                {NFS3ERR_JUKEBOX, {true, true}},
                {NFS3ERR_IO, {true, true}},
                {0, {true, true}}};
    for (unsigned i = 0; i < 2 * (sizeof rows / sizeof rows[0]); i++) {
        struct open_scene o;
        struct scene *s = &o.s;
        struct file old_f = file_make("handle of f", NF3REG, 2);
        struct stage_sent *create = create_open(&o, NFS3_EXCLUSIVE);
        bool failed = i & 1, doubt = rows[i / 2].doubt[failed];
        struct body done = failed ? res_wcc(NFS3ERR_NOSPC, no_wcc) : res_create(NULL, NULL, no_wcc);
        stage_answer(create, done);
        struct stage_sent *look = stage_takes(s->stage, NFS3_LOOKUP, args_dirop(&s->d, "f"));
        if (rows[i / 2].status == 0)
            stage_answer_rpc(look, auth_error);
        else
            stage_answer(look, res_post_op(rows[i / 2].status, NULL));
        stage_told(&s->c1, create->for_xid, done);
        if (doubt) {
            expect_asked_again(s, &s->f);
            expect_asked_again(s, &o.witness);
        } else {
            expect_served(s, &old_f);
            expect_served(s, &o.witness);
        }
        scene_close(s);
    }
}

/* Protects: a reply that holds another handle than the one that was behind the name: both go. */
static void test_another_handle(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    warm_name(&s, "f", &s.f);
    warm_attributes(&s, &s.g);
    struct file before = s.d;
    file_write(&s.d);
    file_write(&s.g);
    stage_fetches(&s.c1, NFS3_CREATE, args_create(&s.d, "f", NFS3_UNCHECKED, NULL),
                  res_create(&s.g, &s.g.attr, full_wcc(&before, &s.d)));
    expect_asked_again(&s, &s.f);
    expect_served(&s, &s.g);
    stage_fetches(&s.c2, NFS3_ACCESS, args_access(&s.d, 2), res_access(&s.d.attr, 2));
    stage_serves(&s.c2, NFS3_LOOKUP, args_dirop(&s.d, "f"), full_lookup(&s.g, &s.d));
    scene_close(&s);
}

/* Protects: what was asked of the new object before the CREATE's reply, and comes after it, is not
 * kept: nobody could name it when it was asked, and it is older. */
static void test_page_across_create(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    warm_attributes(&s, &s.d);
    struct file old_g = s.g, before = s.d;
    struct stage_sent *page = stage_asks(&s.c2, NFS3_READDIRPLUS, args_readdirplus(&s.d));
    struct stage_sent *create =
        stage_asks(&s.c1, NFS3_CREATE, args_create(&s.d, "g", NFS3_UNCHECKED, NULL));
    file_write(&s.d);
    file_write(&s.g);
    stage_tells(&s.c1, create, res_create(&s.g, &s.g.attr, full_wcc(&before, &s.d)));
    const struct dirent3 entries[] = {{"g", &old_g, true, true}};
    stage_tells(&s.c2, page, res_readdirplus(&before.attr, entries, 1));
    for (unsigned twice = 0; twice < 2; twice++) {
        uint32_t xid = stage_call(&s.c2, NFS3_GETATTR, args_handle(&s.g));
        if (stage_waiting(s.stage) > 0)
            stage_answer(stage_next(s.stage), res_getattr(&s.g.attr));
        stage_told(&s.c2, xid, res_getattr(&s.g.attr));
    }
    scene_close(&s);
}

/* ---- the write verifier ---- */

/* Protects: C8, another write verifier than before means that the server restarted: everything is
 * asked again. The first one that is seen, and the same one, mean nothing. */
static void test_write_verifier(void **state)
{
    (void)state;
    for (unsigned by_commit = 0; by_commit < 2; by_commit++) {
        struct scene s;
        scene_open(&s, EXCLUSIVE);
        warm_name(&s, "f", &s.f);
        warm_attributes(&s, &s.g);
        const char *const verf[] = {"verifieA", "verifieA", "verifieB", "verifieB"};
        for (unsigned i = 0; i < 4; i++) {
            if (by_commit)
                stage_fetches(&s.c1, NFS3_COMMIT, args_commit(&s.f), res_commit(no_wcc, verf[i]));
            else
                stage_fetches(&s.c1, NFS3_WRITE, args_write(&s.f, 0, "text"),
                              res_write(no_wcc, 4, verf[i]));
            if (i == 2)
                expect_asked_again(&s, &s.g);
            else
                expect_served(&s, &s.g);
        }
        stage_fetches(&s.c2, NFS3_LOOKUP, args_dirop(&s.d, "f"), full_lookup(&s.f, &s.d));
        scene_close(&s);
    }
}

/* Protects: the verifiers of WRITE and COMMIT are one and the same. */
static void test_write_verifier_of_both(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    warm_attributes(&s, &s.f);
    warm_attributes(&s, &s.g);
    stage_fetches(&s.c1, NFS3_WRITE, args_write(&s.f, 0, "text"), res_write(no_wcc, 4, "verifieA"));
    stage_fetches(&s.c1, NFS3_COMMIT, args_commit(&s.f), res_commit(no_wcc, "verifieA"));
    expect_served(&s, &s.g);
    stage_fetches(&s.c1, NFS3_COMMIT, args_commit(&s.f), res_commit(no_wcc, "verifieB"));
    expect_asked_again(&s, &s.g);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_handle),
        cmocka_unit_test(test_no_handle_and_no_attributes),
        cmocka_unit_test(test_handle),
        cmocka_unit_test(test_handle_without_attributes),
        cmocka_unit_test(test_unseen_handle),
        cmocka_unit_test(test_unseen_handle_settles),
        cmocka_unit_test(test_unseen_handle_unknown),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_no_results),
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_another_handle),
        cmocka_unit_test(test_page_across_create),
        cmocka_unit_test(test_write_verifier),
        cmocka_unit_test(test_write_verifier_of_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
