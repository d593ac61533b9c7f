/*
 * A directory may have several handles: mutations of one name in it are ordered by which file the
 * directory is. Where that is not known, the server is asked before the call takes its turn.
 */
#include "stage_scene.h"

/* The directory d under another handle. */
static struct file alias_of_d(const struct scene *s)
{
    struct file alias = file_make("another handle of d", NF3DIR, 1);
    alias.attr = s->d.attr;
    return alias;
}

static struct stage_sent *takes_getattr(struct scene *s, const struct file *file)
{
    return stage_takes(s->stage, NFS3_GETATTR, args_handle(file));
}

/* Protects: two handles of one directory are one line; and where both are known, nothing is asked. */
static void test_one_line(void **state)
{
    (void)state;
    for (unsigned swapped = 0; swapped < 2; swapped++) {
        struct scene s;
        scene_open(&s, EXCLUSIVE);
        struct file alias = alias_of_d(&s), e = file_make("handle of e", NF3DIR, 11);
        const struct file *one = swapped ? &alias : &s.d, *two = swapped ? &s.d : &alias;
        struct body exist = res_wcc(NFS3ERR_EXIST, full_wcc(&s.d, &s.d));
        warm_attributes(&s, &s.d);
        warm_attributes(&s, &alias);
        warm_attributes(&s, &e);
        struct stage_sent *first = stage_asks(&s.c1, NFS3_MKDIR, args_mkdir(one, "n"));
        uint32_t xid = stage_call(&s.c2, NFS3_MKDIR, args_mkdir(two, "n"));
        stage_quiet(s.stage);
        stage_asks(&s.c2, NFS3_MKDIR, args_mkdir(two, "m")); /* another name */
        stage_asks(&s.c2, NFS3_MKDIR, args_mkdir(&e, "n"));  /* another directory */
        stage_tells(&s.c1, first, res_create(&s.g, &s.g.attr, full_wcc(&s.d, &s.d)));
        stage_answer(stage_takes(s.stage, NFS3_MKDIR, args_mkdir(two, "n")), exist);
        stage_told(&s.c2, xid, exist);
        scene_close(&s);
    }
}

/* Protects: C1. RENAME d/a to d/c is under way, d/c by another handle of d, when RENAME d/c to d/x comes:
 * it waits for its turn before it asks what is behind d/c. Else it is told g, which was there before, and
 * moves f, which then is served as it was. */
static void test_behind_a_moved_name(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    struct file alias = alias_of_d(&s);
    struct body there = args_rename(&s.d, "a", &alias, "c"),
                onward = args_rename(&s.d, "c", &s.d, "x");
    struct body done = res_rename(NFS3_OK, no_wcc, no_wcc);
    warm_attributes(&s, &s.d);
    warm_attributes(&s, &alias);
    uint32_t first = stage_call(&s.c1, NFS3_RENAME, there);
    stage_answer(stage_takes(s.stage, NFS3_LOOKUP, args_dirop(&s.d, "a")), full_lookup(&s.f, &s.d));
    stage_answer(stage_takes(s.stage, NFS3_LOOKUP, args_dirop(&alias, "c")),
                 full_lookup(&s.g, &s.d));
    struct stage_sent *rename = stage_takes(s.stage, NFS3_RENAME, there);
    uint32_t second = stage_call(&s.c2, NFS3_RENAME, onward);
    stage_quiet(s.stage);
    file_change(&s.f);
    stage_answer(rename, done);
    stage_told(&s.c1, first, done);
    stage_answer(stage_takes(s.stage, NFS3_LOOKUP, args_dirop(&s.d, "c")), full_lookup(&s.f, &s.d));
    stage_answer(stage_takes(s.stage, NFS3_LOOKUP, args_dirop(&s.d, "x")), full_noent(&s.d));
    rename = stage_takes(s.stage, NFS3_RENAME, onward);
    file_change(&s.f);
    stage_answer(rename, done);
    stage_told(&s.c2, second, done);
    stage_quiet(s.stage);
    stage_fetches(&s.c1, NFS3_GETATTR, args_handle(&s.f), res_getattr(&s.f.attr));
    scene_close(&s);
}

