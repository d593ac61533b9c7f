/*
 * A mutation's `wcc_data.before` is what the directory was when the server began with it. Where that
 * is not what was last known, and no other mutation was about, somebody else has been there: all names
 * in the directory are asked for again, at once.
 */
#include "stage_probe.h"

struct changed {
    struct scene s;
    struct file e, v; /* another directory; what is removed, renamed or made */
};

/* Names in both directories, all of which would be served for another three seconds. */
static void changed_open(struct changed *o, const char *keys)
{
    struct scene *s = &o->s;
    scene_open(s, keys);
    o->e = file_make("handle of e", NF3DIR, 11);
    o->v = file_make("handle of v", NF3REG, 12);
    warm_attributes(s, &s->d);
    warm_attributes(s, &s->f);
    warm_attributes(s, &o->e);
    stage_advance(s->stage, 10 * STAGE_SECOND);
    const struct file *const dirs[] = {&s->d, &o->e};
    for (unsigned i = 0; i < 2; i++) {
        probe_fetches(&s->c1, probe_name(dirs[i], "f", &s->f));
        probe_fetches(&s->c1, probe_name(dirs[i], "n", NULL));
    }
}

static void expect_names(struct scene *s, const struct file *dir, bool stay)
{
    probe_fetches(&s->c1, probe_access(dir, 0x1f)); /* a mutation takes the right to search along */
    if (stay) {
        probe_serves(&s->c2, probe_name(dir, "f", &s->f));
        probe_serves(&s->c2, probe_name(dir, "n", NULL));
    } else {
        probe_fetches(&s->c2, probe_name(dir, "f", &s->f));
        probe_fetches(&s->c2, probe_name(dir, "n", NULL));
    }
}

/* ---- what a reply says ---- */

enum before {
    BEFORE_EQUAL,
    BEFORE_CTIME,
    BEFORE_MTIME,
    BEFORE_SIZE,
    BEFORE_MISSING,
    BEFORES,
};

/* What the server says of d, in which the mutation has just done something. */
static struct wcc wcc_of(struct file *d, enum before what, struct file *before)
{
    *before = *d;
    before->attr.ctime += what == BEFORE_CTIME;
    before->attr.mtime += what == BEFORE_MTIME;
    before->attr.size += what == BEFORE_SIZE;
    *d = *before;
    file_write(d);
    return (struct wcc){what == BEFORE_MISSING ? NULL : &before->attr, &d->attr};
}

static bool differs(enum before what)
{
    return what >= BEFORE_CTIME && what <= BEFORE_SIZE;
}

enum mutation {
    SETATTR,
    CREATE,
    MKDIR,
    SYMLINK,
    MKNOD,
    LINK,
    REMOVE,
    RMDIR,
    RENAME_FROM,
    RENAME_TO,
    FAILED_MKDIR,
    FAILED_RMDIR,
    MUTATIONS,
};

