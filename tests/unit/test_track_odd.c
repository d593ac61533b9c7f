/*
 * Answers that no sane server gives, and names that no sane client uses: nothing breaks, and nothing
 * wrong is served.
 */
#include "stage_scene.h"

static void expect_asked_again(struct scene *s, const struct file *file)
{
    stage_fetches(&s->c2, NFS3_GETATTR, args_handle(file), res_getattr(&file->attr));
}

/* REMOVE d/f; the answer to the question about f. */
static void remove_with_answer(struct scene *s, struct body answer)
{
    struct body args = args_dirop(&s->d, "f"), done = res_wcc(NFS3_OK, full_wcc(&s->d, &s->d));
    uint32_t xid = stage_call(&s->c1, NFS3_REMOVE, args);
    stage_answer(stage_takes(s->stage, NFS3_LOOKUP, args), answer);
    struct stage_sent *gone = stage_takes(s->stage, NFS3_REMOVE, args);
    stage_answer(gone, done);
    struct stage_sent *get = stage_next(s->stage);
    if (get != NULL)
        stage_answer(get, res_status(NFS3ERR_STALE));
    stage_quiet(s->stage);
    stage_told(&s->c1, xid, done);
}

/* Protects: the object behind a name has an empty handle, or one of 64 octets, or is the directory
 * itself. */
static void test_handles_of_all_kinds(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct scene s;
        scene_open(&s, EXCLUSIVE);
        warm_attributes(&s, &s.d);
        if (i < 2)
            s.f.handle_len = i == 0 ? 0 : NFS3_FH_MAX;
        remove_with_answer(&s, full_lookup(i == 2 ? &s.d : &s.f, &s.d));
        if (i == 1)
            expect_asked_again(&s, &s.f);
        scene_close(&s);
    }
}

/* Protects: RENAME of one hard link over another of the same file; over itself; of a directory into
 * itself. Each object is in the mutation once. */
static void test_rename_onto_itself(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    warm_name(&s, "a", &s.f);
    warm_name(&s, "b", &s.f);
    struct body done = res_rename(NFS3_OK, full_wcc(&s.d, &s.d), full_wcc(&s.d, &s.d));
    stage_fetches(&s.c1, NFS3_RENAME, args_rename(&s.d, "a", &s.d, "b"), done);
    expect_asked_again(&s, &s.f);
    warm_name(&s, "a", &s.f);
    stage_fetches(&s.c1, NFS3_RENAME, args_rename(&s.d, "a", &s.d, "a"), done);
    expect_asked_again(&s, &s.f);
    struct file dir = file_make("handle of dir", NF3DIR, 40);
    warm_name(&s, "dir", &dir);
    struct body failed = res_rename(NFS3ERR_INVAL, no_wcc, no_wcc);
    uint32_t xid = stage_call(&s.c1, NFS3_RENAME, args_rename(&s.d, "dir", &dir, "in"));
    stage_answer(stage_takes(s.stage, NFS3_LOOKUP, args_dirop(&dir, "in")), full_noent(&dir));
    stage_answer(stage_takes(s.stage, NFS3_RENAME, args_rename(&s.d, "dir", &dir, "in")), failed);
    stage_told(&s.c1, xid, failed);
    expect_asked_again(&s, &dir);
    scene_close(&s);
}

/* Protects: LINK where file and directory are one handle. */
static void test_link_of_a_directory_into_itself(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    warm_attributes(&s, &s.d);
    stage_fetches(&s.c1, NFS3_LINK, args_link(&s.d, &s.d, "l"),
                  res_link(NFS3ERR_ISDIR, &s.d.attr, full_wcc(&s.d, &s.d)));
    scene_close(&s);
}

/* Protects: names longer than any that is kept, and empty ones, are asked about and passed on. */
static void test_names_of_all_lengths(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {0, 255, 256, 1500};
    for (unsigned i = 0; i < 4; i++) {
        struct scene s;
        char name[1501];
        memset(name, 'n', sizeof name);
        name[lengths[i]] = '\0';
        scene_open(&s, EXCLUSIVE);
        warm_attributes(&s, &s.d);
        struct body args = args_dirop(&s.d, name);
        struct body error = res_wcc(NFS3ERR_NAMETOOLONG, no_wcc);
        for (unsigned twice = 0; twice < 2; twice++) {
            uint32_t xid = stage_call(&s.c1, NFS3_REMOVE, args);
            stage_answer(stage_takes(s.stage, NFS3_LOOKUP, args),
                         res_post_op(NFS3ERR_NAMETOOLONG, NULL));
            stage_answer(stage_takes(s.stage, NFS3_REMOVE, args), error);
            stage_told(&s.c1, xid, error);
        }
        scene_close(&s);
    }
}

