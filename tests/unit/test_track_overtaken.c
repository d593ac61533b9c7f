/*
 * Mutations of one name that are not sent one after the other, since it is not known, or known wrongly, that their
 * directories are one: a RENAME overtakes a REMOVE and puts another file behind its name. The REMOVE then takes that one
 * away; what was asked for in between is from before.
 */
#include "stage_probe.h"

static const struct rpc_reply system_err = {.stat = RPC_MSG_ACCEPTED, .accepted = RPC_SYSTEM_ERR};

struct removal {
    uint32_t xid;
    struct stage_sent *sent;
};

/* d/`name` leads to f. The REMOVE is on its way to the server. */
static struct removal remove_f(struct scene *s, const char *name)
{
    struct body args = args_dirop(&s->d, name);
    struct removal removal = {.xid = stage_call(&s->c1, NFS3_REMOVE, args)};
    stage_answer(stage_takes(s->stage, NFS3_LOOKUP, args), full_lookup(&s->f, &s->d));
    removal.sent = stage_takes(s->stage, NFS3_REMOVE, args);
    return removal;
}

static struct removal begin_remove(struct scene *s, const char *keys)
{
    scene_open(s, keys);
    stage_advance(s->stage, 200 * STAGE_SECOND);
    warm_attributes(s, &s->d);
    return remove_f(s, "n");
}

static void answer_remove(struct scene *s, struct removal removal, uint32_t status)
{
    stage_answer(removal.sent, res_wcc(status, no_wcc));
    stage_told(&s->c1, removal.xid, res_wcc(status, no_wcc));
}

/* The RENAME of `dir`/a, which is g, to `dir`/n is answered. Then g is asked for, after all has settled. */
static void rename_to_it(struct scene *s, uint32_t xid, const struct file *dir)
{
    struct body args = args_rename(dir, "a", dir, "n");
    stage_answer(stage_takes(s->stage, NFS3_LOOKUP, args_dirop(dir, "a")),
                 full_lookup(&s->g, &s->d));
    stage_answer(stage_takes(s->stage, NFS3_LOOKUP, args_dirop(dir, "n")),
                 full_lookup(&s->f, &s->d));
    file_change(&s->d);
    file_change(&s->g);
    stage_answer(stage_takes(s->stage, NFS3_RENAME, args), res_rename(NFS3_OK, no_wcc, no_wcc));
    stage_told(&s->c2, xid, res_rename(NFS3_OK, no_wcc, no_wcc));
    stage_advance(s->stage, 11 * STAGE_SECOND);
    warm_attributes(s, &s->g);
}

/* One link of g's has gone with the REMOVE. */
static void end_remove(struct scene *s, struct removal removal)
{
    file_change(&s->g);
    s->g.attr.nlink--;
    answer_remove(s, removal, NFS3_OK);
}

static void overtaken(const char *keys, uint32_t status, const struct rpc_reply *rpc)
{
    struct scene s;
    struct file other = file_make("another handle of d", NF3DIR, 1);
    struct removal removal = begin_remove(&s, keys);
    uint32_t xid = stage_call(&s.c2, NFS3_RENAME, args_rename(&other, "a", &other, "n"));
    struct stage_sent *get = stage_takes(s.stage, NFS3_GETATTR, args_handle(&other));
    if (rpc != NULL)
        stage_answer_rpc(get, *rpc);
    else
        stage_answer(get, res_status(status));
    rename_to_it(&s, xid, &other);
    end_remove(&s, removal);
    probe_fetches(&s.c2, probe_getattr(&s.g));
    scene_close(&s);
}

/* Protects: C1, where the server does not say which file the second directory is. */
static void test_directory_unknown(void **state)
{
    (void)state;
    static const uint32_t statuses[] = {NFS3ERR_JUKEBOX, NFS3ERR_IO, NFS3ERR_STALE};
    for (unsigned i = 0; i < LENGTH_OF(statuses); i++) {
        overtaken(EXCLUSIVE, statuses[i], NULL);
        overtaken(SHARED "age-min = 30s\n", statuses[i], NULL);
    }
    overtaken(EXCLUSIVE, 0, &system_err);
    overtaken(SHARED "age-min = 30s\n", 0, &system_err);
}

