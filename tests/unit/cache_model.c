/*
 * What the model server says, the floors, and what the cache says, held against both.
 */
#include "cache_model.h"

#include <string.h>

/* ---- the seed ---- */

uint32_t model_draw(struct world *w, uint32_t below)
{
    w->random = w->random * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)((w->random >> 33) % below);
}

/* ---- what the server says ---- */

static bool is_dir(unsigned file)
{
    return file >= FILES - DIRS;
}

unsigned model_dir_file(unsigned dir)
{
    return FILES - DIRS + dir;
}

struct file model_state(unsigned file, uint32_t version)
{
    struct file f = is_dir(file) ? directory(100 + file) : regular(100 + file);
    f.size = 1000 + version;
    f.ctime = 1000 + version;
    f.mtime = 1000 + version;
    return f;
}

const char *model_handle(unsigned file, unsigned handle)
{
    static const char *const handles[FILES][HANDLES] = {
        {"file-0/a", "file-0/bb"}, {"file-1/a", "file-1/bb"}, {"file-2/a", "file-2/bb"},
        {"file-3/a", "file-3/bb"}, {"dir-0", "dir-0/alias"},  {"dir-1", "dir-1/alias"},
    };
    return handles[file][handle];
}

const char *model_name(unsigned n)
{
    static const char *const names[NAMES] = {"x", "yy", "zzz"};
    return names[n];
}

unsigned model_child_handle(unsigned name)
{
    return name & 1;
}

uint32_t model_granted(unsigned file, uint32_t version, unsigned user)
{
    return (version * 7u + user * 13u + file) & NFS3_ACCESS_ALL;
}

/* ---- floors ---- */

void model_raise(uint32_t *floor, uint32_t version)
{
    if (*floor < version)
        *floor = version;
}

void model_verdicts_shown(struct world *w, unsigned file, uint32_t version)
{
    for (unsigned h = 0; h < HANDLES; h++)
        for (unsigned u = 0; u < USERS; u++)
            model_raise(&w->verdict_floor[file][h][u], version);
}

/* Attributes of that version were shown. Where nobody mutates, they show whatever happened outside:
 * verdicts and names must not be older either. */
void model_shown(struct world *w, unsigned file, uint32_t version)
{
    model_raise(&w->file[file].floor, version);
    if (w->mutations)
        return;
    model_verdicts_shown(w, file, version);
}

static void check_attributes(struct world *w, unsigned file, const uint8_t *fattr, const char *by)
{
    uint32_t version = (uint32_t)(nfs3_fattr_size(fattr) - 1000);
    uint8_t expected[NFS3_FATTR_LEN];
    struct file f = model_state(file, version);
    file_fattr(&f, expected);
    if (memcmp(fattr, expected, NFS3_FATTR_LEN) != 0)
        fail_seed(w, "%s: attributes of file %u are made up", by, file);
    if (version < w->file[file].floor)
        fail_seed(w, "%s: file %u went back to version %u from %u", by, file, version,
                  w->file[file].floor);
    model_shown(w, file, version);
}

static void check_binding(struct world *w, unsigned dir, unsigned handle, unsigned n, int child)
{
    struct binding *b = &w->binding[dir][n];
    for (uint32_t v = b->floor[handle]; v <= b->version; v++) {
        if (b->history[v % HISTORY] == child) {
            model_raise(&b->floor[handle], v);
            return;
        }
    }
    fail_seed(w, "name %u in directory %u leads to %d again", n, dir, child);
}

/* ---- asking the cache ---- */

struct cache_reader model_reader(struct world *w, unsigned user)
{
    w->fx.credential.uid = 1000 + user;
    return reader(&w->fx);
}

static bool try_getattr(struct world *w, unsigned file, unsigned handle, unsigned user)
{
    uint8_t fattr[NFS3_FATTR_LEN];
    struct cache_reader by = model_reader(w, user);
    if (!cache_getattr(&by, text(model_handle(file, handle)), fattr))
        return false;
    check_attributes(w, file, fattr, "GETATTR");
    return true;
}

static bool try_access(struct world *w, unsigned file, unsigned handle, unsigned user)
{
    uint8_t fattr[NFS3_FATTR_LEN];
    uint32_t bits;
    struct cache_reader by = model_reader(w, user);
    if (!cache_access(&by, text(model_handle(file, handle)), NFS3_ACCESS_ALL, &bits, fattr))
        return false;
    check_attributes(w, file, fattr, "ACCESS");
    for (uint32_t v = w->verdict_floor[file][handle][user]; v <= w->file[file].version; v++) {
        if (model_granted(file, v, user) == bits) {
            model_raise(&w->verdict_floor[file][handle][user], v);
            return true;
        }
    }
    fail_seed(w, "verdict 0x%x on file %u for user %u is old", bits, file, user);
    return false;
}

int model_file_of(const struct cache_found *found)
{
    for (unsigned f = 0; f < FILES; f++) {
        for (unsigned h = 0; h < HANDLES; h++) {
            const char *handle = model_handle(f, h);
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
    struct cache_reader by = model_reader(w, user);
    int child = -1;
    switch (cache_lookup(&by, text(model_handle(model_dir_file(dir), handle)), text(model_name(n)),
                         &found)) {
    case CACHE_LOOKUP_MISS:
        return false;
    case CACHE_LOOKUP_FOUND:
        child = model_file_of(&found);
        check_attributes(w, (unsigned)child, found.object, "LOOKUP");
        break;
    case CACHE_LOOKUP_ABSENT:
        break;
    }
    check_binding(w, dir, handle, n, child);
    check_attributes(w, model_dir_file(dir), found.dir, "LOOKUP dir");
    return true;
}

bool model_try_hit(struct world *w, const struct call *c)
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
