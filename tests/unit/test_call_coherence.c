/*
 * Cases from the field in which clients saw what was no longer so; two clients on two workers.
 */
#include "stage_scene.h"

static void getattr_fetches(struct stage_client *client, const struct file *file)
{
    stage_fetches(client, NFS3_GETATTR, args_handle(file), res_getattr(&file->attr));
}

static void getattr_serves(struct stage_client *client, const struct file *file)
{
    stage_serves(client, NFS3_GETATTR, args_handle(file), res_getattr(&file->attr));
}

/* The client sees the file as it is now, from wherever. */
static void getattr_sees(struct stage_client *client, const struct file *file)
{
    uint32_t xid = stage_call(client, NFS3_GETATTR, args_handle(file));
    if (stage_waiting(client->worker->stage) > 0)
        stage_answer(stage_takes(client->worker->stage, NFS3_GETATTR, args_handle(file)),
                     res_getattr(&file->attr));
    stage_told(client, xid, res_getattr(&file->attr));
}

/* Protects: K01, a LOOKUP's and a GETATTR's reply with size 100 are held across a truncation. */
static void test_k01_held_replies(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    s.f.attr.size = 100;
    struct file old = s.f;
    struct stage_sent *look = stage_asks(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "f"));
    struct stage_sent *get = stage_asks(&s.c1, NFS3_GETATTR, args_handle(&s.f));
    struct stage_sent *set = stage_asks(&s.c2, NFS3_SETATTR, args_setattr_size(&s.f, 0));
    file_change(&s.f);
    s.f.attr.size = 0;
    stage_tells(&s.c2, set, res_wcc(NFS3_OK, full_wcc(&old, &s.f)));
    stage_tells(&s.c1, look, full_lookup(&old, &s.d));
    stage_tells(&s.c1, get, res_getattr(&old.attr));
    getattr_sees(&s.c1, &s.f);
    getattr_sees(&s.c2, &s.f);
    uint32_t xid = stage_call(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "f"));
    if (stage_waiting(s.stage) > 0)
        stage_answer(stage_next(s.stage), full_lookup(&s.f, &s.d));
    stage_told(&s.c1, xid, full_lookup(&s.f, &s.d));
    scene_close(&s);
}

/* Protects: K03, the server truncates and answers PERM without wcc. */
static void test_k03_error_without_wcc(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    warm_name(&s, "f", &s.f);
    stage_fetches(&s.c2, NFS3_SETATTR, args_setattr_size(&s.f, 0), res_wcc(NFS3ERR_PERM, no_wcc));
    file_change(&s.f);
    s.f.attr.size = 0;
    getattr_fetches(&s.c1, &s.f);
    getattr_serves(&s.c2, &s.f);
    stage_serves(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "f"), full_lookup(&s.f, &s.d));
    scene_close(&s);
}

/* Protects: K03, the connection is lost before the reply: nothing is served until the server says,
 * also not by a reply that comes between the loss and the second sending. */
static void test_k03_connection_lost(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    warm_attributes(&s, &s.f);
    warm_attributes(&s, &s.g);
    struct file old = s.f;
    uint32_t xid = stage_call(&s.c1, NFS3_SETATTR, args_setattr_size(&s.f, 0));
    stage_link_down(s.stage, 0);
    file_change(&s.f);
    s.f.attr.size = 0;
    struct stage_sent *get = stage_asks(&s.c2, NFS3_GETATTR, args_handle(&s.f));
    stage_tells(&s.c2, get, res_getattr(&old.attr));
    getattr_fetches(&s.c2, &s.g); /* everything is in doubt */
    getattr_serves(&s.c2, &s.g);  /* … until it was asked */
    stage_link_up(s.stage, 0);
    struct stage_sent *again = stage_takes(s.stage, NFS3_SETATTR, args_setattr_size(&s.f, 0));
    getattr_fetches(&s.c2, &s.g); /* and once more */
    struct body done = res_wcc(NFS3_OK, full_wcc(&s.f, &s.f));
    stage_answer(again, done);
    stage_told(&s.c1, xid, done);
    getattr_fetches(&s.c2, &s.f);
    scene_close(&s);
}

