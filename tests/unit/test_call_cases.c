/*
 * More cases from the field: permissions, exclusive creates, restarts of the server, JUKEBOX, ACLs.
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

/* Protects: K10, verdicts of a squashing export: the server grants everyone, or denies root, and
 * mode bits say otherwise. */
static void test_k10_squashing_server(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    s.d.attr.mode = 0700;
    s.d.attr.uid = 65534;
    s.c2.who = root;
    struct body all = res_access(&s.d.attr, 0x3f), none = res_access(&s.d.attr, 0);
    stage_fetches(&s.c1, NFS3_ACCESS, args_access(&s.d, 0x3f), all);
    stage_fetches(&s.c2, NFS3_ACCESS, args_access(&s.d, 0x3f), none);
    stage_serves(&s.c1, NFS3_ACCESS, args_access(&s.d, 0x3f), all);
    stage_serves(&s.c2, NFS3_ACCESS, args_access(&s.d, 0x3f), none);
    stage_fetches(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "f"), full_lookup(&s.f, &s.d));
    stage_serves(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "f"), full_lookup(&s.f, &s.d));
    stage_fetches(&s.c2, NFS3_LOOKUP, args_dirop(&s.d, "f"), res_post_op(NFS3ERR_ACCES, NULL));
    scene_close(&s);
}

/* Protects: K12, a refusal is remembered no longer than access-age; a refusing LOOKUP not at all. */
static void test_k12_let_in_later(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE "access-age = 5s\n");
    stage_fetches(&s.c1, NFS3_ACCESS, args_access(&s.d, 0x3f), res_access(&s.d.attr, 0));
    stage_fetches(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "f"), res_post_op(NFS3ERR_ACCES, NULL));
    stage_fetches(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "f"), full_lookup(&s.f, &s.d));
    stage_advance(s.stage, 5 * STAGE_SECOND);
    stage_fetches(&s.c1, NFS3_ACCESS, args_access(&s.d, 0x3f), res_access(&s.d.attr, 0x3f));
    stage_serves(&s.c2, NFS3_ACCESS, args_access(&s.d, 0x3f), res_access(&s.d.attr, 0x3f));
    stage_advance(s.stage, 5 * STAGE_SECOND - STAGE_SECOND / 100);
    stage_serves(&s.c2, NFS3_ACCESS, args_access(&s.d, 0x3f), res_access(&s.d.attr, 0x3f));
    stage_advance(s.stage, STAGE_SECOND / 100);
    stage_fetches(&s.c2, NFS3_ACCESS, args_access(&s.d, 0x3f), res_access(&s.d.attr, 0x3f));
    scene_close(&s);
}

/* Protects: K13, the server keeps an EXCLUSIVE verifier in the times; after the SETATTR that
 * follows, everybody sees the real ones; the same verifier is OK again, another EXIST. */
static void test_k13_exclusive_create(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    stage_fetches(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "f"), full_noent(&s.d));
    struct body args = args_create(&s.d, "f", NFS3_EXCLUSIVE, "verifieV");
    struct file old_d = s.d, odd = s.f;
    odd.attr.atime = TIME(0x76657269, 0x66696556);
    odd.attr.mtime = odd.attr.atime;
    file_write(&s.d);
    stage_fetches(&s.c1, NFS3_CREATE, args, res_create(&s.f, &odd.attr, full_wcc(&old_d, &s.d)));
    getattr_serves(&s.c2, &odd);
    file_change(&s.f);
    stage_fetches(&s.c1, NFS3_SETATTR, args_setattr_guarded(&s.f, 0644, odd.attr.ctime),
                  res_wcc(NFS3_OK, full_wcc(&odd, &s.f)));
    getattr_serves(&s.c2, &s.f);
    stage_fetches(&s.c1, NFS3_CREATE, args, res_create(&s.f, &s.f.attr, full_wcc(&s.d, &s.d)));
    getattr_serves(&s.c2, &s.f);
    stage_fetches(&s.c1, NFS3_CREATE, args_create(&s.d, "f", NFS3_EXCLUSIVE, "verifieW"),
                  res_wcc(NFS3ERR_EXIST, full_wcc(&s.d, &s.d)));
    getattr_fetches(&s.c2, &s.f);
    scene_close(&s);
}

