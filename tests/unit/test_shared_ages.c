/*
 * `shared`, attributes and verdicts: what somebody else changed on the server is visible when its
 * age is over, and not a nanosecond later; until then the old octets are served.
 */
#include "stage_probe.h"
#include "stage_ways.h"

/* ---- attributes ---- */

/* Protects: what was just seen for the first time, or to have changed, is served for age-min. */
static void test_age_min(void **state)
{
    (void)state;
    static const struct {
        const char *keys;
        uint64_t age;
    } rows[] = {
        {"", 3 * STAGE_SECOND},
        {"age-min = 10s\n", 10 * STAGE_SECOND},
        {"age-min = 1ms\n", STAGE_MSEC},
        {"age-max = 2s\n", 2 * STAGE_SECOND}, /* age-min follows */
        {"age-min = 90s\n", 90 * STAGE_SECOND},
    };
    for (unsigned i = 0; i < LENGTH_OF(rows); i++) {
        char keys[100];
        struct scene s;
        snprintf(keys, sizeof keys, SHARED "%s", rows[i].keys);
        scene_open(&s, keys);
        warm_attributes(&s, &s.f);
        for (unsigned changes = 0; changes < 3; changes++) {
            struct probe old = probe_getattr(&s.f);
            file_write(&s.f);
            probe_lasts(&s, rows[i].age, old, probe_getattr(&s.f));
        }
        scene_close(&s);
    }
}

/* Protects: age-min = 0 serves nothing that may just have changed; what has not for a while, it
 * does. */
static void test_age_min_zero(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, SHARED "age-min = 0\n");
    probe_fetches(&s.c1, probe_getattr(&s.f));
    probe_fetches(&s.c2, probe_getattr(&s.f));
    stage_advance(s.stage, 5 * STAGE_SECOND);
    probe_fetches(&s.c1, probe_getattr(&s.f));
    struct probe old = probe_getattr(&s.f);
    file_write(&s.f);
    stage_advance(s.stage, 5 * STAGE_SECOND - 1);
    probe_serves(&s.c2, old);
    stage_advance(s.stage, 1);
    probe_fetches(&s.c2, probe_getattr(&s.f));
    probe_fetches(&s.c1, probe_getattr(&s.f)); /* it has just changed */
    scene_close(&s);
}

/* Protects: the age is what has passed between the first and the last sight of the same state, within
 * age-min and age-max. */
static void test_age_grows(void **state)
{
    (void)state;
    static const struct {
        uint64_t unchanged, age; /* ms */
    } rows[] = {{1, 3000},      {2999, 3000},   {3000, 3000},   {3001, 3001},     {10000, 10000},
                {59999, 59999}, {60000, 60000}, {60001, 60000}, {86400000, 60000}};
    for (unsigned i = 0; i < LENGTH_OF(rows); i++) {
        struct scene s;
        scene_open(&s, SHARED);
        warm_attributes(&s, &s.f);
        stage_advance(s.stage, rows[i].unchanged * STAGE_MSEC);
        scene_revalidate(&s, &s.f);
        struct probe old = probe_getattr(&s.f);
        file_write(&s.f);
        probe_lasts(&s, rows[i].age * STAGE_MSEC, old, probe_getattr(&s.f));
        probe_lasts(&s, 3 * STAGE_SECOND, probe_getattr(&s.f), probe_getattr(&s.f));
        scene_close(&s);
    }
}

/* Protects: asked for each time that its age is over, an object that does not change is asked for
 * less and less. */
static void test_age_doubles(void **state)
{
    (void)state;
    static const uint64_t seconds[] = {3, 3, 6, 12, 24, 48, 60, 60};
    struct scene s;
    scene_open(&s, SHARED);
    warm_attributes(&s, &s.f);
    for (unsigned i = 0; i < LENGTH_OF(seconds); i++)
        probe_lasts(&s, seconds[i] * STAGE_SECOND, probe_getattr(&s.f), probe_getattr(&s.f));
    scene_close(&s);
}

enum change {
    CHANGE_CTIME,
    CHANGE_MTIME,
    CHANGE_SIZE,
    CHANGE_ATIME,
    CHANGE_USED,
    CHANGES,
};

