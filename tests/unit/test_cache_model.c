/*
 * The contract (C1 C2 C4, and for what happens outside, C5) against a model server, with seeds.
 *
 * The model server has a few files, each with two handles, and directories with names. Everything
 * that can be seen has a version that only grows. Calls are sent, executed and answered at times
 * that the seed decides, up to six at once, and some mutations' replies are lost. For each thing
 * there is a floor: the newest version that any client has been shown, by a reply or from the
 * cache, or that a mutation whose reply was sent has made. Whatever the cache says must be at that
 * floor or above it.
 */
#include "cache_fixture.h"

#include <stdio.h>
#include <string.h>

#include "xdr/rpc.h"

enum {
    FILES = 6, /* the last two are directories */
    DIRS = 2,
    NAMES = 3,
    USERS = 2,
    HANDLES = 2,
    INFLIGHT = 6,
    HISTORY = 4096,
    STEPS = 4000,
};

struct thing {
    uint32_t version, floor;
};

struct binding {
    uint32_t version;
    uint32_t floor[HANDLES]; /* through each handle of the directory */
    int history[HISTORY];    /* the file at each version; -1: nothing */
    bool busy;               /* a mutation is in flight: these are sent one after the other */
};

enum kind {
    GETATTR,
    ACCESS,
    LOOKUP,
    READDIRPLUS,
    SETATTR,
    BIND, /* CREATE, LINK, REMOVE, RENAME over: the name leads elsewhere */
};

struct call {
    enum kind kind;
    bool used, executed, lost, fails;
    cache_stamp sent;
    unsigned file, handle, user, dir, name;
    int target; /* BIND: file or -1 */
    /* What the reply says. */
    uint32_t version, before, dir_version, dir_before, binding;
    int child;
    uint32_t child_version;
    int entries[NAMES];
    uint32_t entry_versions[NAMES], entry_bindings[NAMES];
    /* The mutation. */
    struct cache_mutation mutation;
    unsigned object, dir_object;
    int behind;
    unsigned behind_object;
    uint32_t behind_version; /* what it made of the file behind the name */
};

struct world {
    struct fixture fx;
    uint64_t random;
    bool outside, mutations;
    uint32_t mutation_share, outside_share; /* one call, one step in so many */
    struct thing file[FILES];
    uint32_t verdict_floor[FILES][HANDLES][USERS]; /* a verdict may come without attributes */
    struct binding binding[DIRS][NAMES];
    struct call call[INFLIGHT];
    unsigned hits, misses, noise;
    uint64_t seed;
};

/* ---- the seed ---- */

static uint32_t draw(struct world *w, uint32_t below)
{
    w->random = w->random * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)((w->random >> 33) % below);
}

/* ---- what the server says ---- */

static bool is_dir(unsigned file)
{
    return file >= FILES - DIRS;
}

static unsigned dir_file(unsigned dir)
{
    return FILES - DIRS + dir;
}

static struct file state_of(unsigned file, uint32_t version)
{
    struct file f = is_dir(file) ? directory(100 + file) : regular(100 + file);
    f.size = 1000 + version;
    f.ctime = 1000 + version;
    f.mtime = 1000 + version;
    return f;
}

static const char *handle_of(unsigned file, unsigned handle)
{
    static const char *const handles[FILES][HANDLES] = {
        {"file-0/a", "file-0/bb"}, {"file-1/a", "file-1/bb"}, {"file-2/a", "file-2/bb"},
        {"file-3/a", "file-3/bb"}, {"dir-0", "dir-0/alias"},  {"dir-1", "dir-1/alias"},
    };
    return handles[file][handle];
}

static const char *name_of(unsigned n)
{
    static const char *const names[NAMES] = {"x", "yy", "zzz"};
    return names[n];
}

/* A handle that a name leads to is always the same one. */
static unsigned child_handle(unsigned name)
{
    return name & 1;
}

static uint32_t granted(unsigned file, uint32_t version, unsigned user)
{
    return (version * 7u + user * 13u + file) & NFS3_ACCESS_ALL;
}

/* ---- floors ---- */