/* Protects: K18, a handle that reports another fileid, fsid or type: nothing of the old is served,
 * and the verdicts and names of the old are gone. */
static void test_k18_another_file(void **state)
{
    (void)state;
    for (unsigned what = 0; what < 3; what++) {
        struct scene s;
        scene_open(&s, EXCLUSIVE);
        warm_name(&s, "f", &s.f);
        stage_fetches(&s.c1, NFS3_ACCESS, args_access(&s.f, 1), res_access(&s.f.attr, 1));
        if (what == 0)
            s.f.attr.fileid++;
        else if (what == 1)
            s.f.attr.fsid++;
        else
            s.f.attr.type = NF3DIR;
        stage_fetches(&s.c2, NFS3_READ, args_read(&s.f, 0, 1), res_post_op(NFS3ERR_IO, &s.f.attr));
        getattr_serves(&s.c1, &s.f);
        stage_fetches(&s.c1, NFS3_ACCESS, args_access(&s.f, 1), res_access(&s.f.attr, 0));
        stage_fetches(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "f"), full_lookup(&s.f, &s.d));
        scene_close(&s);
    }
}

/* Protects: K18, the restart itself: after a reconnect everything is asked again, on all workers;
 * and replies to calls of before are not kept. */
static void test_k18_reconnect(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    warm_name(&s, "f", &s.f);
    struct stage_sent *held = stage_asks(&s.c2, NFS3_GETATTR, args_handle(&s.g));
    stage_link_down(s.stage, 0);
    stage_link_up(s.stage, 0);
    stage_tells(&s.c2, held, res_getattr(&s.g.attr));
    getattr_fetches(&s.c2, &s.g);
    stage_fetches(&s.c2, NFS3_LOOKUP, args_dirop(&s.d, "f"), full_lookup(&s.f, &s.d));
    stage_serves(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "f"), full_lookup(&s.f, &s.d));
    scene_close(&s);
}

/* Protects: for `doubt` after a reconnect, what is filled ages as in shared, also in exclusive. */
static void test_doubt_ages(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    warm_attributes(&s, &s.f);
    stage_link_down(s.stage, 0);
    stage_link_up(s.stage, 0);
    getattr_fetches(&s.c1, &s.f);
    stage_advance(s.stage, 2 * STAGE_SECOND);
    getattr_serves(&s.c1, &s.f);
    stage_advance(s.stage, STAGE_SECOND);
    getattr_fetches(&s.c1, &s.f); /* age-min */
    stage_advance(s.stage, 60 * STAGE_SECOND);
    getattr_fetches(&s.c1, &s.f); /* the doubt is over */
    stage_advance(s.stage, 100000 * STAGE_SECOND);
    getattr_serves(&s.c1, &s.f);
    scene_close(&s);
}

/* Protects: K33, JUKEBOX for a mutation is passed on; what it may have changed is asked again; the
 * next call is forwarded. */
static void test_k33_jukebox(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    warm_attributes(&s, &s.f);
    for (unsigned i = 0; i < 10; i++) {
        stage_fetches(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "f"),
                      res_post_op(NFS3ERR_JUKEBOX, NULL));
        stage_fetches(&s.c1, NFS3_SETATTR, args_setattr_size(&s.f, 0),
                      res_wcc(NFS3ERR_JUKEBOX, no_wcc));
        stage_fetches(&s.c1, NFS3_READDIR, args_readdir(&s.d), res_post_op(NFS3ERR_JUKEBOX, NULL));
        stage_advance(s.stage, STAGE_SECOND);
    }
    getattr_fetches(&s.c2, &s.f);
    warm_name(&s, "f", &s.f);
    stage_serves(&s.c2, NFS3_LOOKUP, args_dirop(&s.d, "f"), full_lookup(&s.f, &s.d));
    scene_close(&s);
}

/* Protects: K37, SETACL goes as it came; mode, ctime and all verdicts of f are asked anew, for
 * everybody; GETACL is never answered here. */
