/*
 * Cases about values that have to pass unchanged: handles of all lengths, times of all kinds.
 */
#include "e2e/field_cases.h"
#include "e2e/field_nfs.h"

#include <time.h>

#include "xdr/mount3.h"

/* ---- K22 ---- */

#define HANDLE_MAX 65u /* one more than there may be */

/* In what the server issues a handle. */
enum issue {
    BY_MNT,
    BY_LOOKUP,
    BY_CREATE,
    BY_READDIRPLUS,
    ISSUES,
};

static struct body handle_of(struct scene *s, uint32_t len, enum issue issue)
{
    uint8_t handle[HANDLE_MAX];
    struct body body = {0};
    for (uint32_t i = 0; i < len; i++)
        handle[i] = (uint8_t)(i * 7 + s->field->worlds + issue * 50 + len);
    memcpy(handle, &s->field->worlds, sizeof s->field->worlds);
    body_opaque(&body, handle, len);
    return body;
}

/* The call that has the handle issued, and its results. */
static struct question asks_for(struct scene *s, enum issue issue)
{
    const struct file *d = scene_file(s, FILE_D);
    switch (issue) {
    case BY_MNT:
        return (struct question){STAGE_MOUNT + MOUNT3_MNT, args_path("/export")};
    case BY_LOOKUP:
        return (struct question){NFS3_LOOKUP, args_dirop(d, "x")};
    case BY_CREATE:
        return (struct question){NFS3_CREATE, args_create(d, "n", NFS3_GUARDED, NULL)};
    default:
        return (struct question){NFS3_READDIRPLUS, args_readdirplus(d)};
    }
}

static struct body issues(struct scene *s, enum issue issue, const struct body *handle)
{
    const struct attr *d = &scene_file(s, FILE_D)->attr, *x = &scene_file(s, FILE_X)->attr;
    struct body body = res_status(NFS3_OK);
    switch (issue) {
    case BY_MNT:
        body_raw(&body, handle->data, handle->len);
        body_u32(&body, 1); /* flavors */
        body_u32(&body, RPC_AUTH_SYS);
        break;
    case BY_LOOKUP:
        body_raw(&body, handle->data, handle->len);
        body_post_op(&body, x);
        body_post_op(&body, d);
        break;
    case BY_CREATE:
        body_u32(&body, 1);
        body_raw(&body, handle->data, handle->len);
        body_post_op(&body, x);
        body_wcc(&body, (struct wcc){d, d});
        break;
    default:
        body = page_begin(d, 1);
        page_entry(&body, x->fileid, "x", 1);
        body_post_op(&body, x);
        body_u32(&body, 1);
        body_raw(&body, handle->data, handle->len);
        page_end(&body, true);
        break;
    }
    return body;
}

static void handle_is_used(struct scene *s, const struct body *handle, uint32_t len)
{
    const struct file *x = scene_file(s, FILE_X);
    struct body write = *handle, written = res_write(wcc_full(x, x), 4, "verifier");
    if (len > NFS3_FH_MAX) {
        field_refused(&s->c2, field_call(&s->c2, NFS3_GETATTR, *handle), RPC_GARBAGE_ARGS);
        return;
    }
    field_sees(&s->c2, NFS3_GETATTR, *handle, res_getattr(&x->attr));
    struct body text = args_write(x, 0, "text");
    uint32_t of_x = 4 + ((x->handle_len + 3) & ~3u);
    body_raw(&write, text.data + of_x, text.len - of_x);
    scene_passes(s, &s->c2, NFS3_WRITE, write, written);
    field_sees(&s->c1, NFS3_GETATTR, *handle, res_getattr(&x->attr));
}

/* Protects: a handle passes unchanged both ways, in whatever it is issued and used; one that is too long harms nobody. */
static void k22_handles(struct scene *s)
{
    static const uint32_t lengths[] = {16, 60, 63, 64, 65};
    for (unsigned i = 0; i < ISSUES * sizeof lengths / sizeof lengths[0]; i++) {
        enum issue issue = (enum issue)(i % ISSUES);
        uint32_t len = lengths[i / ISSUES];
        scene_renew(s);
        struct body handle = handle_of(s, len, issue);
        struct question question = asks_for(s, issue);
        struct body issued = issues(s, issue, &handle);
        if (issue == BY_CREATE)
            scene_passes(s, &s->c1, question.procedure, question.args, issued);
        else
            field_fetches(&s->c1, question.procedure, question.args, issued);
        handle_is_used(s, &handle, len);
        scene_fetches(s, &s->c1, ask_lookup(s, NAME_EG)); /* all is well */
    }
}

/* ---- K36 ---- */

static void odd_times(struct scene *s)
{
    uint32_t ahead = (uint32_t)time(NULL) + 3600;
    struct attr *f = &scene_file(s, FILE_F)->attr, *g = &scene_file(s, FILE_G)->attr;
    f->atime = TIME(0x80000000u, 787086328);
    f->mtime = TIME(0xffffffffu, 999999999);
    f->ctime = TIME(0x80000001u, 999999999);
    g->atime = g->mtime = g->ctime = TIME(ahead, 787086328);
}

/* Protects: times pass bit by bit, from cache and from the server. */
static void k36_times(struct scene *s)
{
    odd_times(s);
    const enum world_file files[] = {FILE_F, FILE_G};
    for (unsigned i = 0; i < 2; i++) {
        struct file *file = scene_file(s, files[i]);
        scene_fetches(s, &s->c1, ask_getattr(s, files[i]));
        scene_serves(s, &s->c2, ask_getattr(s, files[i]));
        scene_fetches(s, &s->c1, ask_access(s, files[i]));
        scene_serves(s, &s->c2, ask_access(s, files[i]));
        struct file old = *file;
        struct field_held held;
        scene_takes(s, &s->c1, NFS3_SETATTR, args_setattr_guarded(file, 0600, old.attr.ctime),
                    &held);
        file->attr.ctime += TIME(0, 1);
        scene_tells(s, &held, res_wcc(NFS3_OK, wcc_full(&old, file)));
        scene_sees(s, &s->c2, ask_getattr(s, files[i]));
        scene_serves(s, &s->c1, ask_getattr(s, files[i]));
    }
}

/* Protects: how long something is fresh is none of the server's clock's business. */
static void k36_freshness(struct scene *s)
{
    odd_times(s);
    scene_fetches(s, &s->c1, ask_getattr(s, FILE_F));
    scene_fetches(s, &s->c1, ask_getattr(s, FILE_G));
    field_pause(FIELD_AGED_MS);
    file_change(scene_file(s, FILE_F));
    file_change(scene_file(s, FILE_G));
    scene_fetches(s, &s->c1, ask_getattr(s, FILE_F));
    scene_fetches(s, &s->c1, ask_getattr(s, FILE_G));
}

const struct field_case field_handle[] = {
    {"K22: handles of 16, 60, 63, 64 and 65 octets, by MNT, LOOKUP, CREATE and READDIRPLUS",
     IN_BOTH_MODES, k22_handles},
    {"K36: times beyond 2038, and an hour ahead", IN_BOTH_MODES, k36_times},
    {"K36: freshness where the server's times are odd", IN(FIELD_QUICK), k36_freshness},
    {NULL, 0, NULL},
};
