/*
 * Cases in which clients saw what was no longer so.
 */
#include "e2e/field_cases.h"
#include "e2e/field_nfs.h"

#include <stdio.h>

/* Both clients' attributes of the file, and what they find behind d/f. */
static void all_see(struct scene *s)
{
    scene_sees(s, &s->c1, ask_getattr(s, FILE_F));
    scene_sees(s, &s->c2, ask_getattr(s, FILE_F));
    scene_sees(s, &s->c1, ask_lookup(s, NAME_DF));
    scene_sees(s, &s->c2, ask_lookup(s, NAME_DF));
}

static void warm_f(struct scene *s)
{
    scene_sees(s, &s->c1, ask_lookup(s, NAME_DF));
    scene_sees(s, &s->c2, ask_access(s, FILE_F));
    scene_serves(s, &s->c2, ask_getattr(s, FILE_F));
    scene_serves(s, &s->c1, ask_lookup(s, NAME_DF));
}

#define ABOUT_GETATTR 1u

static struct question about_f(struct scene *s, unsigned i)
{
    const struct question questions[] = {ask_lookup(s, NAME_DF),
                                         ask_getattr(s, FILE_F),
                                         ask_access(s, FILE_F),
                                         {NFS3_READ, args_read(scene_file(s, FILE_F), 0, 100)}};
    return questions[i];
}

static void hold_across_truncation(struct scene *s, unsigned about, bool warm, bool told)
{
    struct field_held held, set;
    scene_renew(s);
    struct file *f = scene_file(s, FILE_F);
    f->attr.size = 100;
    struct file old = *f;
    struct question question = about_f(s, about);
    struct body shown = question.procedure == NFS3_READ ? res_read(&old.attr, "octets")
                                                        : scene_answer(s, &s->c3, question);
    if (warm)
        warm_f(s);
    field_asks(&s->c3, question.procedure, question.args, &held);
    scene_takes(s, &s->c2, NFS3_SETATTR, args_setattr_size(f, 0), &set);
    file_change(f);
    f->attr.size = 0;
    scene_tells(s, &set, res_wcc(NFS3_OK, told ? wcc_full(&old, f) : wcc_none));
    field_tells(&held, shown);
    all_see(s);
}

/* Protects: a reply that shows f with 100 octets, and is held until f has none any more, is not kept; whether or not the
 * reply to the truncation tells what f is then. */
static void k01_held_across_truncation(struct scene *s)
{
    for (unsigned i = 0; i < 16; i++) {
        unsigned about = i / 4;
        bool warm = i % 2;
        if (warm && about == ABOUT_GETATTR)
            continue; /* served at once */
        hold_across_truncation(s, about, warm, i / 2 % 2);
    }
}

#define CLIENTS 8u
#define CALLS   8u

static struct file numbered(const struct scene *s, unsigned client, unsigned call)
{
    char name[40];
    snprintf(name, sizeof name, "world %u, file %u of client %u", s->field->worlds, call, client);
    return file_make(name, NF3REG, (s->field->worlds << 16) + 1000 + client * CALLS + call);
}

/* What a reply must not be taken for: one to an xid that nobody has, and one that comes over another connection. */
static void answer_nobody(const struct fake_call *call, struct fake_link *other,
                          struct body results)
{
    const struct fake_call unknown = {.link = call->link, .xid = call->xid + 0x10000};
    const struct fake_call elsewhere = {.link = other, .xid = call->xid};
    field_answer(&unknown, results);
    if (other != call->link)
        field_answer(&elsewhere, results);
}

/* Answers the calls in an order of its own, and some of them twice. */
static void answer_out_of_order(struct fake_call *calls, const struct file *files, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct fake_call *call = &calls[(i * 37 + 11) % count];
        for (unsigned k = 0; k < count; k++) {
            struct body args = args_handle(&files[k]);
            if (!bytes_equal(field_args(call), body_bytes(&args)))
                continue;
            struct body wrong = res_getattr(&files[(k + 1) % count].attr);
            answer_nobody(call, calls[i].link, wrong);
            field_answer(call, res_getattr(&files[k].attr));
            if (i % 3 == 0)
                field_answer(call, wrong);
        }
    }
}

/* Protects: every reply is for the handle that was asked, whatever the xids and the order; those for clients who have
 * gone, and those that come a second time, are dropped. */
