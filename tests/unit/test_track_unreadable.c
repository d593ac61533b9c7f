/*
 * Replies to mutations whose RPC header can't be read.
 */
#include "stage_scene.h"

static void expect_asked_again(struct scene *s, const struct file *file)
{
    stage_fetches(&s->c2, NFS3_GETATTR, args_handle(file), res_getattr(&file->attr));
}

/* Protects: a reply whose RPC header can't be read is no proof that the call was turned away: a
 * CREATE that may have truncated f is asked about, as after results that can't be read. */
static void test_unreadable_header_of_a_create(void **state)
{
    (void)state;
    static const uint8_t headers[][12] = {
        {0, 0, 0, 1},                          /* REPLY, and nothing more */
        {0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0},  /* accepted, and no verifier */
        {0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0, 0}}; /* no reply_stat */
    static const uint32_t lengths[] = {4, 12, 12};
    for (unsigned i = 0; i < 3; i++) {
        struct scene s;
        scene_open(&s, EXCLUSIVE);
        warm_attributes(&s, &s.d);
        warm_attributes(&s, &s.f);
        struct stage_sent *create =
            stage_asks(&s.c1, NFS3_CREATE, args_create(&s.d, "f", NFS3_UNCHECKED, NULL));
        file_write(&s.f);
        stage_answer_raw(create, (struct bytes){headers[i], lengths[i]});
        struct stage_sent *look = stage_next(s.stage);
        if (look != NULL)
            stage_answer(look, full_lookup(&s.f, &s.d));
        uint32_t xid = stage_call(&s.c2, NFS3_GETATTR, args_handle(&s.f));
        if (stage_waiting(s.stage) > 0)
            stage_answer(stage_next(s.stage), res_getattr(&s.f.attr));
        stage_told(&s.c2, xid, res_getattr(&s.f.attr));
        scene_close(&s);
    }
}

/* Protects: the same of a SETATTR, and the alias of a handle that nothing is known of. */
static void test_unreadable_header_of_a_setattr(void **state)
{
    (void)state;
    static const uint8_t header[] = {0, 0, 0, 1};
    struct scene s;
    scene_open(&s, EXCLUSIVE);
    struct file alias = file_make("another handle of f", NF3REG, 2);
    warm_attributes(&s, &alias);
    struct stage_sent *set = stage_asks(&s.c1, NFS3_SETATTR, args_setattr_size(&s.f, 0));
    file_write(&s.f);
    alias.attr = s.f.attr;
    stage_answer_raw(set, (struct bytes){header, 4});
    struct stage_sent *get = stage_next(s.stage);
    if (get != NULL)
        stage_answer(get, res_getattr(&s.f.attr));
    expect_asked_again(&s, &alias);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unreadable_header_of_a_create),
        cmocka_unit_test(test_unreadable_header_of_a_setattr),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
