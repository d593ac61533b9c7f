/*
 * `settle`: some servers go on changing `used` for a while after a write, and show no new ctime. What
 * was mutated less than `settle` before it was asked for is served for a second and no longer, in both
 * modes; what was asked for later is as good as any.
 */
#include "stage_probe.h"

#define FOREVER (1000000 * STAGE_SECOND)

/* Blocks are flushed: ctime is as it was. */
static void flush(struct file *file)
{
    file->attr.used += 4096;
}

static void write_to(struct scene *s, struct file *file)
{
    struct file before = *file;
    file_write(file);
    stage_fetches(&s->c1, NFS3_WRITE, args_write(file, 0, "text"),
                  res_write(full_wcc(&before, file), 4, "verifier"));
}

/* What was fetched just now is served for good: its mode is exclusive. */
static void expect_for_good(struct scene *s, struct probe probe)
{
    stage_advance(s->stage, FOREVER);
    probe_serves(&s->c1, probe);
    probe_serves(&s->c2, probe);
}

/* Protects: one second at a time, until it is asked for `settle` after the mutation ended. */
static void test_second_by_second(void **state)
{
    (void)state;
    static const struct {
        const char *keys;
        unsigned settle; /* s */
        bool exclusive;
    } rows[] = {
        {EXCLUSIVE, 10, true},
        {EXCLUSIVE "settle = 3s\n", 3, true},
        {EXCLUSIVE "settle = 20s\n", 20, true},
        {SHARED, 10, false},
        {SHARED "settle = 4s\n", 4, false},
    };
    for (unsigned i = 0; i < LENGTH_OF(rows); i++) {
        struct scene s;
        scene_open(&s, rows[i].keys);
        warm_attributes(&s, &s.f);
        write_to(&s, &s.f);
        for (unsigned second = 0; second < rows[i].settle; second++) {
            struct probe old = probe_getattr(&s.f);
            flush(&s.f);
            probe_lasts(&s, STAGE_SECOND, old, probe_getattr(&s.f));
        }
        if (rows[i].exclusive) /* in shared, for as long as it has not changed */
            expect_for_good(&s, probe_getattr(&s.f));
        else
            probe_lasts(&s, rows[i].settle * STAGE_SECOND, probe_getattr(&s.f),
                        probe_getattr(&s.f));
        scene_close(&s);
    }
}

/* Protects: the moment from which on it is settled; and that what was asked for before is asked for
 * again, however much later that is. */
static void test_last_moment(void **state)
{
    (void)state;
    static const struct {
        uint64_t fetched; /* ns after the mutation */
        uint64_t age;     /* 0: for good */
    } rows[] = {
        {0, STAGE_SECOND},
        {10 * STAGE_SECOND - STAGE_MSEC, STAGE_SECOND},
        {10 * STAGE_SECOND - 1, STAGE_SECOND - STAGE_MSEC + 1}, /* whole milliseconds */
        {10 * STAGE_SECOND, 0},
        {11 * STAGE_SECOND, 0},
    };
    for (unsigned i = 0; i < LENGTH_OF(rows); i++) {
        struct scene s;
        scene_open(&s, EXCLUSIVE);
        write_to(&s, &s.f);
        stage_advance(s.stage, rows[i].fetched);
        flush(&s.f);
        scene_revalidate(&s, &s.f);
        if (rows[i].age == 0) {
            expect_for_good(&s, probe_getattr(&s.f));
        } else {
            stage_advance(s.stage, rows[i].age - 1);
            probe_serves(&s.c1, probe_getattr(&s.f));
            stage_advance(s.stage, FOREVER);
            probe_fetches(&s.c2, probe_getattr(&s.f));
            expect_for_good(&s, probe_getattr(&s.f));
        }
        scene_close(&s);
    }
}

/* Protects: it is counted from when the mutation ended. */
static void test_counted_from_the_reply(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    struct body done = res_write(full_wcc(&s.f, &s.f), 4, "verifier");
    struct stage_sent *write = stage_asks(&s.c1, NFS3_WRITE, args_write(&s.f, 0, "text"));
    stage_advance(s.stage, 60 * STAGE_SECOND);
    stage_tells(&s.c1, write, done);
    stage_advance(s.stage, 9 * STAGE_SECOND);
    scene_revalidate(&s, &s.f);
    probe_lasts(&s, STAGE_SECOND, probe_getattr(&s.f), probe_getattr(&s.f));
    expect_for_good(&s, probe_getattr(&s.f));
    scene_close(&s);
}

/* Protects: all that a mutation may have changed settles, whichever it was, whether or not it succeeded
 * and said so; and nothing else does. */