/* By another handle of d, d/name is asked for while a mutation of that name by d's first handle is under way; the answer
 * comes when it has ended: the name's from before it, the directory's attributes from after it. */
struct crossing {
    struct stage_sent *look;
    struct file alias, before;
    const char *name;
};

static void crosses(struct scene *s, struct crossing *crossing, const char *name)
{
    crossing->before = s->d;
    crossing->name = name;
    crossing->look = stage_asks(&s->c2, NFS3_LOOKUP, args_dirop(&crossing->alias, name));
    file_write(&s->d);
    crossing->alias.attr = s->d.attr;
}

/* Nothing but the name is missing for a hit; the server says that it leads to `child`, or nowhere. */
static void expect_name_asked(struct scene *s, struct crossing *crossing, struct body outdated,
                              struct body results)
{
    const struct file *alias = &crossing->alias;
    struct body args = args_dirop(alias, crossing->name);
    stage_fetches(&s->c1, NFS3_GETATTR, args_handle(alias), res_getattr(&alias->attr));
    stage_tells(&s->c2, crossing->look, outdated);
    stage_fetches(&s->c2, NFS3_ACCESS, args_access(alias, 0x3f), res_access(&alias->attr, 0x3f));
    stage_fetches(&s->c2, NFS3_LOOKUP, args, results);
    stage_serves(&s->c2, NFS3_LOOKUP, args, results);
}

/* Protects: C1. The fences of the name stand for the handle that the mutation came with. */
static void test_absent_by_another_handle(void **state)
{
    (void)state;
    struct scene s;
    struct crossing crossing;
    scene_open(&s, EXCLUSIVE);
    crossing.alias = alias_of_d(&s);
    warm_attributes(&s, &s.d);
    warm_attributes(&s, &crossing.alias);
    struct stage_sent *made = stage_asks(&s.c1, NFS3_MKDIR, args_mkdir(&s.d, "n"));
    crosses(&s, &crossing, "n");
    stage_tells(&s.c1, made, res_create(&s.g, &s.g.attr, full_wcc(&crossing.before, &s.d)));
    expect_name_asked(&s, &crossing, full_noent(&s.d), full_lookup(&s.g, &s.d));
    scene_close(&s);
}

/* Protects: the same of a name that is moved away, where the file has a handle of its own under each. */
static void test_moved_by_another_handle(void **state)
{
    (void)state;
    struct scene s;
    struct crossing crossing;
    struct body done, away;
    scene_open(&s, EXCLUSIVE);
    crossing.alias = alias_of_d(&s);
    struct file f2 = file_make("another handle of f", NF3REG, 2);
    f2.attr = s.f.attr;
    warm_attributes(&s, &crossing.alias);
    warm_attributes(&s, &f2);
    warm_name(&s, "f", &s.f);
    stage_fetches(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "x"), full_noent(&s.d));
    away = args_rename(&s.d, "f", &s.d, "x");
    struct stage_sent *moved = stage_asks(&s.c1, NFS3_RENAME, away);
    crosses(&s, &crossing, "f");
    file_change(&s.f);
    f2.attr = s.f.attr;
    done = res_rename(NFS3_OK, full_wcc(&crossing.before, &s.d), full_wcc(&crossing.before, &s.d));
    stage_tells(&s.c1, moved, done);
    stage_fetches(&s.c1, NFS3_GETATTR, args_handle(&f2), res_getattr(&f2.attr));
    expect_name_asked(&s, &crossing, full_lookup(&f2, &s.d), full_noent(&s.d));
    scene_close(&s);
}

/* Protects: each mutation that has a name asks which file its directory is, where that is not known;
 * before all else, with the caller's credential, once. */
