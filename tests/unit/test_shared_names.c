/*
 * `shared`, names: for how long a name that was looked up is served, whether it leads somewhere or to
 * nothing; and which of them a directory that was asked for again vouches for.
 */
#include "stage_probe.h"

/* d and f are asked for: both are known to be as they are now. */
static void revalidate(struct scene *s)
{
    scene_revalidate(s, &s->d);
    scene_revalidate(s, &s->f);
}

/* ---- names that lead somewhere ---- */

/* Protects: a name is served for as long as its directory's attributes would be: age-min, where it
 * has just been seen; also where both objects were asked for since. */
static void test_age_min(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, SHARED);
    struct probe old = probe_name(&s.d, "f", &s.f);
    probe_fetches(&s.c1, old);
    stage_advance(s.stage, 2 * STAGE_SECOND);
    revalidate(&s);
    probe_lasts(&s, STAGE_SECOND, old, probe_name(&s.d, "f", &s.g));
    scene_close(&s);
}

/* Protects: how long the directory has not changed is the age of its names too, from when they were
 * looked up. */
static void test_follows_the_directory(void **state)
{
    (void)state;
    static const struct {
        uint64_t unchanged, age; /* s */
    } rows[] = {{10, 10}, {40, 40}, {58, 58}};
    for (unsigned i = 0; i < LENGTH_OF(rows); i++) {
        struct scene s;
        scene_open(&s, SHARED);
        warm_attributes(&s, &s.d);
        stage_advance(s.stage, STAGE_SECOND); /* too soon to be vouched for */
        struct probe old = probe_name(&s.d, "f", &s.f);
        probe_fetches(&s.c1, old);
        stage_advance(s.stage, (rows[i].unchanged - 1) * STAGE_SECOND);
        revalidate(&s);
        probe_lasts(&s, (rows[i].age - rows[i].unchanged + 1) * STAGE_SECOND, old,
                    probe_name(&s.d, "f", &s.g));
        scene_close(&s);
    }
}

/* Protects: a directory that was asked for again and has not changed vouches for the names that were
 * looked up at least two seconds after it was first seen so, however old they are; and for no others. */
static void test_directory_vouches(void **state)
{
    (void)state;
    static const struct {
        uint64_t looked_up; /* ns after the directory's change was seen */
        bool vouched;
    } rows[] = {{0, false},
                {STAGE_SECOND, false},
                {2 * STAGE_SECOND - 1, false},
                {2 * STAGE_SECOND, true},
                {9 * STAGE_SECOND, true}};
    for (unsigned changed = 0; changed < 2; changed++) {
        for (unsigned i = 0; i < LENGTH_OF(rows); i++) {
            struct scene s;
            scene_open(&s, SHARED);
            warm_attributes(&s, &s.d);
            if (changed) { /* else it was first seen so when it was first seen */
                stage_advance(s.stage, 100 * STAGE_SECOND);
                file_write(&s.d);
                scene_revalidate(&s, &s.d);
            }
            stage_advance(s.stage, rows[i].looked_up);
            struct probe old = probe_name(&s.d, "f", &s.f);
            probe_fetches(&s.c1, old);
            stage_advance(s.stage, 50 * STAGE_SECOND - rows[i].looked_up);
            revalidate(&s);
            /* By itself the name may now be as old as the directory's age: 50 s. */
            stage_advance(s.stage, rows[i].looked_up);
            if (rows[i].vouched)
                probe_serves(&s.c2, old);
            else
                probe_fetches(&s.c2, probe_name(&s.d, "f", &s.g));
            scene_close(&s);
        }
    }
}

/* Protects: what a directory vouches for is served until its attributes' own age is over, although those
 * of the file are still fresh. */
static void test_vouched_until(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, SHARED "access-age = 1h\n");
    warm_attributes(&s, &s.d);
    stage_advance(s.stage, 2 * STAGE_SECOND);
    struct probe old = probe_name(&s.d, "f", &s.f);
    probe_fetches(&s.c1, old);
    for (unsigned minute = 0; minute < 20; minute++) {
        stage_advance(s.stage, 60 * STAGE_SECOND);
        revalidate(&s);
        probe_serves(&s.c1, old);
    }
    stage_advance(s.stage, 59 * STAGE_SECOND);
    scene_revalidate(&s, &s.f);
    file_write(&s.d); /* f now leads to g */
    probe_lasts(&s, STAGE_SECOND, old, probe_name(&s.d, "f", &s.g));
    scene_close(&s);
}