static void test_every_mutation(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 7; i++) {
        struct scene s;
        scene_open(&s, EXCLUSIVE);
        struct file made = file_make("handle of made", NF3DIR, 30), *also = NULL;
        warm_attributes(&s, &s.f);
        warm_attributes(&s, &s.g);
        warm_attributes(&s, &s.d);
        switch (i) {
        case 0:
            stage_fetches(&s.c1, NFS3_SETATTR, args_setattr_size(&s.f, 0),
                          res_wcc(NFS3_OK, full_wcc(&s.f, &s.f)));
            break;
        case 1:
            stage_fetches(&s.c1, NFS3_SETATTR, args_setattr_size(&s.f, 0),
                          res_wcc(NFS3ERR_IO, no_wcc));
            break;
        case 2:
            stage_fetches(&s.c1, NFS3_COMMIT, args_commit(&s.f), res_commit(no_wcc, "verifier"));
            break;
        case 3:
            stage_fetches(&s.c1, SETACL, args_setacl(&s.f, 4), res_post_op(NFS3_OK, NULL));
            break;
        case 4:
            also = &s.d;
            stage_fetches(&s.c1, NFS3_LINK, args_link(&s.f, &s.d, "l"),
                          res_link(NFS3_OK, &s.f.attr, full_wcc(&s.d, &s.d)));
            break;
        default: /* with and without attributes of what it made */
            also = &made;
            write_to(&s, &s.f);
            stage_fetches(&s.c1, NFS3_MKDIR, args_mkdir(&s.d, "made"),
                          res_create(&made, i == 5 ? &made.attr : NULL, full_wcc(&s.d, &s.d)));
            scene_revalidate(&s, &made);
            break;
        }
        scene_revalidate(&s, &s.f);
        stage_advance(s.stage, STAGE_SECOND - 1);
        probe_serves(&s.c2, probe_getattr(&s.f));
        if (also != NULL)
            probe_serves(&s.c2, probe_getattr(also));
        stage_advance(s.stage, 1);
        probe_fetches(&s.c2, probe_getattr(&s.f));
        if (also != NULL)
            probe_fetches(&s.c2, probe_getattr(also));
        probe_serves(&s.c2, probe_getattr(&s.g));
        scene_close(&s);
    }
}

enum through {
    KNOWN_HANDLE,     /* all of its handles had been asked for */
    OTHER_HANDLE,     /* this one had not */
    HANDLE_OF_CREATE, /* the file was there, and nothing of it had been asked for */
    THROUGHS,
};

/* f is changed, and then asked for under another handle. */
static void change_through(struct scene *s, enum through through, struct file *alias)
{
    *alias = file_make("another handle of f", NF3REG, 2);
    if (through == HANDLE_OF_CREATE) {
        warm_attributes(s, &s->d);
        stage_fetches(&s->c1, NFS3_CREATE, args_create(&s->d, "f", NFS3_UNCHECKED, NULL),
                      res_create(&s->f, &s->f.attr, full_wcc(&s->d, &s->d)));
    } else {
        warm_attributes(s, &s->f);
        if (through == KNOWN_HANDLE)
            warm_attributes(s, alias);
        write_to(s, &s->f);
    }
    alias->attr = s->f.attr;
    warm_attributes(s, alias);
}

/* Protects: a file that was changed through one handle settles under its others, also where nobody had
 * asked for them before. */
static void test_other_handles(void **state)
{
    (void)state;
    static const char *const keys[] = {EXCLUSIVE, SHARED};
    for (enum through through = 0; through < THROUGHS; through++) {
        for (unsigned shared = 0; shared < 2; shared++) {
            struct scene s;
            struct file alias;
            scene_open(&s, keys[shared]);
            change_through(&s, through, &alias);
            for (unsigned second = 0; second < 10; second++) {
                struct probe old = probe_getattr(&alias);
                flush(&alias);
                probe_lasts(&s, STAGE_SECOND, old, probe_getattr(&alias));
            }
            if (shared)
                probe_lasts(&s, 10 * STAGE_SECOND, probe_getattr(&alias), probe_getattr(&alias));
            else
                expect_for_good(&s, probe_getattr(&alias));
            scene_close(&s);
        }
    }
}

/* Protects: a LOOKUP that leads to it, and its verdicts, are served no longer than its attributes. */
static void test_lookup_and_access(void **state)
{
    (void)state;
    static const char *const keys[] = {EXCLUSIVE, SHARED};
    for (unsigned i = 0; i < 2; i++) {
        struct scene s;
        scene_open(&s, keys[i]);
        warm_name(&s, "f", &s.f);
        write_to(&s, &s.f);
        probe_fetches(&s.c1, probe_access(&s.f, 0x1f));
        probe_lasts(&s, STAGE_SECOND, probe_access(&s.f, 0x1f), probe_access(&s.f, 0x1f));
        probe_lasts(&s, STAGE_SECOND, probe_name(&s.d, "f", &s.f), probe_name(&s.d, "f", &s.f));
        scene_close(&s);
    }
}

