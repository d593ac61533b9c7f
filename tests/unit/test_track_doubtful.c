/*
 * Answers that prove less than they seem to, and questions that are not worth asking.
 */
#include "stage_scene.h"

static void expect_asked_again(struct scene *s, const struct file *file)
{
    stage_fetches(&s->c2, NFS3_GETATTR, args_handle(file), res_getattr(&file->attr));
}

/* Protects: GETATTR needs no permission (RFC 1813 3.3.1). ACCES to the question which file a handle
 * is, after a mutation that succeeded, leaves that open: everything is in doubt. */
static void test_identity_denied(void **state)
{
    (void)state;
    static const uint32_t status[] = {NFS3ERR_ACCES, NFS3ERR_PERM, NFS3ERR_INVAL};
    for (unsigned i = 0; i < 3; i++) {
        struct scene s;
        scene_open(&s, EXCLUSIVE);
        struct file alias = file_make("another handle of f", NF3REG, 2);
        warm_attributes(&s, &alias);
        struct stage_sent *set = stage_asks(&s.c1, NFS3_SETATTR, args_setattr_size(&s.f, 0));
        stage_answer(set, res_wcc(NFS3_OK, no_wcc));
        file_write(&s.f);
        alias.attr = s.f.attr;
        stage_answer(stage_takes(s.stage, NFS3_GETATTR, args_handle(&s.f)), res_status(status[i]));
        stage_told(&s.c1, set->for_xid, res_wcc(NFS3_OK, no_wcc));
        expect_asked_again(&s, &alias);
        scene_close(&s);
    }
}

static void set_size_of_what_goes(const char *settings, uint32_t status, bool doubt)
{
    struct scene s;
    scene_open(&s, settings);
    struct file alias = file_make("another handle of f", NF3REG, 2);
    warm_attributes(&s, &alias);
    struct stage_sent *set = stage_asks(&s.c1, NFS3_SETATTR, args_setattr_size(&s.f, 0));
    stage_answer(set, res_wcc(status, no_wcc));
    stage_answer(stage_takes(s.stage, NFS3_GETATTR, args_handle(&s.f)), res_status(NFS3ERR_STALE));
    stage_told(&s.c1, set->for_xid, res_wcc(status, no_wcc));
    if (doubt)
        expect_asked_again(&s, &alias);
    else
        stage_serves(&s.c2, NFS3_GETATTR, args_handle(&alias), res_getattr(&alias.attr));
    stage_quiet(s.stage);
    scene_close(&s);
}

/* Protects: C1: a file that was changed, and is removed before it can be asked for, may be known under other handles. Not
 * where the mutation failed. */
static void test_gone_meanwhile(void **state)
{
    (void)state;
    set_size_of_what_goes(SHARED, NFS3_OK, true);
    set_size_of_what_goes(SHARED, NFS3ERR_IO, true);
    set_size_of_what_goes(SHARED, NFS3ERR_PERM, false);
    set_size_of_what_goes(EXCLUSIVE, NFS3_OK, true);
    set_size_of_what_goes(EXCLUSIVE, NFS3ERR_PERM, false);
}

/* Protects: a file whose fsid and fileid are 0 is a file like any other, with other handles: whether the proxy has to ask which
 * file it is, or the reply says so. */
static void test_file_of_zeros(void **state)
{
    (void)state;
    for (unsigned asks = 0; asks < 2; asks++) {
        struct scene s;
        scene_open(&s, EXCLUSIVE);
        struct file alias = file_make("another handle of f", NF3REG, 0), before;
        s.f.attr.fsid = alias.attr.fsid = 0;
        s.f.attr.fileid = 0;
        alias.attr = before.attr = s.f.attr;
        warm_attributes(&s, &alias);
        struct stage_sent *set = stage_asks(&s.c1, NFS3_SETATTR, args_setattr_size(&s.f, 0));
        file_write(&s.f);
        struct body results = res_wcc(NFS3_OK, asks ? no_wcc : full_wcc(&before, &s.f));
        stage_answer(set, results);
        if (asks)
            stage_answer(stage_takes(s.stage, NFS3_GETATTR, args_handle(&s.f)),
                         res_getattr(&s.f.attr));
        stage_told(&s.c1, set->for_xid, results);
        alias.attr = s.f.attr;
        expect_asked_again(&s, &alias);
        stage_quiet(s.stage);
        scene_close(&s);
    }
}

/* Protects: memory = 0 forwards everything and asks nothing of its own: there is nothing that could
 * be stale. */
static void test_no_cache_asks_nothing(void **state)
{
    (void)state;
    struct file d = file_make("d", NF3DIR, 1), f = file_make("f", NF3REG, 2);
    struct stage *stage = stage_create_sized(EXCLUSIVE, 1, 0);
    struct stage_client client;
    stage_client_init(&client, stage, 0, alice);
    stage_fetches(&client, NFS3_SETATTR, args_setattr_size(&f, 0), res_wcc(NFS3_OK, no_wcc));
    stage_fetches(&client, NFS3_REMOVE, args_dirop(&d, "f"), res_wcc(NFS3_OK, no_wcc));
    stage_fetches(&client, NFS3_RENAME, args_rename(&d, "f", &d, "g"),
                  res_rename(NFS3_OK, no_wcc, no_wcc));
    stage_fetches(&client, NFS3_LINK, args_link(&f, &d, "f"), res_link(NFS3_OK, NULL, no_wcc));
    stage_fetches(&client, NFS3_CREATE, args_create(&d, "f", NFS3_UNCHECKED, NULL),
                  res_create(NULL, NULL, no_wcc));
    stage_client_done(&client);
    stage_destroy(stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_identity_denied),
        cmocka_unit_test(test_gone_meanwhile),
        cmocka_unit_test(test_file_of_zeros),
        cmocka_unit_test(test_no_cache_asks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