#define fail_seed(w, ...)                                          \
    do {                                                           \
        print_error("seed %llu: ", (unsigned long long)(w)->seed); \
        fail_msg(__VA_ARGS__);                                     \
    } while (0)

static void raise_to(uint32_t *floor, uint32_t version)
{
    if (*floor < version)
        *floor = version;
}

static void verdicts_shown(struct world *w, unsigned file, uint32_t version)
{
    for (unsigned h = 0; h < HANDLES; h++)
        for (unsigned u = 0; u < USERS; u++)
            raise_to(&w->verdict_floor[file][h][u], version);
}

/* Attributes of that version were shown. Where nobody mutates, they show whatever happened outside:
 * verdicts and names must not be older either. */
static void shown(struct world *w, unsigned file, uint32_t version)
{
    raise_to(&w->file[file].floor, version);
    if (w->mutations)
        return;
    verdicts_shown(w, file, version);
}

static void check_attributes(struct world *w, unsigned file, const uint8_t *fattr, const char *by)
{
    uint32_t version = (uint32_t)(nfs3_fattr_size(fattr) - 1000);
    uint8_t expected[NFS3_FATTR_LEN];
    struct file f = state_of(file, version);
    file_fattr(&f, expected);
    if (memcmp(fattr, expected, NFS3_FATTR_LEN) != 0)
        fail_seed(w, "%s: attributes of file %u are made up", by, file);
    if (version < w->file[file].floor)
        fail_seed(w, "%s: file %u went back to version %u from %u", by, file, version,
                  w->file[file].floor);
    shown(w, file, version);
}

static void check_binding(struct world *w, unsigned dir, unsigned handle, unsigned n, int child)
{
    struct binding *b = &w->binding[dir][n];
    for (uint32_t v = b->floor[handle]; v <= b->version; v++) {
        if (b->history[v % HISTORY] == child) {
            raise_to(&b->floor[handle], v);
            return;
        }
    }
    fail_seed(w, "name %u in directory %u leads to %d again", n, dir, child);
}

/* ---- asking the cache ---- */

static struct cache_reader by_user(struct world *w, unsigned user)
{
    w->fx.credential.uid = 1000 + user;
    return reader(&w->fx);
}

static bool try_getattr(struct world *w, unsigned file, unsigned handle, unsigned user)
{
    uint8_t fattr[NFS3_FATTR_LEN];
    struct cache_reader by = by_user(w, user);
    if (!cache_getattr(&by, text(handle_of(file, handle)), fattr))
        return false;
    check_attributes(w, file, fattr, "GETATTR");
    return true;
}

static bool try_access(struct world *w, unsigned file, unsigned handle, unsigned user)
{
    uint8_t fattr[NFS3_FATTR_LEN];
    uint32_t bits;
    struct cache_reader by = by_user(w, user);
    if (!cache_access(&by, text(handle_of(file, handle)), NFS3_ACCESS_ALL, &bits, fattr))
        return false;
    check_attributes(w, file, fattr, "ACCESS");
    for (uint32_t v = w->verdict_floor[file][handle][user]; v <= w->file[file].version; v++) {
        if (granted(file, v, user) == bits) {
            raise_to(&w->verdict_floor[file][handle][user], v);
            return true;
        }
    }
    fail_seed(w, "verdict 0x%x on file %u for user %u is old", bits, file, user);
    return false;
}

static int file_of(const struct cache_found *found)
{
    for (unsigned f = 0; f < FILES; f++) {
        for (unsigned h = 0; h < HANDLES; h++) {
            const char *handle = handle_of(f, h);
            if (strlen(handle) == found->handle_len &&
                memcmp(handle, found->handle, found->handle_len) == 0)
                return (int)f;
        }
    }
    fail();
    return -1;
}

