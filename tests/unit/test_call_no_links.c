/*
 * A file without a name: some servers (nfs-ganesha 4.3) go on answering for one that was removed, with nlink 0, until at some
 * later time its handle is stale. No call brings that about: what says so is aged as in shared, also in exclusive.
 */
#include "stage_probe.h"

#define KEYS    EXCLUSIVE "settle = 0\n"
#define FOREVER (1000000 * STAGE_SECOND)

static void expect_for_good(struct scene *s, struct probe probe)
{
    stage_advance(s->stage, FOREVER);
    probe_serves(&s->c1, probe);
    probe_serves(&s->c2, probe);
}

/* d/f goes, through the proxy. */
static void remove_f(struct scene *s)
{
    struct file d = s->d;
    warm_attributes(s, &s->f);
    warm_name(s, "f", &s->f);
    file_write(&s->d);
    stage_fetches(&s->c1, NFS3_REMOVE, args_dirop(&s->d, "f"),
                  res_wcc(NFS3_OK, full_wcc(&d, &s->d)));
    file_change(&s->f);
    s->f.attr.nlink = 0;
}

/* Protects: what is left of a removed file is served the longer the longer it has not changed, from age-min to age-max, to
 * the last nanosecond; when it is stale everybody is told. What else was learned then is served for good. */
static void test_removed(void **state)
{
    (void)state;
    static const uint64_t seconds[] = {5, 5, 10, 15, 15};
    struct scene s;
    scene_open(&s, KEYS "age-min = 5s\nage-max = 15s\n");
    remove_f(&s);
    struct probe f = probe_getattr(&s.f);
    probe_fetches(&s.c1, probe_getattr(&s.g));
    probe_fetches(&s.c1, f);
    for (unsigned i = 0; i < LENGTH_OF(seconds); i++)
        probe_lasts(&s, seconds[i] * STAGE_SECOND, f, f);
    stage_advance(s.stage, 15 * STAGE_SECOND);
    f.results = res_status(NFS3ERR_STALE);
    probe_fetches(&s.c1, f);
    probe_fetches(&s.c2, f);
    expect_for_good(&s, probe_getattr(&s.g));
    scene_close(&s);
}

/* Protects: a server that settles is asked every second, whatever it says; then the ages of shared begin. */
static void test_settling(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    remove_f(&s);
    struct probe f = probe_getattr(&s.f);
    probe_fetches(&s.c1, f);
    for (unsigned second = 0; second < 10; second++)
        probe_lasts(&s, STAGE_SECOND, f, f);
    probe_lasts(&s, 10 * STAGE_SECOND, f, f); /* seen like this for that long */
    scene_close(&s);
}

/* Whatever reply it is of which attributes are kept. */
enum way {
    GETATTR_OF_F,
    LOOKUP_OF_F, /* that overtook the REMOVE in the server */
    ACCESS_OF_F,
    READ_OF_F,
    WRITE_TO_F,
    WAYS,
};

static void show(struct scene *s, enum way way)
{
    switch (way) {
    case GETATTR_OF_F:
        probe_fetches(&s->c1, probe_getattr(&s->f));
        break;
    case LOOKUP_OF_F:
        probe_fetches(&s->c1, probe_name(&s->d, "f", &s->f));
        break;
    case ACCESS_OF_F:
        probe_fetches(&s->c1, probe_access(&s->f, 0x1f));
        break;
    case READ_OF_F:
        stage_fetches(&s->c1, NFS3_READ, args_read(&s->f, 0, 4),
                      res_post_op(NFS3ERR_IO, &s->f.attr));
        break;
    default:
        stage_fetches(&s->c1, NFS3_WRITE, args_write(&s->f, 0, "text"),
                      res_write(full_wcc(&s->f, &s->f), 4, "verifier"));
    }
}

/* Protects: the same for whichever reply said it. One link is enough for good. */
static void test_ways(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2 * WAYS; i++) {
        struct scene s;
        scene_open(&s, KEYS);
        s.f.attr.nlink = i % 2;
        show(&s, (enum way)(i / 2));
        probe_serves(&s.c2, probe_getattr(&s.f));
        if (s.f.attr.nlink > 0)
            expect_for_good(&s, probe_getattr(&s.f));
        else
            probe_lasts(&s, 3 * STAGE_SECOND, probe_getattr(&s.f), probe_getattr(&s.f));
        scene_close(&s);
    }
}

/* Protects: LOOKUP, too, says nothing older of it; a file that has a link again is served for good. */
static void test_named_again(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, KEYS "access-age = 1000h\n");
    s.f.attr.nlink = 0;
    struct probe old = probe_name(&s.d, "f", &s.f);
    probe_fetches(&s.c1, old);
    file_change(&s.f);
    s.f.attr.nlink = 1;
    probe_lasts(&s, 3 * STAGE_SECOND, old, probe_name(&s.d, "f", &s.f));
    expect_for_good(&s, probe_name(&s.d, "f", &s.f));
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_removed),
        cmocka_unit_test(test_settling),
        cmocka_unit_test(test_ways),
        cmocka_unit_test(test_named_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
