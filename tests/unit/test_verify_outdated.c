/*
 * Hits that are also asked of the server: what may lag, and when nothing can be said.
 */
#include "verify_scene.h"

/* What is kept stays for long. */
#define LONG_SHARED \
    SHARED "age-min = 2h\nage-max = 2h\nnegative-age = 2h\naccess-age = 2h\nverify = 1\n"

/* ---- outdated ---- */

static uint64_t ages_at(const struct scene *s, unsigned bucket)
{
    return counter_read(&s->stage->worker[0].service.counters.outdated_age[bucket]);
}

/* Protects: in shared a difference is outdated, never a violation; it is counted by how long ago what was served had been
 * learned, to the nanosecond at each bound; and what was outdated goes. */
static void test_outdated(void **state)
{
    (void)state;
    static const uint64_t bounds[VERIFY_AGES - 1] = {
        STAGE_SECOND / 10, STAGE_SECOND,      3 * STAGE_SECOND,   10 * STAGE_SECOND,
        30 * STAGE_SECOND, 60 * STAGE_SECOND, 300 * STAGE_SECOND,
    };
    struct scene s;
    verify_open(&s, LONG_SHARED);
    uint64_t count = 0;
    for (unsigned i = 0; i < 2 * (VERIFY_AGES - 1); i++) {
        unsigned bucket = i / 2 + i % 2;
        uint64_t before = ages_at(&s, bucket);
        asked_again(&s.c1, &s.f);
        stage_advance(s.stage, bounds[i / 2] - (i % 2 == 0));
        struct stage_sent *check = hit_getattr(&s.c1, &s.f);
        file_write(&s.f);
        stage_advance(s.stage, 1000 * STAGE_SECOND); /* how long the server takes does not count */
        stage_answer(check, res_getattr(&s.f.attr));
        assert_int_equal(ages_at(&s, bucket), before + 1);
        count++;
        expect_counts(&s, NFS3_GETATTR, count, 0, count, 0, 0, 0);
        stage_advance(s.stage, STAGE_SECOND / 1000 - 1); /* ages are of whole milliseconds */
        s.stage->worker[0].engine.now -= s.stage->worker[0].engine.now % 1000000;
        s.stage->worker[1].engine.now = s.stage->worker[0].engine.now;
    }
    assert_int_equal(verify_told.count, 0);
    scene_close(&s);
}

/* Protects: of an answer that stands on several things the age of the one that differs counts, the oldest of them if there
 * are more. */
static void test_outdated_part(void **state)
{
    (void)state;
    struct scene s;
    verify_open(&s, LONG_SHARED);
    warm_name(&s, "f", &s.f);
    stage_advance(s.stage, 20 * STAGE_SECOND);
    stage_fetches(&s.c1, NFS3_FSINFO, args_handle(&s.f), res_post_op(NFS3_OK, &s.f.attr));
    stage_advance(s.stage, 2 * STAGE_SECOND);
    struct file now = s.f;
    file_change(&now);
    struct body found = full_lookup(&s.f, &s.d);
    stage_answer(hit(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "f"), found), full_lookup(&now, &s.d));
    assert_int_equal(ages_at(&s, 2), 1);
    s.f = now;
    found = full_lookup(&s.f, &s.d);
    stage_fetches(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "f"), found);
    stage_advance(s.stage, 20 * STAGE_SECOND);
    stage_fetches(&s.c1, NFS3_FSINFO, args_handle(&s.f), res_post_op(NFS3_OK, &s.f.attr));
    file_change(&now);
    struct file dir = s.d;
    file_change(&dir);
    stage_answer(hit(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "f"), found), full_lookup(&now, &dir));
    assert_int_equal(ages_at(&s, 0), 0);
    assert_int_equal(ages_at(&s, 4), 1);
    expect_counts(&s, NFS3_LOOKUP, 2, 0, 2, 0, 0, 0);
    scene_close(&s);
}

/* Protects: also in exclusive what is settling may lag, and what was filled in doubt; but not what does not settle: a
 * name. */