static bool try_lookup(struct world *w, unsigned dir, unsigned handle, unsigned n, unsigned user)
{
    struct cache_found found;
    struct cache_reader by = by_user(w, user);
    int child = -1;
    switch (cache_lookup(&by, text(handle_of(dir_file(dir), handle)), text(name_of(n)), &found)) {
    case CACHE_LOOKUP_MISS:
        return false;
    case CACHE_LOOKUP_FOUND:
        child = file_of(&found);
        check_attributes(w, (unsigned)child, found.object, "LOOKUP");
        break;
    case CACHE_LOOKUP_ABSENT:
        break;
    }
    check_binding(w, dir, handle, n, child);
    check_attributes(w, dir_file(dir), found.dir, "LOOKUP dir");
    return true;
}

/* ---- calls ---- */

static bool try_hit(struct world *w, const struct call *c)
{
    switch (c->kind) {
    case GETATTR:
        return try_getattr(w, c->file, c->handle, c->user);
    case ACCESS:
        return try_access(w, c->file, c->handle, c->user);
    case LOOKUP:
        return try_lookup(w, c->dir, c->handle, c->name, c->user);
    default:
        return false;
    }
}

/* Which file is behind the name, for the mutation: from the cache, or asked. With nobody else
 * about, what the cache says is exact. */
static int behind(struct world *w, const struct call *c)
{
    struct binding *b = &w->binding[c->dir][c->name];
    int now = b->history[b->version % HISTORY];
    struct cache_found found;
    struct cache_reader by = by_user(w, c->user);
    switch (cache_resolve(&by, text(handle_of(dir_file(c->dir), c->handle)), text(name_of(c->name)),
                          &found)) {
    case CACHE_LOOKUP_FOUND:
        if (!w->outside && file_of(&found) != now)
            fail_seed(w, "resolved to %d, is %d", file_of(&found), now);
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
        c->object = cache_mutation_add_object(m, text(handle_of(c->file, c->handle)));
    } else {
        c->dir_object = cache_mutation_add_object(m, text(handle_of(dir_file(c->dir), c->handle)));
        cache_mutation_add_name(m, text(handle_of(dir_file(c->dir), c->handle)),
                                text(name_of(c->name)));
        c->behind = behind(w, c);
        if (c->behind >= 0)
            c->behind_object = cache_mutation_add_object(
                m, text(handle_of((unsigned)c->behind, child_handle(c->name))));
        if (c->target >= 0)
            c->object = cache_mutation_add_object(
                m, text(handle_of((unsigned)c->target, child_handle(c->name))));
        w->binding[c->dir][c->name].busy = true;
    }
    cache_mutation_begin(m, w->fx.now);
}

static void begin(struct world *w, struct call *c)
{
    memset(c, 0, sizeof(*c));
    c->kind = (enum kind)draw(w, 4);
    if (w->mutations && draw(w, w->mutation_share) == 0)
        c->kind = SETATTR + draw(w, 2);
    c->file = draw(w, FILES);
    c->handle = draw(w, HANDLES);
    c->user = draw(w, USERS);
    c->dir = draw(w, DIRS);
    c->name = draw(w, NAMES);
    c->target = (int)draw(w, FILES - DIRS + 1) - 1;
    c->lost = draw(w, 8) == 0;
    c->fails = draw(w, 8) == 0;
    if (c->kind == BIND && w->binding[c->dir][c->name].busy)
        return;
    if (try_hit(w, c)) {
        w->hits++;
        return;
    }
    w->misses++;
    c->used = true;
    if (c->kind >= SETATTR)
        send_mutation(w, c);
    c->sent = tick(&w->fx);
}

static uint32_t bump(struct thing *thing)
{
    return ++thing->version;
}

static void bind(struct world *w, unsigned dir, unsigned n, int target)
{
    struct binding *b = &w->binding[dir][n];
    int old = b->history[b->version % HISTORY];
    if (old >= 0)
        bump(&w->file[old]);
    if (target >= 0)
        bump(&w->file[target]);
    bump(&w->file[dir_file(dir)]);
    b->history[++b->version % HISTORY] = target;
}

static int bound(const struct binding *b)
{
    return b->history[b->version % HISTORY];
}

