/*
 * Cases about permissions: they are the server's, and each is for one credential.
 */
#include "e2e/field_cases.h"
#include "e2e/field_nfs.h"

#include "xdr/nfsacl3.h"

#define ALL NFS3_ACCESS_ALL

/* ---- K09 ---- */

static const struct who people[] = {
    {.flavor = RPC_AUTH_SYS, .uid = 1002, .gid = 100}, /* who owns the file */
    {.flavor = RPC_AUTH_SYS, .uid = 1003, .gid = 100},
    {.flavor = RPC_AUTH_SYS, .uid = 0, .gid = 0},
    {.flavor = RPC_AUTH_NONE},
    {.flavor = RPC_AUTH_SYS, .uid = 1002, .gid = 101},
    {.flavor = RPC_AUTH_SYS, .uid = 1002, .gid = 100, .gid_count = 1, .gids = {5}},
    {.flavor = RPC_AUTH_SYS, .uid = 1002, .gid = 100, .gid_count = 2, .gids = {5, 6}},
    {.flavor = RPC_AUTH_SYS, .uid = 1002, .gid = 100, .gid_count = 2, .gids = {6, 7}},
    {.flavor = RPC_AUTH_SYS,
     .uid = 1002,
     .gid = 100,
     .gid_count = 16,
     .gids = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}},
    {.flavor = RPC_AUTH_SYS,
     .uid = 1002,
     .gid = 100,
     .gid_count = 16,
     .gids = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17}},
};

#define PEOPLE ((unsigned)(sizeof people / sizeof people[0]))

/* No two are alike. */
static struct body verdict_for(struct scene *s, unsigned person, unsigned round)
{
    uint32_t granted = (person * 7 + 1 + round) & ALL;
    return res_access(&scene_file(s, FILE_F)->attr, granted);
}

static bool same_person(struct who a, struct who b)
{
    return a.flavor == b.flavor && a.uid == b.uid && a.gid == b.gid && a.gid_count == b.gid_count &&
           memcmp(a.gids, b.gids, sizeof a.gids) == 0;
}

/* All ask before anybody is answered, and the last one is answered first. */
static void all_ask(struct scene *s, struct field_client *clients, unsigned round)
{
    struct field_held held[PEOPLE];
    struct question question = ask_access(s, FILE_F);
    for (unsigned i = 0; i < PEOPLE; i++) {
        field_asks(&clients[i], question.procedure, question.args, &held[i]);
        field_check(s->field, same_person(field_who(&held[i].call), people[i]),
                    "the server gets other credentials");
    }
    for (unsigned i = PEOPLE; i-- > 0;)
        field_tells(&held[i], verdict_for(s, i, round));
}

/* Protects: a verdict is for exactly the credential that the server gave it to: flavor, uid, gid, and all gids. */
static void k09_one_verdict_each(struct scene *s)
{
    struct field_client clients[PEOPLE];
    struct question question = ask_access(s, FILE_F);
    scene_file(s, FILE_F)->attr.mode = 0600;
    scene_file(s, FILE_F)->attr.uid = 1002;
    for (unsigned i = 0; i < PEOPLE; i++)
        field_connect(&clients[i], s->field, s->service, people[i]);
    for (unsigned round = 0; round < 2; round++) {
        all_ask(s, clients, round);
        for (unsigned i = 0; i < 20; i++) { /* each of them twice */
            unsigned person = i * 3 % PEOPLE;
            field_serves(&clients[person], question.procedure, question.args,
                         verdict_for(s, person, round));
        }
        struct file old = *scene_file(s, FILE_F); /* all verdicts go */
        file_change(scene_file(s, FILE_F));
        scene_passes(s, &s->c1, NFS3_SETATTR, args_setattr_guarded(&old, 0600, old.attr.ctime),
                     res_wcc(NFS3_OK, wcc_full(&old, scene_file(s, FILE_F))));
    }
    for (unsigned i = 0; i < PEOPLE; i++)
        field_leave(&clients[i]);
}

/* ---- K10 ---- */

static void verdict_is(struct scene *s, struct field_client *client, uint32_t granted)
{
    const struct file *d = scene_file(s, FILE_D);
    struct body verdict = res_access(&d->attr, granted);
    field_fetches(client, NFS3_ACCESS, args_access(d, ALL), verdict);
    field_serves(client, NFS3_ACCESS, args_access(d, ALL), verdict);
}

/* Protects: the server maps everybody to its anonymous user, whose directory lets nobody else in by its mode. */
static void k10_all_squashed(struct scene *s)
{
    struct file *d = scene_file(s, FILE_D);
    d->attr.mode = 0700;
    d->attr.uid = 65534;
    s->c2.who = root;
    verdict_is(s, &s->c1, ALL);
    verdict_is(s, &s->c2, ALL);
    verdict_is(s, &s->c3, ALL);
    scene_fetches(s, &s->c3, ask_lookup(s, NAME_DF));
    scene_serves(s, &s->c1, ask_lookup(s, NAME_DF));
}

