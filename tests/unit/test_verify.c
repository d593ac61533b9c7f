/*
 * Hits that are also asked of the server: what is sent, what the reply is compared with and when, what is counted, and
 * that none of it shows anywhere else.
 */
#include "stage_scene.h"

#include "proxy/verify.h"
#include "proxy/violation.h"

/* Neither doubt nor settling excuses anything. */
#define STRICT EXCLUSIVE "settle = 0\ndoubt = 0\nverify = 1\n"
/* What is kept stays for long. */
#define LONG_SHARED \
    SHARED "age-min = 2h\nage-max = 2h\nnegative-age = 2h\naccess-age = 2h\nverify = 1\n"

/* ---- the allocation of a check may fail ---- */

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

static bool no_memory;

void *__wrap_calloc(size_t count, size_t size)
{
    return no_memory ? NULL : __real_calloc(count, size);
}

/* ---- violations that were told ---- */

static struct {
    unsigned count;
    char text[VIOLATION_TEXT_MAX];
} told;

static void on_violated(struct engine *engine, const struct violation *violation)
{
    (void)engine;
    told.count++;
    violation_text(violation, told.text, sizeof(told.text));
}

static void open_scene(struct scene *s, const char *keys)
{
    scene_open(s, keys);
    told.count = 0;
    for (unsigned i = 0; i < s->stage->workers; i++)
        s->stage->worker[i].engine.violated = on_violated;
}

/* ---- counters, as "verified equal outdated violations unclear skipped" ---- */

#define expect_counts(scene, procedure, ...) \
    expect_counts_at((scene), (procedure), (const uint64_t[6]){__VA_ARGS__}, __FILE__, __LINE__)

static void expect_counts_at(const struct scene *s, unsigned procedure, const uint64_t expected[6],
                             const char *file, int line)
{
    uint64_t sum[6] = {0};
    for (unsigned i = 0; i < s->stage->workers; i++) {
        const struct verify_counters *c = &s->stage->worker[i].service.counters.verify[procedure];
        const counter *all[] = {&c->verified,   &c->equal,   &c->outdated,
                                &c->violations, &c->unclear, &c->skipped};
        for (unsigned k = 0; k < 6; k++)
            sum[k] += counter_read(all[k]);
    }
    for (unsigned k = 0; k < 6; k++) {
        if (sum[k] == expected[k])
            continue;
        print_error("count %u is %lu, not %lu\n", k, (unsigned long)sum[k],
                    (unsigned long)expected[k]);
        _fail(file, line);
    }
}

/* ---- a hit, and its check ---- */

#define hit(client, procedure, args, results) \
    hit_at((client), (procedure), (args), (results), __FILE__, __LINE__)

/* The client is answered at once, and the server is asked the same. */
static struct stage_sent *hit_at(struct stage_client *client, unsigned procedure, struct body args,
                                 struct body results, const char *file, int line)
{
    stage_quiet_at(client->worker->stage, file, line);
    uint32_t xid = stage_call(client, procedure, args);
    stage_told_at(client, xid, results, file, line);
    struct stage_sent *sent = stage_takes_at(client->worker->stage, procedure, args, file, line);
    stage_quiet_at(client->worker->stage, file, line);
    return sent;
}

/* The same for the attributes of a file as they are kept. */
static struct stage_sent *hit_getattr(struct stage_client *client, const struct file *file)
{
    return hit(client, NFS3_GETATTR, args_handle(file), res_getattr(&file->attr));
}

/* The server is asked by a client, and nothing is checked. */
static void asked_again(struct stage_client *client, const struct file *file)
{
    stage_fetches(client, NFS3_GETATTR, args_handle(file), res_getattr(&file->attr));
}

/* Still answered from the cache; the check is answered as it was served. */
static void still_served(struct stage_client *client, const struct file *file)
{
    stage_answer(hit_getattr(client, file), res_getattr(&file->attr));
}

/* d/f -> f, d/n: not there; ACCESS of f with some bits. */
static void warm(struct scene *s)
{
    warm_name(s, "f", &s->f);
    stage_fetches(&s->c1, NFS3_LOOKUP, args_dirop(&s->d, "n"), full_noent(&s->d));
    stage_fetches(&s->c1, NFS3_ACCESS, args_access(&s->f, 0x3f), res_access(&s->f.attr, 0x0d));
}