static void execute_mutation(struct world *w, struct call *c)
{
    struct thing *dir = &w->file[dir_file(c->dir)];
    if (c->kind == SETATTR) {
        c->before = w->file[c->file].version;
        c->version = c->fails ? c->before : bump(&w->file[c->file]);
        return;
    }
    c->dir_before = dir->version;
    c->behind = bound(&w->binding[c->dir][c->name]);
    if (!c->fails)
        bind(w, c->dir, c->name, c->target);
    c->dir_version = dir->version;
    c->binding = w->binding[c->dir][c->name].version;
    if (c->target >= 0)
        c->version = w->file[c->target].version;
    if (c->behind >= 0)
        c->behind_version = w->file[c->behind].version;
}

static void execute(struct world *w, struct call *c)
{
    c->executed = true;
    if (c->kind >= SETATTR) {
        execute_mutation(w, c);
        return;
    }
    c->version = w->file[c->file].version;
    c->dir_version = w->file[dir_file(c->dir)].version;
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
    struct file f = state_of(file, version);
    file_fattr(&f, fattr);
    cache_fill_attributes(from, text(handle_of(file, handle)), fattr);
    shown(w, file, version);
}

/* The attributes that come with a verdict, or with names; `fattr` keeps them for these. */
static void bring_with(struct world *w, struct cache_filler *from, unsigned file, unsigned handle,
                       uint32_t version, uint8_t fattr[NFS3_FATTR_LEN])
{
    struct file f = state_of(file, version);
    file_fattr(&f, fattr);
    bring(w, from, file, handle, version);
    from->fattr = fattr;
}

/* An entry of READDIRPLUS whose handle the server left out. */
static void bring_shown(struct world *w, const struct cache_filler *from, unsigned file,
                        uint32_t version)
{
    uint8_t fattr[NFS3_FATTR_LEN];
    struct file f = state_of(file, version);
    file_fattr(&f, fattr);
    cache_fill_shown(from, fattr);
    shown(w, file, version);
}

static void bring_name(struct world *w, const struct cache_filler *from, const struct call *c,
                       unsigned n, int child, uint32_t version, uint32_t binding, bool searched)
{
    struct bytes dir = text(handle_of(dir_file(c->dir), c->handle));
    if (child >= 0) {
        bring(w, from, (unsigned)child, child_handle(n), version);
        cache_fill_name(from, dir, text(name_of(n)),
                        text(handle_of((unsigned)child, child_handle(n))), searched);
    } else if (searched) {
        cache_fill_absent(from, dir, text(name_of(n)));
    }
    if (child >= 0 || searched)
        raise_to(&w->binding[c->dir][n].floor[c->handle], binding);
}

static void deliver_page(struct world *w, const struct cache_filler *from, const struct call *c)
{
    for (unsigned n = 0; n < NAMES; n++) {
        if (c->entries[n] >= 0 && draw(w, 4) == 0)
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
        cache_fill_verdict(&from, text(handle_of(c->file, c->handle)), NFS3_ACCESS_ALL,
                           granted(c->file, c->version, c->user));
        raise_to(&w->verdict_floor[c->file][c->handle][c->user], c->version);
        break;
    case LOOKUP:
        if (!c->fails)
            bring_with(w, &from, dir_file(c->dir), c->handle, c->dir_version, fattr);
        bring_name(w, &from, c, c->name, c->child, c->child_version, c->binding, true);
        break;
    default:
        bring_with(w, &from, dir_file(c->dir), c->handle, c->dir_version, fattr);
        deliver_page(w, &from, c);
    }
}

static void result(struct world *w, struct call *c, unsigned object, unsigned file, uint32_t before,
                   uint32_t after)
{
    uint8_t wcc[NFS3_WCC_ATTR_LEN], fattr[NFS3_FATTR_LEN];
    struct file f = state_of(file, before);
    file_wcc(&f, wcc);
    f = state_of(file, after);
    file_fattr(&f, fattr);
    bool with_before = draw(w, 4) != 0, with_after = draw(w, 4) != 0;
    cache_mutation_result(&c->mutation, object,
                          (struct nfs3_wcc){with_before ? wcc : NULL, with_after ? fattr : NULL},
                          RPC_AUTH_SYS, w->fx.now);
    if (with_after)
        shown(w, file, after);
}

