/*
 * The way of a call: sent, executed by the model server, and answered with what it saw then, or lost.
 */
#include "cache_model.h"

#include "xdr/rpc.h"

#include <string.h>

/* Which file is behind the name, for the mutation: from the cache, or asked. With nobody else
 * about, what the cache says is exact. */
static int behind(struct world *w, const struct call *c)
{
    struct binding *b = &w->binding[c->dir][c->name];
    int now = b->history[b->version % HISTORY];
    struct cache_found found;
    struct cache_reader by = model_reader(w, c->user);
    switch (cache_resolve(&by, text(model_handle(model_dir_file(c->dir), c->handle)),
                          text(model_name(c->name)), &found)) {
    case CACHE_LOOKUP_FOUND:
        if (!w->outside && model_file_of(&found) != now)
            fail_seed(w, "resolved to %d, is %d", model_file_of(&found), now);
        return now; /* the mutation would hit what is there; the wrong guess is the caller's affair
                     */
    case CACHE_LOOKUP_ABSENT:
        if (!w->outside && now != -1)
            fail_seed(w, "resolved to nothing, is %d", now);
        return now;
    case CACHE_LOOKUP_MISS:
        break;
    }
    return now;
}

static void send_mutation(struct world *w, struct call *c)
{
    struct cache_mutation *m = &c->mutation;
    cache_mutation_init(m, w->fx.server);
    if (w->fx.ages.exclusive)
        cache_mutation_exclusive(m);
    if (c->kind == SETATTR) {
        c->object = cache_mutation_add_object(m, text(model_handle(c->file, c->handle)));
    } else {
        c->dir_object =
            cache_mutation_add_object(m, text(model_handle(model_dir_file(c->dir), c->handle)));
        cache_mutation_add_name(m, text(model_handle(model_dir_file(c->dir), c->handle)),
                                text(model_name(c->name)));
        c->behind = behind(w, c);
        if (c->behind >= 0)
            c->behind_object = cache_mutation_add_object(
                m, text(model_handle((unsigned)c->behind, model_child_handle(c->name))));
        if (c->target >= 0)
            c->object = cache_mutation_add_object(
                m, text(model_handle((unsigned)c->target, model_child_handle(c->name))));
        w->binding[c->dir][c->name].busy = true;
    }
    cache_mutation_begin(m, w->fx.now);
}

void model_begin(struct world *w, struct call *c)
{
    memset(c, 0, sizeof(*c));
    c->kind = (enum kind)model_draw(w, 4);
    if (w->mutations && model_draw(w, w->mutation_share) == 0)
        c->kind = SETATTR + model_draw(w, 2);
    c->file = model_draw(w, FILES);
    c->handle = model_draw(w, HANDLES);
    c->user = model_draw(w, USERS);
    c->dir = model_draw(w, DIRS);
    c->name = model_draw(w, NAMES);
    c->target = (int)model_draw(w, FILES - DIRS + 1) - 1;
    c->lost = model_draw(w, 8) == 0;
    c->fails = model_draw(w, 8) == 0;
    if (c->kind == BIND && w->binding[c->dir][c->name].busy)
        return;
    if (model_try_hit(w, c)) {
        w->hits++;
        return;
    }
    w->misses++;
    c->used = true;
    if (c->kind >= SETATTR)
        send_mutation(w, c);
    c->sent = tick(&w->fx);
}

uint32_t model_bump(struct thing *thing)
{
    return ++thing->version;
}

void model_bind(struct world *w, unsigned dir, unsigned n, int target)
{
    struct binding *b = &w->binding[dir][n];
    int old = b->history[b->version % HISTORY];
    if (old >= 0)
        model_bump(&w->file[old]);
    if (target >= 0)
        model_bump(&w->file[target]);
    model_bump(&w->file[model_dir_file(dir)]);
    b->history[++b->version % HISTORY] = target;
}

static int bound(const struct binding *b)
{
    return b->history[b->version % HISTORY];
}