/* ---- equal ---- */

/* Protects: each kind of hit is asked as its caller asked, after the client has its answer; what is equal is counted so,
 * and stays. */
static void test_equal(void **state)
{
    (void)state;
    struct scene s;
    open_scene(&s, STRICT);
    warm(&s);
    const struct body found = full_lookup(&s.f, &s.d), absent = full_noent(&s.d);
    for (unsigned round = 1; round <= 2; round++) {
        stage_answer(hit_getattr(&s.c2, &s.f), res_getattr(&s.f.attr));
        stage_answer(hit(&s.c2, NFS3_ACCESS, args_access(&s.f, 0x05), res_access(&s.f.attr, 0x05)),
                     res_access(&s.f.attr, 0x05));
        stage_answer(hit(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "f"), found), found);
        stage_answer(hit(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "n"), absent), absent);
        expect_counts(&s, NFS3_GETATTR, round, round, 0, 0, 0, 0);
        expect_counts(&s, NFS3_ACCESS, round, round, 0, 0, 0, 0);
        expect_counts(&s, NFS3_LOOKUP, 2 * round, 2 * round, 0, 0, 0, 0);
    }
    assert_int_equal(told.count, 0);
    assert_int_equal(s.c1.replies, 3 + 4); /* what the server says to a check nobody gets */
    assert_int_equal(s.c2.replies, 4);
    scene_close(&s);
}

/* Protects: what the server does not send can't differ: attributes of ACCESS and LOOKUP. More bits than were asked for
 * say nothing. */
static void test_equal_without_attributes(void **state)
{
    (void)state;
    struct scene s;
    open_scene(&s, STRICT);
    warm(&s);
    stage_answer(hit(&s.c1, NFS3_ACCESS, args_access(&s.f, 0x05), res_access(&s.f.attr, 0x05)),
                 res_access(NULL, 0x3d));
    stage_answer(hit(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "f"), full_lookup(&s.f, &s.d)),
                 res_lookup(&s.f, NULL, NULL));
    stage_answer(hit(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "n"), full_noent(&s.d)),
                 res_post_op(NFS3ERR_NOENT, NULL));
    expect_counts(&s, NFS3_ACCESS, 1, 1, 0, 0, 0, 0);
    expect_counts(&s, NFS3_LOOKUP, 2, 2, 0, 0, 0, 0);
    scene_close(&s);
}

/* Protects: a check does not make anything younger, neither the object nor the clock of the fences. */
static void test_ages_stay(void **state)
{
    (void)state;
    struct scene s;
    open_scene(&s, SHARED "verify = 1\n");
    warm_attributes(&s, &s.f);
    stage_advance(s.stage, 3 * STAGE_SECOND - 1);
    cache_stamp before = cache_clock(s.c1.worker->service.cache);
    still_served(&s.c1, &s.f);
    expect_counts(&s, NFS3_GETATTR, 1, 1, 0, 0, 0, 0);
    assert_int_equal(cache_clock(s.c1.worker->service.cache), before);
    stage_advance(s.stage, 1);
    asked_again(&s.c1, &s.f);
    scene_close(&s);
}

/* ---- attributes ---- */

struct field_row {
    const char *name;
    void (*change)(struct attr *attr);
    const char *text; /* NULL: no difference */
};

static void change_type(struct attr *attr)
{
    attr->type = NF3FIFO;
}
static void change_mode(struct attr *attr)
{
    attr->mode = 04711;
}
static void change_nlink(struct attr *attr)
{
    attr->nlink = 77;
}
static void change_uid(struct attr *attr)
{
    attr->uid = 4000000000u;
}
static void change_gid(struct attr *attr)
{
    attr->gid = 5;
}
static void change_size(struct attr *attr)
{
    attr->size = 1ull << 40;
}
static void change_used(struct attr *attr)
{
    attr->used = 512;
}
static void change_rdev(struct attr *attr)
{
    attr->rdev[1] = 9;
}
static void change_fsid(struct attr *attr)
{
    attr->fsid = 10;
}
static void change_fileid(struct attr *attr)
{
    attr->fileid = 11;
}
static void change_atime(struct attr *attr)
{
    attr->atime = TIME(1, 1);
}
static void change_mtime(struct attr *attr)
{
    attr->mtime = TIME(7, 8);
}
static void change_ctime(struct attr *attr)
{
    attr->ctime = TIME(4294967295u, 999999999);
}

