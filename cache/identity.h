/*
 * identity: which file a handle is, and the objects that are the same file under other handles
 * (another export path, or a server whose handles name the parent directory too).
 */
#ifndef CACHE_IDENTITY_H
#define CACHE_IDENTITY_H

#include "cache/shard.h"

/* An identity has no more objects than this; another handle of the file is not kept. */
#define IDENTITY_HANDLES_MAX 15u

struct identity {
    const struct cache_server *server;
    uint64_t fsid, fileid;
    uint32_t hash;
};

struct identity identity_of(const struct cache_server *server, const uint8_t *fattr);
struct identity identity_make(const struct cache_server *server, uint64_t fsid, uint64_t fileid);

/* Its objects, one after the other; 0 at the end. `after` 0: the first. The stripe is held. */
uint32_t identity_next(const struct identity *identity, uint32_t after);

/* All of them, for visits after the stripe was given back: each is checked by its birth then. The stripe is held. */
struct alias {
    uint32_t index, birth;
};

struct aliases {
    unsigned count;
    struct alias object[IDENTITY_HANDLES_MAX];
};

void identity_collect(const struct identity *identity, struct aliases *aliases);

/* Adds and removes an object. Its shard and the stripe are held. */
void identity_add(const struct identity *identity, uint32_t index);
void identity_remove(const struct identity *identity, uint32_t index);

static inline struct stripe *identity_stripe(const struct identity *identity)
{
    return stripe_of(identity->server->cache, identity->hash);
}

static inline struct fence *identity_fence(const struct identity *identity)
{
    return stripe_fence(identity->server, identity->hash);
}

/* Raises the identity's fence; takes the stripe's lock. */
void identity_raise(const struct identity *identity, cache_stamp stamp);

#endif