static void change(struct file *file, enum change change)
{
    uint64_t *const field[CHANGES] = {&file->attr.ctime, &file->attr.mtime, &file->attr.size,
                                      &file->attr.atime, &file->attr.used};
    ++*field[change];
}

/* Protects: ctime, mtime or size alone is a change, and the age starts at age-min again; a read on
 * the server, or its flushing, is none. */
static void test_what_is_a_change(void **state)
{
    (void)state;
    for (enum change what = 0; what < CHANGES; what++) {
        struct scene s;
        scene_open(&s, SHARED);
        warm_attributes(&s, &s.f);
        stage_advance(s.stage, 10 * STAGE_SECOND);
        probe_fetches(&s.c1, probe_getattr(&s.f));
        struct probe old = probe_getattr(&s.f);
        change(&s.f, what);
        probe_lasts(&s, 10 * STAGE_SECOND, old, probe_getattr(&s.f));
        bool changed = what <= CHANGE_SIZE;
        probe_lasts(&s, (changed ? 3 : 20) * STAGE_SECOND, probe_getattr(&s.f),
                    probe_getattr(&s.f));
        scene_close(&s);
    }
}

/* Protects: kept times are whole milliseconds, rounded down: what was fetched within one is served
 * for what is left of it less, never more. */
static void test_rounded_down(void **state)
{
    (void)state;
    for (unsigned late = 1; late < STAGE_MSEC; late += STAGE_MSEC - 2) {
        struct scene s;
        scene_open(&s, SHARED);
        stage_advance(s.stage, late);
        warm_attributes(&s, &s.f);
        struct probe old = probe_getattr(&s.f);
        file_write(&s.f);
        probe_lasts(&s, 3 * STAGE_SECOND - late, old, probe_getattr(&s.f));
        scene_close(&s);
    }
}

/* ---- what extends them ---- */

/* Protects: whatever reply says that an object has not changed extends it for all clients. */
static void test_any_reply_extends(void **state)
{
    (void)state;
    for (enum stage_way way = BY_ACCESS; way < WAYS_OF_ANY; way++) {
        struct scene s;
        scene_open(&s, SHARED);
        warm_attributes(&s, &s.f);
        stage_advance(s.stage, 10 * STAGE_SECOND);
        stage_shows(&s.c1, way, &s.f, &s.d, "f");
        struct probe old = probe_getattr(&s.f);
        file_write(&s.f);
        probe_lasts(&s, 10 * STAGE_SECOND, old, probe_getattr(&s.f));
        scene_close(&s);
    }
}

/* ---- verdicts ---- */

/* Protects: a verdict is served for access-age, in both modes, also one that refuses everything;
 * attributes that are asked for again do not extend it. */
static void test_access_age(void **state)
{
    (void)state;
    static const struct {
        const char *keys;
        uint64_t seconds;
        uint32_t granted;
    } rows[] = {
        {SHARED, 60, 0x1f},
        {SHARED, 60, 0},
        {SHARED "access-age = 2s\n", 2, 0x1f},
        {SHARED "access-age = 100s\n", 100, 0},
        {EXCLUSIVE, 60, 0x1f},
        {EXCLUSIVE, 60, 0},
        {EXCLUSIVE "access-age = 2s\n", 2, 0},
        {EXCLUSIVE "access-age = 100s\n", 100, 0x1f},
    };
    for (unsigned i = 0; i < LENGTH_OF(rows); i++) {
        struct scene s;
        scene_open(&s, rows[i].keys);
        struct probe old = probe_access(&s.f, rows[i].granted);
        probe_fetches(&s.c1, old);
        stage_advance(s.stage, STAGE_SECOND);
        scene_revalidate(&s, &s.f);
        stage_advance(s.stage, (rows[i].seconds - 2) * STAGE_SECOND);
        scene_revalidate(&s, &s.f);
        probe_lasts(&s, STAGE_SECOND, old, probe_access(&s.f, 0x03));
        scene_close(&s);
    }
}

/* Protects: each credential's verdict has its own age, and so has the right to search that a LOOKUP
 * proves. */