static void test_k37_setacl(void **state)
{
    (void)state;
    for (unsigned attributes = 0; attributes < 2; attributes++) {
        struct scene s;
        scene_open(&s, EXCLUSIVE);
        s.c2.who = bob;
        warm_name(&s, "f", &s.f);
        stage_fetches(&s.c1, NFS3_ACCESS, args_access(&s.f, 0x3f), res_access(&s.f.attr, 0x0d));
        stage_fetches(&s.c2, NFS3_ACCESS, args_access(&s.f, 0x3f), res_access(&s.f.attr, 0));
        file_change(&s.f);
        s.f.attr.mode = 0664;
        stage_fetches(&s.c1, SETACL, args_setacl(&s.f, 4),
                      res_post_op(NFS3_OK, attributes ? &s.f.attr : NULL));
        getattr_fetches(&s.c2, &s.f);
        stage_fetches(&s.c2, NFS3_ACCESS, args_access(&s.f, 0x3f), res_access(&s.f.attr, 0x0d));
        stage_fetches(&s.c1, NFS3_ACCESS, args_access(&s.f, 0x3f), res_access(&s.f.attr, 0x0d));
        for (unsigned twice = 0; twice < 2; twice++)
            stage_fetches(&s.c2, GETACL, args_getacl(&s.f), res_post_op(NFS3_OK, &s.f.attr));
        scene_close(&s);
    }
}

/* Protects: STALE of a mutation drops both of its handles, whichever the server meant. */
static void test_stale_mutation(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    struct file e = file_make("handle of e", NF3DIR, 11);
    warm_name(&s, "f", &s.f);
    stage_fetches(&s.c1, NFS3_LOOKUP, args_dirop(&e, "g"), full_lookup(&s.g, &e));
    stage_fetches(&s.c1, NFS3_LINK, args_link(&s.f, &e, "l"),
                  res_link(NFS3ERR_STALE, NULL, no_wcc));
    getattr_fetches(&s.c2, &s.f);
    getattr_fetches(&s.c2, &e);
    getattr_serves(&s.c2, &s.d);
    stage_fetches(&s.c2, NFS3_LOOKUP, args_dirop(&s.d, "f"), full_lookup(&s.f, &s.d));
    stage_fetches(&s.c2, NFS3_ACCESS, args_access(&e, 2), res_access(&e.attr, 2));
    stage_fetches(&s.c2, NFS3_LOOKUP, args_dirop(&e, "g"), full_lookup(&s.g, &e));
    scene_close(&s);
}

/* Protects: settling. What was mutated less than `settle` ago is served for a second and then asked,
 * also in exclusive. */
static void test_settle(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    warm_attributes(&s, &s.f);
    struct file old = s.f;
    file_write(&s.f);
    stage_fetches(&s.c1, NFS3_WRITE, args_write(&s.f, 0, "text"),
                  res_write(full_wcc(&old, &s.f), 4, "verifier"));
    stage_advance(s.stage, STAGE_SECOND / 2);
    getattr_serves(&s.c2, &s.f);
    stage_advance(s.stage, STAGE_SECOND / 2);
    s.f.attr.used += 4096; /* flushed; ctime is as it was */
    getattr_fetches(&s.c2, &s.f);
    stage_advance(s.stage, 9 * STAGE_SECOND);
    getattr_fetches(&s.c2, &s.f);
    stage_advance(s.stage, 10000 * STAGE_SECOND);
    getattr_serves(&s.c2, &s.f);
    scene_close(&s);
}

/* Protects: two services of one server share cache and fences, not ages: what is fresh for one may
 * be old for the other. */
static void test_ages_are_each_services_own(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    struct service *other = &s.stage->worker[1].service;
    struct settings_service settings = *other->settings;
    settings.coherence = SETTINGS_SHARED;
    service_apply(other, &settings);
    warm_attributes(&s, &s.f);
    stage_advance(s.stage, 4 * STAGE_SECOND);
    getattr_serves(&s.c1, &s.f);
    getattr_fetches(&s.c2, &s.f);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_k10_squashing_server),
        cmocka_unit_test(test_k12_let_in_later),
        cmocka_unit_test(test_k13_exclusive_create),
        cmocka_unit_test(test_k18_another_file),
        cmocka_unit_test(test_k18_reconnect),
        cmocka_unit_test(test_doubt_ages),
        cmocka_unit_test(test_k33_jukebox),
        cmocka_unit_test(test_k37_setacl),
        cmocka_unit_test(test_stale_mutation),
        cmocka_unit_test(test_settle),
        cmocka_unit_test(test_ages_are_each_services_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
