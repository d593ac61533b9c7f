/*
 * mutation: what the parts of a mutation have in common: its fences, and the visits to all objects
 * of a file.
 */
#ifndef CACHE_MUTATION_H
#define CACHE_MUTATION_H

#include "cache/object.h"

static inline struct bytes mutation_handle(const struct cache_mutation_object *object)
{
    return (struct bytes){object->handle, object->handle_len};
}

static inline struct shard *mutation_shard(const struct cache_mutation *mutation, uint32_t hash)
{
    return shard_of(mutation->server->cache, hash);
}

void mutation_set_identity(struct cache_mutation_object *object, const uint8_t *fattr);

/* The lock of the key's fence is held in these three. `identity`: it is an identity's key. */

/* The key's fence is one of the mutation's own. */
bool mutation_owns(const struct cache_mutation *mutation, bool identity, uint32_t hash);
/* No other mutation is in flight there, and none has begun since. */
bool mutation_is_latest(const struct cache_mutation *mutation, bool identity, uint32_t hash);
/* What it says may be kept: it was alone here or, where it holds no fence, nobody else was. */
bool mutation_may_keep(const struct cache_mutation *mutation, bool identity, uint32_t hash,
                       uint64_t state);

/* A mutation of the object ends about now; what is asked for soon is settling. Its shard is held. */
void mutation_mark(struct object *object, uint64_t now);
/* The same for a key whose fence the mutation did not hold. */
void mutation_note_ended(struct fence *fence, uint64_t now);

enum mutation_visit {
    MUTATION_TOUCH, /* what is kept goes */
    MUTATION_MARK,  /* a mutation has just ended */
};

/*
 * Visits the objects of a file one by one, with nothing else held; `own` is left alone. No other can
 * come in between: the identity's fence keeps away what was sent before it was raised.
 */
void mutation_visit(struct cache_server *server, const struct aliases *aliases, struct bytes own,
                    enum mutation_visit visit, uint64_t now);

#endif