static const struct field_row field_rows[] = {
    {"type", change_type, "obj_attributes.type 1, not 7"},
    {"mode", change_mode, "obj_attributes.mode 0640, not 04711"},
    {"nlink", change_nlink, "obj_attributes.nlink 1, not 77"},
    {"uid", change_uid, "obj_attributes.uid 1002, not 4000000000"},
    {"gid", change_gid, "obj_attributes.gid 103, not 5"},
    {"size", change_size, "obj_attributes.size 100, not 1099511627776"},
    {"used", change_used, "obj_attributes.used 4096, not 512"},
    {"rdev", change_rdev, "obj_attributes.rdev 1,2, not 1,9"},
    {"fsid", change_fsid, "obj_attributes.fsid 7, not 10"},
    {"fileid", change_fileid, "obj_attributes.fileid 2, not 11"},
    {"atime", change_atime, NULL},
    {"mtime", change_mtime, "obj_attributes.mtime 10.000000020, not 7.000000008"},
    {"ctime", change_ctime, "obj_attributes.ctime 11.000000021, not 4294967295.999999999"},
};

/* Known values for the texts above. */
static void set_attributes(struct file *file)
{
    file->attr = (struct attr){.type = NF3REG,
                               .mode = 0640,
                               .nlink = 1,
                               .uid = 1002,
                               .gid = 103,
                               .size = 100,
                               .used = 4096,
                               .rdev = {1, 2},
                               .fsid = 7,
                               .fileid = 2,
                               .atime = TIME(9, 19),
                               .mtime = TIME(10, 20),
                               .ctime = TIME(11, 21)};
}

/* Protects: each field of fattr3 but atime; its name and both values are told, once; what was served is asked again. */
static void test_each_field(void **state)
{
    (void)state;
    for (unsigned row = 0; row < sizeof(field_rows) / sizeof(field_rows[0]); row++) {
        const struct field_row *field = &field_rows[row];
        struct scene s;
        char expected[256];
        open_scene(&s, STRICT);
        set_attributes(&s.f);
        warm_attributes(&s, &s.f);
        struct file now = s.f;
        field->change(&now.attr);
        stage_answer(hit_getattr(&s.c1, &s.f), res_getattr(&now.attr));
        if (field->text == NULL) {
            expect_counts(&s, NFS3_GETATTR, 1, 1, 0, 0, 0, 0);
            still_served(&s.c2, &s.f);
            assert_int_equal(told.count, 0);
        } else {
            expect_counts(&s, NFS3_GETATTR, 1, 0, 0, 1, 0, 0);
            assert_int_equal(told.count, 1);
            snprintf(expected, sizeof(expected),
                     "home: served what the server does not say: GETATTR "
                     "68616e646c65206f662066; %s",
                     field->text);
            assert_string_equal(told.text, expected);
            asked_again(&s.c2, &now);
        }
        scene_close(&s);
    }
}

/* Protects: several fields at once are all told. */
static void test_several_fields(void **state)
{
    (void)state;
    struct scene s;
    open_scene(&s, STRICT);
    set_attributes(&s.f);
    warm_attributes(&s, &s.f);
    struct file now = s.f;
    change_mode(&now.attr);
    change_size(&now.attr);
    stage_answer(hit_getattr(&s.c1, &s.f), res_getattr(&now.attr));
    assert_non_null(strstr(told.text, "; obj_attributes.mode 0640, not 04711; "
                                      "obj_attributes.size 100, not 1099511627776"));
    scene_close(&s);
}

/* Protects: the same file under another handle goes too where it says what was not so, and stays where it does not. */
static void test_other_handles(void **state)
{
    (void)state;
    struct scene s;
    open_scene(&s, STRICT);
    struct file alias = file_make("another handle of f", NF3REG, 2);
    alias.attr = s.f.attr;
    warm_attributes(&s, &s.f);
    warm_attributes(&s, &alias);
    warm_attributes(&s, &s.g);
    struct stage_sent *check = hit_getattr(&s.c1, &s.f);
    file_write(&s.f);
    stage_answer(check, res_getattr(&s.f.attr));
    alias.attr = s.f.attr;
    asked_again(&s.c1, &alias);
    asked_again(&s.c2, &s.f);
    still_served(&s.c2, &s.g);
    expect_counts(&s, NFS3_GETATTR, 2, 1, 0, 1, 0, 0);
    scene_close(&s);
}