static void test_asks_first(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    warm_attributes(&s, &s.f);
    stage_client_done(&s.c1);
    const struct {
        unsigned procedure;
        struct body args;
        bool looks; /* … and then what is behind the name */
    } rows[] = {{NFS3_CREATE, args_create(&s.d, "n", NFS3_EXCLUSIVE, "verifier"), false},
                {NFS3_MKDIR, args_mkdir(&s.d, "n"), false},
                {NFS3_SYMLINK, args_symlink(&s.d, "n", "t"), false},
                {NFS3_MKNOD, args_mknod(&s.d, "n"), false},
                {NFS3_LINK, args_link(&s.f, &s.d, "n"), false},
                {NFS3_REMOVE, args_dirop(&s.d, "n"), true},
                {NFS3_RMDIR, args_dirop(&s.d, "n"), true}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct body dir = args_handle(&s.d);
        cache_drop_handle(s.stage->worker[0].service.cache, file_handle(&s.d));
        stage_client_init(&s.c1, s.stage, 0, bob);
        uint32_t xid = stage_call(&s.c1, rows[i].procedure, rows[i].args);
        struct stage_sent *get = stage_takes(s.stage, NFS3_GETATTR, dir);
        struct body expected = stage_record(get->rpc.xid, NFS3_GETATTR, &bob, &dir);
        wire_assert_bytes(get->record, body_bytes(&expected));
        stage_quiet(s.stage);
        stage_answer(get, res_getattr(&s.d.attr));
        if (rows[i].looks)
            stage_answer(stage_takes(s.stage, NFS3_LOOKUP, args_dirop(&s.d, "n")),
                         res_post_op(NFS3ERR_NOENT, NULL));
        stage_untold(&s.c1, xid);
        struct body failed = rows[i].procedure == NFS3_LINK ? res_link(NFS3ERR_EXIST, NULL, no_wcc)
                                                            : res_wcc(NFS3ERR_EXIST, no_wcc);
        stage_answer(stage_takes(s.stage, rows[i].procedure, rows[i].args), failed);
        stage_told(&s.c1, xid, failed);
        stage_quiet(s.stage);
        assert_int_equal(s.stage->worker[0].engine.calls, 0);
        stage_client_done(&s.c1);
    }
    const struct counters *counters = &s.stage->worker[0].service.counters;
    assert_int_equal(counter_read(&counters->procedures[PROGRAM_NFS][NFS3_GETATTR].asked),
                     sizeof rows / sizeof rows[0]);
    stage_client_init(&s.c1, s.stage, 0, alice);
    scene_close(&s);
}

/* Protects: RENAME asks for each of its directories that is not known, and for one only once. */
static void test_rename_asks_for_both(void **state)
{
    (void)state;
    for (unsigned known = 0; known < 4; known++) {
        for (unsigned same = 0; same < 2; same++) {
            struct scene s;
            scene_open(&s, EXCLUSIVE);
            struct file e = file_make("handle of e", NF3DIR, 11);
            const struct file *to = same ? &s.d : &e;
            struct body args = args_rename(&s.d, "a", to, "b");
            if (known & 1)
                warm_attributes(&s, &s.d);
            if (known & 2)
                warm_attributes(&s, &e);
            stage_call(&s.c1, NFS3_RENAME, args);
            if (!(known & 1))
                stage_answer(takes_getattr(&s, &s.d), res_getattr(&s.d.attr));
            if (!(known & 2) && !same)
                stage_answer(takes_getattr(&s, &e), res_getattr(&e.attr));
            stage_answer(stage_takes(s.stage, NFS3_LOOKUP, args_dirop(&s.d, "a")),
                         full_lookup(&s.f, &s.d));
            stage_answer(stage_takes(s.stage, NFS3_LOOKUP, args_dirop(to, "b")), full_noent(to));
            stage_answer(stage_takes(s.stage, NFS3_RENAME, args),
                         res_rename(NFS3_OK, no_wcc, no_wcc));
            stage_told(&s.c1, s.c1.xid, res_rename(NFS3_OK, no_wcc, no_wcc));
            stage_quiet(s.stage);
            scene_close(&s);
        }
    }
}

/* Protects: calls take their turns when it is known which file their directories are: whose is known
 * first goes first, and the other one waits, by whichever handle. */
