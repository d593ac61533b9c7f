/*
 * Cases in which something changes on the server, behind the proxy's back.
 */
#include "e2e/field_cases.h"
#include "e2e/field_nfs.h"

#define POLLS_MAX 10000

/* ---- K13, K14 ---- */

/* Protects: the server keeps an EXCLUSIVE verifier in the times; after the SETATTR that follows everybody sees the real
 * ones, also after the verifier came once more, or another one. */
static void k13_exclusive_create(struct scene *s)
{
    struct field_held held;
    struct file *n = scene_file(s, FILE_N);
    struct file old_d = *scene_file(s, FILE_D);
    struct body create = args_create(&old_d, "n", NFS3_EXCLUSIVE, "verifieV");
    scene_sees(s, &s->c1, ask_lookup(s, NAME_DN));
    scene_takes(s, &s->c1, NFS3_CREATE, create, &held);
    file_write(scene_file(s, FILE_D));
    s->world.child[NAME_DN] = FILE_N;
    s->world.gone[FILE_N] = false;
    n->attr.atime = n->attr.mtime = TIME(0x76657269, 0x66696556);
    scene_tells(s, &held, res_create(n, &n->attr, wcc_full(&old_d, scene_file(s, FILE_D))));
    scene_sees(s, &s->c2, ask_getattr(s, FILE_N));
    struct file odd = *n;
    scene_takes(s, &s->c1, NFS3_SETATTR,
                args_setattr_mode_times(n, 0644, TIME(1, 2), TIME(3, 999999999)), &held);
    file_change(n);
    n->attr.mode = 0644;
    n->attr.atime = TIME(1, 2);
    n->attr.mtime = TIME(3, 999999999);
    scene_tells(s, &held, res_wcc(NFS3_OK, wcc_full(&odd, n)));
    scene_sees(s, &s->c2, ask_getattr(s, FILE_N));
    const struct file *d = scene_file(s, FILE_D);
    scene_passes(s, &s->c1, NFS3_CREATE, create, res_create(n, &n->attr, wcc_full(d, d)));
    scene_sees(s, &s->c2, ask_getattr(s, FILE_N));
    scene_passes(s, &s->c1, NFS3_CREATE, args_create(d, "n", NFS3_EXCLUSIVE, "verifieW"),
                 res_wcc(NFS3ERR_EXIST, wcc_full(d, d)));
    scene_sees(s, &s->c2, ask_getattr(s, FILE_N));
    scene_sees(s, &s->c2, ask_lookup(s, NAME_DN));
}

/* Protects: a new file has the number of one that was removed, and another handle: the old handle stays STALE. */
static void k14_fileid_reused(struct scene *s)
{
    struct file *f = scene_file(s, FILE_F), *n = scene_file(s, FILE_N);
    struct field_held held;
    scene_sees(s, &s->c1, ask_lookup(s, NAME_DF));
    scene_sees(s, &s->c1, ask_access(s, FILE_F));
    struct file old = *scene_file(s, FILE_D);
    scene_takes(s, &s->c2, NFS3_REMOVE, args_dirop(&old, "f"), &held);
    file_write(scene_file(s, FILE_D));
    s->world.child[NAME_DF] = NOTHING;
    s->world.gone[FILE_F] = s->world.gone[FILE_F2] = true;
    scene_tells(s, &held, res_wcc(NFS3_OK, wcc_full(&old, scene_file(s, FILE_D))));
    old = *scene_file(s, FILE_D);
    scene_takes(s, &s->c2, NFS3_CREATE, args_create(&old, "n", NFS3_GUARDED, NULL), &held);
    file_write(scene_file(s, FILE_D));
    n->attr.fileid = f->attr.fileid;
    s->world.child[NAME_DN] = FILE_N;
    s->world.gone[FILE_N] = false;
    scene_tells(s, &held, res_create(n, &n->attr, wcc_full(&old, scene_file(s, FILE_D))));
    scene_fetches(s, &s->c1, ask_getattr(s, FILE_F));
    scene_fetches(s, &s->c1, ask_access(s, FILE_F));
    scene_passes(s, &s->c1, NFS3_SETATTR, args_setattr_size(f, 0),
                 res_wcc(NFS3ERR_STALE, wcc_none));
    field_fetches(&s->c1, NFS3_READLINK, args_handle(f), res_post_op(NFS3ERR_STALE, NULL));
    scene_sees(s, &s->c2, ask_getattr(s, FILE_N));
    scene_sees(s, &s->c2, ask_access(s, FILE_N));
    scene_sees(s, &s->c1, ask_lookup(s, NAME_DN));
    scene_sees(s, &s->c1, ask_lookup(s, NAME_DF));
}