static void identify(struct world *w, struct call *c, unsigned object, unsigned file)
{
    uint8_t fattr[NFS3_FATTR_LEN];
    struct file f = state_of(file, w->file[file].version);
    file_fattr(&f, fattr);
    if (!cache_mutation_identified(&c->mutation, object))
        cache_mutation_identify(&c->mutation, object, fattr);
}

static void deliver_bind(struct world *w, struct call *c)
{
    unsigned dir = dir_file(c->dir);
    if (!c->lost) {
        result(w, c, c->dir_object, dir, c->dir_before, c->dir_version);
        if (c->target >= 0)
            result(w, c, c->object, (unsigned)c->target, 0, c->version);
        if (!c->fails)
            cache_mutation_name_result(
                &c->mutation, text(handle_of(dir, c->handle)), text(name_of(c->name)),
                c->target >= 0 ? text(handle_of((unsigned)c->target, child_handle(c->name)))
                               : (struct bytes){0},
                w->fx.now);
    }
    identify(w, c, c->dir_object, dir);
    if (c->target >= 0)
        identify(w, c, c->object, (unsigned)c->target);
    for (unsigned i = 0; i < c->mutation.objects; i++) {
        if (!cache_mutation_identified(&c->mutation, i)) {
            struct cache_found found;
            memcpy(found.handle, c->mutation.object[i].handle, NFS3_FH_MAX);
            found.handle_len = c->mutation.object[i].handle_len;
            identify(w, c, i, (unsigned)file_of(&found));
        }
    }
}

/* The end of a mutation: whatever it made is a floor now. */
static void finish(struct world *w, struct call *c)
{
    cache_mutation_end(&c->mutation, w->fx.now);
    if (c->kind == SETATTR) {
        raise_to(&w->file[c->file].floor, c->version);
        verdicts_shown(w, c->file, c->version);
        return;
    }
    w->binding[c->dir][c->name].busy = false;
    raise_to(&w->file[dir_file(c->dir)].floor, c->dir_version);
    for (unsigned h = 0; h < HANDLES; h++)
        raise_to(&w->binding[c->dir][c->name].floor[h], c->binding);
    if (c->target >= 0)
        raise_to(&w->file[c->target].floor, c->version);
    /* An outside change may have put another file behind the name than the mutation knew of. */
    if (c->behind >= 0 && !w->outside)
        raise_to(&w->file[c->behind].floor, c->behind_version);
}

static void deliver(struct world *w, struct call *c)
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

/* ---- what else happens ---- */

static void change_outside(struct world *w)
{
    if (draw(w, 2))
        bump(&w->file[draw(w, FILES)]);
    else
        bind(w, draw(w, DIRS), draw(w, NAMES), (int)draw(w, FILES - DIRS + 1) - 1);
}

/* Other files, which push out what is cached. */
static void make_noise(struct world *w)
{
    char handle[32];
    for (unsigned i = 0; i < 8; i++) {
        unsigned n = w->noise++;
        struct file f = regular(100000 + n);
        (void)snprintf(handle, sizeof(handle), "noise-%u", n);
        fill(&w->fx, handle, &f);
        name(&w->fx, handle_of(dir_file(n & 1), 0), handle, handle);
        verdict(&w->fx, handle, 0x3f, n & 0x3f);
    }
}

static void step(struct world *w)
{
    struct call *c = &w->call[draw(w, INFLIGHT)];
    unsigned what = draw(w, 200);
    advance(&w->fx, draw(w, 20));
    if (what == 0)
        cache_doubt(w->fx.server, w->fx.now + draw(w, 100) * CACHE_NSEC_PER_MSEC);
    else if (what == 1)
        cache_flush(w->fx.cache, draw(w, 2) ? w->fx.server : NULL);
    else if (what == 2)
        cache_drop_handle(w->fx.server, text(handle_of(draw(w, FILES), draw(w, HANDLES))));
    else if (what == 3)
        cache_drop_name(w->fx.server, text(handle_of(dir_file(draw(w, DIRS)), draw(w, HANDLES))),
                        text(name_of(draw(w, NAMES))));
    else if (w->outside && draw(w, w->outside_share) == 0)
        change_outside(w);
    else if (what < 20)
        make_noise(w);
    else if (!c->used)
        begin(w, c);
    else if (!c->executed)
        execute(w, c);
    else
        deliver(w, c);
}