/* Protects: settle = 0 believes the server at once. */
static void test_settle_zero(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE "settle = 0\n");
    write_to(&s, &s.f);
    expect_for_good(&s, probe_getattr(&s.f));
    scene_close(&s);
    scene_open(&s, SHARED "settle = 0\n");
    write_to(&s, &s.f);
    probe_lasts(&s, 3 * STAGE_SECOND, probe_getattr(&s.f), probe_getattr(&s.f));
    scene_close(&s);
}

/* Protects: settling makes nothing fresh for longer. */
static void test_shorter_age(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, SHARED "age-min = 500ms\n");
    write_to(&s, &s.f);
    probe_lasts(&s, STAGE_SECOND / 2, probe_getattr(&s.f), probe_getattr(&s.f));
    scene_close(&s);
}

/* Protects: each service has its own `settle` over what they share. */
static void test_settle_is_each_services_own(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    struct service *other = &s.stage->worker[1].service;
    struct settings_service settings = *other->settings;
    settings.settle = 0;
    service_apply(other, &settings);
    write_to(&s, &s.f);
    stage_advance(s.stage, STAGE_SECOND);
    probe_serves(&s.c2, probe_getattr(&s.f));
    flush(&s.f);
    probe_fetches(&s.c1, probe_getattr(&s.f));
    probe_serves(&s.c2, probe_getattr(&s.f));
    scene_close(&s);
}

static struct stage_sent *begin_create(struct scene *s)
{
    scene_open(s, EXCLUSIVE);
    warm_attributes(s, &s->d);
    stage_advance(s->stage, FOREVER);
    return stage_asks(&s->c1, NFS3_CREATE, args_create(&s->d, "f", NFS3_UNCHECKED, NULL));
}

/* It truncated f. */
static void end_create(struct scene *s, struct stage_sent *create)
{
    struct file before = s->d;
    file_change(&s->d);
    file_write(&s->f);
    stage_tells(&s->c1, create, res_create(&s->f, &s->f.attr, full_wcc(&before, &s->d)));
}

static void expect_settles(struct scene *s, struct file *file)
{
    warm_attributes(s, file);
    struct probe old = probe_getattr(file);
    flush(file);
    probe_lasts(s, STAGE_SECOND, old, probe_getattr(file));
}

/* Protects: what a CREATE met settles, under another handle, and where somebody asked for it meanwhile. */
static void test_met_by_a_create(void **state)
{
    (void)state;
    struct scene s;
    struct stage_sent *create = begin_create(&s);
    struct file alias = file_make("another handle of f", NF3REG, 2);
    warm_attributes(&s, &alias);
    end_create(&s, create);
    alias.attr = s.f.attr;
    expect_settles(&s, &alias);
    scene_close(&s);

    create = begin_create(&s);
    stage_fetches(&s.c2, NFS3_GETATTR, args_handle(&s.f), res_getattr(&s.f.attr));
    end_create(&s, create);
    expect_settles(&s, &s.f);
    scene_close(&s);
}

/* Protects: where nobody knows what was changed, everything settles that is asked for: known before, or new. */
static void test_nobody_knows_what(void **state)
{
    (void)state;
    for (unsigned known = 0; known < 2; known++) {
        struct scene s;
        scene_open(&s, EXCLUSIVE);
        struct file alias = file_make("another handle of f", NF3REG, 2);
        if (known)
            warm_attributes(&s, &alias);
        stage_advance(s.stage, FOREVER);
        struct stage_sent *set = stage_asks(&s.c1, NFS3_SETATTR, args_setattr_size(&s.f, 0));
        file_write(&s.f);
        alias.attr = s.f.attr;
        stage_answer(set, res_wcc(NFS3_OK, no_wcc));
        stage_answer(stage_takes(s.stage, NFS3_GETATTR, args_handle(&s.f)),
                     res_status(NFS3ERR_JUKEBOX));
        stage_told(&s.c1, set->for_xid, res_wcc(NFS3_OK, no_wcc));
        expect_settles(&s, &alias);
        stage_advance(s.stage, 10 * STAGE_SECOND);
        probe_fetches(&s.c1, probe_getattr(&alias));
        expect_for_good(&s, probe_getattr(&alias));
        scene_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_second_by_second),
        cmocka_unit_test(test_last_moment),
        cmocka_unit_test(test_counted_from_the_reply),
        cmocka_unit_test(test_every_mutation),
        cmocka_unit_test(test_other_handles),
        cmocka_unit_test(test_lookup_and_access),
        cmocka_unit_test(test_settle_zero),
        cmocka_unit_test(test_shorter_age),
        cmocka_unit_test(test_settle_is_each_services_own),
        cmocka_unit_test(test_met_by_a_create),
        cmocka_unit_test(test_nobody_knows_what),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