/* Protects: a name leads to attributes that have an age of their own. */
static void test_child_has_its_own_age(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, SHARED);
    warm_attributes(&s, &s.d);
    stage_advance(s.stage, 10 * STAGE_SECOND);
    struct probe old = probe_name(&s.d, "f", &s.f);
    probe_fetches(&s.c1, old);
    file_write(&s.f);
    probe_lasts(&s, 3 * STAGE_SECOND, old, probe_name(&s.d, "f", &s.f));
    scene_close(&s);
}

/* ---- names that lead nowhere ---- */

/* Protects: NOENT is served for negative-age, from when the server said so: the directory vouches for
 * it no longer than that, however fresh it is. */
static void test_negative_age(void **state)
{
    (void)state;
    static const struct {
        const char *keys;
        uint64_t seconds;
    } rows[] = {
        {"", 30},
        {"negative-age = 1s\n", 1},
        {"negative-age = 100s\naccess-age = 1h\n", 100},
        {"negative-age = 30s\nage-min = 40s\n", 30},
    };
    for (unsigned i = 0; i < LENGTH_OF(rows); i++) {
        char keys[100];
        struct scene s;
        snprintf(keys, sizeof keys, SHARED "%s", rows[i].keys);
        scene_open(&s, keys);
        warm_attributes(&s, &s.d);
        stage_advance(s.stage, 50 * STAGE_SECOND);
        struct probe old = probe_name(&s.d, "n", NULL);
        probe_fetches(&s.c1, old);
        stage_advance(s.stage, (rows[i].seconds - 1) * STAGE_SECOND);
        revalidate(&s);
        probe_lasts(&s, STAGE_SECOND, old, probe_name(&s.d, "n", &s.f));
        scene_close(&s);
    }
}

/* Protects: negative-age = 0 serves no NOENT; names that lead somewhere are served as ever. */
static void test_negative_age_zero(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, SHARED "negative-age = 0\n");
    probe_fetches(&s.c1, probe_name(&s.d, "n", NULL));
    probe_fetches(&s.c1, probe_name(&s.d, "n", NULL));
    probe_fetches(&s.c1, probe_name(&s.d, "f", &s.f));
    probe_serves(&s.c2, probe_name(&s.d, "f", &s.f));
    scene_close(&s);
}

/* Protects: NOENT is as old as its directory allows, where that is sooner than negative-age. */
static void test_negative_follows_the_directory(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, SHARED);
    struct probe old = probe_name(&s.d, "n", NULL);
    probe_fetches(&s.c1, old);
    stage_advance(s.stage, 2 * STAGE_SECOND);
    revalidate(&s);
    probe_lasts(&s, STAGE_SECOND, old, probe_name(&s.d, "n", &s.f));
    scene_close(&s);
}

/* Protects: negative-age is one of shared: in exclusive nobody else can make the name. */
static void test_negative_in_exclusive(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE "access-age = 24h\nnegative-age = 1s\n");
    probe_fetches(&s.c1, probe_name(&s.d, "n", NULL));
    stage_advance(s.stage, 86400 * STAGE_SECOND - 1);
    probe_serves(&s.c2, probe_name(&s.d, "n", NULL));
    scene_close(&s);
}

/* Protects: each service has its own negative-age over what they share. */
static void test_negative_age_is_each_services_own(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, SHARED);
    struct service *other = &s.stage->worker[1].service;
    struct settings_service settings = *other->settings;
    settings.negative_age = STAGE_SECOND;
    service_apply(other, &settings);
    struct probe old = probe_name(&s.d, "n", NULL);
    probe_fetches(&s.c1, old);
    stage_advance(s.stage, STAGE_SECOND - 1);
    probe_serves(&s.c2, old);
    stage_advance(s.stage, 1);
    probe_serves(&s.c1, old);
    probe_fetches(&s.c2, probe_name(&s.d, "n", &s.f));
    probe_serves(&s.c1, probe_name(&s.d, "n", &s.f));
    scene_close(&s);
}

