/*
 * What the proxy asks the server itself, to know what a mutation touches: which object is behind a
 * name before it is removed or renamed, what a CREATE met, and which file a handle is.
 */
#include "stage_scene.h"

#include "proxy/procedure.h"

static const struct rpc_reply system_err = {.stat = RPC_MSG_ACCEPTED, .accepted = RPC_SYSTEM_ERR};
static const struct rpc_reply auth_error = {
    .stat = RPC_MSG_DENIED, .rejected = RPC_AUTH_ERROR, .auth = RPC_AUTH_REJECTEDCRED};

/* A witness: cached, and touched by nothing here but a doubt of everything. */
static const char witness_name[] = "witness";

static struct file witness(void)
{
    return file_make(witness_name, NF3REG, 77);
}

static void warm_witness(struct scene *s)
{
    struct file w = witness();
    warm_attributes(s, &w);
}

static void expect_doubt(struct scene *s, bool doubt)
{
    struct file w = witness();
    if (doubt)
        stage_fetches(&s->c2, NFS3_GETATTR, args_handle(&w), res_getattr(&w.attr));
    else
        stage_serves(&s->c2, NFS3_GETATTR, args_handle(&w), res_getattr(&w.attr));
}

static void expect_asked_again(struct scene *s, const struct file *file)
{
    stage_fetches(&s->c2, NFS3_GETATTR, args_handle(file), res_getattr(&file->attr));
}

static void expect_served(struct scene *s, const struct file *file)
{
    stage_serves(&s->c2, NFS3_GETATTR, args_handle(file), res_getattr(&file->attr));
}

/* The same file as s->f under another handle. */
static struct file alias_of_f(const struct scene *s)
{
    struct file alias = file_make("another handle of f", NF3REG, 2);
    alias.attr = s->f.attr;
    return alias;
}

/* Protects: REMOVE and RMDIR of a name that is not cached ask first, and wait for the answer; with
 * the caller's own credential and nobody's xid. */
static void test_asks_before_remove(void **state)
{
    (void)state;
    static const unsigned procedures[] = {NFS3_REMOVE, NFS3_RMDIR};
    for (unsigned i = 0; i < 2; i++) {
        struct scene s;
        scene_open(&s, EXCLUSIVE);
        struct who who = {.flavor = RPC_AUTH_SYS, .uid = 5, .gid_count = 2, .gids = {6, 7}};
        s.c1.who = who;
        warm_attributes(&s, &s.d);
        warm_attributes(&s, &s.f);
        warm_witness(&s);
        struct file before = s.d;
        file_write(&s.d);
        file_change(&s.f);
        struct body args = args_dirop(&s.d, "f");
        uint32_t xid = stage_call(&s.c1, procedures[i], args);
        struct stage_sent *look = stage_takes(s.stage, NFS3_LOOKUP, args);
        struct body expected = stage_record(look->rpc.xid, NFS3_LOOKUP, &who, &args);
        wire_assert_bytes(look->record, body_bytes(&expected));
        stage_quiet(s.stage);
        stage_untold(&s.c1, xid);
        stage_answer(look, full_lookup(&s.f, &before));
        stage_untold(&s.c1, xid);
        struct stage_sent *gone = stage_takes(s.stage, procedures[i], args);
        stage_answer(gone, res_wcc(NFS3_OK, full_wcc(&before, &s.d)));
        stage_told(&s.c1, xid, res_wcc(NFS3_OK, full_wcc(&before, &s.d)));
        stage_quiet(s.stage);
        expect_asked_again(&s, &s.f);
        expect_served(&s, &s.d);
        expect_doubt(&s, false);
        const struct counters *counters = &s.c1.worker->service.counters;
        assert_int_equal(counter_read(&counters->procedures[PROGRAM_NFS][NFS3_LOOKUP].asked), 1);
        assert_int_equal(counter_read(&counters->procedures[PROGRAM_NFS][NFS3_LOOKUP].calls), 0);
        scene_close(&s);
    }
}

