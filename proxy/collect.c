/*
 * collect: a round in which each worker adds what it counted to one report.
 */
#include "proxy/collect.h"

#include <stdlib.h>
#include <string.h>

#include "proxy/report.h"

struct collection {
    struct round round;
    struct collect_from from; /* its snapshot is a reference of the collection's own */
    struct control_request *request;
    pthread_mutex_t lock; /* of the services below */
    unsigned count;
    struct report_service services[];
};

static void add_service(struct collection *collection, const struct worker_service *ws)
{
    for (unsigned i = 0; i < collection->count; i++) {
        struct report_service *service = &collection->services[i];
        if (ws->removed || strcmp(service->name, ws->name) != 0)
            continue;
        report_add(&service->sum, &ws->service.counters);
        service->links += ws->nfs != NULL ? ws->nfs->links : 0;
        service->links_up += ws->nfs != NULL ? port_links_up(ws->nfs) : 0;
    }
}

static void each(struct round *round, struct worker *worker)
{
    struct collection *collection = container_of(round, struct collection, round);
    pthread_mutex_lock(&collection->lock);
    for (struct list *node = worker->services.next; node != &worker->services; node = node->next)
        add_service(collection, container_of(node, struct worker_service, node));
    pthread_mutex_unlock(&collection->lock);
}

static void collection_free(struct collection *collection)
{
    pthread_mutex_destroy(&collection->lock);
    snapshot_drop(collection->from.snapshot);
    free(collection);
}

static void done(struct round *round)
{
    struct collection *collection = container_of(round, struct collection, round);
    struct cache_usage usage;
    cache_usage(collection->from.cache, &usage);
    for (unsigned i = 0; i < collection->count; i++)
        collection->services[i].refused =
            listeners_refused(collection->from.listeners, collection->services[i].name);
    control_answer(collection->request,
                   report_json(collection->services, collection->count, &usage));
    collection_free(collection);
}

void collect_start(const struct collect_from *from, struct control_request *request)
{
    const struct settings *settings = from->snapshot->settings;
    struct collection *collection =
        calloc(1, sizeof(*collection) + settings->service_count * sizeof(struct report_service));
    if (collection == NULL) {
        control_answer(request, NULL);
        return;
    }
    collection->from = *from;
    collection->from.snapshot = snapshot_take(from->snapshot);
    collection->request = request;
    collection->count = settings->service_count;
    collection->round.each = each;
    collection->round.done = done;
    pthread_mutex_init(&collection->lock, NULL);
    for (unsigned i = 0; i < collection->count; i++) {
        const struct settings_service *service = &settings->services[i];
        struct report_service *to = &collection->services[i];
        snprintf(to->name, sizeof(to->name), "%s", service->name);
        snprintf(to->server, sizeof(to->server), "%s", service->server);
        to->verify = service->verify;
    }
    if (crew_round(from->crew, &collection->round) != 0) {
        control_answer(request, NULL);
        collection_free(collection);
    }
}
