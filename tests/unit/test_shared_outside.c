/*
 * What others changed on the server is visible to all clients as soon as any reply shows it, long
 * before its age is over; and nothing else is lost by that.
 *
 * A scene is warmed so that all of it would be served for a while: a directory e with d in it, d with
 * f in it and no n; verdicts of two credentials. A third one is shown the change.
 */
#include "stage_probe.h"
#include "stage_ways.h"

struct outside {
    struct scene s;
    struct stage_client other; /* bob's */
    struct stage_client shown; /* root's */
    struct file e;
};

static void learn(struct outside *o)
{
    struct scene *s = &o->s;
    stage_advance(s->stage, 10 * STAGE_SECOND);
    scene_revalidate(s, &o->e);
    scene_revalidate(s, &s->d);
    scene_revalidate(s, &s->f);
    probe_fetches(&s->c1, probe_name(&o->e, "d", &s->d));
    probe_fetches(&s->c1, probe_name(&s->d, "f", &s->f));
    probe_fetches(&s->c1, probe_name(&s->d, "n", NULL));
    struct file *const files[] = {&s->d, &s->f};
    for (unsigned i = 0; i < 2; i++) {
        probe_fetches(&s->c1, probe_access(files[i], 0x1f));
        probe_fetches(&o->other, probe_access(files[i], 0x03));
    }
}

static void outside_open(struct outside *o, const char *keys)
{
    struct scene *s = &o->s;
    scene_open(s, keys);
    stage_client_init(&o->other, s->stage, 1, bob);
    stage_client_init(&o->shown, s->stage, 0, root);
    o->e = file_make("handle of e", NF3DIR, 11);
    scene_revalidate(s, &o->e);
    scene_revalidate(s, &s->d);
    scene_revalidate(s, &s->f);
    learn(o);
}

static void outside_close(struct outside *o)
{
    stage_client_done(&o->other);
    stage_client_done(&o->shown);
    scene_close(&o->s);
}

/* The server says what the file is now. A GETATTR is only asked when its age is over; what else there
 * is then has its own age, and is asked for first where it is over too. */
static void show(struct outside *o, enum stage_way way, const struct file *file, const char *name)
{
    struct scene *s = &o->s;
    const struct file *parent = file == &s->d ? &o->e : &s->d;
    if (way == BY_GETATTR)
        stage_advance(s->stage, 10 * STAGE_SECOND);
    stage_shows(&o->shown, way, file, parent, name);
    if (way == BY_GETATTR)
        scene_revalidate(s, file == &s->d ? &s->f : &s->d);
}

static void serves_or_fetches(struct stage_client *client, bool fetches, struct probe probe)
{
    if (fetches)
        probe_fetches(client, probe);
    else
        probe_serves(client, probe);
}

/* ---- what changed, and what goes with it ---- */

enum change {
    NO_CHANGE,
    CHANGE_ATIME,
    CHANGE_USED,
    CHANGE_MODE,
    CHANGE_UID,
    CHANGE_GID,
    CHANGE_NLINK,
    CHANGE_CTIME,
    CHANGE_MTIME,
    CHANGE_SIZE,
    CHANGES,
};

static void change(struct file *file, enum change what)
{
    struct attr *attr = &file->attr;
    uint32_t *const small[CHANGES] = {
        [CHANGE_MODE] = &attr->mode,
        [CHANGE_UID] = &attr->uid,
        [CHANGE_GID] = &attr->gid,
        [CHANGE_NLINK] = &attr->nlink,
    };
    uint64_t *const large[CHANGES] = {
        [CHANGE_ATIME] = &attr->atime, [CHANGE_USED] = &attr->used, [CHANGE_CTIME] = &attr->ctime,
        [CHANGE_MTIME] = &attr->mtime, [CHANGE_SIZE] = &attr->size,
    };
    if (small[what] != NULL)
        ++*small[what];
    if (large[what] != NULL)
        ++*large[what];
}

static bool verdicts_go(enum change what)
{
    return what >= CHANGE_MODE;
}

/* mode, owner or nlink with the same ctime: a second change within one tick of coarse times. */
static bool names_go(enum change what)
{
    return what >= CHANGE_MODE;
}

/* Protects: a file's new attributes are served to everybody at once, whatever reply showed them, and
 * each credential's verdict is asked for again; unless nothing changed that it could depend on. */
static void test_file(void **state)
{
    (void)state;
    for (enum stage_way way = 0; way < WAYS_OF_ANY; way++) {
        for (enum change what = 0; what < CHANGES; what++) {
            struct outside o;
            struct scene *s = &o.s;
            outside_open(&o, SHARED);
            change(&s->f, what);
            show(&o, way, &s->f, "f");
            probe_serves(&s->c1, probe_getattr(&s->f));
            probe_serves(&s->c2, probe_getattr(&s->f));
            serves_or_fetches(&s->c1, verdicts_go(what), probe_access(&s->f, 0x1f));
            serves_or_fetches(&o.other, verdicts_go(what), probe_access(&s->f, 0x03));
            probe_serves(&s->c2, probe_access(&s->f, 0x1f));
            outside_close(&o);
        }
    }
}