/* Protects: K04, LINK f as g, REMOVE g: nlink and ctime of f. */
static void test_k04_link_and_remove(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    warm_name(&s, "f", &s.f);
    struct file old_d = s.d;
    file_write(&s.d);
    file_change(&s.f);
    s.f.attr.nlink = 2;
    stage_fetches(&s.c2, NFS3_LINK, args_link(&s.f, &s.d, "g"),
                  res_link(NFS3_OK, &s.f.attr, full_wcc(&old_d, &s.d)));
    getattr_sees(&s.c1, &s.f);
    /* The name g is not cached: the proxy has to ask what it is. */
    uint32_t xid = stage_call(&s.c2, NFS3_REMOVE, args_dirop(&s.d, "g"));
    stage_answer(stage_takes(s.stage, NFS3_LOOKUP, args_dirop(&s.d, "g")), full_lookup(&s.f, &s.d));
    old_d = s.d;
    file_write(&s.d);
    file_change(&s.f);
    s.f.attr.nlink = 1;
    stage_answer(stage_takes(s.stage, NFS3_REMOVE, args_dirop(&s.d, "g")),
                 res_wcc(NFS3_OK, full_wcc(&old_d, &s.d)));
    stage_told(&s.c2, xid, res_wcc(NFS3_OK, full_wcc(&old_d, &s.d)));
    getattr_fetches(&s.c1, &s.f);
    stage_serves(&s.c1, NFS3_GETATTR, args_handle(&s.d), res_getattr(&s.d.attr));
    scene_close(&s);
}

/* Protects: K04, the link g was made behind the proxy's back, and leads to f by another handle. */
static void test_k04_link_behind_the_back(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, SHARED);
    struct file alias = file_make("f as g", NF3REG, 2);
    warm_name(&s, "f", &s.f);
    file_change(&s.f);
    s.f.attr.nlink = 2;
    alias.attr = s.f.attr;
    uint32_t xid = stage_call(&s.c2, NFS3_REMOVE, args_dirop(&s.d, "g"));
    stage_answer(stage_takes(s.stage, NFS3_LOOKUP, args_dirop(&s.d, "g")),
                 full_lookup(&alias, &s.d));
    stage_answer(stage_takes(s.stage, NFS3_REMOVE, args_dirop(&s.d, "g")),
                 res_wcc(NFS3_OK, full_wcc(&s.d, &s.d)));
    stage_told(&s.c2, xid, res_wcc(NFS3_OK, full_wcc(&s.d, &s.d)));
    file_change(&s.f);
    s.f.attr.nlink = 1;
    getattr_fetches(&s.c1, &s.f);
    scene_close(&s);
}

/* Protects: K05, a page that contains f is held across the REMOVE of f. */
static void test_k05_page_across_remove(void **state)
{
    (void)state;
    for (unsigned warm = 0; warm < 2; warm++) {
        struct scene s;
        scene_open(&s, EXCLUSIVE);
        if (warm)
            warm_name(&s, "f", &s.f);
        const struct dirent3 entries[] = {{"f", &s.f, true, true}, {"g", &s.g, true, true}};
        struct file old = s.d;
        struct stage_sent *page = stage_asks(&s.c1, NFS3_READDIRPLUS, args_readdirplus(&s.d));
        uint32_t xid = stage_call(&s.c2, NFS3_REMOVE, args_dirop(&s.d, "f"));
        if (!warm) {
            stage_answer(stage_takes(s.stage, NFS3_GETATTR, args_handle(&s.d)),
                         res_getattr(&s.d.attr));
            stage_answer(stage_takes(s.stage, NFS3_LOOKUP, args_dirop(&s.d, "f")),
                         full_lookup(&s.f, &s.d));
        }
        file_write(&s.d);
        struct body done = res_wcc(NFS3_OK, full_wcc(&old, &s.d));
        stage_answer(stage_takes(s.stage, NFS3_REMOVE, args_dirop(&s.d, "f")), done);
        stage_told(&s.c2, xid, done);
        stage_tells(&s.c1, page, res_readdirplus(&old.attr, entries, 2));
        stage_fetches(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "f"), full_noent(&s.d));
        stage_fetches(&s.c1, NFS3_GETATTR, args_handle(&s.f), res_status(NFS3ERR_STALE));
        scene_close(&s);
    }
}

