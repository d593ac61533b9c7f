/*
 * What is kept is as old as the question that it answers: its age is counted from when the call was sent,
 * and not from when its reply came. The server may have said so at once, and something may have changed
 * right after that.
 */
#include "stage_probe.h"

#define HELD STAGE_SECOND /* how long each reply here is on its way */

/* Asks, and holds the reply. */
static void probe_held(struct scene *s, struct probe probe)
{
    struct stage_sent *sent = stage_asks(&s->c1, probe.procedure, probe.args);
    stage_advance(s->stage, HELD);
    stage_tells(&s->c1, sent, probe.results);
}

/* Protects: attributes, in a reply of their own and beside others. */
static void test_attributes(void **state)
{
    (void)state;
    for (unsigned way = 0; way < 3; way++) {
        struct scene s;
        scene_open(&s, SHARED);
        const struct dirent3 entries[] = {{"f", &s.f, true, true}};
        struct probe page = {NFS3_READDIRPLUS, args_readdirplus(&s.d),
                             res_readdirplus(&s.d.attr, entries, 1)};
        probe_held(&s, way == 0   ? probe_getattr(&s.f)
                       : way == 1 ? probe_name(&s.d, "f", &s.f)
                                  : page);
        struct probe old = probe_getattr(&s.f);
        file_write(&s.f);
        probe_lasts(&s, 3 * STAGE_SECOND - HELD, old, probe_getattr(&s.f));
        scene_close(&s);
    }
}

/* Protects: a reply that says the same again extends from when it was asked for; and how long nothing
 * has changed is counted between two questions. */
static void test_refreshed(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, SHARED);
    probe_held(&s, probe_getattr(&s.f));
    stage_advance(s.stage, 9 * STAGE_SECOND);
    probe_held(&s, (struct probe){NFS3_FSINFO, args_handle(&s.f), res_post_op(NFS3_OK, &s.f.attr)});
    struct probe old = probe_getattr(&s.f);
    file_write(&s.f);
    probe_lasts(&s, 10 * STAGE_SECOND - HELD, old, probe_getattr(&s.f));
    scene_close(&s);
}

/* Protects: a reply that was asked for earlier than another one that came first does not make younger
 * what that one said. */
static void test_crossed(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, SHARED);
    struct probe old = probe_getattr(&s.f);
    struct stage_sent *first = stage_asks(&s.c1, NFS3_GETATTR, old.args);
    stage_advance(s.stage, STAGE_SECOND);
    struct stage_sent *second = stage_asks(&s.c2, NFS3_GETATTR, old.args);
    stage_advance(s.stage, STAGE_SECOND / 2);
    stage_tells(&s.c2, second, old.results);
    stage_tells(&s.c1, first, old.results);
    file_write(&s.f);
    probe_lasts(&s, 3 * STAGE_SECOND - STAGE_SECOND / 2, old, probe_getattr(&s.f));
    scene_close(&s);
}

/* Protects: a name, and that there is none: both objects are asked for again, the name is not. */
static void test_names(void **state)
{
    (void)state;
    for (unsigned absent = 0; absent < 2; absent++) {
        struct scene s;
        scene_open(&s, SHARED "negative-age = 3s\n");
        struct probe old = probe_name(&s.d, "f", absent ? NULL : &s.f);
        probe_held(&s, old);
        scene_revalidate(&s, &s.d);
        scene_revalidate(&s, &s.f);
        probe_lasts(&s, 3 * STAGE_SECOND - HELD, old, probe_name(&s.d, "f", &s.g));
        scene_close(&s);
    }
}

/* Protects: a verdict, in both modes. */
static void test_verdicts(void **state)
{
    (void)state;
    static const char *const keys[] = {SHARED, EXCLUSIVE};
    for (unsigned i = 0; i < 2; i++) {
        struct scene s;
        scene_open(&s, keys[i]);
        struct probe old = probe_access(&s.f, 0x1f);
        probe_held(&s, old);
        stage_advance(s.stage, 58 * STAGE_SECOND - HELD);
        scene_revalidate(&s, &s.f);
        probe_lasts(&s, 2 * STAGE_SECOND, old, probe_access(&s.f, 0x03));
        scene_close(&s);
    }
}