static void k02_equal_xids(struct scene *s)
{
    struct field_client clients[CLIENTS];
    struct file files[CLIENTS * CALLS];
    struct fake_call calls[CLIENTS * CALLS] = {{.link = NULL}};
    for (unsigned i = 0; i < CLIENTS; i++)
        field_connect(&clients[i], s->field, s->service, i % 2 ? alice : bob);
    for (unsigned i = 0; i < CLIENTS * CALLS; i++) {
        files[i] = numbered(s, i / CALLS, i % CALLS);
        field_call_as(&clients[i / CALLS], i % CALLS + 1, NFS3_GETATTR, args_handle(&files[i]));
    }
    for (unsigned i = 0; i < CLIENTS * CALLS; i++)
        field_next(s->field, &calls[i]);
    field_leave(&clients[2]);
    field_leave(&clients[5]);
    field_connect(&clients[5], s->field, s->service, alice); /* and asks with the same xids */
    struct file other = numbered(s, CLIENTS, 0);
    field_call_as(&clients[5], 1, NFS3_GETATTR, args_handle(&other));
    struct fake_call late = {.link = NULL};
    field_takes(s->field, &late, NFS3_GETATTR, args_handle(&other));
    if (!s->field->failed)
        answer_out_of_order(calls, files, CLIENTS * CALLS);
    field_answer(&late, res_getattr(&other.attr));
    field_told(&clients[5], 1, res_getattr(&other.attr));
    for (unsigned i = 0; i < CLIENTS * CALLS; i++) {
        if (i / CALLS != 2 && i / CALLS != 5)
            field_told(&clients[i / CALLS], i % CALLS + 1, res_getattr(&files[i].attr));
        raw_free(&calls[i].record);
    }
    for (unsigned i = 0; i < CLIENTS; i++) {
        for (uint32_t xid = 1; xid <= CALLS && i != 2; xid++)
            field_untold(&clients[i], xid); /* once more */
        field_leave(&clients[i]);
    }
    for (unsigned i = 0; i < CLIENTS * CALLS; i++)
        field_sees(&s->c1, NFS3_GETATTR, args_handle(&files[i]), res_getattr(&files[i].attr));
    raw_free(&late.record);
}

/* Protects: an error is no proof that nothing was changed. The other mutations: field_matrix. */
static void k03_error_without_wcc(struct scene *s)
{
    struct field_held set;
    struct file *f = scene_file(s, FILE_F);
    warm_f(s);
    scene_takes(s, &s->c2, NFS3_SETATTR, args_setattr_mode_size(f, 0600, 0), &set);
    file_change(f);
    f->attr.size = 0;
    scene_tells(s, &set, res_wcc(NFS3ERR_PERM, wcc_none));
    scene_fetches(s, &s->c1, ask_getattr(s, FILE_F));
    all_see(s);
}

/* Protects: nor is a connection that was lost before the reply. */
static void k03_connection_lost(struct scene *s)
{
    struct field_held set;
    struct file *f = scene_file(s, FILE_F);
    warm_f(s);
    scene_takes(s, &s->c2, NFS3_SETATTR, args_setattr_mode_size(f, 0600, 0), &set);
    file_change(f);
    f->attr.size = 0;
    field_loses(&set);
    scene_fetches(s, &s->c1, ask_getattr(s, FILE_F));
    scene_fetches(s, &s->c1, ask_getattr(s, FILE_F)); /* still under way */
    scene_tells(s, &set, res_wcc(NFS3ERR_PERM, wcc_none));
    scene_fetches(s, &s->c1, ask_getattr(s, FILE_F));
    all_see(s);
}

static void link_changes(struct scene *s, uint32_t nlink)
{
    struct file *f = scene_file(s, FILE_F);
    file_write(scene_file(s, FILE_E));
    file_change(f);
    f->attr.nlink = nlink;
    scene_file(s, FILE_F2)->attr = f->attr;
}

static void remove_link(struct scene *s)
{
    struct field_held removal;
    struct file old = *scene_file(s, FILE_E);
    scene_takes(s, &s->c1, NFS3_REMOVE, args_dirop(&old, "m"), &removal);
    s->world.child[NAME_EM] = NOTHING;
    link_changes(s, 1);
    scene_tells(s, &removal, res_wcc(NFS3_OK, wcc_full(&old, scene_file(s, FILE_E))));
    all_see(s);
    scene_sees(s, &s->c2, ask_lookup(s, NAME_EM));
}

/* Protects: nlink and ctime of f, which goes by another name too. */
static void k04_link_and_remove(struct scene *s)
{
    struct field_held link;
    struct file old = *scene_file(s, FILE_E);
    warm_f(s);
    scene_takes(s, &s->c1, NFS3_LINK, args_link(scene_file(s, FILE_F), &old, "m"), &link);
    s->world.child[NAME_EM] = FILE_F;
    link_changes(s, 2);
    scene_tells(
        s, &link,
        res_link(NFS3_OK, &scene_file(s, FILE_F)->attr, wcc_full(&old, scene_file(s, FILE_E))));
    all_see(s);
    remove_link(s);
}

