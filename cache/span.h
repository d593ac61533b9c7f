/*
 * span: the locks that are held while attributes come in: the shard of the handle, the shards of
 * all other objects of the same identity (mostly none), and the identity's stripe. What is decided
 * with them held is decided for the file under all its handles at once.
 */
#ifndef CACHE_SPAN_H
#define CACHE_SPAN_H

#include "cache/identity.h"

#define SPAN_SHARDS_MAX (IDENTITY_HANDLES_MAX + 1)

struct span {
    struct cache *cache;
    uint32_t own; /* the handle's shard */
    unsigned count;
    uint32_t shard[SPAN_SHARDS_MAX]; /* ascending */
};

void span_init(struct span *span, struct cache *cache, uint32_t hash);
/* Takes the shards. */
void span_lock(struct span *span);
/* Takes the stripe on top. False when there are objects of the identity whose shards are not held:
 * nothing is held then, and the caller starts again with span_lock. */
bool span_join(struct span *span, const struct identity *identity);
/* Gives back all that span_lock took; the stripe as well, unless `identity` is NULL. */
void span_unlock(struct span *span, const struct identity *identity);

#endif
