/*
 * Callers whose AUTH_SYS credential can't be read (17 gids, say) are passed on; what the server
 * grants them is nobody else's.
 */
#include "stage_scene.h"

static const struct who too_many = {.flavor = RPC_AUTH_SYS, .uid = 1000, .gid_count = 17};

/* Protects: C4, a verdict given to a credential that can't be read is not kept as that of uid 0 and
 * gid 0. */
static void test_verdict_is_not_roots(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    s.c1.who = too_many;
    s.c2.who = root;
    for (unsigned twice = 0; twice < 2; twice++)
        stage_fetches(&s.c1, NFS3_ACCESS, args_access(&s.f, 0x3f), res_access(&s.f.attr, 0x3f));
    stage_fetches(&s.c2, NFS3_ACCESS, args_access(&s.f, 0x3f), res_access(&s.f.attr, 0));
    scene_close(&s);
}

/* Protects: C4, nor does its LOOKUP let uid 0 and gid 0 search the directory. */
static void test_search_is_not_roots(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    s.c1.who = too_many;
    s.c2.who = root;
    for (unsigned twice = 0; twice < 2; twice++)
        stage_fetches(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "f"), full_lookup(&s.f, &s.d));
    stage_fetches(&s.c2, NFS3_LOOKUP, args_dirop(&s.d, "f"), res_post_op(NFS3ERR_ACCES, NULL));
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdict_is_not_roots),
        cmocka_unit_test(test_search_is_not_roots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