static void test_access_age_of_each(void **state)
{
    (void)state;
    static const char *const keys[] = {SHARED, EXCLUSIVE};
    for (unsigned i = 0; i < 2; i++) {
        struct scene s;
        scene_open(&s, keys[i]);
        s.c2.who = bob;
        warm_attributes(&s, &s.d);
        stage_advance(s.stage, 2 * STAGE_SECOND);
        probe_fetches(&s.c1, probe_name(&s.d, "f", &s.f));
        stage_advance(s.stage, 10 * STAGE_SECOND);
        probe_fetches(&s.c2, probe_name(&s.d, "f", &s.f));
        stage_advance(s.stage, 49 * STAGE_SECOND);
        scene_revalidate(&s, &s.d);
        scene_revalidate(&s, &s.f);
        stage_advance(s.stage, STAGE_SECOND - 1);
        probe_serves(&s.c1, probe_name(&s.d, "f", &s.f));
        stage_advance(s.stage, 1);
        probe_fetches(&s.c1, probe_name(&s.d, "f", &s.f)); /* 60 s after alice's */
        stage_advance(s.stage, 10 * STAGE_SECOND - 1);
        probe_serves(&s.c2, probe_name(&s.d, "f", &s.f));
        stage_advance(s.stage, 1);
        stage_fetches(&s.c2, NFS3_LOOKUP, args_dirop(&s.d, "f"),
                      res_post_op(NFS3ERR_ACCES, &s.d.attr)); /* 60 s after bob's */
        probe_serves(&s.c1, probe_name(&s.d, "f", &s.f));
        scene_close(&s);
    }
}

/* Protects: a verdict is only served while the object's attributes are fresh; what shows that it has
 * not changed extends its usability. */
static void test_verdict_follows_attributes(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, SHARED);
    struct probe old = probe_access(&s.f, 0x1f);
    probe_fetches(&s.c1, old);
    stage_advance(s.stage, 3 * STAGE_SECOND - 1);
    probe_serves(&s.c2, old);
    scene_revalidate(&s, &s.f);
    stage_advance(s.stage, 1);
    probe_serves(&s.c2, old); /* now for 3 s since the last millisecond began */
    file_change(&s.f);
    probe_lasts(&s, 3 * STAGE_SECOND - STAGE_MSEC, old, probe_access(&s.f, 0x03));
    scene_close(&s);
}

/* ---- two services ---- */

/* Protects: services of one server share what is cached, each with its own ages; what one of them is
 * told the other one serves at once. */
static void test_ages_are_each_services_own(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, SHARED);
    struct service *other = &s.stage->worker[1].service;
    struct settings_service settings = *other->settings;
    settings.age_min = 5 * STAGE_SECOND;
    settings.age_max = 20 * STAGE_SECOND;
    settings.access_age = 4 * STAGE_SECOND;
    service_apply(other, &settings);
    struct probe old = probe_getattr(&s.f), verdict = probe_access(&s.f, 0x1f);
    probe_fetches(&s.c1, verdict);
    stage_advance(s.stage, 3 * STAGE_SECOND);
    probe_serves(&s.c2, old);
    probe_fetches(&s.c1, old); /* age-min */
    stage_advance(s.stage, STAGE_SECOND - 1);
    probe_serves(&s.c2, verdict);
    stage_advance(s.stage, 1);
    probe_serves(&s.c1, verdict);
    probe_fetches(&s.c2, verdict); /* access-age */
    stage_advance(s.stage, 56 * STAGE_SECOND);
    probe_fetches(&s.c1, old);
    file_write(&s.f);
    stage_advance(s.stage, 20 * STAGE_SECOND - 1);
    probe_serves(&s.c2, old);
    stage_advance(s.stage, 1);
    probe_serves(&s.c1, old);
    probe_fetches(&s.c2, probe_getattr(&s.f)); /* age-max */
    probe_serves(&s.c1, probe_getattr(&s.f));
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_age_min),
        cmocka_unit_test(test_age_min_zero),
        cmocka_unit_test(test_age_grows),
        cmocka_unit_test(test_age_doubles),
        cmocka_unit_test(test_what_is_a_change),
        cmocka_unit_test(test_rounded_down),
        cmocka_unit_test(test_any_reply_extends),
        cmocka_unit_test(test_access_age),
        cmocka_unit_test(test_access_age_of_each),
        cmocka_unit_test(test_verdict_follows_attributes),
        cmocka_unit_test(test_ages_are_each_services_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