/* Protects: EXIST of whatever makes a name drops its NOENT at once; no other name, whatever it leads
 * to. Nothing else shows that the directory has changed. */
static void test_exist(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        struct scene s;
        scene_open(&s, SHARED);
        warm_attributes(&s, &s.f);
        probe_fetches(&s.c1, probe_name(&s.d, "n", NULL));
        probe_fetches(&s.c1, probe_name(&s.d, "m", NULL));
        probe_fetches(&s.c1, probe_name(&s.d, "f", &s.f));
        struct body exist = res_wcc(NFS3ERR_EXIST, full_wcc(&s.d, &s.d));
        switch (i) {
        case 0:
            stage_fetches(&s.c2, NFS3_CREATE, args_create(&s.d, "n", NFS3_GUARDED, NULL), exist);
            break;
        case 1:
            stage_fetches(&s.c2, NFS3_CREATE, args_create(&s.d, "n", NFS3_EXCLUSIVE, "verifier"),
                          exist);
            break;
        case 2:
            stage_fetches(&s.c2, NFS3_MKDIR, args_mkdir(&s.d, "n"), exist);
            break;
        case 3:
            stage_fetches(&s.c2, NFS3_SYMLINK, args_symlink(&s.d, "n", "to"), exist);
            break;
        case 4:
            stage_fetches(&s.c2, NFS3_MKNOD, args_mknod(&s.d, "n"), exist);
            break;
        default:
            stage_fetches(&s.c2, NFS3_LINK, args_link(&s.g, &s.d, "n"),
                          res_link(NFS3ERR_EXIST, &s.g.attr, full_wcc(&s.d, &s.d)));
            break;
        }
        probe_fetches(&s.c1, probe_access(&s.d, 0x1f)); /* whoever may search d is asked again */
        probe_serves(&s.c2, probe_name(&s.d, "f", &s.f));
        probe_serves(&s.c2, probe_name(&s.d, "m", NULL));
        probe_fetches(&s.c1, probe_name(&s.d, "n", &s.g));
        probe_serves(&s.c2, probe_name(&s.d, "n", &s.g));
        scene_close(&s);
    }
}

/* Protects: C5. A MKDIR did not say what it left behind, and neither does the reply from which a name is learned next. What
 * is then said of the directory may show that somebody changed it in between: the name is asked for again. In exclusive
 * it shows what the MKDIR did. */
static void test_learned_before_its_directory(void **state)
{
    (void)state;
    for (unsigned exclusive = 0; exclusive < 2; exclusive++) {
        struct scene s;
        scene_open(&s, exclusive ? EXCLUSIVE : SHARED);
        scene_revalidate(&s, &s.d);
        stage_fetches(&s.c1, NFS3_MKDIR, args_mkdir(&s.d, "m"),
                      res_create(&s.g, &s.g.attr, no_wcc));
        stage_fetches(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "n"), res_post_op(NFS3ERR_NOENT, NULL));
        file_write(&s.d);
        probe_fetches(&s.c2, probe_access(&s.d, 0x1f));
        if (exclusive)
            probe_serves(&s.c2, probe_name(&s.d, "n", NULL));
        else
            probe_fetches(&s.c2, probe_name(&s.d, "n", &s.f));
        scene_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_age_min),
        cmocka_unit_test(test_follows_the_directory),
        cmocka_unit_test(test_directory_vouches),
        cmocka_unit_test(test_vouched_until),
        cmocka_unit_test(test_child_has_its_own_age),
        cmocka_unit_test(test_negative_age),
        cmocka_unit_test(test_negative_age_zero),
        cmocka_unit_test(test_negative_follows_the_directory),
        cmocka_unit_test(test_negative_in_exclusive),
        cmocka_unit_test(test_negative_age_is_each_services_own),
        cmocka_unit_test(test_exist),
        cmocka_unit_test(test_learned_before_its_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