static void test_settling(void **state)
{
    (void)state;
    struct scene s;
    verify_open(&s, EXCLUSIVE "doubt = 0\nverify = 1\n");
    verify_warm(&s);
    struct file after = s.f;
    file_change(&after);
    struct stage_sent *chmod = stage_asks(&s.c1, NFS3_SETATTR, args_setattr_size(&s.f, 9));
    stage_tells(&s.c1, chmod, res_wcc(NFS3_OK, full_wcc(&s.f, &after)));
    s.f = after;
    struct stage_sent *check = hit_getattr(&s.c2, &s.f);
    s.f.attr.used += 512;
    stage_answer(check, res_getattr(&s.f.attr));
    expect_counts(&s, NFS3_GETATTR, 1, 0, 1, 0, 0, 0);
    stage_fetches(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "f"), full_lookup(&s.f, &s.d));
    stage_answer(hit(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "f"), full_lookup(&s.f, &s.d)),
                 full_lookup(&s.g, &s.d));
    expect_counts(&s, NFS3_LOOKUP, 1, 0, 0, 1, 0, 0);
    stage_advance(s.stage, 10 * STAGE_SECOND);
    asked_again(&s.c1, &s.f);
    check = hit_getattr(&s.c2, &s.f);
    s.f.attr.used += 512;
    stage_answer(check, res_getattr(&s.f.attr));
    expect_counts(&s, NFS3_GETATTR, 2, 0, 1, 1, 0, 0);
    scene_close(&s);
}

static void test_doubtful(void **state)
{
    (void)state;
    struct scene s;
    verify_open(&s, EXCLUSIVE "settle = 0\nverify = 1\n");
    stage_link_down(s.stage, 0);
    stage_link_up(s.stage, 0);
    asked_again(&s.c1, &s.f);
    struct stage_sent *check = hit_getattr(&s.c1, &s.f);
    file_write(&s.f);
    stage_answer(check, res_getattr(&s.f.attr));
    expect_counts(&s, NFS3_GETATTR, 1, 0, 1, 0, 0, 0);
    stage_advance(s.stage, 60 * STAGE_SECOND);
    asked_again(&s.c1, &s.f);
    check = hit_getattr(&s.c1, &s.f);
    file_write(&s.f);
    stage_answer(check, res_getattr(&s.f.attr));
    expect_counts(&s, NFS3_GETATTR, 2, 0, 1, 1, 0, 0);
    scene_close(&s);
}

/* Protects: that a file without a name is gone by now is nothing that the proxy could know; of any other it is. */
static void test_no_links(void **state)
{
    (void)state;
    for (uint32_t nlink = 0; nlink < 2; nlink++) {
        struct scene s;
        verify_open(&s, STRICT);
        s.f.attr.nlink = nlink;
        warm_attributes(&s, &s.f);
        struct stage_sent *check = hit_getattr(&s.c1, &s.f);
        stage_answer(check, res_status(NFS3ERR_STALE));
        expect_counts(&s, NFS3_GETATTR, 1, 0, nlink == 0, nlink == 1, 0, 0);
        asked_again(&s.c1, &s.f);
        scene_close(&s);
    }
}

/* ---- overlaps ---- */

/* A change of f by another client, the reply of which is still under way. */
static struct stage_sent *change_f(struct scene *s)
{
    struct stage_sent *sent = stage_asks(&s->c2, NFS3_SETATTR, args_setattr_size(&s->f, 9));
    file_write(&s->f);
    return sent;
}

/* Protects: nothing is said where a mutation overlaps: one that is in flight when the reply comes, and one that began and
 * ended in between; what is kept is left alone. One that ended before the hit does not matter. */
static void test_mutation(void **state)
{
    (void)state;
    struct scene s;
    verify_open(&s, STRICT);
    verify_warm(&s);
    struct stage_sent *check = hit_getattr(&s.c1, &s.f);
    struct stage_sent *change = change_f(&s);
    stage_answer(check, res_getattr(&s.f.attr));
    expect_counts(&s, NFS3_GETATTR, 0, 0, 0, 0, 1, 0);
    stage_tells(&s.c2, change, res_wcc(NFS3_OK, (struct wcc){NULL, &s.f.attr}));
    check = hit_getattr(&s.c1, &s.f);
    change = change_f(&s);
    stage_tells(&s.c2, change, res_wcc(NFS3_OK, (struct wcc){NULL, &s.f.attr}));
    stage_answer(check, res_getattr(&s.f.attr));
    expect_counts(&s, NFS3_GETATTR, 0, 0, 0, 0, 2, 0);
    still_served(&s.c1, &s.f);
    expect_counts(&s, NFS3_GETATTR, 1, 1, 0, 0, 2, 0);
    scene_close(&s);
}

