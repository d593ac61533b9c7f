/*
 * snapshot: settings with the cache's servers that belong to them.
 */
#include "proxy/snapshot.h"

#include <stdio.h>
#include <stdlib.h>

static struct cache_server *server_of(struct cache *cache, const struct settings_service *service)
{
    char name[300];
    int len = snprintf(name, sizeof(name), "%s:%u", service->server, service->nfs_port);
    if (len < 0 || (size_t)len >= sizeof(name))
        return NULL;
    return cache_server_get(cache, name);
}

static bool has_server(const struct snapshot *snapshot, const struct cache_server *server)
{
    for (unsigned i = 0; snapshot != NULL && i < snapshot->settings->service_count; i++) {
        if (snapshot->servers[i] == server)
            return true;
    }
    return false;
}

/* A service that promised that everybody writes through the proxy. */
static bool has_exclusive(const struct snapshot *snapshot, const struct cache_server *server)
{
    for (unsigned i = 0; snapshot != NULL && i < snapshot->settings->service_count; i++) {
        if (snapshot->servers[i] == server &&
            snapshot->settings->services[i].coherence == SETTINGS_EXCLUSIVE)
            return true;
    }
    return false;
}

/* Calls of the process before this one may still be executed, unseen; and what was kept before that promise was given may have
 * been changed by somebody else. */
static bool to_be_doubted(const struct snapshot *previous, const struct cache_server *server,
                          const struct settings_service *service)
{
    return !has_server(previous, server) ||
           (service->coherence == SETTINGS_EXCLUSIVE && !has_exclusive(previous, server));
}

struct snapshot *snapshot_create(struct settings *settings, struct cache *cache,
                                 const struct snapshot *previous, uint64_t now)
{
    struct snapshot *snapshot = calloc(1, sizeof(*snapshot));
    if (snapshot == NULL)
        goto no_snapshot;
    atomic_store(&snapshot->references, 1);
    snapshot->settings = settings;
    snapshot->servers = calloc(settings->service_count, sizeof(struct cache_server *));
    if (snapshot->servers == NULL)
        goto no_servers;
    for (unsigned i = 0; i < settings->service_count; i++) {
        const struct settings_service *service = &settings->services[i];
        snapshot->servers[i] = server_of(cache, service);
        if (snapshot->servers[i] == NULL)
            goto no_servers;
        if (to_be_doubted(previous, snapshot->servers[i], service))
            cache_doubt(snapshot->servers[i], now + service->doubt);
    }
    return snapshot;

no_servers:
    free(snapshot->servers);
    free(snapshot);
no_snapshot:
    settings_free(settings);
    return NULL;
}

struct snapshot *snapshot_take(struct snapshot *snapshot)
{
    atomic_fetch_add(&snapshot->references, 1);
    return snapshot;
}

void snapshot_drop(struct snapshot *snapshot)
{
    if (snapshot == NULL || atomic_fetch_sub(&snapshot->references, 1) != 1)
        return;
    free(snapshot->servers);
    settings_free(snapshot->settings);
    free(snapshot);
}
