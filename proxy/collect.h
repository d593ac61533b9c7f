/*
 * collect: gathers the counters of all workers, for `nfsaccel stat`.
 */
#ifndef PROXY_COLLECT_H
#define PROXY_COLLECT_H

#include "proxy/control.h"
#include "proxy/crew.h"
#include "proxy/listeners.h"
#include "proxy/snapshot.h"

struct collect_from {
    struct crew *crew;
    struct cache *cache;
    const struct listeners *listeners;
    struct snapshot *snapshot;
};

/* Answers the request, later. */
void collect_start(const struct collect_from *from, struct control_request *request);

#endif
