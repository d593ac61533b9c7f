/*
 * Hits that are also asked of the server: which answers differ, and which say nothing.
 */
#include "verify_scene.h"

/* ---- ACCESS and LOOKUP ---- */

struct answer_row {
    const char *what;
    unsigned procedure;
    const char *name; /* LOOKUP */
    const char *text; /* a part of what is told; NULL: it is unclear */
    struct body (*says)(const struct scene *s);
    bool asks_f, asks_d, asks_name; /* what is asked of the server again */
};

static struct body says_fewer_bits(const struct scene *s)
{
    return res_access(&s->f.attr, 0x01);
}

static struct body says_changed_access(const struct scene *s)
{
    struct file now = s->f;
    now.attr.mode = 04711;
    return res_access(&now.attr, 0x05);
}

static struct body says_other(const struct scene *s)
{
    return full_lookup(&s->g, &s->d);
}

static struct body says_changed_child(const struct scene *s)
{
    struct file now = s->f;
    now.attr.mode = 04711;
    return full_lookup(&now, &s->d);
}

static struct body says_changed_dir(const struct scene *s)
{
    struct file now = s->d;
    now.attr.nlink = 77;
    return full_lookup(&s->f, &now);
}

static struct body says_noent(const struct scene *s)
{
    return full_noent(&s->d);
}

static struct body says_found(const struct scene *s)
{
    return full_lookup(&s->f, &s->d);
}

static struct body says_changed_noent(const struct scene *s)
{
    struct file now = s->d;
    now.attr.nlink = 77;
    return full_noent(&now);
}

