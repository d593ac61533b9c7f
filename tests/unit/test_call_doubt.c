/*
 * Doubt, in exclusive: after a link to the server was lost or has come back, after another write
 * verifier, and at the start, everything is asked for again before it is served; and for `doubt` from
 * then on, what is asked for is aged as in shared.
 */
#include "stage_probe.h"

#include "proxy/snapshot.h"

#define FOREVER (1000000 * STAGE_SECOND)

#define KEYS EXCLUSIVE "access-age = 8760h\n"

static void write_with(struct stage_client *client, struct file *file, const char *verf)
{
    stage_fetches(client, NFS3_WRITE, args_write(file, 0, "text"), res_write(no_wcc, 4, verf));
}

/* ---- what brings everything into doubt, and what does not ---- */

enum cause {
    LINK_DOWN,
    LINK_DOWN_AND_UP,
    OTHER_VERIFIER_OF_WRITE,
    OTHER_VERIFIER_OF_COMMIT,
    START,
    CAUSES,
    /* none of these */
    SAME_VERIFIER = CAUSES,
    FIRST_VERIFIER,
    RELOAD,
    NO_CAUSES,
};

static struct snapshot *snapshot(const struct scene *s, const struct snapshot *previous,
                                 const char *keys)
{
    char text[200];
    struct settings_error error;
    snprintf(text, sizeof text, "[service home]\nserver = nas\n%s", keys);
    struct settings *settings = settings_parse(text, strlen(text), "f", &error);
    assert_non_null(settings);
    struct snapshot *made =
        snapshot_create(settings, s->stage->cache, previous, s->stage->worker[0].engine.now);
    assert_non_null(made);
    return made;
}

/* What has to be there before. */
static void prepare(struct scene *s, enum cause cause)
{
    if (cause == OTHER_VERIFIER_OF_WRITE || cause == OTHER_VERIFIER_OF_COMMIT ||
        cause == SAME_VERIFIER)
        write_with(&s->c1, &s->g, "verifieA");
}

static void bring_about(struct scene *s, enum cause cause, const char *keys,
                        struct snapshot *running)
{
    switch (cause) {
    case LINK_DOWN:
        stage_link_down(s->stage, 0);
        break;
    case LINK_DOWN_AND_UP:
        stage_link_down(s->stage, 0);
        stage_link_up(s->stage, 0);
        break;
    case OTHER_VERIFIER_OF_WRITE:
        write_with(&s->c1, &s->g, "verifieB");
        break;
    case OTHER_VERIFIER_OF_COMMIT:
        stage_fetches(&s->c1, NFS3_COMMIT, args_commit(&s->g), res_commit(no_wcc, "verifieB"));
        break;
    case START:
        snapshot_drop(snapshot(s, NULL, keys));
        break;
    case RELOAD:
        snapshot_drop(snapshot(s, running, keys));
        break;
    default:
        write_with(&s->c1, &s->g, "verifieA");
        break;
    }
}

/* Asked by the other worker's client, whose link has been there all along. */
static struct probe known(const struct scene *s, unsigned which)
{
    switch (which) {
    case 0:
        return probe_getattr(&s->d);
    case 1:
        return probe_getattr(&s->f);
    case 2:
        return probe_access(&s->f, 0x1f);
    case 3:
        return probe_name(&s->d, "f", &s->f);
    default:
        return probe_name(&s->d, "n", NULL);
    }
}

#define KNOWN 5u

/* Protects: C8, and its opposite: attributes, verdicts, names and what is not there. */
static void test_everything_is_asked_again(void **state)
{
    (void)state;
    for (enum cause cause = 0; cause < NO_CAUSES; cause++) {
        for (unsigned i = 0; i < KNOWN; i++) {
            struct scene s;
            scene_open(&s, KEYS);
            struct snapshot *running = snapshot(&s, NULL, KEYS);
            warm_attributes(&s, &s.g); /* which file it is need not be asked for later */
            prepare(&s, cause);
            for (unsigned j = KNOWN; j-- > 2;)
                probe_fetches(&s.c1, known(&s, j));
            probe_serves(&s.c2, known(&s, i));
            bring_about(&s, cause, KEYS, running);
            if (cause < CAUSES)
                probe_fetches(&s.c2, known(&s, i));
            else
                probe_serves(&s.c2, known(&s, i));
            snapshot_drop(running);
            scene_close(&s);
        }
    }
}

/* Protects: C5: what was kept before a service becomes `exclusive` may have been changed by somebody else; not where another
 * one of the server was that already. */