/* Protects: a change is one violation, however many hits on it were under way. */
static void test_told_once(void **state)
{
    (void)state;
    struct scene s;
    open_scene(&s, STRICT);
    warm_attributes(&s, &s.f);
    struct stage_sent *first = hit_getattr(&s.c1, &s.f), *second = hit_getattr(&s.c2, &s.f);
    file_write(&s.f);
    stage_answer(second, res_getattr(&s.f.attr));
    stage_answer(first, res_getattr(&s.f.attr));
    expect_counts(&s, NFS3_GETATTR, 1, 0, 0, 1, 1, 0);
    assert_int_equal(told.count, 1);
    scene_close(&s);
}

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
        open_scene(&s, STRICT);
        set_attributes(&s.f);
        warm(&s);
        print_message("%s\n", row->what);
        stage_answer(hit_row(&s, row), row->says(&s));
        if (row->text != NULL) {
            expect_counts(&s, row->procedure, 1, 0, 0, 1, 0, 0);
            assert_int_equal(told.count, 1);
            assert_non_null(strstr(told.text, row->text));
        } else {
            expect_counts(&s, row->procedure, 0, 0, 0, 0, 1, 0);
            assert_int_equal(told.count, 0);
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
    open_scene(&s, STRICT);
    warm(&s);
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
    open_scene(&s, LONG_SHARED);
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
    assert_int_equal(told.count, 0);
    scene_close(&s);
}

/* Protects: of an answer that stands on several things the age of the one that differs counts, the oldest of them if there
 * are more. */
static void test_outdated_part(void **state)
{
    (void)state;
    struct scene s;
    open_scene(&s, LONG_SHARED);
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
    open_scene(&s, EXCLUSIVE "doubt = 0\nverify = 1\n");
    warm(&s);
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
    open_scene(&s, EXCLUSIVE "settle = 0\nverify = 1\n");
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
    open_scene(&s, STRICT);
    warm(&s);
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
        open_scene(&s, STRICT);
        warm(&s);
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
    open_scene(&s, STRICT);
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
    assert_int_equal(told.count, 0);
    scene_close(&s);
}

/* Protects: a GUARDED CREATE changes no file that is there: what it does not touch is compared meanwhile. */
static void test_guarded_create(void **state)
{
    (void)state;
    struct scene s;
    open_scene(&s, STRICT);
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
    open_scene(&s, STRICT);
    warm_attributes(&s, &s.f);
    struct stage_sent *check = hit_getattr(&s.c1, &s.f);
    stage_link_down(s.stage, 1);
    file_write(&s.f);
    stage_answer(check, res_getattr(&s.f.attr));
    expect_counts(&s, NFS3_GETATTR, 0, 0, 0, 0, 1, 0);
    scene_close(&s);
}

/* ---- whose turn it is ---- */

/* Protects: the credential that the server would have got, squashed or not; a squashed check has the call's own tail. */
static void test_squash(void **state)
{
    (void)state;
    struct scene s;
    open_scene(&s, STRICT "squash = all\nanonuid = 77\nanongid = 78\n");
    warm(&s);
    struct stage_sent *fetch =
        stage_asks(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "a name that is not short"));
    stage_tells(&s.c1, fetch, full_noent(&s.d));
    struct stage_sent *check =
        hit(&s.c1, NFS3_LOOKUP, args_dirop(&s.d, "a name that is not short"), full_noent(&s.d));
    wire_assert_bytes(check->rpc.cred, fetch->rpc.cred);
    struct rpc_auth_sys sys;
    assert_true(rpc_auth_sys_decode(check->rpc.cred, &sys));
    assert_int_equal(sys.uid, 77);
    assert_int_equal(sys.gid, 78);
    stage_answer(check, full_noent(&s.d));
    expect_counts(&s, NFS3_LOOKUP, 1, 1, 0, 0, 0, 0);
    scene_close(&s);
}

