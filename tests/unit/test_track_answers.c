/*
 * What answers to the proxy's own questions prove: an error may leave open what a mutation touched, and
 * then everything is in doubt when it ends. Who is not let do a thing can't bring that about by trying.
 */
#include "stage_probe.h"

static const struct rpc_reply system_err = {.stat = RPC_MSG_ACCEPTED, .accepted = RPC_SYSTEM_ERR};
static const struct rpc_reply auth_error = {
    .stat = RPC_MSG_DENIED, .rejected = RPC_AUTH_ERROR, .auth = RPC_AUTH_REJECTEDCRED};
static const struct rpc_reply unavailable = {.stat = RPC_MSG_ACCEPTED,
                                             .accepted = RPC_PROC_UNAVAIL};

/* Results with that status and no attributes, or an error of the RPC layer. */
struct answer {
    uint32_t status;
    const struct rpc_reply *rpc;
};

static void answer_lookup(struct stage_sent *sent, struct answer answer)
{
    if (answer.rpc != NULL)
        stage_answer_rpc(sent, *answer.rpc);
    else
        stage_answer(sent, res_post_op(answer.status, NULL));
}

static void answer_getattr(struct stage_sent *sent, struct answer answer)
{
    if (answer.rpc != NULL)
        stage_answer_rpc(sent, *answer.rpc);
    else
        stage_answer(sent, res_status(answer.status));
}

/* What becomes of the mutation. */
enum end {
    SUCCEEDS,
    UNREADABLE,  /* it may have */
    BROKE,       /* it may have */
    BREAKS_OFF,  /* it may have: the server is in trouble */
    FAULTS,      /* likewise */
    FAILS,       /* … and says so */
    READ_ONLY,   /* likewise */
    STALE,       /* there is no such directory */
    TURNED_AWAY, /* by the RPC layer */
    ENDS,
};

static const char *const end_name[ENDS] = {"succeeds",   "unreadable", "broke",
                                           "breaks off", "faults",     "fails",
                                           "read-only",  "stale",      "turned away"};

/* Bit masks of ends. */
enum {
    NEVER = 0,
    ALWAYS = (1u << ENDS) - 1,
    IF_IT_MAY_HAVE_SUCCEEDED =
        1u << SUCCEEDS | 1u << UNREADABLE | 1u << BROKE | 1u << BREAKS_OFF | 1u << FAULTS,
    IF_EXECUTED = IF_IT_MAY_HAVE_SUCCEEDED | 1u << FAILS | 1u << READ_ONLY,
};

static void answer_mutation(const struct scene *s, struct stage_sent *sent, enum end end)
{
    bool rename = sent->rpc.procedure == NFS3_RENAME;
    struct wcc wcc = full_wcc(&s->d, &s->d);
    static const uint32_t statuses[ENDS] = {[BREAKS_OFF] = NFS3ERR_IO,
                                            [FAULTS] = NFS3ERR_SERVERFAULT,
                                            [FAILS] = NFS3ERR_ACCES,
                                            [READ_ONLY] = NFS3ERR_ROFS,
                                            [STALE] = NFS3ERR_STALE};
    uint32_t status = statuses[end];
    if (end == UNREADABLE)
        stage_answer(sent, res_status(NFS3_OK));
    else if (end == BROKE || end == TURNED_AWAY)
        stage_answer_rpc(sent, end == BROKE ? system_err : auth_error);
    else if (status == NFS3_OK)
        stage_answer(sent, rename ? res_rename(status, wcc, wcc) : res_wcc(status, wcc));
    else
        stage_answer(sent, rename ? res_rename(status, no_wcc, no_wcc) : res_wcc(status, no_wcc));
}

/* The directory d is known, and a witness is cached that is touched by nothing but a doubt. */
static struct file answers_open(struct scene *s)
{
    struct file witness = file_make("witness", NF3REG, 77);
    scene_open(s, EXCLUSIVE);
    warm_attributes(s, &s->d);
    warm_attributes(s, &witness);
    return witness;
}

/* The mutation comes next, and ends. Then everything is in doubt, or not, and nothing is open. */
static void expect_end(struct scene *s, const struct file *witness, struct answer answer,
                       enum end end, unsigned doubts)
{
    uint32_t xid = s->c1.xid;
    answer_mutation(s, stage_next(s->stage), end);
    assert_non_null(stage_reply_find(&s->c1, xid));
    stage_quiet(s->stage);
    stage_call(&s->c2, NFS3_GETATTR, args_handle(witness));
    bool doubt = stage_waiting(s->stage) > 0;
    if (doubt != ((doubts >> end & 1) != 0))
        fail_msg("status %u%s, and the mutation %s: %s", answer.status,
                 answer.rpc != NULL ? " (RPC error)" : "", end_name[end],
                 doubt ? "doubt" : "no doubt");
    scene_close(s);
}