/* Protects: what is cached, found or absent, is not asked. */
static void test_does_not_ask_what_is_cached(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    warm_name(&s, "f", &s.f);
    stage_fetches(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "x"), full_noent(&s.d));
    stage_fetches(&s.c1, NFS3_REMOVE, args_dirop(&s.d, "f"),
                  res_wcc(NFS3_OK, full_wcc(&s.d, &s.d)));
    stage_fetches(&s.c1, NFS3_RMDIR, args_dirop(&s.d, "x"), res_wcc(NFS3ERR_NOENT, no_wcc));
    expect_asked_again(&s, &s.f);
    scene_close(&s);
}

/* Protects: a squashed caller's questions are squashed too. */
static void test_asks_squashed(void **state)
{
    (void)state;
    struct scene s;
    struct who anonymous = {.flavor = RPC_AUTH_SYS, .uid = 65534, .gid = 65534};
    scene_open(&s, "squash = all\n");
    struct body args = args_dirop(&s.d, "f"), dir = args_handle(&s.d);
    stage_call(&s.c1, NFS3_REMOVE, args);
    struct stage_sent *get = stage_takes(s.stage, NFS3_GETATTR, dir);
    struct body expected = stage_record(get->rpc.xid, NFS3_GETATTR, &anonymous, &dir);
    wire_assert_bytes(get->record, body_bytes(&expected));
    stage_answer(get, res_getattr(&s.d.attr));
    const struct stage_sent *look = stage_takes(s.stage, NFS3_LOOKUP, args);
    expected = stage_record(look->rpc.xid, NFS3_LOOKUP, &anonymous, &args);
    wire_assert_bytes(look->record, body_bytes(&expected));
    scene_close(&s);
}

/* Protects: an answer without attributes leaves open which file it is: that is asked before the object
 * may go, since its handle may be stale afterwards; and another handle of the same file is not served
 * any more. What a RENAME replaces may go as well. */
static void test_answer_without_attributes(void **state)
{
    (void)state;
    static const unsigned procedures[] = {NFS3_REMOVE, NFS3_RMDIR, NFS3_RENAME};
    for (unsigned i = 0; i < 3; i++) {
        struct scene s;
        scene_open(&s, EXCLUSIVE);
        struct file alias = alias_of_f(&s);
        warm_attributes(&s, &alias);
        warm_attributes(&s, &s.d);
        bool rename = procedures[i] == NFS3_RENAME;
        struct wcc wcc = full_wcc(&s.d, &s.d);
        struct body args = rename ? args_rename(&s.d, "g", &s.d, "f") : args_dirop(&s.d, "f");
        struct body done = rename ? res_rename(NFS3_OK, wcc, wcc) : res_wcc(NFS3_OK, wcc);
        uint32_t xid = stage_call(&s.c1, procedures[i], args);
        if (rename)
            stage_answer(stage_takes(s.stage, NFS3_LOOKUP, args_dirop(&s.d, "g")),
                         full_lookup(&s.g, &s.d));
        stage_answer(stage_takes(s.stage, NFS3_LOOKUP, args_dirop(&s.d, "f")),
                     res_lookup(&s.f, NULL, NULL));
        stage_untold(&s.c1, xid);
        stage_answer(stage_takes(s.stage, NFS3_GETATTR, args_handle(&s.f)), res_getattr(&s.f.attr));
        stage_answer(stage_takes(s.stage, procedures[i], args), done);
        stage_told(&s.c1, xid, done);
        stage_quiet(s.stage);
        file_change(&s.f);
        alias.attr = s.f.attr;
        expect_asked_again(&s, &alias);
        scene_close(&s);
    }
}