struct setting {
    bool outside, mutations, exclusive;
    uint64_t memory;
    unsigned fences;
};

static void run(uint64_t seed, const struct setting *setting, unsigned *hits, unsigned *misses)
{
    static struct world world;
    struct world *w = &world;
    memset(w, 0, sizeof(*w));
    uint8_t secret[CACHE_SECRET_LEN];
    w->seed = seed;
    w->random = seed * 0x9e3779b97f4a7c15ull + 1;
    for (unsigned i = 0; i < sizeof(secret); i++) /* other keys meet on other fences each time */
        secret[i] = (uint8_t)draw(w, 256);
    fixture_open_with(&w->fx, &(struct cache_options){.memory = setting->memory,
                                                      .secret = secret,
                                                      .fences = setting->fences});
    w->outside = setting->outside;
    w->mutations = setting->mutations;
    w->mutation_share = 2 + draw(w, 60);
    w->outside_share = 10 + draw(w, 300);
    w->fx.ages.exclusive = setting->exclusive;
    w->fx.ages.age_min = w->fx.ages.age_max = 3600 * CACHE_NSEC_PER_SEC;
    w->fx.ages.negative_age = w->fx.ages.access_age = 3600 * CACHE_NSEC_PER_SEC;
    for (unsigned d = 0; d < DIRS; d++)
        for (unsigned n = 0; n < NAMES; n++)
            w->binding[d][n].history[0] = n == 0 ? -1 : (int)n;
    for (unsigned i = 0; i < STEPS; i++) {
        step(w);
        if (i % 64 == 0)
            assert_true(usage(&w->fx).bytes <= setting->memory);
    }
    for (unsigned i = 0; i < INFLIGHT; i++) {
        if (w->call[i].used && !w->call[i].executed)
            execute(w, &w->call[i]);
        if (w->call[i].used)
            deliver(w, &w->call[i]);
    }
    *hits += w->hits;
    *misses += w->misses;
    fixture_close(&w->fx);
}

static void run_all(const struct setting *base, unsigned seeds)
{
    static const uint64_t memories[] = {64u << 20, 4u << 20, 32u << 10, 8u << 10, 0};
    static const unsigned fences[] = {0, 16, 1};
    for (unsigned m = 0; m < 5; m++) {
        for (unsigned f = 0; f < 3; f++) {
            unsigned hits = 0, misses = 0;
            struct setting setting = *base;
            setting.memory = memories[m];
            setting.fences = fences[f];
            for (unsigned s = 1; s <= seeds; s++)
                run(s + m * 1000 + f * 10000, &setting, &hits, &misses);
            print_message("memory %llu fences %u: %u hits, %u misses\n",
                          (unsigned long long)memories[m], fences[f], hits, misses);
            if (memories[m] >= 4u << 20 && fences[f] == 0)
                assert_true(hits > misses / 5);
            if (memories[m] == 0)
                assert_int_equal(hits, 0);
        }
    }
}

enum {
    SEEDS = 12
};

/* Everything at once: what clients do, and what happens behind the proxy's back. */
static void test_shared(void **state)
{
    (void)state;
    run_all(&(struct setting){.outside = true, .mutations = true}, SEEDS);
}

/* All writers come through the proxy: names are exact, also for mutations. */
static void test_exclusive(void **state)
{
    (void)state;
    run_all(&(struct setting){.mutations = true, .exclusive = true}, SEEDS);
}

/* Nobody writes through the proxy: what a reply shows takes verdicts along at once. */
static void test_outside_only(void **state)
{
    (void)state;
    run_all(&(struct setting){.outside = true}, SEEDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_exclusive),
        cmocka_unit_test(test_outside_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