/* How many of `hits` hits are checked, and which was the first. */
static unsigned checked_of(struct scene *s, unsigned hits, unsigned *first)
{
    unsigned checked = 0;
    for (unsigned i = 1; i <= hits; i++) {
        uint32_t xid = stage_call(&s->c1, NFS3_GETATTR, args_handle(&s->f));
        stage_told(&s->c1, xid, res_getattr(&s->f.attr));
        if (stage_waiting(s->stage) == 0)
            continue;
        if (checked++ == 0)
            *first = i;
        stage_answer(stage_next(s->stage), res_getattr(&s->f.attr));
    }
    return checked;
}

/* Protects: the share, exactly, and of hits alone. */
static void test_share(void **state)
{
    (void)state;
    static const struct {
        const char *keys;
        unsigned hits, checked, first;
    } rows[] = {
        {EXCLUSIVE "verify = 0.25\n", 4, 1, 4},        {EXCLUSIVE "verify = 0.25\n", 400, 100, 4},
        {EXCLUSIVE "verify = 0.3\n", 1000, 300, 4},    {EXCLUSIVE "verify = 1\n", 50, 50, 1},
        {EXCLUSIVE "verify = 0.999\n", 1000, 999, 2},  {EXCLUSIVE "verify = 0.001\n", 999, 0, 0},
        {EXCLUSIVE "verify = 0.001\n", 1000, 1, 1000}, {EXCLUSIVE, 100, 0, 0},
    };
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct scene s;
        unsigned first = 0;
        open_scene(&s, rows[i].keys);
        warm_attributes(&s, &s.f);
        for (unsigned k = 0; k < 3; k++) /* misses are nobody's turn */
            stage_tells(&s.c1, stage_asks(&s.c1, NFS3_GETATTR, args_handle(&s.g)),
                        res_status(NFS3ERR_IO));
        assert_int_equal(checked_of(&s, rows[i].hits, &first), rows[i].checked);
        assert_int_equal(first, rows[i].first);
        expect_counts(&s, NFS3_GETATTR, rows[i].checked, rows[i].checked, 0, 0, 0, 0);
        scene_close(&s);
    }
}

/* Protects: a reload takes another share into force at once. */
static void test_share_changes(void **state)
{
    (void)state;
    struct scene s;
    unsigned first = 0;
    open_scene(&s, EXCLUSIVE);
    warm_attributes(&s, &s.f);
    assert_int_equal(checked_of(&s, 10, &first), 0);
    s.stage->settings->services[0].verify = 0.5;
    service_apply(&s.c1.worker->service, &s.stage->settings->services[0]);
    assert_int_equal(checked_of(&s, 10, &first), 5);
    s.stage->settings->services[0].verify = 0;
    service_apply(&s.c1.worker->service, &s.stage->settings->services[0]);
    assert_int_equal(checked_of(&s, 10, &first), 0);
    scene_close(&s);
}

/* ---- what it may cost ---- */

/* Protects: no more than so many are in flight; further hits are answered and counted as skipped, until there is room
 * again. */
static void test_bound(void **state)
{
    (void)state;
    struct scene s;
    open_scene(&s, STRICT);
    warm_attributes(&s, &s.f);
    for (unsigned i = 0; i < VERIFY_INFLIGHT_MAX; i++)
        stage_call(&s.c1, NFS3_GETATTR, args_handle(&s.f));
    assert_int_equal(stage_waiting(s.stage), VERIFY_INFLIGHT_MAX);
    uint32_t xid = stage_call(&s.c1, NFS3_GETATTR, args_handle(&s.f));
    stage_told(&s.c1, xid, res_getattr(&s.f.attr));
    assert_int_equal(stage_waiting(s.stage), VERIFY_INFLIGHT_MAX);
    expect_counts(&s, NFS3_GETATTR, 0, 0, 0, 0, 0, 1);
    stage_answer(stage_next(s.stage), res_getattr(&s.f.attr));
    stage_call(&s.c1, NFS3_GETATTR, args_handle(&s.f));
    assert_int_equal(stage_waiting(s.stage), VERIFY_INFLIGHT_MAX);
    while (stage_waiting(s.stage) > 0)
        stage_answer(stage_next(s.stage), res_getattr(&s.f.attr));
    expect_counts(&s, NFS3_GETATTR, VERIFY_INFLIGHT_MAX + 1, VERIFY_INFLIGHT_MAX + 1, 0, 0, 0, 1);
    assert_int_equal(s.c1.worker->engine.calls, 0);
    assert_int_equal(s.c1.worker->service.verify.inflight, 0);
    scene_close(&s);
}