/* Protects: the same of both names of a RENAME, each asked once. */
static void test_both_answers_without_attributes(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    struct body args = args_rename(&s.d, "g", &s.d, "f");
    warm_attributes(&s, &s.d);
    warm_witness(&s);
    stage_call(&s.c1, NFS3_RENAME, args);
    stage_answer(stage_takes(s.stage, NFS3_LOOKUP, args_dirop(&s.d, "g")),
                 res_lookup(&s.g, NULL, NULL));
    stage_answer(stage_takes(s.stage, NFS3_LOOKUP, args_dirop(&s.d, "f")),
                 res_lookup(&s.f, NULL, NULL));
    stage_answer(stage_takes(s.stage, NFS3_GETATTR, args_handle(&s.g)), res_getattr(&s.g.attr));
    stage_answer(stage_takes(s.stage, NFS3_GETATTR, args_handle(&s.f)), res_getattr(&s.f.attr));
    stage_answer(stage_takes(s.stage, NFS3_RENAME, args), res_rename(NFS3_OK, no_wcc, no_wcc));
    stage_told(&s.c1, s.c1.xid, res_rename(NFS3_OK, no_wcc, no_wcc));
    stage_quiet(s.stage);
    expect_doubt(&s, false);
    scene_close(&s);
}

/* Protects: RENAME asks about both of its names, about each only where it is not cached, and about
 * none twice. */
static void test_rename_asks_for_both(void **state)
{
    (void)state;
    for (unsigned cached = 0; cached < 4; cached++) {
        struct scene s;
        scene_open(&s, EXCLUSIVE);
        struct file e = file_make("handle of e", NF3DIR, 11);
        warm_attributes(&s, &e);
        warm_attributes(&s, &s.d);
        warm_attributes(&s, &s.f);
        warm_attributes(&s, &s.g);
        warm_witness(&s);
        if (cached & 1)
            warm_name(&s, "f", &s.f);
        if (cached & 2)
            stage_fetches(&s.c1, NFS3_LOOKUP, args_dirop(&e, "g"), full_lookup(&s.g, &e));
        struct body done = res_rename(NFS3_OK, full_wcc(&s.d, &s.d), full_wcc(&e, &e));
        uint32_t xid = stage_call(&s.c1, NFS3_RENAME, args_rename(&s.d, "f", &e, "g"));
        if (!(cached & 1))
            stage_answer(stage_takes(s.stage, NFS3_LOOKUP, args_dirop(&s.d, "f")),
                         full_lookup(&s.f, &s.d));
        if (!(cached & 2))
            stage_answer(stage_takes(s.stage, NFS3_LOOKUP, args_dirop(&e, "g")),
                         full_lookup(&s.g, &e));
        stage_answer(stage_takes(s.stage, NFS3_RENAME, args_rename(&s.d, "f", &e, "g")), done);
        stage_told(&s.c1, xid, done);
        stage_quiet(s.stage);
        file_change(&s.f);
        file_change(&s.g);
        expect_asked_again(&s, &s.f);
        expect_asked_again(&s, &s.g);
        expect_doubt(&s, false);
        scene_close(&s);
    }
}

/* Protects: a handle of which nothing is known is asked for before the client gets his reply, so
 * that other handles of the same file are not served with what was before. */
static void test_asks_for_identity(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    struct file alias = alias_of_f(&s);
    warm_attributes(&s, &alias);
    struct stage_sent *set = stage_asks(&s.c1, NFS3_SETATTR, args_setattr_size(&s.f, 0));
    stage_answer(set, res_wcc(NFS3ERR_PERM, no_wcc));
    stage_untold(&s.c1, set->for_xid);
    file_write(&s.f);
    alias.attr = s.f.attr;
    struct stage_sent *get = stage_takes(s.stage, NFS3_GETATTR, args_handle(&s.f));
    assert_int_equal(get->rpc.cred_flavor, RPC_AUTH_SYS);
    wire_assert_bytes(get->rpc.cred, set->rpc.cred);
    stage_answer(get, res_getattr(&s.f.attr));
    stage_told(&s.c1, set->for_xid, res_wcc(NFS3ERR_PERM, no_wcc));
    stage_quiet(s.stage);
    expect_asked_again(&s, &alias);
    scene_close(&s);
}