/* Protects: the same where all of it happens on the server, and one reply says STALE: then everything is asked that was
 * kept for the handle, and every name that leads to it. */
static void k14_reused_behind_the_back(struct scene *s)
{
    struct file *f = scene_file(s, FILE_F), *n = scene_file(s, FILE_N);
    scene_sees(s, &s->c1, ask_lookup(s, NAME_DF));
    scene_sees(s, &s->c1, ask_access(s, FILE_F));
    scene_serves(s, &s->c2, ask_lookup(s, NAME_DF));
    n->attr.fileid = f->attr.fileid;
    s->world.child[NAME_DF] = FILE_N;
    s->world.gone[FILE_N] = false;
    s->world.gone[FILE_F] = s->world.gone[FILE_F2] = true;
    field_fetches(&s->c1, NFS3_READ, args_read(f, 0, 1), res_post_op(NFS3ERR_STALE, NULL));
    scene_fetches(s, &s->c2, ask_lookup(s, NAME_DF));
    scene_fetches(s, &s->c2, ask_getattr(s, FILE_F));
    scene_fetches(s, &s->c2, ask_access(s, FILE_F));
    scene_sees(s, &s->c1, ask_getattr(s, FILE_N));
}

/* ---- K15 ---- */

#define POLLED 6u

static struct question polled(const struct scene *s, unsigned i)
{
    const struct question questions[POLLED] = {ask_lookup(s, NAME_DF), ask_lookup(s, NAME_DS),
                                               ask_lookup(s, NAME_DX), ask_lookup(s, NAME_DN),
                                               ask_getattr(s, FILE_D), ask_getattr(s, FILE_X)};
    return questions[i];
}

/* On the server: f is removed, x grows, n is made. */
static void tree_changes(struct scene *s)
{
    file_write(scene_file(s, FILE_D));
    file_write(scene_file(s, FILE_X));
    s->world.child[NAME_DF] = NOTHING;
    s->world.gone[FILE_F] = s->world.gone[FILE_F2] = true;
    s->world.child[NAME_DN] = FILE_N;
    s->world.gone[FILE_N] = false;
}

/* Protects: what others change becomes visible within the age; until then the cache says what was so, and not that what
 * has stayed is gone. */
static void k15_polled(struct scene *s)
{
    for (unsigned i = 0; i < POLLED; i++)
        scene_sees(s, &s->c1, polled(s, i));
    struct scene old = *s;
    tree_changes(s);
    int64_t changed = field_now();
    bool fresh = false;
    for (unsigned polls = 0; !fresh && polls < POLLS_MAX; polls++) {
        bool aged = field_now() - changed > FIELD_AGED_MS;
        fresh = true;
        for (unsigned i = 0; i < POLLED; i++) {
            struct question question = polled(s, i);
            struct body now = scene_answer(s, &s->c1, question);
            struct body then = aged ? now : scene_answer(&old, &s->c1, question);
            bool is_now = field_sees_either(&s->c1, question.procedure, question.args, then, now);
            fresh = fresh && (is_now || aged);
        }
    }
    field_check(s->field, fresh, "the new state is never seen");
}

