/*
 * What is answered from the cache, after which replies, and with which octets.
 */
#include "stage_scene.h"

#include "proxy/procedure.h"

static void getattr_hits(struct stage_client *client, const struct file *file)
{
    stage_serves(client, NFS3_GETATTR, args_handle(file), res_getattr(&file->attr));
}

static void learn(struct scene *s, unsigned procedure, struct body args, struct body results)
{
    stage_fetches(&s->c1, procedure, args, results);
}

/* Protects: attributes from every reply that holds some are served, byte for byte, to clients of
 * all workers. */
static void test_getattr_after_any_reply(void **state)
{
    (void)state;
    for (unsigned row = 0; row < 9; row++) {
        struct scene s;
        scene_open(&s, EXCLUSIVE);
        struct body some = res_post_op(NFS3_OK, &s.f.attr);
        body_u64(&some, 0); /* what else there is, is not looked at */
        body_u64(&some, 0);
        switch (row) {
        case 0:
            learn(&s, NFS3_GETATTR, args_handle(&s.f), res_getattr(&s.f.attr));
            break;
        case 1:
            learn(&s, NFS3_ACCESS, args_access(&s.f, 1), res_access(&s.f.attr, 1));
            break;
        case 2:
            learn(&s, NFS3_READLINK, args_handle(&s.f), some);
            break;
        case 3:
            learn(&s, NFS3_READ, args_read(&s.f, 0, 9), some);
            break;
        case 4:
            learn(&s, NFS3_FSSTAT, args_handle(&s.f), some);
            break;
        case 5:
            learn(&s, NFS3_FSINFO, args_handle(&s.f), some);
            break;
        case 6:
            learn(&s, NFS3_PATHCONF, args_handle(&s.f), some);
            break;
        case 7:
            learn(&s, NFS3_READDIR, args_readdir(&s.f), some);
            break;
        default:
            learn(&s, NFS3_READDIRPLUS, args_readdirplus(&s.f),
                  res_readdirplus(&s.f.attr, NULL, 0));
            break;
        }
        getattr_hits(&s.c1, &s.f);
        getattr_hits(&s.c2, &s.f);
        scene_close(&s);
    }
}

/* Protects: attributes in NFSACL replies, whose fsid may be wrong (nfs-ganesha 4.3 sends 0), are
 * never served; but they show what is outdated. */
static void test_getattr_after_nfsacl(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    struct file broken = s.f;
    broken.attr.fsid = 0;
    learn(&s, GETACL, args_getacl(&s.f), res_post_op(NFS3_OK, &broken.attr));
    learn(&s, NFS3_GETATTR, args_handle(&s.f), res_getattr(&s.f.attr));
    getattr_hits(&s.c2, &s.f);
    learn(&s, GETACL, args_getacl(&s.f), res_post_op(NFS3_OK, &broken.attr));
    getattr_hits(&s.c2, &s.f);
    learn(&s, SETACL, args_setacl(&s.f, 4), res_post_op(NFS3_OK, &broken.attr));
    learn(&s, NFS3_GETATTR, args_handle(&s.f), res_getattr(&s.f.attr));
    getattr_hits(&s.c2, &s.f);
    s.f.attr.ctime++;
    learn(&s, GETACL, args_getacl(&s.f), res_post_op(NFS3_OK, &s.f.attr));
    learn(&s, NFS3_GETATTR, args_handle(&s.f), res_getattr(&s.f.attr));
    scene_close(&s);
}

/* Protects: also a failed reply's attributes are the server's word. */
static void test_getattr_after_failed_replies(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    learn(&s, NFS3_ACCESS, args_access(&s.f, 1), res_post_op(NFS3ERR_IO, &s.f.attr));
    getattr_hits(&s.c2, &s.f);
    learn(&s, NFS3_LOOKUP, args_dirop(&s.d, "x"), res_post_op(NFS3ERR_ACCES, &s.d.attr));
    getattr_hits(&s.c2, &s.d);
    scene_close(&s);
}