static void execute_mutation(struct world *w, struct call *c)
{
    struct thing *dir = &w->file[model_dir_file(c->dir)];
    if (c->kind == SETATTR) {
        c->before = w->file[c->file].version;
        c->version = c->fails ? c->before : model_bump(&w->file[c->file]);
        return;
    }
    c->dir_before = dir->version;
    c->behind = bound(&w->binding[c->dir][c->name]);
    if (!c->fails)
        model_bind(w, c->dir, c->name, c->target);
    c->dir_version = dir->version;
    c->binding = w->binding[c->dir][c->name].version;
    if (c->target >= 0)
        c->version = w->file[c->target].version;
    if (c->behind >= 0)
        c->behind_version = w->file[c->behind].version;
}

void model_execute(struct world *w, struct call *c)
{
    c->executed = true;
    if (c->kind >= SETATTR) {
        execute_mutation(w, c);
        return;
    }
    c->version = w->file[c->file].version;
    c->dir_version = w->file[model_dir_file(c->dir)].version;
    c->child = bound(&w->binding[c->dir][c->name]);
    c->binding = w->binding[c->dir][c->name].version;
    if (c->child >= 0)
        c->child_version = w->file[c->child].version;
    for (unsigned n = 0; n < NAMES; n++) {
        c->entries[n] = bound(&w->binding[c->dir][n]);
        c->entry_bindings[n] = w->binding[c->dir][n].version;
        if (c->entries[n] >= 0)
            c->entry_versions[n] = w->file[c->entries[n]].version;
    }
}

static void bring(struct world *w, const struct cache_filler *from, unsigned file, unsigned handle,
                  uint32_t version)
{
    uint8_t fattr[NFS3_FATTR_LEN];
    struct file f = model_state(file, version);
    file_fattr(&f, fattr);
    cache_fill_attributes(from, text(model_handle(file, handle)), fattr);
    model_shown(w, file, version);
}

/* The attributes that come with a verdict, or with names; `fattr` keeps them for these. */
static void bring_with(struct world *w, struct cache_filler *from, unsigned file, unsigned handle,
                       uint32_t version, uint8_t fattr[NFS3_FATTR_LEN])
{
    struct file f = model_state(file, version);
    file_fattr(&f, fattr);
    bring(w, from, file, handle, version);
    from->fattr = fattr;
}

/* An entry of READDIRPLUS whose handle the server left out. */
static void bring_shown(struct world *w, const struct cache_filler *from, unsigned file,
                        uint32_t version)
{
    uint8_t fattr[NFS3_FATTR_LEN];
    struct file f = model_state(file, version);
    file_fattr(&f, fattr);
    cache_fill_shown(from, fattr);
    model_shown(w, file, version);
}

static void bring_name(struct world *w, const struct cache_filler *from, const struct call *c,
                       unsigned n, int child, uint32_t version, uint32_t binding, bool searched)
{
    struct bytes dir = text(model_handle(model_dir_file(c->dir), c->handle));
    if (child >= 0) {
        bring(w, from, (unsigned)child, model_child_handle(n), version);
        cache_fill_name(from, dir, text(model_name(n)),
                        text(model_handle((unsigned)child, model_child_handle(n))), searched);
    } else if (searched) {
        cache_fill_absent(from, dir, text(model_name(n)));
    }
    if (child >= 0 || searched)
        model_raise(&w->binding[c->dir][n].floor[c->handle], binding);
}

static void deliver_page(struct world *w, const struct cache_filler *from, const struct call *c)
{
    for (unsigned n = 0; n < NAMES; n++) {
        if (c->entries[n] >= 0 && model_draw(w, 4) == 0)
            bring_shown(w, from, (unsigned)c->entries[n], c->entry_versions[n]);
        else
            bring_name(w, from, c, n, c->entries[n], c->entry_versions[n], c->entry_bindings[n],
                       false);
    }
}