struct expectation {
    struct answer answer;
    unsigned doubts; /* after which ends */
};

/* Protects: C8. A caller that is not let see what is behind a name, or sees nothing there, is not
 * believed when his mutation may have succeeded: it met an object that nobody tracked. When it fails
 * too, nothing is in doubt. Any other error leaves open what is there. */
static void test_behind_the_name(void **state)
{
    (void)state;
    static const struct expectation rows[] = {
        {{NFS3ERR_NOENT, NULL}, IF_IT_MAY_HAVE_SUCCEEDED},
        {{NFS3ERR_ACCES, NULL}, IF_IT_MAY_HAVE_SUCCEEDED},
        {{NFS3ERR_PERM, NULL}, IF_IT_MAY_HAVE_SUCCEEDED},
        {{NFS3ERR_NOTDIR, NULL}, IF_IT_MAY_HAVE_SUCCEEDED},
        {{NFS3ERR_NAMETOOLONG, NULL}, IF_IT_MAY_HAVE_SUCCEEDED},
        {{NFS3ERR_INVAL, NULL}, IF_IT_MAY_HAVE_SUCCEEDED},
        {{NFS3ERR_STALE, NULL}, IF_IT_MAY_HAVE_SUCCEEDED},
        {{NFS3ERR_BADHANDLE, NULL}, IF_IT_MAY_HAVE_SUCCEEDED},
        {{0, &auth_error}, IF_EXECUTED},
        {{0, &unavailable}, IF_EXECUTED},
        {{0, &system_err}, ALWAYS},
        {{NFS3_OK, NULL}, ALWAYS}, /* which ends early */
        {{NFS3ERR_JUKEBOX, NULL}, ALWAYS},
        {{NFS3ERR_IO, NULL}, ALWAYS},
        {{NFS3ERR_SERVERFAULT, NULL}, ALWAYS},
        {{NFS3ERR_NOTSUPP, NULL}, ALWAYS},
        {{NFS3ERR_NXIO, NULL}, ALWAYS},
        {{4711, NULL}, ALWAYS},
    };
    for (unsigned i = 0; i < LENGTH_OF(rows); i++) {
        for (enum end end = 0; end < ENDS; end++) {
            struct scene s;
            struct file witness = answers_open(&s);
            struct body args = args_dirop(&s.d, "f");
            stage_call(&s.c1, NFS3_REMOVE, args);
            answer_lookup(stage_takes(s.stage, NFS3_LOOKUP, args), rows[i].answer);
            expect_end(&s, &witness, rows[i].answer, end, rows[i].doubts);
        }
    }
}

/* Protects: the same of both names of a RENAME; but that nothing is there where it moves to is what a
 * RENAME mostly finds. */
static void test_both_names(void **state)
{
    (void)state;
    static const struct {
        struct answer answer;
        unsigned doubts[2]; /* of the first name, of the second */
    } rows[] = {
        {{NFS3ERR_NOENT, NULL}, {IF_IT_MAY_HAVE_SUCCEEDED, NEVER}},
        {{NFS3ERR_ACCES, NULL}, {IF_IT_MAY_HAVE_SUCCEEDED, IF_IT_MAY_HAVE_SUCCEEDED}},
        {{0, &auth_error}, {IF_EXECUTED, IF_EXECUTED}},
        {{NFS3ERR_IO, NULL}, {ALWAYS, ALWAYS}},
    };
    for (unsigned i = 0; i < LENGTH_OF(rows); i++) {
        for (unsigned second = 0; second < 2; second++) {
            for (enum end end = 0; end < ENDS; end++) {
                struct scene s;
                struct file witness = answers_open(&s);
                const char *const name[2] = {"f", "g"};
                const struct file *const file[2] = {&s.f, &s.g};
                stage_call(&s.c1, NFS3_RENAME, args_rename(&s.d, "f", &s.d, "g"));
                for (unsigned n = 0; n < 2; n++) {
                    struct stage_sent *look =
                        stage_takes(s.stage, NFS3_LOOKUP, args_dirop(&s.d, name[n]));
                    if (n == second)
                        answer_lookup(look, rows[i].answer);
                    else
                        stage_answer(look, full_lookup(file[n], &s.d));
                }
                expect_end(&s, &witness, rows[i].answer, end, rows[i].doubts[second]);
            }
        }
    }
}