/* Protects: it becomes visible at once when any reply shows it. */
static void k15_listed(struct scene *s)
{
    for (unsigned i = 0; i < POLLED; i++)
        scene_sees(s, &s->c1, polled(s, i));
    tree_changes(s);
    const struct dirent3 entries[] = {{"s", scene_file(s, FILE_S), true, true},
                                      {"x", scene_file(s, FILE_X), true, true},
                                      {"n", scene_file(s, FILE_N), true, true}};
    field_fetches(&s->c2, NFS3_READDIRPLUS, args_readdirplus(scene_file(s, FILE_D)),
                  res_readdirplus(&scene_file(s, FILE_D)->attr, entries, 3));
    scene_sees(s, &s->c1, ask_access(s, FILE_D)); /* nothing but the names can be outdated now */
    for (unsigned i = 0; i < POLLED; i++)
        scene_sees(s, &s->c1, polled(s, i));
}

/* ---- K16 ---- */

/* Protects: wcc_data is the server's own, also where the cache knows otherwise; what it shows of a change behind the back
 * takes the directory's names away. */
static void k16_wcc_is_the_servers(struct scene *s)
{
    struct field_held held;
    scene_sees(s, &s->c1, ask_lookup(s, NAME_DF));
    scene_sees(s, &s->c1, ask_lookup(s, NAME_DN));
    scene_sees(s, &s->c1, ask_lookup(s, NAME_DX));
    file_write(scene_file(s, FILE_D)); /* n is made on the server */
    s->world.child[NAME_DN] = FILE_N;
    s->world.gone[FILE_N] = false;
    struct file before = *scene_file(s, FILE_D);
    struct file y = file_make("handle of y", NF3REG, (s->field->worlds << 16) + 7);
    scene_takes(s, &s->c1, NFS3_CREATE, args_create(&before, "y", NFS3_EXCLUSIVE, "verifier"),
                &held);
    file_write(scene_file(s, FILE_D));
    scene_tells(s, &held, res_create(&y, &y.attr, wcc_full(&before, scene_file(s, FILE_D))));
    scene_sees(s, &s->c2, ask_access(s, FILE_D));
    scene_sees(s, &s->c2, ask_lookup(s, NAME_DN));
    before = *scene_file(s, FILE_D);
    scene_takes(s, &s->c1, NFS3_REMOVE, args_dirop(&before, "f"), &held);
    file_write(scene_file(s, FILE_D));
    s->world.child[NAME_DF] = NOTHING;
    scene_tells(s, &held, res_wcc(NFS3_OK, wcc_full(&before, scene_file(s, FILE_D))));
    for (unsigned i = 0; i < POLLED - 1; i++)
        scene_sees(s, &s->c2, polled(s, i));
}

/* ---- K18 ---- */

static void becomes_another(struct file *file, unsigned what)
{
    if (what == 0)
        file->attr.fileid += 1000;
    else if (what == 1)
        file->attr.fsid++;
    else
        file->attr.type = NF3DIR;
}

static void warm_child(struct scene *s, enum world_file file, enum world_name name)
{
    scene_sees(s, &s->c1, ask_lookup(s, name));
    scene_sees(s, &s->c1, ask_access(s, file));
    scene_sees(s, &s->c3, ask_access(s, file));
    scene_serves(s, &s->c2, ask_lookup(s, name));
    scene_serves(s, &s->c2, ask_access(s, file));
}

static void child_is_another(struct scene *s, enum world_file file, enum world_name name)
{
    scene_sees(s, &s->c1, ask_getattr(s, file));
    scene_fetches(s, &s->c1, ask_access(s, file));
    scene_fetches(s, &s->c3, ask_access(s, file));
    scene_fetches(s, &s->c2, ask_lookup(s, name));
}

/* Protects: nothing is mixed of a handle's old and new file, whatever of its identity is another; what was cached of the
 * old one is gone. */