/* Protects: each thing that a LOOKUP stands on, by itself: the directory, the name, and the object behind it. */
static void test_mutation_of_a_part(void **state)
{
    (void)state;
    for (unsigned part = 0; part < 3; part++) {
        struct scene s;
        struct stage_sent *change = NULL;
        verify_open(&s, STRICT);
        verify_warm(&s);
        stage_fetches(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "g"), full_lookup(&s.g, &s.d));
        struct stage_sent *check =
            hit(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "f"), full_lookup(&s.f, &s.d));
        if (part == 0)
            change = stage_asks(&s.c2, NFS3_SETATTR, args_setattr_size(&s.d, 9));
        else if (part == 1)
            change = stage_asks(&s.c2, NFS3_RENAME, args_rename(&s.d, "g", &s.d, "f"));
        else
            change = stage_asks(&s.c2, NFS3_SETATTR, args_setattr_size(&s.f, 9));
        stage_answer(check, full_noent(&s.d));
        expect_counts(&s, NFS3_LOOKUP, 0, 0, 0, 0, 1, 0);
        (void)change;
        scene_close(&s);
    }
}

/* Protects: the same file under another handle, and one that a CREATE truncates without anybody knowing. */
static void test_mutation_unseen(void **state)
{
    (void)state;
    struct scene s;
    verify_open(&s, STRICT);
    struct file alias = file_make("another handle of f", NF3REG, 2);
    alias.attr = s.f.attr;
    warm_attributes(&s, &s.f);
    warm_attributes(&s, &s.d);
    struct stage_sent *check = hit_getattr(&s.c1, &s.f);
    struct stage_sent *change = stage_asks(&s.c2, NFS3_SETATTR, args_setattr_size(&alias, 9));
    struct file now = s.f;
    file_write(&now);
    stage_answer(check, res_getattr(&now.attr));
    expect_counts(&s, NFS3_GETATTR, 0, 0, 0, 0, 1, 0);
    stage_tells(&s.c2, change, res_wcc(NFS3_OK, (struct wcc){NULL, &now.attr}));
    s.f = now;
    asked_again(&s.c1, &s.f);
    check = hit_getattr(&s.c1, &s.f);
    stage_asks(&s.c2, NFS3_CREATE, args_create(&s.d, "f", NFS3_UNCHECKED, NULL));
    file_write(&now);
    stage_answer(check, res_getattr(&now.attr));
    expect_counts(&s, NFS3_GETATTR, 0, 0, 0, 0, 2, 0);
    assert_int_equal(verify_told.count, 0);
    scene_close(&s);
}

/* Protects: a REMOVE whose caller was not let see what is behind the name may remove it all the same. */
static void test_mutation_not_seen(void **state)
{
    (void)state;
    struct scene s;
    verify_open(&s, STRICT);
    warm_attributes(&s, &s.f);
    warm_attributes(&s, &s.d);
    struct stage_sent *check = hit_getattr(&s.c1, &s.f);
    stage_call(&s.c2, NFS3_REMOVE, args_dirop(&s.d, "x"));
    stage_answer(stage_takes(s.stage, NFS3_LOOKUP, args_dirop(&s.d, "x")),
                 res_post_op(NFS3ERR_ACCES, NULL));
    stage_takes(s.stage, NFS3_REMOVE, args_dirop(&s.d, "x"));
    struct file now = s.f;
    file_change(&now);
    stage_answer(check, res_getattr(&now.attr));
    expect_counts(&s, NFS3_GETATTR, 0, 0, 0, 0, 1, 0);
    scene_close(&s);
}

/* Protects: a GUARDED CREATE changes no file that is there: what it does not touch is compared meanwhile. */
static void test_guarded_create(void **state)
{
    (void)state;
    struct scene s;
    verify_open(&s, STRICT);
    warm_attributes(&s, &s.f);
    warm_attributes(&s, &s.d);
    stage_asks(&s.c2, NFS3_CREATE, args_create(&s.d, "x", NFS3_GUARDED, NULL));
    still_served(&s.c1, &s.f);
    expect_counts(&s, NFS3_GETATTR, 1, 1, 0, 0, 0, 0);
    scene_close(&s);
}

/* Protects: a connection that was lost in between may have brought an old call to the server. */
static void test_doubt_in_between(void **state)
{
    (void)state;
    struct scene s;
    verify_open(&s, STRICT);
    warm_attributes(&s, &s.f);
    struct stage_sent *check = hit_getattr(&s.c1, &s.f);
    stage_link_down(s.stage, 1);
    file_write(&s.f);
    stage_answer(check, res_getattr(&s.f.attr));
    expect_counts(&s, NFS3_GETATTR, 0, 0, 0, 0, 1, 0);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outdated),        cmocka_unit_test(test_outdated_part),
        cmocka_unit_test(test_settling),        cmocka_unit_test(test_doubtful),
        cmocka_unit_test(test_mutation),        cmocka_unit_test(test_mutation_of_a_part),
        cmocka_unit_test(test_mutation_unseen), cmocka_unit_test(test_mutation_not_seen),
        cmocka_unit_test(test_guarded_create),  cmocka_unit_test(test_doubt_in_between),
        cmocka_unit_test(test_no_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