/* Protects: a directory's new attributes are served to everybody at once; anything but atime and used alone
 * is enough for all of its names to be asked for again, those that lead nowhere too. */
static void test_directory(void **state)
{
    (void)state;
    for (enum stage_way way = 0; way < WAYS_OF_DIRECTORY; way++) {
        for (enum change what = 0; what < CHANGES; what++) {
            struct outside o;
            struct scene *s = &o.s;
            outside_open(&o, SHARED);
            change(&s->d, what);
            show(&o, way, &s->d, "d");
            probe_serves(&s->c1, probe_getattr(&s->d));
            probe_serves(&s->c2, probe_getattr(&s->d));
            serves_or_fetches(&s->c1, verdicts_go(what), probe_access(&s->d, 0x1f));
            serves_or_fetches(&o.other, verdicts_go(what), probe_access(&s->d, 0x03));
            serves_or_fetches(&s->c2, names_go(what), probe_name(&s->d, "f", &s->f));
            serves_or_fetches(&s->c2, names_go(what), probe_name(&s->d, "n", NULL));
            probe_serves(&o.other, probe_name(&s->d, "f", &s->f));
            outside_close(&o);
        }
    }
}

/* Protects: exclusive, where nobody else should change anything, believes what it is shown no less. */
static void test_in_exclusive(void **state)
{
    (void)state;
    struct outside o;
    struct scene *s = &o.s;
    outside_open(&o, EXCLUSIVE);
    change(&s->d, CHANGE_CTIME);
    show(&o, BY_READDIR, &s->d, "d");
    probe_serves(&s->c2, probe_getattr(&s->d));
    probe_fetches(&s->c1, probe_access(&s->d, 0x1f));
    probe_fetches(&s->c1, probe_name(&s->d, "f", &s->f));
    probe_fetches(&s->c1, probe_name(&s->d, "n", NULL));
    outside_close(&o);
}

/* Protects: the reply that showed the directory's change is true of the names that stand in it. */
static void test_names_that_came_with_it(void **state)
{
    (void)state;
    struct outside o;
    struct scene *s = &o.s;
    for (unsigned page = 0; page < 2; page++) {
        outside_open(&o, SHARED);
        change(&s->d, CHANGE_MTIME);
        const struct dirent3 entries[] = {{"f", &s->g, true, true}};
        if (page)
            stage_fetches(&o.shown, NFS3_READDIRPLUS, args_readdirplus(&s->d),
                          res_readdirplus(&s->d.attr, entries, 1));
        else
            probe_fetches(&o.shown, probe_name(&s->d, "f", &s->g));
        probe_fetches(&s->c1, probe_access(&s->d, 0x1f));
        probe_serves(&s->c2, probe_name(&s->d, "f", &s->g));
        probe_fetches(&s->c2, probe_name(&s->d, "n", NULL));
        outside_close(&o);
    }
}

/* Protects: attributes of an entry without a handle, and those of an ACL, show that a file has
 * changed; they are no answer, and the server is asked. */
static void test_shown_without_a_handle(void **state)
{
    (void)state;
    for (unsigned acl = 0; acl < 2; acl++) {
        for (unsigned changed = 0; changed < 2; changed++) {
            struct outside o;
            struct scene *s = &o.s;
            outside_open(&o, SHARED);
            if (changed)
                change(&s->f, CHANGE_CTIME);
            const struct dirent3 page[] = {{"f", &s->f, true, false}};
            if (acl)
                stage_fetches(&o.shown, GETACL, args_getacl(&s->f),
                              res_post_op(NFS3_OK, &s->f.attr));
            else
                stage_fetches(&o.shown, NFS3_READDIRPLUS, args_readdirplus(&s->d),
                              res_readdirplus(&s->d.attr, page, 1));
            serves_or_fetches(&s->c2, changed, probe_getattr(&s->f));
            serves_or_fetches(&s->c1, changed, probe_access(&s->f, 0x1f));
            serves_or_fetches(&o.other, changed, probe_access(&s->f, 0x03));
            outside_close(&o);
        }
    }
}

/* Protects: a change that is shown under one handle of a file, or of a directory, is seen under its
 * others. */