/* Protects: K06, EXIST drops NOENT; and NOENT held across a MKDIR is not kept. */
static void test_k06_noent_and_exist(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, SHARED);
    stage_fetches(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "g"), full_noent(&s.d));
    struct file old = s.d;
    file_write(&s.d);
    stage_fetches(&s.c1, NFS3_MKDIR, args_mkdir(&s.d, "g"),
                  res_wcc(NFS3ERR_EXIST, full_wcc(&s.d, &s.d)));
    stage_fetches(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "g"), full_lookup(&s.g, &s.d));

    struct file made = file_make("handle of made", NF3DIR, 30);
    struct stage_sent *look = stage_asks(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "made"));
    struct stage_sent *mkdir = stage_asks(&s.c2, NFS3_MKDIR, args_mkdir(&s.d, "made"));
    old = s.d;
    file_write(&s.d);
    stage_tells(&s.c2, mkdir, res_create(&made, &made.attr, full_wcc(&old, &s.d)));
    stage_tells(&s.c1, look, full_noent(&old));
    uint32_t xid = stage_call(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "made"));
    if (stage_waiting(s.stage) > 0)
        stage_answer(stage_next(s.stage), full_lookup(&made, &s.d));
    stage_told(&s.c1, xid, full_lookup(&made, &s.d));
    scene_close(&s);
}

/* Protects: K07, NOT_SYNC shows that f was changed behind the back; its wcc says how it is now. */
static void test_k07_not_sync(void **state)
{
    (void)state;
    for (unsigned wcc = 0; wcc < 2; wcc++) {
        struct scene s;
        scene_open(&s, SHARED);
        warm_attributes(&s, &s.f);
        struct file old = s.f;
        file_change(&s.f);
        stage_fetches(&s.c1, NFS3_SETATTR, args_setattr_guarded(&s.f, 0600, old.attr.ctime),
                      res_wcc(NFS3ERR_NOT_SYNC, wcc ? full_wcc(&s.f, &s.f) : no_wcc));
        if (wcc)
            getattr_serves(&s.c1, &s.f);
        else
            getattr_fetches(&s.c1, &s.f);
        struct file set = s.f;
        file_change(&set);
        set.attr.mode = 0600;
        stage_fetches(&s.c1, NFS3_SETATTR, args_setattr_guarded(&s.f, 0600, s.f.attr.ctime),
                      res_wcc(NFS3_OK, full_wcc(&s.f, &set)));
        getattr_serves(&s.c2, &set);
        scene_close(&s);
    }
}

/* Protects: K08, two WRITEs at once, answered in reverse order, the later reply with the smaller
 * size. */
static void test_k08_two_writes(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    warm_attributes(&s, &s.f);
    struct file old = s.f, one = s.f, two;
    one.attr.size += 10;
    file_change(&one);
    two = one;
    two.attr.size += 10;
    file_change(&two);
    struct stage_sent *first = stage_asks(&s.c1, NFS3_WRITE, args_write(&s.f, 0, "first"));
    struct stage_sent *second = stage_asks(&s.c1, NFS3_WRITE, args_write(&s.f, 5, "second"));
    stage_tells(&s.c1, second, res_write(full_wcc(&one, &two), 6, "verifier"));
    struct stage_sent *get = stage_asks(&s.c2, NFS3_GETATTR, args_handle(&s.f));
    stage_tells(&s.c1, first, res_write(full_wcc(&old, &one), 5, "verifier"));
    stage_tells(&s.c2, get, res_getattr(&two.attr));
    getattr_fetches(&s.c2, &two);
    getattr_serves(&s.c1, &two);
    scene_close(&s);
}