#define SAYS_STATUS(status)                                 \
    static struct body says_##status(const struct scene *s) \
    {                                                       \
        (void)s;                                            \
        return res_post_op(NFS3ERR_##status, NULL);         \
    }
SAYS_STATUS(STALE)
SAYS_STATUS(BADHANDLE)
SAYS_STATUS(NOENT)
SAYS_STATUS(NOTDIR)
SAYS_STATUS(ACCES)
SAYS_STATUS(PERM)
SAYS_STATUS(IO)
SAYS_STATUS(JUKEBOX)
SAYS_STATUS(SERVERFAULT)
SAYS_STATUS(NAMETOOLONG)

static const struct answer_row answer_rows[] = {
    {"bits", NFS3_ACCESS, NULL, "; access 0x05, not 0x01", says_fewer_bits, true, false, false},
    {"ACCESS's attributes", NFS3_ACCESS, NULL, "; obj_attributes.mode 0640, not 04711",
     says_changed_access, true, false, false},
    {"another object", NFS3_LOOKUP, "f",
     " 'f'; object 68616e646c65206f662066, not 68616e646c65206f662067", says_other, false, false,
     true},
    {"the child's attributes", NFS3_LOOKUP, "f", " 'f'; obj_attributes.mode 0640, not 04711",
     says_changed_child, true, false, true},
    {"the directory's attributes", NFS3_LOOKUP, "f", " 'f'; dir_attributes.nlink", says_changed_dir,
     false, true, true},
    {"gone", NFS3_LOOKUP, "f", "; status NFS3_OK, not NFS3ERR_NOENT", says_noent, false, false,
     true},
    {"there", NFS3_LOOKUP, "n", " 'n'; status NFS3ERR_NOENT, not NFS3_OK", says_found, false, false,
     true},
    {"not there, another directory", NFS3_LOOKUP, "n", " 'n'; dir_attributes.nlink",
     says_changed_noent, false, true, true},
    {"GETATTR STALE", NFS3_GETATTR, NULL, "; status NFS3_OK, not NFS3ERR_STALE", says_STALE, true,
     false, false},
    {"GETATTR BADHANDLE", NFS3_GETATTR, NULL, "; status NFS3_OK, not NFS3ERR_BADHANDLE",
     says_BADHANDLE, true, false, false},
    {"GETATTR NOENT", NFS3_GETATTR, NULL, "not NFS3ERR_NOENT", says_NOENT, true, false, false},
    {"ACCESS STALE", NFS3_ACCESS, NULL, "not NFS3ERR_STALE", says_STALE, true, false, false},
    {"LOOKUP STALE", NFS3_LOOKUP, "f", "not NFS3ERR_STALE", says_STALE, false, true, true},
    {"NOENT, then STALE", NFS3_LOOKUP, "n", "status NFS3ERR_NOENT, not NFS3ERR_STALE", says_STALE,
     false, true, true},
    {"LOOKUP NOTDIR", NFS3_LOOKUP, "f", "not NFS3ERR_NOTDIR", says_NOTDIR, false, true, true},
    {"LOOKUP ACCES", NFS3_LOOKUP, "f", "not NFS3ERR_ACCES", says_ACCES, false, true, true},
    {"NOENT, then ACCES", NFS3_LOOKUP, "n", "not NFS3ERR_ACCES", says_ACCES, false, true, true},
    {"GETATTR IO", NFS3_GETATTR, NULL, NULL, says_IO, false, false, false},
    {"GETATTR JUKEBOX", NFS3_GETATTR, NULL, NULL, says_JUKEBOX, false, false, false},
    {"GETATTR ACCES", NFS3_GETATTR, NULL, NULL, says_ACCES, false, false, false},
    {"GETATTR NOTDIR", NFS3_GETATTR, NULL, NULL, says_NOTDIR, false, false, false},
    {"ACCESS ACCES", NFS3_ACCESS, NULL, NULL, says_ACCES, false, false, false},
    {"ACCESS SERVERFAULT", NFS3_ACCESS, NULL, NULL, says_SERVERFAULT, false, false, false},
    {"LOOKUP JUKEBOX", NFS3_LOOKUP, "f", NULL, says_JUKEBOX, false, false, false},
    {"LOOKUP IO", NFS3_LOOKUP, "n", NULL, says_IO, false, false, false},
    {"LOOKUP PERM", NFS3_LOOKUP, "f", NULL, says_PERM, false, false, false},
    {"LOOKUP NAMETOOLONG", NFS3_LOOKUP, "n", NULL, says_NAMETOOLONG, false, false, false},
};

static struct stage_sent *hit_row(struct scene *s, const struct answer_row *row)
{
    switch (row->procedure) {
    case NFS3_ACCESS:
        return hit(&s->c1, NFS3_ACCESS, args_access(&s->f, 0x05), res_access(&s->f.attr, 0x05));
    case NFS3_LOOKUP:
        return hit(&s->c1, NFS3_LOOKUP, args_dirop(&s->d, row->name),
                   *row->name == 'f' ? full_lookup(&s->f, &s->d) : full_noent(&s->d));
    default:
        return hit_getattr(&s->c1, &s->f);
    }
}

/* True when the server is asked, and not only for a check. */
static bool is_asked(struct stage_client *client, unsigned procedure, struct body args,
                     struct body results)
{
    uint32_t xid = stage_call(client, procedure, args);
    bool asked = stage_reply_find(client, xid) == NULL;
    stage_answer(stage_takes(client->worker->stage, procedure, args), results);
    stage_told(client, xid, results);
    return asked;
}

/* Protects: what is a difference, by part and by status, and what only says that the call failed; after a difference what
 * was not so is asked again, and nothing else. */
static void test_each_answer(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof(answer_rows) / sizeof(answer_rows[0]); i++) {
        const struct answer_row *row = &answer_rows[i];
        struct scene s;
        verify_open(&s, STRICT);
        verify_set_attributes(&s.f);
        verify_warm(&s);
        print_message("%s\n", row->what);
        stage_answer(hit_row(&s, row), row->says(&s));
        if (row->text != NULL) {
            expect_counts(&s, row->procedure, 1, 0, 0, 1, 0, 0);
            assert_int_equal(verify_told.count, 1);
            assert_non_null(strstr(verify_told.text, row->text));
        } else {
            expect_counts(&s, row->procedure, 0, 0, 0, 0, 1, 0);
            assert_int_equal(verify_told.count, 0);
        }
        const char *name = row->name != NULL ? row->name : "f";
        struct body looked = *name == 'f' ? full_lookup(&s.f, &s.d) : full_noent(&s.d);
        assert_int_equal(is_asked(&s.c2, NFS3_GETATTR, args_handle(&s.f), res_getattr(&s.f.attr)),
                         row->asks_f);
        assert_int_equal(is_asked(&s.c2, NFS3_GETATTR, args_handle(&s.d), res_getattr(&s.d.attr)),
                         row->asks_d);
        assert_int_equal(is_asked(&s.c2, NFS3_LOOKUP, args_dirop(&s.d, name), looked),
                         row->asks_f || row->asks_d || row->asks_name);
        scene_close(&s);
    }
}

/* Protects: a reply that can't be read, and one of the RPC layer's, say nothing. */
static void test_no_results(void **state)
{
    (void)state;
    struct scene s;
    verify_open(&s, STRICT);
    verify_warm(&s);
    struct body half = res_getattr(&s.g.attr);
    half.len -= 4;
    stage_answer(hit_getattr(&s.c1, &s.f), half);
    stage_answer_rpc(hit_getattr(&s.c1, &s.f),
                     (struct rpc_reply){.stat = RPC_MSG_DENIED, .rejected = RPC_AUTH_ERROR});
    stage_answer_rpc(hit_getattr(&s.c1, &s.f),
                     (struct rpc_reply){.stat = RPC_MSG_ACCEPTED, .accepted = RPC_SYSTEM_ERR});
    expect_counts(&s, NFS3_GETATTR, 0, 0, 0, 0, 3, 0);
    still_served(&s.c2, &s.f);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_answer),
        cmocka_unit_test(test_no_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