/* Protects: the same where the proxy has never resolved the other name, nor known of it; and where it leads to another
 * handle. */
static void k04_link_behind_the_back(struct scene *s)
{
    const enum world_file handles[] = {FILE_F, FILE_F2};
    for (unsigned i = 0; i < 2; i++) {
        scene_renew(s);
        warm_f(s);
        s->world.child[NAME_EM] = handles[i];
        link_changes(s, 2);
        remove_link(s);
    }
}

/* Protects: the same where the other name led elsewhere when the proxy was told. */
static void k04_name_leads_elsewhere(struct scene *s)
{
    warm_f(s);
    s->world.child[NAME_EM] = FILE_X;
    scene_sees(s, &s->c1, ask_lookup(s, NAME_EM));
    scene_serves(s, &s->c2, ask_lookup(s, NAME_EM));
    s->world.child[NAME_EM] = FILE_F;
    link_changes(s, 2);
    remove_link(s);
}

/* Whatever is asked for in d now, its attributes and verdict are there. */
static void warm_d(struct scene *s)
{
    scene_sees(s, &s->c1, ask_getattr(s, FILE_D));
    scene_sees(s, &s->c1, ask_access(s, FILE_D));
}

static struct body page_of_d(struct scene *s)
{
    const struct dirent3 entries[] = {{"f", scene_file(s, FILE_F), true, true},
                                      {"s", scene_file(s, FILE_S), true, true},
                                      {"x", scene_file(s, FILE_X), true, true}};
    return res_readdirplus(&scene_file(s, FILE_D)->attr, entries, 3);
}

/* Protects: a page that lists f, and is held until f was removed, brings f back for nobody. */
static void k05_page_across_remove(struct scene *s)
{
    for (unsigned i = 0; i < 4; i++) {
        bool warm = i % 2, shown = i / 2;
        struct field_held page, removal;
        scene_renew(s);
        struct file old = *scene_file(s, FILE_D);
        struct body listed = page_of_d(s);
        if (warm)
            warm_f(s);
        field_asks(&s->c1, NFS3_READDIRPLUS, args_readdirplus(&old), &page);
        scene_takes(s, &s->c2, NFS3_REMOVE, args_dirop(&old, "f"), &removal);
        file_write(scene_file(s, FILE_D));
        s->world.child[NAME_DF] = NOTHING;
        s->world.gone[FILE_F] = true;
        scene_tells(s, &removal,
                    res_wcc(NFS3_OK, shown ? wcc_full(&old, scene_file(s, FILE_D)) : wcc_none));
        field_tells(&page, listed);
        warm_d(s);
        all_see(s); /* NOENT, and STALE */
        scene_sees(s, &s->c1, ask_access(s, FILE_F));
        scene_sees(s, &s->c1, ask_lookup(s, NAME_DS));
    }
}

static void made_behind_the_back(struct scene *s)
{
    file_write(scene_file(s, FILE_D));
    s->world.child[NAME_DN] = FILE_N;
    s->world.gone[FILE_N] = false;
    scene_file(s, FILE_N)->attr.type = NF3DIR;
}

/* Protects: EXIST takes NOENT back. */
static void k06_exist_after_noent(struct scene *s)
{
    for (unsigned wcc = 0; wcc < 2; wcc++) {
        scene_renew(s);
        scene_sees(s, &s->c1, ask_lookup(s, NAME_DN));
        scene_serves(s, &s->c1, ask_lookup(s, NAME_DN));
        made_behind_the_back(s);
        const struct file *d = scene_file(s, FILE_D);
        scene_passes(s, &s->c1, NFS3_MKDIR, args_mkdir(d, "n"),
                     res_wcc(NFS3ERR_EXIST, wcc ? wcc_full(d, d) : wcc_none));
        warm_d(s);
        scene_fetches(s, &s->c1, ask_lookup(s, NAME_DN));
        scene_sees(s, &s->c2, ask_lookup(s, NAME_DN));
    }
}

/* Protects: NOENT that is held across the MKDIR of that name is not kept. */
static void k06_noent_across_mkdir(struct scene *s)
{
    for (unsigned shown = 0; shown < 2; shown++) {
        struct field_held look, mkdir;
        scene_renew(s);
        struct question question = ask_lookup(s, NAME_DN);
        const struct file *d = scene_file(s, FILE_D), *n = scene_file(s, FILE_N);
        struct file old = *d;
        struct body noent = scene_answer(s, &s->c1, question);
        field_asks(&s->c1, question.procedure, question.args, &look);
        scene_takes(s, &s->c2, NFS3_MKDIR, args_mkdir(&old, "n"), &mkdir);
        made_behind_the_back(s);
        scene_tells(s, &mkdir,
                    shown ? res_create(n, &n->attr, wcc_full(&old, d))
                          : res_create(NULL, NULL, wcc_none));
        field_tells(&look, noent);
        warm_d(s);
        scene_sees(s, &s->c1, question);
        scene_sees(s, &s->c2, question);
    }
}