/* Protects: likewise with one handle, after what was known of it was dropped. */
static void test_directory_forgotten(void **state)
{
    (void)state;
    struct scene s;
    struct removal removal = begin_remove(&s, EXCLUSIVE);
    cache_flush(s.stage->cache, NULL);
    uint32_t xid = stage_call(&s.c2, NFS3_RENAME, args_rename(&s.d, "a", &s.d, "n"));
    stage_answer(stage_takes(s.stage, NFS3_GETATTR, args_handle(&s.d)),
                 res_status(NFS3ERR_JUKEBOX));
    rename_to_it(&s, xid, &s.d);
    end_remove(&s, removal);
    probe_fetches(&s.c2, probe_getattr(&s.g));
    scene_close(&s);
}

/* Protects: likewise where the server says another fsid of the directory than before, and nobody doubted anything. */
static void test_directory_renumbered(void **state)
{
    (void)state;
    struct scene s;
    struct removal removal = begin_remove(&s, EXCLUSIVE);
    s.d.attr.fsid++;
    warm_attributes(&s, &s.d);
    uint32_t xid = stage_call(&s.c2, NFS3_RENAME, args_rename(&s.d, "a", &s.d, "n"));
    stage_answer(stage_takes(s.stage, NFS3_GETATTR, args_handle(&s.d)), res_getattr(&s.d.attr));
    rename_to_it(&s, xid, &s.d);
    end_remove(&s, removal);
    probe_fetches(&s.c2, probe_getattr(&s.g));
    scene_close(&s);
}

/* Protects: a REMOVE that failed took nothing away, and brings no doubt; nor does one that nothing overtook. */
static void test_nothing_taken_away(void **state)
{
    (void)state;
    struct scene s;
    struct file other = file_make("another handle of d", NF3DIR, 1);
    struct removal removal = begin_remove(&s, EXCLUSIVE);
    uint32_t xid = stage_call(&s.c2, NFS3_RENAME, args_rename(&other, "a", &other, "n"));
    stage_answer(stage_takes(s.stage, NFS3_GETATTR, args_handle(&other)),
                 res_status(NFS3ERR_JUKEBOX));
    rename_to_it(&s, xid, &other);
    answer_remove(&s, removal, NFS3ERR_ACCES);
    probe_serves(&s.c2, probe_getattr(&s.g));
    scene_close(&s);

    removal = begin_remove(&s, EXCLUSIVE);
    warm_attributes(&s, &s.g);
    answer_remove(&s, removal, NFS3_OK);
    probe_serves(&s.c2, probe_getattr(&s.g));
    scene_close(&s);
}

/* Protects: the doubt of one that was overtaken is not passed on: what began after the first doubt knew better. */
static void test_not_passed_on(void **state)
{
    (void)state;
    struct scene s;
    struct file other = file_make("another handle of d", NF3DIR, 1);
    struct removal removal = begin_remove(&s, EXCLUSIVE);
    uint32_t xid = stage_call(&s.c2, NFS3_RENAME, args_rename(&other, "a", &other, "n"));
    stage_answer(stage_takes(s.stage, NFS3_GETATTR, args_handle(&other)),
                 res_status(NFS3ERR_JUKEBOX));
    rename_to_it(&s, xid, &other);
    warm_attributes(&s, &s.d);
    struct removal later = remove_f(&s, "m");
    end_remove(&s, removal);
    warm_attributes(&s, &s.g);
    answer_remove(&s, later, NFS3_OK);
    probe_serves(&s.c2, probe_getattr(&s.g));
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_directory_unknown),    cmocka_unit_test(test_directory_forgotten),
        cmocka_unit_test(test_directory_renumbered), cmocka_unit_test(test_nothing_taken_away),
        cmocka_unit_test(test_not_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