/* Protects: attributes in the reply itself say which file it is: nothing is asked, and the other
 * handle goes all the same. */
static void test_reply_identifies(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    struct file alias = alias_of_f(&s), before = s.f;
    warm_attributes(&s, &alias);
    file_write(&s.f);
    alias.attr = s.f.attr;
    stage_fetches(&s.c1, NFS3_SETATTR, args_setattr_size(&s.f, 0),
                  res_wcc(NFS3_OK, full_wcc(&before, &s.f)));
    expect_asked_again(&s, &alias);
    scene_close(&s);
}

/* Protects: a question is asked once, whatever is answered. JUKEBOX is no answer; STALE is one, but says of what succeeded
 * only that it is gone. */
static void test_answers_about_identity(void **state)
{
    (void)state;
    static const struct {
        uint32_t status;
        bool doubt, doubt_of_refused;
    } rows[] = {{NFS3ERR_STALE, true, false},  {NFS3ERR_BADHANDLE, true, false},
                {NFS3ERR_ACCES, true, true}, /* GETATTR needs no permission (RFC 1813 3.3.1) */
                {NFS3ERR_PERM, true, true},    {NFS3ERR_INVAL, true, true},
                {NFS3ERR_JUKEBOX, true, true}, {NFS3ERR_IO, true, true}};
    for (unsigned i = 0; i < 2 * (sizeof rows / sizeof rows[0]); i++) {
        uint32_t status = i % 2 ? NFS3ERR_PERM : NFS3_OK;
        struct scene s;
        scene_open(&s, EXCLUSIVE);
        warm_witness(&s);
        struct stage_sent *set = stage_asks(&s.c1, NFS3_SETATTR, args_setattr_size(&s.f, 0));
        stage_answer(set, res_wcc(status, no_wcc));
        stage_answer(stage_takes(s.stage, NFS3_GETATTR, args_handle(&s.f)),
                     res_status(rows[i / 2].status));
        stage_told(&s.c1, set->for_xid, res_wcc(status, no_wcc));
        stage_quiet(s.stage);
        expect_doubt(&s, i % 2 ? rows[i / 2].doubt_of_refused : rows[i / 2].doubt);
        scene_close(&s);
    }
}

/* Protects: both handles of a LINK are asked for, each once: the directory before, the file after. */
static void test_asks_for_two_identities(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    struct body args = args_link(&s.f, &s.d, "new");
    uint32_t xid = stage_call(&s.c1, NFS3_LINK, args);
    stage_answer(stage_takes(s.stage, NFS3_GETATTR, args_handle(&s.d)), res_getattr(&s.d.attr));
    stage_answer(stage_takes(s.stage, NFS3_LINK, args), res_link(NFS3_OK, NULL, no_wcc));
    stage_untold(&s.c1, xid);
    stage_answer(stage_takes(s.stage, NFS3_GETATTR, args_handle(&s.f)), res_getattr(&s.f.attr));
    stage_told(&s.c1, xid, res_link(NFS3_OK, NULL, no_wcc));
    stage_quiet(s.stage);
    scene_close(&s);
}

/* Protects: what was not executed is not asked about. */
static void test_turned_away_asks_nothing(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    struct stage_sent *set = stage_asks(&s.c1, NFS3_SETATTR, args_setattr_size(&s.f, 0));
    stage_answer_rpc(set, auth_error);
    stage_quiet(s.stage);
    assert_non_null(stage_reply_find(&s.c1, set->for_xid));
    stage_fetches(&s.c1, NFS3_SETATTR, args_setattr_size(&s.f, 0), res_wcc(NFS3ERR_STALE, no_wcc));
    stage_fetches(&s.c1, NFS3_SETATTR, args_setattr_size(&s.f, 0),
                  res_wcc(NFS3ERR_BADHANDLE, no_wcc));
    set = stage_asks(&s.c1, NFS3_SETATTR, args_setattr_size(&s.f, 0));
    stage_answer_rpc(set, system_err); /* this one may have been */
    stage_takes(s.stage, NFS3_GETATTR, args_handle(&s.f));
    scene_close(&s);
}

