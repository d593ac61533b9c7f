/*
 * server: the event clock, the doubt, and the fences of one server.
 */
#include "cache/shard.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void server_destroy(struct cache_server *server)
{
    free(server->identity_fence);
    free(server->fence);
    free(server->name);
    free(server);
}

static struct cache_server *server_create(struct cache *cache, const char *name)
{
    struct cache_server *server = aligned_alloc(CACHE_LINE, sizeof(*server));
    if (!server)
        return NULL;
    memset(server, 0, sizeof(*server));
    server->cache = cache;
    server->name = strdup(name);
    server->fence = calloc(cache->fences, sizeof(*server->fence));
    server->identity_fence = calloc(cache->fences, sizeof(*server->identity_fence));
    if (server->name && server->fence && server->identity_fence)
        return server;
    server_destroy(server);
    return NULL;
}

static struct cache_server *server_find_or_create(struct cache *cache, const char *name)
{
    for (uint32_t i = 0; i < cache->servers; i++) {
        if (strcmp(cache->server[i]->name, name) == 0)
            return cache->server[i];
    }
    if (cache->servers == CACHE_SERVERS_MAX) {
        errno = ENOSPC;
        return NULL;
    }
    struct cache_server *server = server_create(cache, name);
    if (!server) {
        errno = ENOMEM;
        return NULL;
    }
    server->number = (uint16_t)cache->servers;
    cache->server[cache->servers++] = server;
    return server;
}

struct cache_server *cache_server_get(struct cache *cache, const char *name)
{
    lock_acquire(&cache->servers_lock);
    struct cache_server *server = server_find_or_create(cache, name);
    lock_release(&cache->servers_lock);
    return server;
}

uint32_t cache_server_number(const struct cache_server *server)
{
    return server->number;
}

cache_stamp cache_tick(struct cache_server *server)
{
    return atomic_fetch_add(&server->clock, 1) + 1;
}

/*
 * Twice: a mutation's result takes its stamp first and looks at valid_from then. What looked before
 * the first store has a stamp below the second; what looks after it is refused.
 */
void server_invalidate(struct cache_server *server)
{
    lock_acquire(&server->doubt_lock);
    atomic_store(&server->valid_from, cache_tick(server));
    atomic_store(&server->valid_from, cache_tick(server));
    lock_release(&server->doubt_lock);
}

void cache_doubt(struct cache_server *server, uint64_t until)
{
    lock_acquire(&server->doubt_lock);
    if (atomic_load(&server->doubt_until) < until)
        atomic_store(&server->doubt_until, until);
    lock_release(&server->doubt_lock);
    server_doubted(server);
    server_invalidate(server);
}

/* The moment first: what is kept later on settles. */
void cache_doubt_overtaken(struct cache_server *server, uint64_t now)
{
    uint64_t msec = now / CACHE_NSEC_PER_MSEC;
    lock_acquire(&server->doubt_lock);
    if (atomic_load(&server->ended) < msec)
        atomic_store(&server->ended, msec);
    lock_release(&server->doubt_lock);
    server_invalidate(server);
}

void cache_doubt_change(struct cache_server *server, uint64_t now)
{
    server_doubted(server);
    cache_doubt_overtaken(server, now);
}

uint64_t cache_doubts(const struct cache_server *server)
{
    return atomic_load(&server->doubts);
}

bool cache_keeps(const struct cache_server *server)
{
    return server->cache->keeps;
}