static void test_line_up_when_known(void **state)
{
    (void)state;
    for (unsigned handles = 1; handles < 3; handles++) {
        struct scene s;
        scene_open(&s, EXCLUSIVE);
        struct file alias = alias_of_d(&s);
        const struct file *other = handles == 2 ? &alias : &s.d;
        stage_call(&s.c1, NFS3_MKDIR, args_mkdir(&s.d, "n"));
        struct stage_sent *get = takes_getattr(&s, &s.d);
        uint32_t second = stage_call(&s.c2, NFS3_MKDIR, args_mkdir(other, "n"));
        stage_answer(takes_getattr(&s, other), res_getattr(&s.d.attr));
        struct stage_sent *mkdir = stage_takes(s.stage, NFS3_MKDIR, args_mkdir(other, "n"));
        stage_answer(get, res_getattr(&s.d.attr));
        stage_quiet(s.stage);
        stage_answer(mkdir, res_wcc(NFS3ERR_EXIST, no_wcc));
        stage_told(&s.c2, second, res_wcc(NFS3ERR_EXIST, no_wcc));
        stage_takes(s.stage, NFS3_MKDIR, args_mkdir(&s.d, "n"));
        scene_close(&s);
    }
}

/* Protects: where the server does not say which file a directory is, its handle stands for it. */
static void test_line_of_a_handle(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    struct stage_client *const clients[] = {&s.c1, &s.c2};
    for (unsigned i = 0; i < 2; i++) {
        stage_call(clients[i], NFS3_MKDIR, args_mkdir(&s.d, "n"));
        stage_answer(takes_getattr(&s, &s.d), res_status(NFS3ERR_STALE));
        if (i == 0)
            stage_takes(s.stage, NFS3_MKDIR, args_mkdir(&s.d, "n"));
    }
    stage_quiet(s.stage);
    scene_close(&s);
}

/* Protects: without a cache too. */
static void test_line_without_a_cache(void **state)
{
    (void)state;
    struct file d = file_make("d", NF3DIR, 1);
    struct stage *stage = stage_create_sized(EXCLUSIVE, 1, 0);
    struct stage_client client;
    stage_client_init(&client, stage, 0, alice);
    struct stage_sent *mkdir = stage_asks(&client, NFS3_MKDIR, args_mkdir(&d, "n"));
    uint32_t xid = stage_call(&client, NFS3_RMDIR, args_dirop(&d, "n"));
    stage_quiet(stage);
    stage_tells(&client, mkdir, res_create(&d, NULL, no_wcc));
    stage_answer(stage_takes(stage, NFS3_RMDIR, args_dirop(&d, "n")), res_wcc(NFS3_OK, no_wcc));
    stage_told(&client, xid, res_wcc(NFS3_OK, no_wcc));
    stage_client_done(&client);
    stage_destroy(stage);
}

/* Protects: a question that can't be asked, and a call that can't be sent any more when its question is
 * answered, since a reload gave the service another server: the client is told to come back. */
static void test_can_not_ask(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    struct service *service = &s.stage->worker[0].service;
    stage_call(&s.c1, NFS3_MKDIR, args_mkdir(&s.d, "n"));
    struct stage_sent *get = takes_getattr(&s, &s.d);
    service->cache = cache_server_get(s.stage->cache, "other:2049");
    stage_answer(get, res_getattr(&s.d.attr));
    assert_int_equal(s.c1.failures, 1);
    service->nfs = NULL;
    stage_call(&s.c1, NFS3_MKDIR, args_mkdir(&s.d, "n"));
    assert_int_equal(s.c1.failures, 2);
    assert_int_equal(s.c1.client.inflight, 0);
    assert_int_equal(s.stage->worker[0].engine.calls, 0);
    stage_quiet(s.stage);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_line),
        cmocka_unit_test(test_behind_a_moved_name),
        cmocka_unit_test(test_absent_by_another_handle),
        cmocka_unit_test(test_moved_by_another_handle),
        cmocka_unit_test(test_asks_first),
        cmocka_unit_test(test_rename_asks_for_both),
        cmocka_unit_test(test_line_up_when_known),
        cmocka_unit_test(test_line_of_a_handle),
        cmocka_unit_test(test_line_without_a_cache),
        cmocka_unit_test(test_can_not_ask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