/* A mutation of d, and what the server says. */
static struct probe mutation(const struct changed *o, enum mutation which, struct wcc wcc)
{
    const struct file *d = &o->s.d, *e = &o->e, *v = &o->v;
    struct wcc of_e = {&e->attr, &e->attr};
    struct body made = res_create(v, &v->attr, wcc), done = res_wcc(NFS3_OK, wcc);
    switch (which) {
    case SETATTR:
        return (struct probe){NFS3_SETATTR, args_setattr_guarded(d, 0700, 1), done};
    case CREATE:
        return (struct probe){NFS3_CREATE, args_create(d, "v", NFS3_UNCHECKED, NULL), made};
    case MKDIR:
        return (struct probe){NFS3_MKDIR, args_mkdir(d, "v"), made};
    case SYMLINK:
        return (struct probe){NFS3_SYMLINK, args_symlink(d, "v", "to"), made};
    case MKNOD:
        return (struct probe){NFS3_MKNOD, args_mknod(d, "v"), made};
    case LINK:
        return (struct probe){NFS3_LINK, args_link(v, d, "v"), res_link(NFS3_OK, &v->attr, wcc)};
    case REMOVE:
        return (struct probe){NFS3_REMOVE, args_dirop(d, "v"), done};
    case RMDIR:
        return (struct probe){NFS3_RMDIR, args_dirop(d, "v"), done};
    case RENAME_FROM:
        return (struct probe){NFS3_RENAME, args_rename(d, "v", e, "w"),
                              res_rename(NFS3_OK, wcc, of_e)};
    case RENAME_TO:
        return (struct probe){NFS3_RENAME, args_rename(e, "v", d, "w"),
                              res_rename(NFS3_OK, of_e, wcc)};
    case FAILED_MKDIR:
        return (struct probe){NFS3_MKDIR, args_mkdir(d, "v"), res_wcc(NFS3ERR_IO, wcc)};
    default:
        return (struct probe){NFS3_RMDIR, args_dirop(d, "v"), res_wcc(NFS3ERR_NOTEMPTY, wcc)};
    }
}

/* The proxy may ask first what v and w are; that shows nothing of the directories. */
static void mutate(struct changed *o, struct probe call)
{
    struct scene *s = &o->s;
    struct body v = res_lookup(&o->v, &o->v.attr, NULL), w = res_post_op(NFS3ERR_NOENT, NULL);
    uint32_t xid = stage_call(&s->c2, call.procedure, call.args);
    for (unsigned asked = 0; stage_waiting(s->stage) > 0; asked++) {
        struct stage_sent *sent = stage_next(s->stage);
        if (sent->rpc.procedure == call.procedure)
            stage_answer(sent, call.results);
        else
            stage_answer(sent, asked == 0 ? v : w);
    }
    stage_told(&s->c2, xid, call.results);
}

/* ---- alone ---- */

static void run_alone(const char *keys, bool missing_is_enough)
{
    for (enum mutation which = 0; which < MUTATIONS; which++) {
        for (enum before what = 0; what < BEFORES; what++) {
            struct changed o;
            struct file before;
            changed_open(&o, keys);
            stage_advance(o.s.stage, STAGE_SECOND);
            mutate(&o, mutation(&o, which, wcc_of(&o.s.d, what, &before)));
            bool go = differs(what) || (what == BEFORE_MISSING && missing_is_enough);
            expect_names(&o.s, &o.s.d, !go);
            if (which == RENAME_FROM || which == RENAME_TO)
                expect_names(&o.s, &o.e, true); /* each directory by itself */
            scene_close(&o.s);
        }
    }
}

/* Protects: whatever the mutation is, and whether it succeeds: a `before` that differs from the last
 * known in ctime, mtime or size alone drops all names; one that is equal drops none. Where there is
 * none, nothing proves that nobody else was there. */
static void test_shared(void **state)
{
    (void)state;
    run_alone(SHARED, true);
}

/* Protects: in exclusive nobody else is there: a reply without `before` drops nothing; one that shows
 * the contrary is believed all the same. */
static void test_exclusive(void **state)
{
    (void)state;
    run_alone(EXCLUSIVE, false);
}

/* Protects: a reply that says nothing at all of the directory is one without `before`. */
static void test_nothing_said(void **state)
{
    (void)state;
    static const char *const keys[] = {SHARED, EXCLUSIVE};
    for (unsigned exclusive = 0; exclusive < 2; exclusive++) {
        struct changed o;
        changed_open(&o, keys[exclusive]);
        mutate(&o, mutation(&o, MKDIR, no_wcc));
        expect_names(&o.s, &o.s.d, exclusive);
        scene_close(&o.s);
    }
}

/* ---- a directory that a mutation touches, and its reply does not speak of ---- */

enum telling {
    TELLS,   /* of d, where it is about d */
    FAILS,   /* SYSTEM_ERR: nobody knows what was done */
    REFUSES, /* AUTH_ERROR: nothing was done */
    TELLINGS,
};

