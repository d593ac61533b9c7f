/*
 * locate: getaddrinfo and rpcbind, both of which may block, run in libuv's thread pool.
 */
#include "proxy/locate.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>

#include "proxy/container.h"
#include "proxy/portmap.h"

static void set_port(struct settings_address *address, unsigned port)
{
    if (address->addr.ss_family == AF_INET6)
        ((struct sockaddr_in6 *)&address->addr)->sin6_port = htons((uint16_t)port);
    else
        ((struct sockaddr_in *)&address->addr)->sin_port = htons((uint16_t)port);
}

static int resolve(const char *host, int flags, struct settings_address *address)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags};
    struct addrinfo *found = NULL;
    int err = getaddrinfo(host, NULL, &hints, &found);
    if (err != 0)
        return err == EAI_NONAME ? UV_EAI_NONAME : UV_EAI_FAIL;
    memcpy(&address->addr, found->ai_addr, found->ai_addrlen);
    address->len = found->ai_addrlen;
    freeaddrinfo(found);
    return 0;
}

static void in_pool(uv_work_t *work)
{
    struct locate *locate = container_of(work, struct locate, work);
    locate->error = resolve(locate->host, AI_ADDRCONFIG, &locate->address);
    if (locate->error ==
        UV_EAI_NONAME) /* AI_ADDRCONFIG hides loopback addresses on a host without others */
        locate->error = resolve(locate->host, 0, &locate->address);
    if (locate->error != 0)
        return;
    int port = (int)locate->port;
    if (port == 0)
        port = portmap_lookup((const struct sockaddr *)&locate->address.addr, locate->program,
                              locate->version);
    if (port < 0)
        locate->error = port;
    else
        set_port(&locate->address, (unsigned)port);
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
    if (locate->port != 0 && resolve(locate->host, AI_NUMERICHOST, &locate->address) == 0) {
        set_port(&locate->address, locate->port);
        locate->error = 0;
        locate->done(locate);
        return;
    }
    locate->error = uv_queue_work(loop, &locate->work, in_pool, after_pool);
    if (locate->error != 0)
        locate->done(locate);
}