/* Protects: one LOOKUP teaches the name and both objects; its hit is its own octets again. */
static void test_lookup_found(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    struct body found = full_lookup(&s.f, &s.d);
    learn(&s, NFS3_LOOKUP, args_dirop(&s.d, "f"), found);
    stage_serves(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "f"), found);
    stage_serves(&s.c2, NFS3_LOOKUP, args_dirop(&s.d, "f"), found);
    getattr_hits(&s.c2, &s.d);
    getattr_hits(&s.c2, &s.f);
    stage_asks(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "F"));
    stage_asks(&s.c1, NFS3_LOOKUP, args_dirop(&s.f, "f"));
    scene_close(&s);
}

/* Protects: NOENT is remembered with the directory's attributes, for that name alone. */
static void test_lookup_noent(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    learn(&s, NFS3_LOOKUP, args_dirop(&s.d, "x"), full_noent(&s.d));
    stage_serves(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "x"), full_noent(&s.d));
    stage_serves(&s.c2, NFS3_LOOKUP, args_dirop(&s.d, "x"), full_noent(&s.d));
    stage_asks(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "xx"));
    scene_close(&s);
}

/* Protects: a reply without the attributes that a hit needs teaches no more than it says. */
static void test_lookup_without_attributes(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    learn(&s, NFS3_LOOKUP, args_dirop(&s.d, "f"), res_lookup(&s.f, NULL, NULL));
    stage_fetches(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "f"), res_lookup(&s.f, NULL, &s.d.attr));
    stage_fetches(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "f"), full_lookup(&s.f, &s.d));
    stage_serves(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "f"), full_lookup(&s.f, &s.d));
    learn(&s, NFS3_LOOKUP, args_dirop(&s.d, "x"), res_post_op(NFS3ERR_NOENT, NULL));
    scene_close(&s);
}

/* Protects: C4 for names. Whoever has not been let search the directory is asked for; each way of
 * being let counts: a LOOKUP, or ACCESS with the LOOKUP bit. */
static void test_lookup_needs_permission(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    struct body found = full_lookup(&s.f, &s.d);
    learn(&s, NFS3_LOOKUP, args_dirop(&s.d, "f"), found);
    s.c2.who = bob;
    stage_fetches(&s.c2, NFS3_LOOKUP, args_dirop(&s.d, "f"), res_post_op(NFS3ERR_ACCES, &s.d.attr));
    stage_fetches(&s.c2, NFS3_ACCESS, args_access(&s.d, 0x3f), res_access(&s.d.attr, 0x3d));
    stage_fetches(&s.c2, NFS3_LOOKUP, args_dirop(&s.d, "f"), res_post_op(NFS3ERR_ACCES, &s.d.attr));
    stage_serves(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "f"), found);
    s.c2.who = root;
    stage_fetches(&s.c2, NFS3_ACCESS, args_access(&s.d, 0x02), res_access(&s.d.attr, 0x02));
    stage_serves(&s.c2, NFS3_LOOKUP, args_dirop(&s.d, "f"), found);
    scene_close(&s);
}

/* Protects: a page of READDIRPLUS teaches names, handles and attributes, but gives nobody the
 * right to search. "." and ".." are not taught. */
static void test_readdirplus(void **state)
{
    (void)state;
    struct scene s;
    struct file up = file_make("handle of ..", NF3DIR, 9), bare = file_make("bare", NF3REG, 8);
    scene_open(&s, EXCLUSIVE);
    const struct dirent3 page[] = {{".", &s.d, true, true},
                                   {"..", &up, true, true},
                                   {"f", &s.f, true, true},
                                   {"g", &s.g, true, false},
                                   {"bare", &bare, false, true}};
    learn(&s, NFS3_READDIRPLUS, args_readdirplus(&s.d), res_readdirplus(&s.d.attr, page, 5));
    getattr_hits(&s.c2, &s.d);
    getattr_hits(&s.c2, &s.f);
    getattr_hits(&s.c2, &up);
    struct stage_sent *sent = stage_asks(&s.c2, NFS3_GETATTR, args_handle(&s.g));
    stage_tells(&s.c2, sent, res_getattr(&s.g.attr));
    sent = stage_asks(&s.c2, NFS3_LOOKUP, args_dirop(&s.d, "f"));
    stage_tells(&s.c2, sent, res_post_op(NFS3ERR_ACCES, &s.d.attr));
    stage_fetches(&s.c2, NFS3_ACCESS, args_access(&s.d, 0x02), res_access(&s.d.attr, 0x02));
    stage_serves(&s.c2, NFS3_LOOKUP, args_dirop(&s.d, "f"), full_lookup(&s.f, &s.d));
    stage_fetches(&s.c2, NFS3_LOOKUP, args_dirop(&s.d, "g"), full_lookup(&s.g, &s.d));
    stage_asks(&s.c2, NFS3_LOOKUP, args_dirop(&s.d, ".."));
    stage_next(s.stage);
    stage_asks(&s.c2, NFS3_LOOKUP, args_dirop(&s.d, "."));
    scene_close(&s);
}

