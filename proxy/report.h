/*
 * report: the counters of all workers and services, as `stat` shows them.
 */
#ifndef PROXY_REPORT_H
#define PROXY_REPORT_H

#include <jansson.h>

#include "cache/cache.h"
#include "proxy/counters.h"

/* One service's counters, added up over the workers by report_add. */
struct report_service {
    char name[64];
    char server[256];
    struct counters sum;
    double verify;            /* the share of hits that are checked */
    uint64_t refused;         /* connections that `allow` does not admit */
    unsigned links, links_up; /* connections to the server's NFS port */
};

/* Adds what one worker counted; that worker may go on counting meanwhile. */
void report_add(struct counters *sum, const struct counters *counters);

/* The object that `stat --json` prints; a new reference. NULL without memory. */
json_t *report_json(const struct report_service *services, unsigned count,
                    const struct cache_usage *usage);
/* The same for people, in the manner of nfsstat(8), from that object. */
void report_print(const json_t *report, FILE *out);

#endif
