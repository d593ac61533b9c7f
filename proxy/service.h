/*
 * service: one listener in front of one server, as one worker sees it.
 *
 * Each worker has a struct service of its own for every [service] section; they share the settings,
 * the cache with its fences, and the order of mutations.
 */
#ifndef PROXY_SERVICE_H
#define PROXY_SERVICE_H

#include "cache/cache.h"
#include "config/settings.h"
#include "proxy/counters.h"

struct call;
struct order;
struct violation;
struct upstream;
struct upstream_call;

/* What the deciding parts share with whoever drives them. */
struct engine {
    uint64_t now; /* monotonic nanoseconds; set by the driver before each event it hands in */
    struct cache *cache; /* shared by all workers */
    struct order *order; /* likewise */
    uint64_t calls;      /* that exist: not ended, or their memory still in use */
    /* A call of this engine may go on: has call_granted called on the engine's own thread. Comes
     * from any thread. */
    void (*wake)(struct engine *engine, struct call *call);
    /* A hit was not what the server says, where the contract promises that it is (violation.h). */
    void (*violated)(struct engine *engine, const struct violation *violation);
};

/* Which hits are checked: verify.c's own. */
struct verify {
    uint32_t share;    /* of VERIFY_UNIT; 0: none are */
    uint32_t owed;     /* what the hits so far have left over; below VERIFY_UNIT */
    uint32_t inflight; /* checks that the server has been asked for */
};

#define VERIFY_UNIT 1000000000u /* as precise as the setting */

struct service {
    struct engine *engine;
    const struct settings_service *settings;
    struct cache_server *cache;
    struct cache_ages ages;
    struct upstream *nfs;   /* the server's NFS port; NULL once the service is being closed */
    struct upstream *mount; /* the server's MOUNT port; likewise */
    bool write_verf_known;
    /* Of the last WRITE or COMMIT: another one means that the server restarted. */
    uint8_t write_verf[NFS3_VERF_LEN];
    struct verify verify;
    struct counters counters;
};

/* Takes new settings into force; `settings` outlives them being in force. */
void service_apply(struct service *service, const struct settings_service *settings);

/* What is kept of the server is in doubt from now on (contract C8): it is asked again, and aged for
 * a while. */
void service_doubt(struct service *service);

/* To the server that a request was meant for: 0, -ENOMEM, or -ESHUTDOWN when a reload, or the end,
 * took that server away since the request came. */
int service_submit(struct service *service, const struct program *program,
                   const struct cache_server *cache, struct upstream_call *call);

static inline struct procedure_counters *service_counters(struct service *service,
                                                          const struct program *program,
                                                          const struct procedure *procedure)
{
    return &service->counters.procedures[program - programs][procedure - program->procedures];
}

#endif