static void test_exclusive_from_now_on(void **state)
{
    (void)state;
    static const char other[] =
        "[service other]\nserver = nas\nlisten = 127.0.0.1:2050\n" EXCLUSIVE;
    static const struct {
        const char *before, *after;
        bool doubt;
    } rows[] = {
        {SHARED, EXCLUSIVE, true}, {EXCLUSIVE, EXCLUSIVE, false}, {EXCLUSIVE, SHARED, false},
        {SHARED, SHARED, false},   {other, EXCLUSIVE, false},
    };
    for (unsigned i = 0; i < LENGTH_OF(rows); i++) {
        struct scene s;
        scene_open(&s, EXCLUSIVE);
        struct snapshot *running = snapshot(&s, NULL, rows[i].before);
        warm_attributes(&s, &s.f);
        snapshot_drop(snapshot(&s, running, rows[i].after));
        if (rows[i].doubt)
            probe_fetches(&s.c2, probe_getattr(&s.f));
        else
            probe_serves(&s.c2, probe_getattr(&s.f));
        snapshot_drop(running);
        scene_close(&s);
    }
}

/* Protects: what the verdict and the name stand on may be here again: each is asked for by itself. */
static void test_each_by_itself(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, KEYS);
    for (unsigned i = KNOWN; i-- > 2;)
        probe_fetches(&s.c1, known(&s, i));
    bring_about(&s, LINK_DOWN_AND_UP, KEYS, NULL);
    scene_revalidate(&s, &s.d);
    scene_revalidate(&s, &s.f);
    probe_fetches(&s.c2, probe_access(&s.d, 0x1f));
    for (unsigned i = 2; i < KNOWN; i++) {
        probe_fetches(&s.c2, known(&s, i));
        probe_serves(&s.c1, known(&s, i));
    }
    scene_close(&s);
}

/* Protects: what was asked for while a link was down is asked for again when it is back: what was sent
 * before may be executed yet. */
static void test_down_and_up_are_two(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, KEYS);
    stage_link_down(s.stage, 0);
    probe_fetches(&s.c2, probe_getattr(&s.f));
    probe_serves(&s.c2, probe_getattr(&s.f));
    stage_link_up(s.stage, 0);
    probe_fetches(&s.c2, probe_getattr(&s.f));
    probe_serves(&s.c2, probe_getattr(&s.f));
    scene_close(&s);
}

/* ---- for how long ---- */

/* Protects: what is asked for within `doubt` is served for as long as in shared, also when the doubt is
 * over; from then on it is served for good. */
static void test_until(void **state)
{
    (void)state;
    static const struct {
        const char *keys;
        uint64_t doubt; /* s */
    } rows[] = {{KEYS, 60}, {KEYS "doubt = 5s\n", 5}, {KEYS "doubt = 100s\n", 100}};
    for (enum cause cause = 0; cause < CAUSES; cause++) {
        for (unsigned i = 0; i < LENGTH_OF(rows); i++) {
            struct scene s;
            scene_open(&s, rows[i].keys);
            warm_attributes(&s, &s.g);
            prepare(&s, cause);
            bring_about(&s, cause, rows[i].keys, NULL);
            if (cause == LINK_DOWN) /* c1 has nowhere to go */
                s.c1.worker = s.c2.worker;
            stage_advance(s.stage, rows[i].doubt * STAGE_SECOND - STAGE_MSEC);
            probe_fetches(&s.c1, probe_getattr(&s.d));
            stage_advance(s.stage, STAGE_MSEC - 1);
            probe_fetches(&s.c1, probe_getattr(&s.f));
            stage_advance(s.stage, 1);
            struct file late = file_make("handle of late", NF3REG, 40);
            probe_fetches(&s.c1, probe_getattr(&late));

            stage_advance(s.stage, 3 * STAGE_SECOND - STAGE_MSEC - 1);
            probe_serves(&s.c2, probe_getattr(&s.d));
            probe_serves(&s.c2, probe_getattr(&s.f)); /* the same millisecond */
            stage_advance(s.stage, 1);
            probe_fetches(&s.c2, probe_getattr(&s.d));
            probe_fetches(&s.c2, probe_getattr(&s.f));
            stage_advance(s.stage, FOREVER);
            probe_serves(&s.c1, probe_getattr(&s.d));
            probe_serves(&s.c1, probe_getattr(&s.f));
            probe_serves(&s.c1, probe_getattr(&late));
            scene_close(&s);
        }
    }
}

