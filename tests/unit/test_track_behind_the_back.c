/*
 * In `shared` a cached name may be wrong: somebody changed it on the server. The mutation of such a
 * name touches another object than the cache thinks, and its reply shows that.
 */
#include "stage_scene.h"

static void expect_asked_again(struct scene *s, const struct file *file)
{
    stage_fetches(&s->c2, NFS3_GETATTR, args_handle(file), res_getattr(&file->attr));
}

/* Protects: K04. NOENT of g is cached; g is then linked to f on the server, and removed through the
 * proxy: f, whose nlink is 1 again and whose ctime is new, is not served as it was. */
static void test_remove_of_an_absent_name(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, SHARED);
    file_change(&s.f);
    s.f.attr.nlink = 2;
    warm_name(&s, "f", &s.f);
    stage_fetches(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "g"), full_noent(&s.d));
    uint32_t xid = stage_call(&s.c2, NFS3_REMOVE, args_dirop(&s.d, "g"));
    struct stage_sent *sent = stage_next(s.stage);
    if (sent->rpc.procedure == NFS3_LOOKUP) { /* it may as well ask */
        stage_answer(sent, full_lookup(&s.f, &s.d));
        sent = stage_next(s.stage);
    }
    struct file before = s.d;
    file_write(&s.d);
    stage_answer(sent, res_wcc(NFS3_OK, full_wcc(&before, &s.d)));
    stage_told(&s.c2, xid, res_wcc(NFS3_OK, full_wcc(&before, &s.d)));
    file_change(&s.f);
    s.f.attr.nlink = 1;
    expect_asked_again(&s, &s.f);
    scene_close(&s);
}

/* Protects: the same of RENAME, whose source was cached as absent: the object that it moved. */
static void test_rename_of_an_absent_name(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, SHARED);
    warm_attributes(&s, &s.f);
    stage_fetches(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "a"), full_noent(&s.d));
    stage_fetches(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "b"), full_noent(&s.d));
    uint32_t xid = stage_call(&s.c2, NFS3_RENAME, args_rename(&s.d, "a", &s.d, "b"));
    struct body done = res_rename(NFS3_OK, full_wcc(&s.d, &s.d), full_wcc(&s.d, &s.d));
    struct stage_sent *sent = stage_next(s.stage);
    while (sent->rpc.procedure == NFS3_LOOKUP) {
        struct body args = args_dirop(&s.d, "a");
        bool source = bytes_equal(sent->args, body_bytes(&args));
        stage_answer(sent, source ? full_lookup(&s.f, &s.d) : full_noent(&s.d));
        sent = stage_next(s.stage);
    }
    stage_answer(sent, done);
    stage_told(&s.c2, xid, done);
    file_change(&s.f);
    expect_asked_again(&s, &s.f);
    scene_close(&s);
}

/* Protects: K04. The name g is cached as leading to the file g; on the server it was replaced by a
 * link to f; wcc_data.before shows that the directory was changed. REMOVE g. */
static void test_remove_of_a_replaced_name(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, SHARED);
    warm_name(&s, "g", &s.g);
    file_change(&s.f);
    s.f.attr.nlink = 2;
    warm_attributes(&s, &s.f);
    file_write(&s.d); /* on the server: g now is a link to f */
    struct file before = s.d;
    file_write(&s.d);
    uint32_t xid = stage_call(&s.c2, NFS3_REMOVE, args_dirop(&s.d, "g"));
    struct stage_sent *sent = stage_next(s.stage);
    if (sent->rpc.procedure == NFS3_LOOKUP) {
        stage_answer(sent, full_lookup(&s.f, &before));
        sent = stage_next(s.stage);
    }
    stage_answer(sent, res_wcc(NFS3_OK, full_wcc(&before, &s.d)));
    stage_told(&s.c2, xid, res_wcc(NFS3_OK, full_wcc(&before, &s.d)));
    file_change(&s.f);
    s.f.attr.nlink = 1;
    expect_asked_again(&s, &s.f);
    scene_close(&s);
}

/* Protects: CREATE UNCHECKED of a name cached as absent, that is a link to f on the server, truncates
 * f; the reply has no handle. */
static void test_create_over_an_absent_name(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, SHARED);
    warm_attributes(&s, &s.f);
    stage_fetches(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "g"), full_noent(&s.d));
    struct stage_sent *create =
        stage_asks(&s.c2, NFS3_CREATE, args_create(&s.d, "g", NFS3_UNCHECKED, NULL));
    stage_answer(create, res_create(NULL, NULL, full_wcc(&s.d, &s.d)));
    s.f.attr.size = 0;
    file_change(&s.f);
    struct stage_sent *look = stage_next(s.stage);
    if (look != NULL)
        stage_answer(look, full_lookup(&s.f, &s.d));
    stage_told(&s.c2, create->for_xid, res_create(NULL, NULL, full_wcc(&s.d, &s.d)));
    uint32_t xid = stage_call(&s.c1, NFS3_GETATTR, args_handle(&s.f));
    if (stage_waiting(s.stage) > 0)
        stage_answer(stage_next(s.stage), res_getattr(&s.f.attr));
    stage_told(&s.c1, xid, res_getattr(&s.f.attr));
    scene_close(&s);
}

/* Protects: RENAME where both cached names lead elsewhere by now: the server is asked, and what the
 * cache thought goes as well as what the server says; all six objects. */
static void test_rename_of_two_replaced_names(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, SHARED);
    struct file e = file_make("handle of e", NF3DIR, 11), other_f = file_make("f now", NF3DIR, 12),
                other_g = file_make("g now", NF3REG, 13), elsewhere = file_make("else", NF3REG, 14);
    warm_name(&s, "f", &s.f);
    stage_fetches(&s.c1, NFS3_LOOKUP, args_dirop(&e, "g"), full_lookup(&s.g, &e));
    warm_attributes(&s, &other_f);
    warm_attributes(&s, &other_g);
    warm_attributes(&s, &elsewhere);
    struct body args = args_rename(&s.d, "f", &e, "g"), done = res_rename(NFS3_OK, no_wcc, no_wcc);
    uint32_t xid = stage_call(&s.c1, NFS3_RENAME, args);
    stage_answer(stage_takes(s.stage, NFS3_LOOKUP, args_dirop(&s.d, "f")),
                 full_lookup(&other_f, &s.d));
    stage_answer(stage_takes(s.stage, NFS3_LOOKUP, args_dirop(&e, "g")), full_lookup(&other_g, &e));
    stage_answer(stage_takes(s.stage, NFS3_RENAME, args), done);
    stage_told(&s.c1, xid, done);
    stage_quiet(s.stage);
    struct file *const touched[] = {&s.d, &e, &s.f, &s.g, &other_f, &other_g};
    for (unsigned i = 0; i < 6; i++) {
        file_change(touched[i]);
        expect_asked_again(&s, touched[i]);
    }
    stage_serves(&s.c2, NFS3_GETATTR, args_handle(&elsewhere), res_getattr(&elsewhere.attr));
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_remove_of_an_absent_name),
        cmocka_unit_test(test_rename_of_an_absent_name),
        cmocka_unit_test(test_remove_of_a_replaced_name),
        cmocka_unit_test(test_create_over_an_absent_name),
        cmocka_unit_test(test_rename_of_two_replaced_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