enum touching {
    CREATE_GUARDED_E,
    CREATE_UNCHECKED_E,
    CREATE_EXCLUSIVE_E,
    RENAME_E,
    FAILED_RENAME_E,
    LINK_E,
    SETACL_E,
    RENAME_OVER_E, /* from here on a reply that can be read takes e's names along, whatever it says */
    RMDIR_E,
    REMOVE_E,
    TOUCHINGS,
};

/* It may change e, and its reply speaks of d or of nothing. */
static struct probe touch(const struct changed *o, enum touching which)
{
    const struct file *d = &o->s.d, *e = &o->e;
    struct wcc wcc = full_wcc(d, d);
    struct body exists = res_wcc(NFS3ERR_EXIST, wcc), away = args_rename(d, "e", d, "w");
    switch (which) {
    case CREATE_GUARDED_E:
        return (struct probe){NFS3_CREATE, args_create(d, "e", NFS3_GUARDED, NULL), exists};
    case CREATE_UNCHECKED_E:
        return (struct probe){NFS3_CREATE, args_create(d, "e", NFS3_UNCHECKED, NULL), exists};
    case CREATE_EXCLUSIVE_E:
        return (struct probe){NFS3_CREATE, args_create(d, "e", NFS3_EXCLUSIVE, "verifier"), exists};
    case RENAME_E:
        return (struct probe){NFS3_RENAME, away, res_rename(NFS3_OK, wcc, wcc)};
    case FAILED_RENAME_E:
        return (struct probe){NFS3_RENAME, away, res_rename(NFS3ERR_IO, wcc, wcc)};
    case LINK_E:
        return (struct probe){NFS3_LINK, args_link(e, d, "l"), res_link(NFS3ERR_ISDIR, NULL, wcc)};
    case SETACL_E:
        return (struct probe){SETACL, args_setacl(e, 4), res_post_op(NFS3_OK, NULL)};
    case RENAME_OVER_E:
        return (struct probe){NFS3_RENAME, args_rename(d, "v", d, "e"),
                              res_rename(NFS3ERR_IO, wcc, wcc)};
    case RMDIR_E:
        return (struct probe){NFS3_RMDIR, args_dirop(d, "e"), res_wcc(NFS3ERR_NOTEMPTY, wcc)};
    default:
        return (struct probe){NFS3_REMOVE, args_dirop(d, "e"), res_wcc(NFS3ERR_ISDIR, wcc)};
    }
}

/* As changed_open; in exclusive, too, it is known without asking that d/e leads to e. */
static void touched_open(struct changed *o, const char *keys)
{
    changed_open(o, keys);
    probe_fetches(&o->s.c1, probe_name(&o->s.d, "e", &o->e));
    stage_advance(o->s.stage, STAGE_SECOND);
}

/* What the proxy asks about names is answered, until another call has come. */
static struct stage_sent *takes_after_questions(const struct changed *o)
{
    const struct file *d = &o->s.d;
    struct body e = args_dirop(d, "e"), v = args_dirop(d, "v");
    struct stage_sent *sent;
    while ((sent = stage_next(o->s.stage)) != NULL && sent->rpc.program == RPC_PROGRAM_NFS &&
           sent->rpc.procedure == NFS3_LOOKUP) {
        if (bytes_equal(sent->args, body_bytes(&e)))
            stage_answer(sent, res_lookup(&o->e, &o->e.attr, NULL));
        else if (bytes_equal(sent->args, body_bytes(&v)))
            stage_answer(sent, res_lookup(&o->v, &o->v.attr, NULL));
        else
            stage_answer(sent, res_post_op(NFS3ERR_NOENT, NULL));
    }
    return sent;
}

static struct stage_sent *touch_begins(struct changed *o, const struct probe *call)
{
    stage_call(&o->s.c2, call->procedure, call->args);
    struct stage_sent *sent = takes_after_questions(o);
    assert_non_null(sent);
    wire_assert_bytes(sent->args, body_bytes(&call->args));
    return sent;
}