/* Protects: doubt = 0 asks for everything again, once. */
static void test_zero(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, KEYS "doubt = 0\n");
    warm_attributes(&s, &s.f);
    bring_about(&s, LINK_DOWN_AND_UP, KEYS, NULL);
    probe_fetches(&s.c2, probe_getattr(&s.f));
    stage_advance(s.stage, FOREVER);
    probe_serves(&s.c2, probe_getattr(&s.f));
    scene_close(&s);
}

/* Protects: in doubt attributes are served for longer as in shared: the longer they have not changed,
 * up to age-max. */
static void test_attributes_in_doubt(void **state)
{
    (void)state;
    static const uint64_t seconds[] = {5, 5, 10, 15, 15};
    struct scene s;
    scene_open(&s, KEYS "age-min = 5s\nage-max = 15s\n");
    bring_about(&s, LINK_DOWN_AND_UP, KEYS, NULL);
    probe_fetches(&s.c1, probe_getattr(&s.f));
    for (unsigned i = 0; i < LENGTH_OF(seconds); i++)
        probe_lasts(&s, seconds[i] * STAGE_SECOND, probe_getattr(&s.f), probe_getattr(&s.f));
    scene_close(&s);
}

/* Protects: names that were looked up in doubt have the ages of shared, NOENT its own, although their
 * directory is asked for again after it. */
static void test_names_in_doubt(void **state)
{
    (void)state;
    static const struct {
        uint64_t looked_up; /* ns after the doubt began */
        bool doubtful;
    } rows[] = {{60 * STAGE_SECOND - STAGE_MSEC, true}, {60 * STAGE_SECOND, false}};
    for (unsigned i = 0; i < 2; i++) {
        struct scene s;
        scene_open(&s, KEYS);
        bring_about(&s, LINK_DOWN_AND_UP, KEYS, NULL);
        stage_advance(s.stage, rows[i].looked_up);
        struct probe f = probe_name(&s.d, "f", &s.f), n = probe_name(&s.d, "n", NULL);
        probe_fetches(&s.c1, f);
        probe_fetches(&s.c1, n);
        stage_advance(s.stage, STAGE_SECOND);
        scene_revalidate(&s, &s.d); /* no doubt any more */
        scene_revalidate(&s, &s.f);
        stage_advance(s.stage, 2 * STAGE_SECOND - 1);
        probe_serves(&s.c2, f);
        probe_serves(&s.c2, n);
        stage_advance(s.stage, 1);
        if (rows[i].doubtful) {
            probe_fetches(&s.c2, f);
            probe_fetches(&s.c2, n);
        }
        stage_advance(s.stage, FOREVER);
        probe_serves(&s.c2, f);
        probe_serves(&s.c2, n);
        scene_close(&s);
    }
}

/* Protects: negative-age, where the directory would allow more. */
static void test_noent_in_doubt(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, KEYS "negative-age = 7s\n");
    bring_about(&s, LINK_DOWN_AND_UP, KEYS, NULL);
    probe_fetches(&s.c1, probe_getattr(&s.d));
    stage_advance(s.stage, 20 * STAGE_SECOND);
    probe_fetches(&s.c1, probe_name(&s.d, "n", NULL));
    probe_lasts(&s, 7 * STAGE_SECOND, probe_name(&s.d, "n", NULL), probe_name(&s.d, "n", &s.f));
    scene_close(&s);
}

/* Protects: access-age is what it was. */
static void test_verdicts_in_doubt(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE "access-age = 30s\n");
    bring_about(&s, LINK_DOWN_AND_UP, KEYS, NULL);
    probe_fetches(&s.c1, probe_access(&s.f, 0x1f));
    stage_advance(s.stage, 29 * STAGE_SECOND);
    scene_revalidate(&s, &s.f);
    probe_lasts(&s, STAGE_SECOND, probe_access(&s.f, 0x1f), probe_access(&s.f, 0x1f));
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything_is_asked_again),
        cmocka_unit_test(test_exclusive_from_now_on),
        cmocka_unit_test(test_each_by_itself),
        cmocka_unit_test(test_down_and_up_are_two),
        cmocka_unit_test(test_until),
        cmocka_unit_test(test_zero),
        cmocka_unit_test(test_attributes_in_doubt),
        cmocka_unit_test(test_names_in_doubt),
        cmocka_unit_test(test_noent_in_doubt),
        cmocka_unit_test(test_verdicts_in_doubt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