/* The questions of a REMOVE of d/f where nothing is known, in their order. */
enum question {
    WHICH_DIRECTORY,
    WHAT_IS_BEHIND,
    WHICH_FILE,
    QUESTIONS,
};

static struct stage_sent *takes(struct scene *s, enum question question)
{
    if (question == WHAT_IS_BEHIND)
        return stage_takes(s->stage, NFS3_LOOKUP, args_dirop(&s->d, "f"));
    return stage_takes(s->stage, NFS3_GETATTR, args_handle(question == WHICH_FILE ? &s->f : &s->d));
}

static void answer_question(struct scene *s, struct stage_sent *sent, enum question question)
{
    if (question == WHAT_IS_BEHIND)
        stage_answer(sent, res_lookup(&s->f, NULL, NULL));
    else
        stage_answer(sent, res_getattr(question == WHICH_FILE ? &s->f.attr : &s->d.attr));
}

/* REMOVE d/f, until this question has been asked. */
static struct stage_sent *remove_until(struct scene *s, enum question question)
{
    scene_open(s, EXCLUSIVE);
    stage_call(&s->c1, NFS3_REMOVE, args_dirop(&s->d, "f"));
    for (enum question before = 0; before < question; before++)
        answer_question(s, takes(s, before), before);
    return takes(s, question);
}

/* Protects: questions survive a lost connection. */
static void test_questions_survive(void **state)
{
    (void)state;
    for (enum question question = 0; question < QUESTIONS; question++) {
        struct scene s;
        uint32_t xid = remove_until(&s, question)->rpc.xid;
        stage_link_down(s.stage, 0);
        stage_link_up(s.stage, 0);
        struct stage_sent *again = takes(&s, question);
        assert_int_equal(again->rpc.xid, xid);
        answer_question(&s, again, question);
        for (enum question next = question + 1; next < QUESTIONS; next++)
            answer_question(&s, takes(&s, next), next);
        stage_answer(stage_takes(s.stage, NFS3_REMOVE, args_dirop(&s.d, "f")),
                     res_wcc(NFS3_OK, no_wcc));
        stage_told(&s.c1, s.c1.xid, res_wcc(NFS3_OK, no_wcc));
        stage_quiet(s.stage);
        assert_int_equal(s.stage->worker[0].engine.calls, 0);
        scene_close(&s);
    }
}

/* Protects: the same after the mutation. */
static void test_last_question_survives(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    struct stage_sent *set = stage_asks(&s.c1, NFS3_SETATTR, args_setattr_size(&s.f, 0));
    stage_answer(set, res_wcc(NFS3_OK, no_wcc));
    uint32_t xid = stage_takes(s.stage, NFS3_GETATTR, args_handle(&s.f))->rpc.xid;
    stage_link_down(s.stage, 0);
    stage_link_up(s.stage, 0);
    struct stage_sent *get = stage_takes(s.stage, NFS3_GETATTR, args_handle(&s.f));
    assert_int_equal(get->rpc.xid, xid);
    stage_answer(get, res_getattr(&s.f.attr));
    stage_told(&s.c1, set->for_xid, res_wcc(NFS3_OK, no_wcc));
    assert_int_equal(s.stage->worker[0].engine.calls, 0);
    scene_close(&s);
}

/* Protects: the call of a client that left while its question was open is not sent: the client will
 * send it again, and it must not be executed twice. The next in line gets its turn. */