/* Protects: the same of what is made under them: no such name is kept. */
static void test_new_names_of_all_lengths(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {0, 256};
    for (unsigned i = 0; i < 2; i++) {
        struct scene s;
        char name[257];
        memset(name, 'n', sizeof name);
        name[lengths[i]] = '\0';
        scene_open(&s, EXCLUSIVE);
        warm_attributes(&s, &s.d);
        stage_fetches(&s.c1, NFS3_CREATE, args_create(&s.d, name, NFS3_UNCHECKED, NULL),
                      res_create(&s.f, &s.f.attr, full_wcc(&s.d, &s.d)));
        stage_fetches(&s.c1, NFS3_ACCESS, args_access(&s.d, 2), res_access(&s.d.attr, 2));
        stage_fetches(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, name), full_lookup(&s.f, &s.d));
        scene_close(&s);
    }
}

/* Protects: a CREATE that does not say what it opened, and a LOOKUP that finds attributes under a handle of no octets. */
static void test_create_of_no_handle(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    warm_attributes(&s, &s.d);
    struct body done = res_create(NULL, NULL, full_wcc(&s.d, &s.d));
    struct file none = {.attr = s.f.attr};
    struct stage_sent *create =
        stage_asks(&s.c1, NFS3_CREATE, args_create(&s.d, "f", NFS3_UNCHECKED, NULL));
    stage_answer(create, done);
    stage_answer(stage_takes(s.stage, NFS3_LOOKUP, args_dirop(&s.d, "f")),
                 full_lookup(&none, &s.d));
    stage_told(&s.c1, create->for_xid, done);
    stage_fetches(&s.c1, NFS3_GETATTR, args_handle(&none), res_getattr(&none.attr));
    stage_serves(&s.c1, NFS3_GETATTR, args_handle(&s.d), res_getattr(&s.d.attr));
    scene_close(&s);
}

/* Protects: empty handles: GETATTR, SETATTR and REMOVE with a handle of no octets. */
static void test_empty_handle(void **state)
{
    (void)state;
    struct scene s;
    struct file none = {0};
    none.attr = file_make("x", NF3REG, 60).attr;
    scene_open(&s, EXCLUSIVE);
    for (unsigned twice = 0; twice < 2; twice++)
        stage_fetches(&s.c1, NFS3_GETATTR, args_handle(&none), res_getattr(&none.attr));
    struct stage_sent *set = stage_asks(&s.c1, NFS3_SETATTR, args_setattr_size(&none, 0));
    stage_answer(set, res_wcc(NFS3_OK, full_wcc(&none, &none)));
    struct stage_sent *get = stage_next(s.stage);
    if (get != NULL)
        stage_answer(get, res_status(NFS3ERR_BADHANDLE));
    stage_told(&s.c1, set->for_xid, res_wcc(NFS3_OK, full_wcc(&none, &none)));
    stage_fetches(&s.c1, NFS3_GETATTR, args_handle(&none), res_getattr(&none.attr));
    scene_close(&s);
}

/* Protects: a CREATE's reply that names the directory, or holds attributes of a fileid that another
 * handle has. */
static void test_create_names_the_directory(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    warm_attributes(&s, &s.d);
    warm_attributes(&s, &s.f);
    stage_fetches(&s.c1, NFS3_CREATE, args_create(&s.d, "n", NFS3_EXCLUSIVE, "verifier"),
                  res_create(&s.d, &s.f.attr, full_wcc(&s.d, &s.d)));
    expect_asked_again(&s, &s.f);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_handles_of_all_kinds),
        cmocka_unit_test(test_rename_onto_itself),
        cmocka_unit_test(test_link_of_a_directory_into_itself),
        cmocka_unit_test(test_names_of_all_lengths),
        cmocka_unit_test(test_new_names_of_all_lengths),
        cmocka_unit_test(test_create_of_no_handle),
        cmocka_unit_test(test_empty_handle),
        cmocka_unit_test(test_create_names_the_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
