/*
 * locate: from a server's name to an address and a port, without blocking the loop.
 *
 * The name is resolved anew each time, since a server may have moved; numeric addresses with a
 * given port take no detour. The port, where it is 0, is asked of the server's rpcbind. Of several
 * addresses `attempt` chooses one.
 */
#ifndef PROXY_LOCATE_H
#define PROXY_LOCATE_H

#include <uv.h>

#include "config/settings.h"

#define LOCATE_HOST_MAX 256u

struct locate {
    uv_work_t work;
    char host[LOCATE_HOST_MAX];
    unsigned port;
    unsigned attempt; /* the caller counts it up where an address was of no use */
    uint32_t program, version;
    struct settings_address address; /* the result */
    int error;                       /* 0, or negative errno, or a UV_EAI_… */
    /* Called from the loop, or at once from locate_start. */
    void (*done)(struct locate *locate);
};

/* host, port, program, version and done are set. The struct stays in place until `done`. */
void locate_start(struct locate *locate, uv_loop_t *loop);
/* Ends one that has not come to its turn yet, with an error; any other ends as it would. `done` is
 * called from the loop in either case. */
void locate_cancel(struct locate *locate);

#endif