/* Protects: NOT_SYNC shows that f was changed behind the back. */
static void k07_not_sync(struct scene *s)
{
    for (unsigned wcc = 0; wcc < 2; wcc++) {
        struct field_held set;
        scene_renew(s);
        struct file *f = scene_file(s, FILE_F);
        warm_f(s);
        struct file old = *f;
        file_change(f);
        scene_passes(s, &s->c1, NFS3_SETATTR, args_setattr_guarded(f, 0600, old.attr.ctime),
                     res_wcc(NFS3ERR_NOT_SYNC, wcc ? wcc_full(f, f) : wcc_none));
        all_see(s);
        old = *f;
        scene_takes(s, &s->c1, NFS3_SETATTR, args_setattr_guarded(f, 0600, old.attr.ctime), &set);
        file_change(f);
        f->attr.mode = 0600;
        scene_tells(s, &set, res_wcc(NFS3_OK, wcc_full(&old, f)));
        all_see(s);
    }
}

/* Protects: of two WRITEs whose replies change places, the smaller size is not the last word; nor while only one of them
 * has been answered. */
static void k08_two_writes(struct scene *s)
{
    struct field_held first, second;
    struct file *f = scene_file(s, FILE_F);
    warm_f(s);
    struct file old = *f, one = *f;
    one.attr.size += 10;
    file_change(&one);
    scene_takes(s, &s->c1, NFS3_WRITE, args_write(f, old.attr.size, "0123456789"), &first);
    scene_takes(s, &s->c1, NFS3_WRITE, args_write(f, old.attr.size + 10, "0123456789"), &second);
    *f = one;
    f->attr.size += 10;
    file_change(f);
    scene_tells(s, &second, res_write(wcc_full(&one, f), 10, "verifier"));
    scene_sees(s, &s->c2, ask_getattr(s, FILE_F));
    scene_tells(s, &first, res_write(wcc_full(&old, &one), 10, "verifier"));
    all_see(s);
}

/* Protects: two clients write in turn, a third one looks: times are never older than what was acknowledged. */
static void k17_writers_in_turn(struct scene *s)
{
    struct file *f = scene_file(s, FILE_F);
    warm_f(s);
    for (unsigned i = 0; i < 4; i++) {
        struct field_client *writer = i % 3 == 2 ? &s->c2 : &s->c1;
        struct field_held held;
        struct file old = *f;
        bool commit = i == 3;
        scene_takes(s, writer, commit ? NFS3_COMMIT : NFS3_WRITE,
                    commit ? args_commit(f) : args_write(f, 0, "same range"), &held);
        file_write(f);
        scene_tells(s, &held,
                    commit ? res_commit(wcc_full(&old, f), "verifier")
                           : res_write(wcc_full(&old, f), 10, "verifier"));
        scene_sees(s, &s->c3, ask_getattr(s, FILE_F));
        all_see(s);
    }
}

const struct field_case field_coherence[] = {
    {"K01: replies that are held across a truncation", IN_BOTH_MODES, k01_held_across_truncation},
    {"K02: equal xids, answered out of order, with clients that leave", IN_BOTH_MODES,
     k02_equal_xids},
    {"K03: SETATTR is executed, and answered with an error without wcc_data", IN_BOTH_MODES,
     k03_error_without_wcc},
    {"K03: SETATTR is executed, and the connection lost before its reply", IN_BOTH_MODES,
     k03_connection_lost},
    {"K04: LINK f g, REMOVE g, and the nlink of f", IN_BOTH_MODES, k04_link_and_remove},
    {"K04: the link was made behind the proxy's back", IN_BOTH_MODES, k04_link_behind_the_back},
    {"K04: the link took another file's name behind the proxy's back", IN(FIELD_SHARED),
     k04_name_leads_elsewhere},
    {"K05: a page that is held across the REMOVE of what it lists", IN_BOTH_MODES,
     k05_page_across_remove},
    {"K06: a MKDIR that meets what is known not to exist", IN_BOTH_MODES, k06_exist_after_noent},
    {"K06: NOENT that is held across a MKDIR", IN_BOTH_MODES, k06_noent_across_mkdir},
    {"K07: a guarded SETATTR after a chmod on the server", IN_BOTH_MODES, k07_not_sync},
    {"K08: two WRITEs that are answered in reverse order", IN_BOTH_MODES, k08_two_writes},
    {"K17: two writers in turn, and a third client that looks", IN_BOTH_MODES, k17_writers_in_turn},
    {NULL, 0, NULL},
};