/* Protects: a service that goes ends its checks without a word, also those whose octets are still in the socket; what is
 * hit after that is not checked. */
static void test_service_goes(void **state)
{
    (void)state;
    for (unsigned full = 0; full < 2; full++) {
        struct scene s;
        open_scene(&s, STRICT);
        warm_attributes(&s, &s.f);
        s.stage->socket_full = full;
        hit_getattr(&s.c1, &s.f);
        hit_getattr(&s.c1, &s.f);
        assert_int_equal(s.c1.worker->engine.calls, 2);
        stage_abandon(s.stage, 0);
        assert_int_equal(s.c1.worker->engine.calls, 0);
        expect_counts(&s, NFS3_GETATTR, 0, 0, 0, 0, 0, 0);
        uint32_t xid = stage_call(&s.c1, NFS3_GETATTR, args_handle(&s.f));
        stage_told(&s.c1, xid, res_getattr(&s.f.attr));
        expect_counts(&s, NFS3_GETATTR, 0, 0, 0, 0, 0, 1);
        assert_int_equal(s.c1.worker->engine.calls, 0);
        scene_close(&s);
    }
}

/* Protects: a check whose octets are still in the socket when its reply comes. */
static void test_socket_full(void **state)
{
    (void)state;
    struct scene s;
    open_scene(&s, STRICT);
    warm_attributes(&s, &s.f);
    s.stage->socket_full = true;
    stage_answer(hit_getattr(&s.c1, &s.f), res_getattr(&s.f.attr));
    expect_counts(&s, NFS3_GETATTR, 1, 1, 0, 0, 0, 0);
    assert_int_equal(s.c1.worker->engine.calls, 1);
    stage_socket_drain(s.stage);
    assert_int_equal(s.c1.worker->engine.calls, 0);
    scene_close(&s);
}

/* Protects: a client that goes has nothing to do with it. */
static void test_client_goes(void **state)
{
    (void)state;
    struct scene s;
    open_scene(&s, STRICT);
    warm_attributes(&s, &s.f);
    struct stage_sent *check = hit_getattr(&s.c1, &s.f);
    assert_int_equal(s.c1.client.inflight, 0);
    stage_client_leave(&s.c1);
    struct file now = s.f;
    file_write(&now);
    stage_answer(check, res_getattr(&now.attr));
    expect_counts(&s, NFS3_GETATTR, 1, 0, 0, 1, 0, 0);
    scene_close(&s);
}

/* Protects: without memory for the check the hit is a hit. */
static void test_no_memory(void **state)
{
    (void)state;
    struct scene s;
    open_scene(&s, STRICT);
    warm_attributes(&s, &s.f);
    no_memory = true;
    uint32_t xid = stage_call(&s.c1, NFS3_GETATTR, args_handle(&s.f));
    no_memory = false;
    stage_told(&s.c1, xid, res_getattr(&s.f.attr));
    stage_quiet(s.stage);
    assert_int_equal(s.c1.failures, 0);
    expect_counts(&s, NFS3_GETATTR, 0, 0, 0, 0, 0, 1);
    still_served(&s.c1, &s.f);
    expect_counts(&s, NFS3_GETATTR, 1, 1, 0, 0, 0, 1);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal),
        cmocka_unit_test(test_equal_without_attributes),
        cmocka_unit_test(test_ages_stay),
        cmocka_unit_test(test_each_field),
        cmocka_unit_test(test_several_fields),
        cmocka_unit_test(test_other_handles),
        cmocka_unit_test(test_told_once),
        cmocka_unit_test(test_each_answer),
        cmocka_unit_test(test_no_results),
        cmocka_unit_test(test_outdated),
        cmocka_unit_test(test_outdated_part),
        cmocka_unit_test(test_settling),
        cmocka_unit_test(test_doubtful),
        cmocka_unit_test(test_mutation),
        cmocka_unit_test(test_mutation_of_a_part),
        cmocka_unit_test(test_mutation_unseen),
        cmocka_unit_test(test_guarded_create),
        cmocka_unit_test(test_doubt_in_between),
        cmocka_unit_test(test_squash),
        cmocka_unit_test(test_share),
        cmocka_unit_test(test_share_changes),
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_service_goes),
        cmocka_unit_test(test_socket_full),
        cmocka_unit_test(test_client_goes),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