/* Protects: what a mutation's own reply says of the object, of what it made, and of the name. */
static void test_mutations(void **state)
{
    (void)state;
    for (unsigned made = 0; made < 2; made++) {
        struct scene s;
        scene_open(&s, SHARED "settle = 0\n");
        warm_attributes(&s, &s.d);
        struct file n = file_make("handle of n", NF3DIR, 20), before = s.d;
        file_write(&s.d);
        probe_held(&s, (struct probe){NFS3_MKDIR, args_mkdir(&s.d, "n"),
                                      res_create(&n, &n.attr, full_wcc(&before, &s.d))});
        struct probe old = probe_getattr(made ? &n : &s.d);
        file_write(&n);
        file_write(&s.d);
        probe_lasts(&s, 3 * STAGE_SECOND - HELD, old, probe_getattr(made ? &n : &s.d));
        scene_close(&s);
    }
    struct scene s;
    scene_open(&s, SHARED "settle = 0\n");
    warm_name(&s, "f", &s.f);
    struct file n = file_make("handle of n", NF3DIR, 20), before = s.d;
    file_write(&s.d);
    probe_held(&s, (struct probe){NFS3_MKDIR, args_mkdir(&s.d, "n"),
                                  res_create(&n, &n.attr, full_wcc(&before, &s.d))});
    probe_fetches(&s.c1, probe_access(&s.d, 0x3f)); /* may search it, as it is now */
    scene_revalidate(&s, &n);
    probe_lasts(&s, 3 * STAGE_SECOND - HELD, probe_name(&s.d, "n", &n),
                probe_name(&s.d, "n", &s.g));
    scene_close(&s);
}

/* Protects: answers to the proxy's own questions: which object a name leads to, here for a REMOVE that is
 * not sent, since its client has gone. */
static void test_questions(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, SHARED);
    warm_attributes(&s, &s.d);
    stage_call(&s.c1, NFS3_REMOVE, args_dirop(&s.d, "f"));
    struct stage_sent *look = stage_takes(s.stage, NFS3_LOOKUP, args_dirop(&s.d, "f"));
    stage_advance(s.stage, HELD);
    stage_client_leave(&s.c1);
    stage_answer(look, full_lookup(&s.f, &s.d));
    stage_quiet(s.stage);
    stage_advance(s.stage, 3 * STAGE_SECOND - HELD - 1);
    probe_serves(&s.c2, probe_getattr(&s.f));
    stage_advance(s.stage, 1);
    probe_fetches(&s.c2, probe_getattr(&s.f));
    scene_close(&s);
}

/* From so long before its end the server is in doubt. */
static void doubt(struct scene *s, uint64_t before)
{
    cache_doubt(s->stage->worker[0].service.cache, s->stage->worker[0].engine.now + before);
}

/* Protects: what was asked for in doubt is aged also in exclusive, however late the answer came. */
static void test_doubt(void **state)
{
    (void)state;
    static const struct {
        uint64_t before; /* the end of the doubt, when it was asked for */
        bool aged;
    } rows[] = {{STAGE_MSEC, true}, {0, false}};
    for (unsigned i = 0; i < LENGTH_OF(rows); i++) {
        struct scene s;
        scene_open(&s, EXCLUSIVE);
        doubt(&s, rows[i].before);
        struct probe old = probe_getattr(&s.f);
        probe_held(&s, old);
        file_write(&s.f);
        if (rows[i].aged) {
            probe_lasts(&s, 3 * STAGE_SECOND - HELD, old, probe_getattr(&s.f));
        } else {
            stage_advance(s.stage, 1000000 * STAGE_SECOND);
            probe_serves(&s.c2, old);
        }
        scene_close(&s);
    }
}

/* Protects: the same of a name whose objects were asked for since. */
static void test_doubt_of_a_name(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    doubt(&s, STAGE_MSEC);
    struct probe old = probe_name(&s.d, "f", &s.f);
    probe_held(&s, old);
    scene_revalidate(&s, &s.d);
    scene_revalidate(&s, &s.f);
    probe_lasts(&s, 3 * STAGE_SECOND - HELD, old, probe_name(&s.d, "f", &s.g));
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attributes),      cmocka_unit_test(test_refreshed),
        cmocka_unit_test(test_crossed),         cmocka_unit_test(test_names),
        cmocka_unit_test(test_verdicts),        cmocka_unit_test(test_mutations),
        cmocka_unit_test(test_questions),       cmocka_unit_test(test_doubt),
        cmocka_unit_test(test_doubt_of_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