static void k18_another_file(struct scene *s)
{
    for (unsigned what = 0; what < 3; what++) {
        scene_renew(s);
        struct file *f = scene_file(s, FILE_F);
        warm_child(s, FILE_F, NAME_DF);
        becomes_another(f, what);
        field_fetches(&s->c2, NFS3_READ, args_read(f, 0, 1), res_post_op(NFS3ERR_IO, &f->attr));
        child_is_another(s, FILE_F, NAME_DF);
    }
}

/* Protects: the same after a restart of the server, which alone is a reason to ask. */
static void k18_restart(struct scene *s)
{
    static const enum world_file files[] = {FILE_F, FILE_G, FILE_X};
    static const enum world_name names[] = {NAME_DF, NAME_EG, NAME_DX};
    for (unsigned what = 0; what < 3; what++) {
        warm_child(s, files[what], names[what]);
        becomes_another(scene_file(s, files[what]), what);
    }
    field_restart(s->field);
    for (unsigned what = 0; what < 3; what++) {
        scene_fetches(s, &s->c2, ask_getattr(s, files[what]));
        child_is_another(s, files[what], names[what]);
    }
}

/* ---- K33 ---- */

/* Protects: JUKEBOX is passed on, again and again, and not remembered. */
static void k33_jukebox(struct scene *s)
{
    const struct file *d = scene_file(s, FILE_D), *f = scene_file(s, FILE_F);
    struct question look = ask_lookup(s, NAME_DF);
    scene_sees(s, &s->c2, ask_getattr(s, FILE_F));
    for (unsigned i = 0; i < 10; i++) {
        field_fetches(&s->c1, look.procedure, look.args, res_post_op(NFS3ERR_JUKEBOX, NULL));
        scene_passes(s, &s->c1, NFS3_SETATTR, args_setattr_size(f, 0),
                     res_wcc(NFS3ERR_JUKEBOX, wcc_none));
        field_fetches(&s->c1, NFS3_READDIR, args_readdir(d), res_post_op(NFS3ERR_JUKEBOX, NULL));
    }
    scene_fetches(s, &s->c2, ask_getattr(s, FILE_F));
    scene_fetches(s, &s->c1, look);
    scene_serves(s, &s->c2, look);
    struct file old = *f;
    struct field_held held;
    scene_takes(s, &s->c1, NFS3_SETATTR, args_setattr_size(f, 0), &held);
    file_write(scene_file(s, FILE_F));
    scene_tells(s, &held, res_wcc(NFS3_OK, wcc_full(&old, f)));
    scene_sees(s, &s->c2, ask_getattr(s, FILE_F));
    struct body page = page_begin(&d->attr, 1);
    page_end(&page, true);
    field_fetches(&s->c1, NFS3_READDIR, args_readdir(d), page);
}

const struct field_case field_behind[] = {
    {"K13: CREATE EXCLUSIVE, whose verifier the server keeps in the times", IN_BOTH_MODES,
     k13_exclusive_create},
    {"K14: a number is used again, with a new handle", IN_BOTH_MODES, k14_fileid_reused},
    {"K14: a number is used again on the server, and READ says STALE", IN_BOTH_MODES,
     k14_reused_behind_the_back},
    {"K15: a tree that changes on the server is polled", IN(FIELD_QUICK), k15_polled},
    {"K15: a tree that changes on the server is listed", IN(FIELD_SHARED), k15_listed},
    {"K16: wcc_data after a change on the server", IN(FIELD_SHARED), k16_wcc_is_the_servers},
    {"K18: a handle that leads to another file", IN_BOTH_MODES, k18_another_file},
    {"K18: handles that lead to other files after a restart", IN_BOTH_MODES, k18_restart},
    {"K33: JUKEBOX ten times, then OK", IN_BOTH_MODES, k33_jukebox},
    {NULL, 0, NULL},
};
