/*
 * stage_world: a small tree that a server has, and its answers about it.
 *
 *   d/    f  -> F (also known under the handle F2), s/ -> S, x -> X, n: not there
 *   e/    g  -> G, x -> X, m: not there
 *   d/s/  c  -> C, ..
 */
#ifndef UNIT_STAGE_WORLD_H
#define UNIT_STAGE_WORLD_H

#include "stage_nfs.h"

enum world_file {
    FILE_D,
    FILE_E,
    FILE_S,
    FILE_F,
    FILE_F2, /* F under another handle */
    FILE_G,
    FILE_X,
    FILE_C,
    FILE_N, /* what is made as d/n or e/m: not there at first */
    WORLD_FILES,
};

enum world_name {
    NAME_DF,
    NAME_DS,
    NAME_DX,
    NAME_DN,
    NAME_EG,
    NAME_EX,
    NAME_EM,
    NAME_SC,
    NAME_SUP,
    WORLD_NAMES,
};

#define NOTHING WORLD_FILES

struct world {
    struct file file[WORLD_FILES];
    bool gone[WORLD_FILES]; /* its handle is stale */
    enum world_file child[WORLD_NAMES];
};

struct world_place {
    enum world_file dir;
    const char *text;
};

extern const struct world_place world_place[WORLD_NAMES];
extern const char *const world_file_name[WORLD_FILES];

void world_init(struct world *world);
/* GETATTR, ACCESS and LOOKUP as the server would answer that user now; fails for any other call. */
struct body world_answer(const struct world *world, uint32_t uid, unsigned procedure,
                         struct bytes args);

/* What is asked of the world. */
struct body world_getattr_args(const struct world *world, enum world_file file);
struct body world_access_args(const struct world *world, enum world_file file);
struct body world_lookup_args(const struct world *world, enum world_name name);

#endif
