/*
 * service: from settings to what the cache is asked with.
 */
#include "proxy/service.h"

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
}

void service_doubt(struct service *service)
{
    cache_doubt(service->cache, service->engine->now + service->settings->doubt);
}