/* Protects: while a mutation is under way that may yet succeed at what its caller was not let see, no
 * comparison with the server proves anything. */
static void test_unseen_is_blind(void **state)
{
    (void)state;
    static const struct expectation rows[] = {{{NFS3ERR_ACCES, NULL}, IF_IT_MAY_HAVE_SUCCEEDED},
                                              {{0, &auth_error}, IF_EXECUTED},
                                              {{NFS3ERR_JUKEBOX, NULL}, ALWAYS}};
    for (unsigned i = 0; i < LENGTH_OF(rows); i++) {
        struct scene s;
        struct file witness = answers_open(&s);
        struct body args = args_dirop(&s.d, "f");
        struct cache_server *server = s.stage->worker[0].service.cache;
        const struct bytes other = {(const uint8_t *)"other", 5};
        stage_call(&s.c1, NFS3_REMOVE, args);
        struct stage_sent *look = stage_takes(s.stage, NFS3_LOOKUP, args);
        assert_true(cache_name_clean_since(server, file_handle(&s.g), other, cache_tick(server)));
        answer_lookup(look, rows[i].answer);
        assert_false(cache_name_clean_since(server, file_handle(&s.g), other, cache_tick(server)));
        expect_end(&s, &witness, rows[i].answer, SUCCEEDS, rows[i].doubts);
    }
}

/* What an answer about a handle, asked before the mutation, proves. */
static const struct expectation identity_rows[] = {
    {{NFS3ERR_STALE, NULL}, IF_IT_MAY_HAVE_SUCCEEDED},
    {{NFS3ERR_BADHANDLE, NULL}, IF_IT_MAY_HAVE_SUCCEEDED},
    {{0, &auth_error}, IF_EXECUTED},
    {{0, &unavailable}, IF_EXECUTED},
    {{0, &system_err}, ALWAYS},
    {{NFS3_OK, NULL}, ALWAYS},       /* which ends early */
    {{NFS3ERR_ACCES, NULL}, ALWAYS}, /* GETATTR needs no permission (RFC 1813 3.3.1) */
    {{NFS3ERR_PERM, NULL}, ALWAYS},
    {{NFS3ERR_JUKEBOX, NULL}, ALWAYS},
    {{NFS3ERR_IO, NULL}, ALWAYS},
};

/* Protects: the same of the question which file it is that a REMOVE takes away: a handle that led nowhere
 * can't be what it removed. */
static void test_what_vanishes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < LENGTH_OF(identity_rows); i++) {
        for (enum end end = 0; end < ENDS; end++) {
            struct scene s;
            struct file witness = answers_open(&s);
            struct body args = args_dirop(&s.d, "f");
            stage_call(&s.c1, NFS3_REMOVE, args);
            stage_answer(stage_takes(s.stage, NFS3_LOOKUP, args), res_lookup(&s.f, NULL, NULL));
            answer_getattr(stage_takes(s.stage, NFS3_GETATTR, args_handle(&s.f)),
                           identity_rows[i].answer);
            expect_end(&s, &witness, identity_rows[i].answer, end, identity_rows[i].doubts);
        }
    }
}

/* Protects: the same of the question which file the directory is. */
static void test_directory(void **state)
{
    (void)state;
    for (unsigned i = 0; i < LENGTH_OF(identity_rows); i++) {
        for (enum end end = 0; end < ENDS; end++) {
            struct scene s;
            struct file witness = answers_open(&s), e = file_make("handle of e", NF3DIR, 11);
            struct body args = args_dirop(&e, "f");
            stage_call(&s.c1, NFS3_REMOVE, args);
            answer_getattr(stage_takes(s.stage, NFS3_GETATTR, args_handle(&e)),
                           identity_rows[i].answer);
            stage_answer(stage_takes(s.stage, NFS3_LOOKUP, args),
                         res_lookup(&s.f, &s.f.attr, NULL));
            expect_end(&s, &witness, identity_rows[i].answer, end, identity_rows[i].doubts);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_behind_the_name), cmocka_unit_test(test_both_names),
        cmocka_unit_test(test_unseen_is_blind), cmocka_unit_test(test_what_vanishes),
        cmocka_unit_test(test_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
