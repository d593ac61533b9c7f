/*
 * snapshot: one configuration in force, shared by all threads; it goes when the last of them has
 * let go of it.
 */
#ifndef PROXY_SNAPSHOT_H
#define PROXY_SNAPSHOT_H

#include <stdatomic.h>

#include "cache/cache.h"
#include "config/settings.h"

struct snapshot {
    _Atomic unsigned references;
    struct settings *settings;
    struct cache_server **servers; /* one for each of settings->services */
};

/* Takes over `settings`; they are freed with it. Servers that `previous` (may be NULL) does not
 * have start in doubt. NULL without memory, `settings` are freed then too. */
struct snapshot *snapshot_create(struct settings *settings, struct cache *cache,
                                 const struct snapshot *previous, uint64_t now);
struct snapshot *snapshot_take(struct snapshot *snapshot);
void snapshot_drop(struct snapshot *snapshot);

#endif