static void deliver_read(struct world *w, const struct call *c)
{
    uint8_t fattr[NFS3_FATTR_LEN];
    w->fx.credential.uid = 1000 + c->user;
    struct cache_filler from = filler(&w->fx, c->sent);
    switch (c->kind) {
    case GETATTR:
        bring(w, &from, c->file, c->handle, c->version);
        break;
    case ACCESS:
        if (!c->fails) /* a reply without attributes */
            bring_with(w, &from, c->file, c->handle, c->version, fattr);
        cache_fill_verdict(&from, text(model_handle(c->file, c->handle)), NFS3_ACCESS_ALL,
                           model_granted(c->file, c->version, c->user));
        model_raise(&w->verdict_floor[c->file][c->handle][c->user], c->version);
        break;
    case LOOKUP:
        if (!c->fails)
            bring_with(w, &from, model_dir_file(c->dir), c->handle, c->dir_version, fattr);
        bring_name(w, &from, c, c->name, c->child, c->child_version, c->binding, true);
        break;
    default:
        bring_with(w, &from, model_dir_file(c->dir), c->handle, c->dir_version, fattr);
        deliver_page(w, &from, c);
    }
}

static void result(struct world *w, struct call *c, unsigned object, unsigned file, uint32_t before,
                   uint32_t after)
{
    uint8_t wcc[NFS3_WCC_ATTR_LEN], fattr[NFS3_FATTR_LEN];
    struct file f = model_state(file, before);
    file_wcc(&f, wcc);
    f = model_state(file, after);
    file_fattr(&f, fattr);
    bool with_before = model_draw(w, 4) != 0, with_after = model_draw(w, 4) != 0;
    cache_mutation_result(&c->mutation, object,
                          (struct nfs3_wcc){with_before ? wcc : NULL, with_after ? fattr : NULL},
                          RPC_AUTH_SYS, w->fx.now);
    if (with_after)
        model_shown(w, file, after);
}

static void identify(struct world *w, struct call *c, unsigned object, unsigned file)
{
    uint8_t fattr[NFS3_FATTR_LEN];
    struct file f = model_state(file, w->file[file].version);
    file_fattr(&f, fattr);
    if (!cache_mutation_identified(&c->mutation, object))
        cache_mutation_identify(&c->mutation, object, fattr);
}

static void deliver_bind(struct world *w, struct call *c)
{
    unsigned dir = model_dir_file(c->dir);
    if (!c->lost) {
        result(w, c, c->dir_object, dir, c->dir_before, c->dir_version);
        if (c->target >= 0)
            result(w, c, c->object, (unsigned)c->target, 0, c->version);
        if (!c->fails)
            cache_mutation_name_result(
                &c->mutation, text(model_handle(dir, c->handle)), text(model_name(c->name)),
                c->target >= 0
                    ? text(model_handle((unsigned)c->target, model_child_handle(c->name)))
                    : (struct bytes){0});
    }
    identify(w, c, c->dir_object, dir);
    if (c->target >= 0)
        identify(w, c, c->object, (unsigned)c->target);
    for (unsigned i = 0; i < c->mutation.objects; i++) {
        if (!cache_mutation_identified(&c->mutation, i)) {
            struct cache_found found;
            memcpy(found.handle, c->mutation.object[i].handle, NFS3_FH_MAX);
            found.handle_len = c->mutation.object[i].handle_len;
            identify(w, c, i, (unsigned)model_file_of(&found));
        }
    }
}

/* The end of a mutation: whatever it made is a floor now. */
static void finish(struct world *w, struct call *c)
{
    cache_mutation_end(&c->mutation, w->fx.now);
    if (c->kind == SETATTR) {
        model_raise(&w->file[c->file].floor, c->version);
        model_verdicts_shown(w, c->file, c->version);
        return;
    }
    w->binding[c->dir][c->name].busy = false;
    model_raise(&w->file[model_dir_file(c->dir)].floor, c->dir_version);
    for (unsigned h = 0; h < HANDLES; h++)
        model_raise(&w->binding[c->dir][c->name].floor[h], c->binding);
    if (c->target >= 0)
        model_raise(&w->file[c->target].floor, c->version);
    /* An outside change may have put another file behind the name than the mutation knew of. */
    if (c->behind >= 0 && !w->outside)
        model_raise(&w->file[c->behind].floor, c->behind_version);
}

void model_deliver(struct world *w, struct call *c)
{
    c->used = false;
    if (c->kind < SETATTR) {
        deliver_read(w, c);
        return;
    }
    tick(&w->fx);
    if (c->kind == BIND) {
        deliver_bind(w, c);
    } else {
        if (!c->lost)
            result(w, c, c->object, c->file, c->before, c->version);
        identify(w, c, c->object, c->file);
    }
    finish(w, c);
}