/* Protects: K11, the reply stays within the mask, and a bit that the server was never asked for is
 * asked. */
static void test_k11_access_masks(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    learn(&s, NFS3_ACCESS, args_access(&s.f, 0x01), res_access(&s.f.attr, 0x01));
    stage_serves(&s.c2, NFS3_ACCESS, args_access(&s.f, 0x01), res_access(&s.f.attr, 0x01));
    stage_fetches(&s.c1, NFS3_ACCESS, args_access(&s.f, 0x3f), res_access(&s.f.attr, 0x0d));
    stage_serves(&s.c2, NFS3_ACCESS, args_access(&s.f, 0x3f), res_access(&s.f.attr, 0x0d));
    stage_serves(&s.c2, NFS3_ACCESS, args_access(&s.f, 0x02), res_access(&s.f.attr, 0));
    stage_serves(&s.c2, NFS3_ACCESS, args_access(&s.f, 0x0c), res_access(&s.f.attr, 0x0c));
    stage_serves(&s.c2, NFS3_ACCESS, args_access(&s.f, 0), res_access(&s.f.attr, 0));
    scene_close(&s);
}

/* Protects: a bit was asked for with others that are already known: it is asked of the server all
 * the same. */
static void test_k11_one_unknown_bit(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    learn(&s, NFS3_ACCESS, args_access(&s.f, 0x1f), res_access(&s.f.attr, 0x1f));
    stage_fetches(&s.c1, NFS3_ACCESS, args_access(&s.f, 0x3f), res_access(&s.f.attr, 0x1f));
    stage_serves(&s.c1, NFS3_ACCESS, args_access(&s.f, 0x20), res_access(&s.f.attr, 0));
    scene_close(&s);
}

/* Protects: K09 and K10, a verdict is given to exactly the credential that the server gave it to,
 * whatever mode and owner say. */
static void test_k09_k10_exact_credential(void **state)
{
    (void)state;
    static const struct who callers[] = {
        {.flavor = RPC_AUTH_SYS, .uid = 1000, .gid = 100},
        {.flavor = RPC_AUTH_SYS, .uid = 1001, .gid = 100},
        {.flavor = RPC_AUTH_SYS, .uid = 0, .gid = 0},
        {.flavor = RPC_AUTH_NONE},
        {.flavor = RPC_AUTH_SYS, .uid = 1000, .gid = 101},
        {.flavor = RPC_AUTH_SYS, .uid = 1000, .gid = 100, .gid_count = 1, .gids = {5}},
        {.flavor = RPC_AUTH_SYS, .uid = 1000, .gid = 100, .gid_count = 1, .gids = {6}},
        {.flavor = RPC_AUTH_SYS, .uid = 1000, .gid = 100, .gid_count = 2, .gids = {5, 6}},
        {.flavor = RPC_AUTH_SYS, .uid = 1000, .gid = 100, .gid_count = 2, .gids = {6, 5}},
        {.flavor = RPC_AUTH_SYS, .uid = 1000, .gid = 100, .gid_count = 16},
    };
    enum {
        CALLERS = sizeof callers / sizeof callers[0]
    };
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    s.f.attr.mode = 0600; /* for uid 1000: the server says otherwise */
    s.f.attr.uid = 1000;
    for (uint32_t i = 0; i < CALLERS; i++) {
        s.c1.who = callers[i];
        stage_fetches(&s.c1, NFS3_ACCESS, args_access(&s.f, 0x3f), res_access(&s.f.attr, i));
    }
    /* Nobody's verdict took another's place: at least the last few are there, and exact. */
    for (uint32_t i = CALLERS - 4; i < CALLERS; i++) {
        s.c2.who = callers[i];
        stage_serves(&s.c2, NFS3_ACCESS, args_access(&s.f, 0x3f), res_access(&s.f.attr, i));
    }
    scene_close(&s);
}