static void touch_ends(struct changed *o, struct stage_sent *sent, const struct probe *call,
                       enum telling telling)
{
    static const struct rpc_reply failed = {.stat = RPC_MSG_ACCEPTED, .accepted = RPC_SYSTEM_ERR};
    static const struct rpc_reply refused = {
        .stat = RPC_MSG_DENIED, .rejected = RPC_AUTH_ERROR, .auth = RPC_AUTH_REJECTEDCRED};
    if (telling == TELLS)
        stage_answer(sent, call->results);
    else
        stage_answer_rpc(sent, telling == FAILS ? failed : refused);
    assert_null(takes_after_questions(o));
    assert_non_null(stage_reply_find(&o->s.c2, o->s.c2.xid));
}

/* Somebody else may change e before the mutation's reply comes: a difference that shows later is no more his than the
 * mutation's. */
static void run_touches(const char *keys, bool exclusive)
{
    for (unsigned i = 0; i < TOUCHINGS * TELLINGS * 2; i++) {
        enum telling telling = (enum telling)(i / 2 % TELLINGS);
        struct changed o;
        touched_open(&o, keys);
        enum touching which = (enum touching)(i / 2 / TELLINGS);
        struct probe of = touch(&o, which);
        struct stage_sent *sent = touch_begins(&o, &of);
        if (i & 1)
            file_write(&o.e);
        touch_ends(&o, sent, &of, telling);
        expect_names(&o.s, &o.e, exclusive && !(which >= RENAME_OVER_E && telling == TELLS));
        scene_close(&o.s);
    }
}

/* Protects: a directory that only stands behind a name of the arguments, or that the reply says nothing of for whatever
 * reason: what it was before is not known, and its names go, as where `before` is missing. */
static void test_touched_shared(void **state)
{
    (void)state;
    run_touches(SHARED, false);
}

/* Protects: in exclusive they stay, unless the directory itself may be gone. */
static void test_touched_exclusive(void **state)
{
    (void)state;
    run_touches(EXCLUSIVE, true);
}

/* Protects: they go whoever else is about: another mutation of the same directory may begin and end before or after. */
static void test_touched_in_company(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        bool begins_first = i & 1, ends_first = i & 2;
        struct changed o;
        struct scene *s = &o.s;
        touched_open(&o, SHARED);
        struct probe of = touch(&o, RENAME_E);
        struct body args = args_mkdir(&o.e, "b");
        struct body done = res_create(&o.v, &o.v.attr, full_wcc(&o.e, &o.e));
        struct stage_sent *made = begins_first ? stage_asks(&s->c1, NFS3_MKDIR, args) : NULL;
        struct stage_sent *sent = touch_begins(&o, &of);
        if (!begins_first)
            made = stage_asks(&s->c1, NFS3_MKDIR, args);
        if (ends_first)
            stage_tells(&s->c1, made, done);
        touch_ends(&o, sent, &of, TELLS);
        if (!ends_first)
            stage_tells(&s->c1, made, done);
        expect_names(s, &o.e, false);
        scene_close(s);
    }
}

/* ---- in company ---- */

enum company {
    BEFORE_AND_INTO, /* begins first, ends first */
    BEFORE_AND_PAST,
    WITHIN,
    INTO_AND_PAST,
    ELSEWHERE, /* of another directory */
    COMPANIES,
};

