/*
 * cache_model: a model server, the calls that are under way to it, and what has been said of it.
 *
 * The server has a few files, each with two handles, and directories with names. Everything that can be
 * seen has a version that only grows. For each thing there is a floor: the newest version that any client
 * has been shown, by a reply or from the cache, or that a mutation whose reply was sent has made.
 * Whatever the cache says must be at that floor or above it.
 */
#ifndef UNIT_CACHE_MODEL_H
#define UNIT_CACHE_MODEL_H

#include "cache_fixture.h"

enum {
    FILES = 6, /* the last two are directories */
    DIRS = 2,
    NAMES = 3,
    USERS = 2,
    HANDLES = 2,
    INFLIGHT = 6,
    HISTORY = 4096,
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

#define fail_seed(w, ...)                                          \
    do {                                                           \
        print_error("seed %llu: ", (unsigned long long)(w)->seed); \
        fail_msg(__VA_ARGS__);                                     \
    } while (0)

uint32_t model_draw(struct world *w, uint32_t below);

/* ---- what the server says ---- */

unsigned model_dir_file(unsigned dir);
struct file model_state(unsigned file, uint32_t version);
const char *model_handle(unsigned file, unsigned handle);
const char *model_name(unsigned n);
/* A handle that a name leads to is always the same one. */
unsigned model_child_handle(unsigned name);
uint32_t model_granted(unsigned file, uint32_t version, unsigned user);
int model_file_of(const struct cache_found *found);

/* ---- floors ---- */

void model_raise(uint32_t *floor, uint32_t version);
void model_verdicts_shown(struct world *w, unsigned file, uint32_t version);
/* Attributes of that version were shown. */
void model_shown(struct world *w, unsigned file, uint32_t version);

/* ---- calls ---- */

struct cache_reader model_reader(struct world *w, unsigned user);
/* False when the cache has no answer; what it says is checked. */
bool model_try_hit(struct world *w, const struct call *c);
/* A call that the seed chooses; it is under way afterwards unless the cache has answered it. */
void model_begin(struct world *w, struct call *c);
void model_execute(struct world *w, struct call *c);
/* Its reply, or its loss. */
void model_deliver(struct world *w, struct call *c);

/* ---- what the server does ---- */

uint32_t model_bump(struct thing *thing);
/* The name leads elsewhere from now on. */
void model_bind(struct world *w, unsigned dir, unsigned n, int target);

#endif
