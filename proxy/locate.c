/*
 * locate: getaddrinfo and rpcbind, both of which may block, run in libuv's thread pool.
 */
#include "proxy/locate.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>

#include "proxy/address.h"
#include "proxy/container.h"
#include "proxy/portmap.h"

static const struct addrinfo *choose(const struct addrinfo *found, unsigned attempt)
{
    unsigned count = 1;
    for (const struct addrinfo *info = found->ai_next; info != NULL; info = info->ai_next)
        count++;
    for (unsigned skip = attempt % count; skip > 0; skip--)
        found = found->ai_next;
    return found;
}

static int resolve(struct locate *locate, int flags)
{
    struct settings_address *address = &locate->address;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags};
    struct addrinfo *found = NULL;
    int err = getaddrinfo(locate->host, NULL, &hints, &found);
    if (err != 0)
        return err == EAI_NONAME ? UV_EAI_NONAME : UV_EAI_FAIL;
    const struct addrinfo *chosen = choose(found, locate->attempt);
    memcpy(&address->addr, chosen->ai_addr, chosen->ai_addrlen);
    address->len = chosen->ai_addrlen;
    freeaddrinfo(found);
    return 0;
}

static void in_pool(uv_work_t *work)
{
    struct locate *locate = container_of(work, struct locate, work);
    locate->error = resolve(locate, AI_ADDRCONFIG);
    if (locate->error ==
        UV_EAI_NONAME) /* AI_ADDRCONFIG hides loopback addresses on a host without others */
        locate->error = resolve(locate, 0);
    if (locate->error != 0)
        return;
    int port = (int)locate->port;
    if (port == 0)
        port = portmap_lookup((const struct sockaddr *)&locate->address.addr, locate->program,
                              locate->version);
    if (port < 0)
        locate->error = port;
    else
        address_set_port(&locate->address.addr, (uint16_t)port);
}

static void after_pool(uv_work_t *work, int status)
{
    struct locate *locate = container_of(work, struct locate, work);
    if (status != 0)
        locate->error = status;
    locate->done(locate);
}

void locate_start(struct locate *locate, uv_loop_t *loop)
{
    if (locate->port != 0 && resolve(locate, AI_NUMERICHOST) == 0) {
        address_set_port(&locate->address.addr, (uint16_t)locate->port);
        locate->error = 0;
        locate->done(locate);
        return;
    }
    /* Once it is queued, the struct is the pool's. */
    int err = uv_queue_work(loop, &locate->work, in_pool, after_pool);
    if (err != 0) {
        locate->error = err;
        locate->done(locate);
    }
}

void locate_cancel(struct locate *locate)
{
    uv_cancel((uv_req_t *)&locate->work);
}