static void test_other_handles(void **state)
{
    (void)state;
    for (unsigned changed = 0; changed < 2; changed++) {
        struct outside o;
        struct scene *s = &o.s;
        struct file f = file_make("another handle of f", NF3REG, 2);
        struct file d = file_make("another handle of d", NF3DIR, 1);
        outside_open(&o, SHARED);
        probe_fetches(&s->c1, probe_access(&f, 0x1f));
        probe_fetches(&s->c1, probe_access(&d, 0x1f));
        probe_fetches(&s->c1, probe_name(&d, "f", &s->f));
        probe_fetches(&s->c1, probe_name(&d, "n", NULL));
        if (changed) {
            change(&s->f, CHANGE_SIZE);
            change(&s->d, CHANGE_CTIME);
        }
        show(&o, BY_FSSTAT, &s->f, "f");
        show(&o, BY_FSSTAT, &s->d, "d");
        f.attr = s->f.attr;
        d.attr = s->d.attr;
        serves_or_fetches(&s->c2, changed, probe_getattr(&f));
        serves_or_fetches(&s->c1, changed, probe_access(&f, 0x1f));
        serves_or_fetches(&s->c2, changed, probe_getattr(&d));
        serves_or_fetches(&s->c1, changed, probe_access(&d, 0x1f));
        serves_or_fetches(&s->c2, changed, probe_name(&d, "f", &s->f));
        serves_or_fetches(&s->c2, changed, probe_name(&d, "n", NULL));
        outside_close(&o);
    }
}

/* ---- another file under the same handle ---- */

enum identity {
    OTHER_FILEID,
    OTHER_FSID,
    OTHER_TYPE,
    IDENTITIES,
};

static void become(struct file *file, enum identity what)
{
    switch (what) {
    case OTHER_FILEID:
        file->attr.fileid += 100; /* nobody else has that one */
        break;
    case OTHER_FSID:
        file->attr.fsid++;
        break;
    default:
        file->attr.type = file->attr.type == NF3DIR ? NF3REG : NF3DIR;
        break;
    }
}

/* Protects: C8. A handle that reports another fileid, fsid or type is another file: its attributes and
 * verdicts, the names in it and those that lead to it are gone, whatever reply showed that. */
static void test_another_file(void **state)
{
    (void)state;
    for (enum stage_way way = 0; way < WAYS_OF_DIRECTORY; way++) {
        for (enum identity what = 0; what < IDENTITIES; what++) {
            struct outside o;
            struct scene *s = &o.s;
            outside_open(&o, SHARED);
            become(&s->d, what);
            show(&o, way, &s->d, "also d");
            scene_revalidate(s, &o.e);
            probe_serves(&s->c2, probe_getattr(&s->d));
            probe_fetches(&s->c1, probe_access(&s->d, 0x1f));
            probe_fetches(&o.other, probe_access(&s->d, 0x03));
            probe_fetches(&s->c1, probe_name(&s->d, "f", &s->f));
            probe_fetches(&s->c1, probe_name(&s->d, "n", NULL));
            probe_fetches(&s->c1, probe_name(&o.e, "d", &s->d));
            probe_serves(&s->c2, probe_getattr(&s->f));
            outside_close(&o);
        }
    }
}

/* Protects: the same where the reply to a mutation shows it. */
static void test_another_file_after_a_mutation(void **state)
{
    (void)state;
    for (enum identity what = 0; what < IDENTITIES; what++) {
        struct outside o;
        struct scene *s = &o.s;
        outside_open(&o, SHARED);
        struct file before = s->f;
        become(&s->f, what);
        stage_fetches(&o.shown, NFS3_SETATTR, args_setattr_size(&s->f, 0),
                      res_wcc(NFS3_OK, full_wcc(&before, &s->f)));
        probe_serves(&s->c2, probe_getattr(&s->f));
        probe_fetches(&s->c1, probe_access(&s->f, 0x1f));
        probe_fetches(&s->c1, probe_name(&s->d, "f", &s->f));
        probe_serves(&s->c1, probe_name(&s->d, "n", NULL));
        outside_close(&o);
    }
}

/* Protects: a SETACL whose handle leads to another file by now shows that file by the attributes of its reply. */
static void test_another_file_by_setacl(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, SHARED);
    probe_fetches(&s.c1, probe_getattr(&s.f));
    probe_fetches(&s.c1, probe_getattr(&s.g));
    probe_serves(&s.c2, probe_getattr(&s.f));
    change(&s.f, CHANGE_CTIME);
    stage_fetches(&s.c1, SETACL, args_setacl(&s.g, 4), res_post_op(NFS3_OK, &s.f.attr));
    probe_fetches(&s.c2, probe_getattr(&s.f));
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_directory),
        cmocka_unit_test(test_in_exclusive),
        cmocka_unit_test(test_names_that_came_with_it),
        cmocka_unit_test(test_shown_without_a_handle),
        cmocka_unit_test(test_other_handles),
        cmocka_unit_test(test_another_file),
        cmocka_unit_test(test_another_file_after_a_mutation),
        cmocka_unit_test(test_another_file_by_setacl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