/* Protects: the server denies root what the mode grants everybody, and root owns. */
static void k10_root_squashed(struct scene *s)
{
    struct file *d = scene_file(s, FILE_D);
    struct question look = ask_lookup(s, NAME_DF);
    d->attr.mode = 0777;
    d->attr.uid = 0;
    s->c2.who = root;
    verdict_is(s, &s->c1, ALL);
    verdict_is(s, &s->c2, 0);
    scene_fetches(s, &s->c1, look);
    scene_serves(s, &s->c1, look);
    for (unsigned twice = 0; twice < 2; twice++)
        field_fetches(&s->c2, look.procedure, look.args, res_post_op(NFS3ERR_ACCES, &d->attr));
    scene_fetches(s, &s->c3, look); /* of whom nothing is known */
}

/* ---- K11 ---- */

static void asks_bits(struct scene *s, uint32_t mask, uint32_t granted)
{
    const struct file *f = scene_file(s, FILE_F);
    field_fetches(&s->c1, NFS3_ACCESS, args_access(f, mask), res_access(&f->attr, granted));
}

static void knows_bits(struct scene *s, uint32_t mask, uint32_t granted)
{
    const struct file *f = scene_file(s, FILE_F);
    field_serves(&s->c2, NFS3_ACCESS, args_access(f, mask), res_access(&f->attr, granted));
}

/* Protects: a bit that was never asked of the server is asked, and the reply is within the mask; also where the server
 * said more than it was asked. */
static void k11_masks(struct scene *s)
{
    asks_bits(s, 0x01, 0x01);
    knows_bits(s, 0x01, 0x01);
    asks_bits(s, 0x3f, 0x1d);
    knows_bits(s, 0x02, 0);
    knows_bits(s, 0x01, 0x01);
    knows_bits(s, 0x3f, 0x1d);
    scene_renew(s);
    asks_bits(s, 0x01, 0x3f);
    knows_bits(s, 0x01, 0x01);
    asks_bits(s, 0x02, 0);
    knows_bits(s, 0x02, 0);
    knows_bits(s, 0x01, 0x01);
}

/* ---- K12 ---- */

/* Protects: whoever was refused once is let in without a new mount: a refused LOOKUP is not remembered at all, a verdict
 * for no longer than access-age. */
static void k12_let_in_later(struct scene *s)
{
    const struct file *d = scene_file(s, FILE_D);
    struct question look = ask_lookup(s, NAME_EG);
    field_fetches(&s->c1, NFS3_ACCESS, args_access(d, ALL), res_access(&d->attr, 0));
    field_fetches(&s->c1, look.procedure, look.args, res_post_op(NFS3ERR_ACCES, NULL));
    field_fetches(&s->c3, NFS3_ACCESS, args_access(d, ALL), res_access(&d->attr, ALL));
    scene_fetches(s, &s->c1, look);
    field_pause(FIELD_AGED_MS);
    scene_sees(s, &s->c3, ask_getattr(s, FILE_D));
    field_fetches(&s->c1, NFS3_ACCESS, args_access(d, ALL), res_access(&d->attr, ALL));
    scene_sees(s, &s->c1, ask_lookup(s, NAME_DF));
}

/* ---- K37 ---- */

/* Protects: SETACL goes as it came; mode, ctime and everybody's verdicts are asked anew; GETACL is never answered here. */
static void k37_setacl(struct scene *s)
{
    for (unsigned shown = 0; shown < 2; shown++) {
        struct field_held set;
        scene_renew(s);
        struct file *f = scene_file(s, FILE_F);
        scene_fetches(s, &s->c1, ask_access(s, FILE_F));
        scene_fetches(s, &s->c3, ask_access(s, FILE_F));
        scene_takes(s, &s->c1, STAGE_NFSACL + NFSACL3_SETACL, args_setacl(f, 4), &set);
        file_change(f);
        f->attr.mode = 0664;
        scene_tells(s, &set, res_post_op(NFS3_OK, shown ? &f->attr : NULL));
        for (unsigned twice = 0; twice < 2; twice++)
            field_fetches(&s->c3, STAGE_NFSACL + NFSACL3_GETACL, args_getacl(f),
                          res_getacl(&f->attr, 4));
        scene_fetches(s, &s->c1, ask_getattr(s, FILE_F));
        scene_fetches(s, &s->c3, ask_access(s, FILE_F));
        scene_fetches(s, &s->c1, ask_access(s, FILE_F));
        scene_serves(s, &s->c2, ask_access(s, FILE_F));
    }
}

const struct field_case field_access[] = {
    {"K09: ten credentials, interleaved, and a verdict for each", IN_BOTH_MODES,
     k09_one_verdict_each},
    {"K10: a server that squashes all", IN_BOTH_MODES, k10_all_squashed},
    {"K10: a server that squashes root", IN_BOTH_MODES, k10_root_squashed},
    {"K11: ACCESS with one mask after another", IN_BOTH_MODES, k11_masks},
    {"K12: refused once, and then let in", IN(FIELD_QUICK) | IN(FIELD_QUICK_EXCLUSIVE),
     k12_let_in_later},
    {"K37: SETACL, and everybody's verdicts", IN_BOTH_MODES, k37_setacl},
    {NULL, 0, NULL},
};