/* Two MKDIRs; the second one ends when the test says so. */
static void run_company(struct changed *o, enum company company, struct wcc wcc)
{
    struct scene *s = &o->s;
    struct file b = file_make("handle of b", NF3DIR, 13);
    const struct file *dir = company == ELSEWHERE ? &o->e : &s->d;
    struct body args = args_mkdir(dir, "b"), done = res_create(&b, &b.attr, full_wcc(&o->e, &o->e));
    bool first = company == BEFORE_AND_INTO || company == BEFORE_AND_PAST;
    struct probe call = mutation(o, MKDIR, wcc);
    if (company != ELSEWHERE)
        done = res_create(&b, &b.attr, no_wcc);
    struct stage_sent *other = first ? stage_asks(&s->c1, NFS3_MKDIR, args) : NULL;
    struct stage_sent *sent = stage_asks(&s->c2, call.procedure, call.args);
    if (!first)
        other = stage_asks(&s->c1, NFS3_MKDIR, args);
    if (company == BEFORE_AND_INTO || company == WITHIN)
        stage_tells(&s->c1, other, done);
    stage_tells(&s->c2, sent, call.results);
    if (company != BEFORE_AND_INTO && company != WITHIN)
        stage_tells(&s->c1, other, done);
}

/* Protects: two mutations of one directory under way together: what somebody else did meanwhile could not be told from what
 * they did, so all names are asked for again, also where `before` is what was known. One of another directory is no company. */
static void test_company(void **state)
{
    (void)state;
    static const enum before what[] = {BEFORE_EQUAL, BEFORE_CTIME, BEFORE_MISSING};
    for (enum company company = 0; company < COMPANIES; company++) {
        for (unsigned i = 0; i < 3; i++) {
            struct changed o;
            struct scene *s = &o.s;
            struct file before;
            changed_open(&o, SHARED "settle = 0\n");
            stage_advance(s->stage, STAGE_SECOND);
            run_company(&o, company, wcc_of(&s->d, what[i], &before));
            expect_names(s, &s->d, company == ELSEWHERE && what[i] == BEFORE_EQUAL);
            scene_close(s);
        }
    }
}

/* ---- what a mutation leaves for later ---- */

/* Protects: names that stay were looked up before the directory was as it is now: it does not vouch
 * for them, and they are asked for when their own age is over. */
static void test_names_that_stay_age(void **state)
{
    (void)state;
    struct changed o;
    struct scene *s = &o.s;
    struct file before;
    changed_open(&o, SHARED "settle = 0\n");
    stage_advance(s->stage, STAGE_SECOND);
    mutate(&o, mutation(&o, MKDIR, wcc_of(&s->d, BEFORE_EQUAL, &before)));
    expect_names(s, &s->d, true);
    stage_advance(s->stage, STAGE_SECOND);
    scene_revalidate(s, &s->d);
    probe_lasts(s, STAGE_SECOND, probe_name(&s->d, "f", &s->f), probe_name(&s->d, "f", &o.v));
    scene_close(s);
}

/* Protects: what a mutation's own reply says of a directory, or of a file, is what everybody is served
 * from then on, also where it differs in more than the mutation did. */
static void test_after_is_served(void **state)
{
    (void)state;
    for (enum before what = 0; what < BEFORES; what++) {
        struct changed o;
        struct scene *s = &o.s;
        struct file before;
        changed_open(&o, SHARED);
        mutate(&o, mutation(&o, MKDIR, wcc_of(&s->d, what, &before)));
        probe_serves(&s->c1, probe_getattr(&s->d));
        struct wcc wcc = wcc_of(&s->f, what, &before);
        stage_fetches(&s->c1, NFS3_WRITE, args_write(&s->f, 0, "text"),
                      res_write(wcc, 4, "verifier"));
        probe_serves(&s->c1, probe_getattr(&s->f));
        probe_serves(&s->c2, probe_getattr(&s->f));
        probe_fetches(&s->c2, probe_access(&s->f, 0x1f));
        scene_close(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_exclusive),
        cmocka_unit_test(test_nothing_said),
        cmocka_unit_test(test_touched_shared),
        cmocka_unit_test(test_touched_exclusive),
        cmocka_unit_test(test_touched_in_company),
        cmocka_unit_test(test_company),
        cmocka_unit_test(test_names_that_stay_age),
        cmocka_unit_test(test_after_is_served),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