/* Protects: a credential that can't be read, here one of 17 gids, is served nothing, whatever is
 * known of others, root first. */
static void test_unreadable_credential_is_served_nothing(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    s.c1.who = root;
    warm_name(&s, "f", &s.f);
    learn(&s, NFS3_ACCESS, args_access(&s.f, 0x3f), res_access(&s.f.attr, 0x3f));
    s.c2.who = (struct who){.flavor = RPC_AUTH_SYS, .gid_count = 17};
    stage_asks(&s.c2, NFS3_GETATTR, args_handle(&s.f));
    stage_asks(&s.c2, NFS3_ACCESS, args_access(&s.f, 0x3f));
    stage_asks(&s.c2, NFS3_LOOKUP, args_dirop(&s.d, "f"));
    scene_close(&s);
}

/* Protects: attributes that the server told to one flavor are not told to another: an export may be
 * for AUTH_SYS only. */
static void test_flavors_apart(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    warm_attributes(&s, &s.f);
    s.c2.who = nobody;
    stage_fetches(&s.c2, NFS3_GETATTR, args_handle(&s.f), res_status(NFS3ERR_ACCES));
    getattr_hits(&s.c1, &s.f);
    stage_fetches(&s.c2, NFS3_GETATTR, args_handle(&s.f), res_getattr(&s.f.attr));
    getattr_hits(&s.c2, &s.f);
    getattr_hits(&s.c1, &s.f);
    scene_close(&s);
}

/* Protects: K36, times of all kinds are bit-exact, and a server's clock far ahead makes nothing
 * stale. */
static void test_k36_times(void **state)
{
    (void)state;
    const uint64_t times[] = {TIME(0, 787086328), TIME(0x80000000u, 999999999), TIME(~0u, 0),
                              TIME(~0u, ~0u), 0};
    struct scene s;
    scene_open(&s, SHARED);
    for (unsigned i = 0; i < sizeof times / sizeof times[0]; i++) {
        struct file file = file_make("timed", NF3REG, 50 + i);
        file.handle[0] = (uint8_t)i;
        file.attr.atime = times[i];
        file.attr.mtime = times[(i + 1) % 5];
        file.attr.ctime = times[(i + 2) % 5];
        warm_attributes(&s, &file);
        stage_advance(s.stage, STAGE_SECOND);
        getattr_hits(&s.c2, &file);
    }
    scene_close(&s);
}

/* Protects: C6 and K33, nothing but success and NOENT of a LOOKUP is remembered, whatever came
 * before. */
static void test_k33_errors_are_not_remembered(void **state)
{
    (void)state;
    static const uint32_t errors[] = {NFS3ERR_JUKEBOX,     NFS3ERR_ACCES,  NFS3ERR_PERM,
                                      NFS3ERR_IO,          NFS3ERR_STALE,  NFS3ERR_BADHANDLE,
                                      NFS3ERR_SERVERFAULT, NFS3ERR_NOTDIR, 12345};
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    for (unsigned i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        for (unsigned twice = 0; twice < 2; twice++) {
            stage_fetches(&s.c1, NFS3_GETATTR, args_handle(&s.f), res_status(errors[i]));
            stage_fetches(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "f"), res_post_op(errors[i], NULL));
            stage_fetches(&s.c1, NFS3_ACCESS, args_access(&s.f, 0x3f),
                          res_post_op(errors[i], NULL));
            stage_fetches(&s.c1, NFS3_READDIR, args_readdir(&s.d), res_post_op(errors[i], NULL));
        }
    }
    warm_name(&s, "f", &s.f);
    stage_serves(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "f"), full_lookup(&s.f, &s.d));
    scene_close(&s);
}

/* Protects: NOENT of a GETATTR or ACCESS, which no server should say, is not remembered. */
static void test_noent_of_others(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    for (unsigned twice = 0; twice < 2; twice++) {
        stage_fetches(&s.c1, NFS3_GETATTR, args_handle(&s.f), res_status(NFS3ERR_NOENT));
        stage_fetches(&s.c1, NFS3_ACCESS, args_access(&s.f, 1), res_post_op(NFS3ERR_NOENT, NULL));
    }
    scene_close(&s);
}

