/*
 * service: from settings to what the cache is asked with.
 */
#include "proxy/service.h"

#include <errno.h>

#include "proxy/upstream.h"

void service_apply(struct service *service, const struct settings_service *settings)
{
    service->settings = settings;
    service->ages = (struct cache_ages){
        .exclusive = settings->coherence == SETTINGS_EXCLUSIVE,
        .age_min = settings->age_min,
        .age_max = settings->age_max,
        .negative_age = settings->negative_age,
        .access_age = settings->access_age,
        .settle = settings->settle,
        .settle_age = CACHE_NSEC_PER_SEC,
    };
    service->verify.share = (uint32_t)(settings->verify * VERIFY_UNIT + 0.5);
}

void service_doubt(struct service *service)
{
    cache_doubt(service->cache, service->engine->now + service->settings->doubt);
}

int service_submit(struct service *service, const struct program *program,
                   const struct cache_server *cache, struct upstream_call *call)
{
    struct upstream *upstream = program->mount ? service->mount : service->nfs;
    if (upstream == NULL || service->cache != cache)
        return -ESHUTDOWN;
    return upstream_submit(upstream, call, service->engine->now);
}