/* Protects: K14, a fileid that comes back under a new handle. */
static void test_k14_fileid_reused(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    warm_name(&s, "f", &s.f);
    stage_fetches(&s.c1, NFS3_ACCESS, args_access(&s.f, 0x3f), res_access(&s.f.attr, 0x3f));
    struct file reused = file_make("the next handle", NF3REG, 2), old = s.d;
    file_write(&s.d);
    stage_fetches(&s.c2, NFS3_REMOVE, args_dirop(&s.d, "f"),
                  res_wcc(NFS3_OK, full_wcc(&old, &s.d)));
    old = s.d;
    file_write(&s.d);
    uint32_t xid = stage_call(&s.c2, NFS3_CREATE, args_create(&s.d, "g", NFS3_GUARDED, NULL));
    struct body made = res_create(&reused, &reused.attr, full_wcc(&old, &s.d));
    stage_answer(stage_next(s.stage), made);
    stage_told(&s.c2, xid, made);
    stage_fetches(&s.c1, NFS3_GETATTR, args_handle(&s.f), res_status(NFS3ERR_STALE));
    stage_fetches(&s.c1, NFS3_ACCESS, args_access(&s.f, 0x3f), res_post_op(NFS3ERR_STALE, NULL));
    stage_fetches(&s.c1, NFS3_SETATTR, args_setattr_size(&s.f, 0), res_wcc(NFS3ERR_STALE, no_wcc));
    stage_fetches(&s.c1, NFS3_READLINK, args_handle(&s.f), res_post_op(NFS3ERR_STALE, NULL));
    getattr_sees(&s.c2, &reused);
    stage_fetches(&s.c2, NFS3_ACCESS, args_access(&reused, 0x3f), res_access(&reused.attr, 1));
    scene_close(&s);
}

/* Protects: K16, wcc_data is the server's own, also where the cache knows otherwise; and what it
 * shows of a change behind the back takes the directory's names away. */
static void test_k16_wcc_is_the_servers(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, SHARED);
    warm_name(&s, "f", &s.f);
    warm_name(&s, "z", &s.g);
    stage_fetches(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "x"), full_noent(&s.d));
    file_write(&s.d); /* x is made on the server */
    struct file before = s.d, y = file_make("handle of y", NF3REG, 30);
    file_write(&s.d);
    stage_fetches(&s.c1, NFS3_CREATE, args_create(&s.d, "y", NFS3_EXCLUSIVE, "verifier"),
                  res_create(&y, &y.attr, full_wcc(&before, &s.d)));
    getattr_sees(&s.c1, &s.d);
    struct file x = file_make("handle of x", NF3REG, 31);
    stage_fetches(&s.c2, NFS3_LOOKUP, args_dirop(&s.d, "x"), full_lookup(&x, &s.d));
    before = s.d;
    file_write(&s.d);
    struct body done = res_wcc(NFS3_OK, full_wcc(&before, &s.d));
    uint32_t xid = stage_call(&s.c1, NFS3_REMOVE, args_dirop(&s.d, "z"));
    struct stage_sent *sent = stage_next(s.stage);
    if (sent->rpc.procedure == NFS3_LOOKUP) {
        stage_answer(sent, full_lookup(&s.g, &before));
        sent = stage_next(s.stage);
    }
    stage_answer(sent, done);
    stage_told(&s.c1, xid, done);
    getattr_serves(&s.c2, &s.d);
    scene_close(&s);
}

/* Protects: K17, two clients write in turn and a third looks: never older than what was
 * acknowledged. */
static void test_k17_writers_in_turn(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    struct stage_client c3;
    stage_client_init(&c3, s.stage, 1, bob);
    warm_attributes(&s, &s.f);
    for (unsigned i = 0; i < 4; i++) {
        struct stage_client *writer = i % 3 == 2 ? &s.c2 : &s.c1;
        struct file old = s.f;
        struct stage_sent *sent =
            i == 3 ? stage_asks(writer, NFS3_COMMIT, args_commit(&s.f))
                   : stage_asks(writer, NFS3_WRITE, args_write(&s.f, 0, "same range"));
        file_write(&s.f);
        stage_tells(writer, sent,
                    i == 3 ? res_commit(full_wcc(&old, &s.f), "verifier")
                           : res_write(full_wcc(&old, &s.f), 10, "verifier"));
        getattr_serves(&c3, &s.f);
        getattr_serves(&s.c1, &s.f);
    }
    stage_client_done(&c3);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_k01_held_replies),
        cmocka_unit_test(test_k03_error_without_wcc),
        cmocka_unit_test(test_k03_connection_lost),
        cmocka_unit_test(test_k04_link_and_remove),
        cmocka_unit_test(test_k04_link_behind_the_back),
        cmocka_unit_test(test_k05_page_across_remove),
        cmocka_unit_test(test_k06_noent_and_exist),
        cmocka_unit_test(test_k07_not_sync),
        cmocka_unit_test(test_k08_two_writes),
        cmocka_unit_test(test_k14_fileid_reused),
        cmocka_unit_test(test_k16_wcc_is_the_servers),
        cmocka_unit_test(test_k17_writers_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