/* Protects: STALE drops the handle, and every name that leads to it, whichever program's call it answers. */
static void test_stale_drops(void **state)
{
    (void)state;
    for (unsigned acl = 0; acl < 2; acl++) {
        struct scene s;
        scene_open(&s, EXCLUSIVE);
        warm_name(&s, "f", &s.f);
        warm_name(&s, "also f", &s.f);
        if (acl)
            stage_fetches(&s.c2, GETACL, args_getacl(&s.f), res_post_op(NFS3ERR_STALE, NULL));
        else
            stage_fetches(&s.c2, NFS3_READ, args_read(&s.f, 0, 1),
                          res_post_op(NFS3ERR_STALE, NULL));
        stage_fetches(&s.c1, NFS3_GETATTR, args_handle(&s.f), res_status(NFS3ERR_STALE));
        stage_fetches(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "f"), full_noent(&s.d));
        stage_fetches(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "also f"), full_noent(&s.d));
        getattr_hits(&s.c1, &s.d);
        scene_close(&s);
    }
}

/* Protects: without a cache everything is forwarded, and answered. */
static void test_no_cache(void **state)
{
    (void)state;
    struct file d = file_make("d", NF3DIR, 1), f = file_make("f", NF3REG, 2);
    struct stage *stage = stage_create_sized(EXCLUSIVE, 1, 0);
    struct stage_client client;
    stage_client_init(&client, stage, 0, alice);
    for (unsigned twice = 0; twice < 2; twice++) {
        stage_fetches(&client, NFS3_LOOKUP, args_dirop(&d, "f"), full_lookup(&f, &d));
        stage_fetches(&client, NFS3_GETATTR, args_handle(&f), res_getattr(&f.attr));
        stage_fetches(&client, NFS3_ACCESS, args_access(&f, 1), res_access(&f.attr, 1));
    }
    stage_client_done(&client);
    stage_destroy(stage);
}

/* Protects: calls, hits and forwarded calls are counted where they belong. */
static void test_counters(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    warm_name(&s, "f", &s.f);
    getattr_hits(&s.c1, &s.f);
    getattr_hits(&s.c2, &s.f);
    stage_fetches(&s.c1, NFS3_READLINK, args_handle(&s.f), res_post_op(NFS3ERR_INVAL, NULL));
    const struct {
        unsigned worker, procedure;
        uint64_t calls, hits, forwarded;
    } rows[] = {{0, NFS3_LOOKUP, 1, 0, 1},
                {0, NFS3_GETATTR, 1, 1, 0},
                {1, NFS3_GETATTR, 1, 1, 0},
                {0, NFS3_READLINK, 1, 0, 1},
                {1, NFS3_LOOKUP, 0, 0, 0}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct procedure_counters *counters =
            &s.stage->worker[rows[i].worker]
                 .service.counters.procedures[PROGRAM_NFS][rows[i].procedure];
        assert_int_equal(counter_read(&counters->calls), rows[i].calls);
        assert_int_equal(counter_read(&counters->hits), rows[i].hits);
        assert_int_equal(counter_read(&counters->forwarded), rows[i].forwarded);
        assert_int_equal(counter_read(&counters->asked), 0);
        assert_int_equal(counter_read(&counters->refused), 0);
    }
    scene_close(&s);
}
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_getattr_after_any_reply),
        cmocka_unit_test(test_getattr_after_nfsacl),
        cmocka_unit_test(test_getattr_after_failed_replies),
        cmocka_unit_test(test_lookup_found),
        cmocka_unit_test(test_lookup_noent),
        cmocka_unit_test(test_lookup_without_attributes),
        cmocka_unit_test(test_lookup_needs_permission),
        cmocka_unit_test(test_readdirplus),
        cmocka_unit_test(test_k11_access_masks),
        cmocka_unit_test(test_k11_one_unknown_bit),
        cmocka_unit_test(test_k09_k10_exact_credential),
        cmocka_unit_test(test_unreadable_credential_is_served_nothing),
        cmocka_unit_test(test_flavors_apart),
        cmocka_unit_test(test_k36_times),
        cmocka_unit_test(test_k33_errors_are_not_remembered),
        cmocka_unit_test(test_noent_of_others),
        cmocka_unit_test(test_stale_drops),
        cmocka_unit_test(test_no_cache),
        cmocka_unit_test(test_counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