static void test_client_leaves_during_question(void **state)
{
    (void)state;
    for (enum question question = 0; question < QUESTIONS; question++) {
        struct scene s;
        struct stage_sent *open = remove_until(&s, question);
        uint32_t xid = stage_call(&s.c2, NFS3_REMOVE, args_dirop(&s.d, "f"));
        if (question == WHICH_DIRECTORY) /* no turn has been taken yet */
            answer_question(&s, takes(&s, WHICH_DIRECTORY), WHICH_DIRECTORY);
        if (question == WHICH_DIRECTORY)
            answer_question(&s, takes(&s, WHAT_IS_BEHIND), WHAT_IS_BEHIND);
        stage_client_leave(&s.c1);
        if (question != WHICH_DIRECTORY)
            stage_quiet(s.stage);
        answer_question(&s, open, question);
        assert_int_equal(s.stage->worker[0].engine.calls, 0);
        struct stage_sent *sent = stage_next(s.stage);
        for (unsigned i = 0; i < 2 && sent->rpc.procedure != NFS3_REMOVE; i++) {
            assert_ptr_equal(sent->worker, s.c2.worker);
            answer_question(&s, sent,
                            sent->rpc.procedure == NFS3_LOOKUP ? WHAT_IS_BEHIND : WHICH_FILE);
            sent = stage_next(s.stage);
        }
        assert_int_equal(sent->rpc.procedure, NFS3_REMOVE);
        assert_ptr_equal(sent->worker, s.c2.worker);
        stage_quiet(s.stage);
        stage_answer(sent, res_wcc(NFS3_OK, no_wcc));
        stage_told(&s.c2, xid, res_wcc(NFS3_OK, no_wcc));
        scene_close(&s);
    }
}

/* Protects: the proxy stops while questions of all kinds are open: clients of calls that were not
 * sent are told to come back, those whose call was answered get the answer. */
static void test_stops_with_open_questions(void **state)
{
    (void)state;
    for (enum question question = 0; question < QUESTIONS; question++) {
        struct scene s;
        remove_until(&s, question);
        uint32_t before = s.c1.xid;
        struct stage_sent *set = stage_asks(&s.c1, NFS3_SETATTR, args_setattr_size(&s.g, 0));
        stage_answer(set, res_wcc(NFS3_OK, no_wcc));
        stage_takes(s.stage, NFS3_GETATTR, args_handle(&s.g));
        stage_abandon(s.stage, 0);
        assert_int_equal(s.c1.failures, 1);
        stage_untold(&s.c1, before);
        stage_told(&s.c1, set->for_xid, res_wcc(NFS3_OK, no_wcc));
        assert_int_equal(s.stage->worker[0].engine.calls, 0);
        scene_close(&s);
    }
}

/* Protects: a question that can't be sent any more puts everything in doubt; the client has its
 * answer. */
static void test_can_not_ask(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    warm_witness(&s);
    struct stage_sent *set = stage_asks(&s.c1, NFS3_SETATTR, args_setattr_size(&s.f, 0));
    s.stage->worker[0].service.nfs = NULL;
    stage_tells(&s.c1, set, res_wcc(NFS3_OK, no_wcc));
    stage_quiet(s.stage);
    expect_doubt(&s, true);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_asks_before_remove),
        cmocka_unit_test(test_does_not_ask_what_is_cached),
        cmocka_unit_test(test_asks_squashed),
        cmocka_unit_test(test_answer_without_attributes),
        cmocka_unit_test(test_both_answers_without_attributes),
        cmocka_unit_test(test_rename_asks_for_both),
        cmocka_unit_test(test_asks_for_identity),
        cmocka_unit_test(test_reply_identifies),
        cmocka_unit_test(test_answers_about_identity),
        cmocka_unit_test(test_asks_for_two_identities),
        cmocka_unit_test(test_turned_away_asks_nothing),
        cmocka_unit_test(test_questions_survive),
        cmocka_unit_test(test_last_question_survives),
        cmocka_unit_test(test_client_leaves_during_question),
        cmocka_unit_test(test_stops_with_open_questions),
        cmocka_unit_test(test_can_not_ask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
