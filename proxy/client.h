/*
 * client: whoever sent a call and waits for its reply, as the deciding parts see it.
 *
 * Behind it stands a TCP connection (connection.c), or a test. Replies may go out in any order. A
 * client that goes away says so with call_client_gone; its calls go on where the server may already
 * execute them.
 */
#ifndef PROXY_CLIENT_H
#define PROXY_CLIENT_H

#include <stdint.h>
#include <string.h>

#include "proxy/container.h"

struct client;

struct client_ops {
    /* Room for a reply of up to `size` octets; NULL without memory. Either committed before
     * anything else happens, or forgotten. */
    uint8_t *(*reserve)(struct client *client, uint32_t size);
    void (*commit)(struct client *client, uint32_t len);
    /* A reply in malloc'ed memory that now is the client's. */
    void (*pass)(struct client *client, uint8_t *data, uint32_t len);
    /* A reply can't be made: the connection goes, and the client sends its calls again on a new
     * one. */
    void (*fail)(struct client *client);
    /* One of its calls has ended: `cost` as in client.cost is less now. May be NULL. */
    void (*relieved)(struct client *client);
};

struct client {
    const struct client_ops *ops;
    struct list calls; /* struct call, in flight */
    uint32_t inflight; /* how many of them */
    uint64_t cost;     /* octets that they hold, or will when their replies come */
};

static inline void client_init(struct client *client, const struct client_ops *ops)
{
    client->ops = ops;
    list_init(&client->calls);
    client->inflight = 0;
    client->cost = 0;
}

/* A reply that stands in memory of somebody else's. */
static inline void client_copy(struct client *client, const uint8_t *data, uint32_t len)
{
    uint8_t *room = client->ops->reserve(client, len);
    if (room == NULL) {
        client->ops->fail(client);
        return;
    }
    memcpy(room, data, len);
    client->ops->commit(client, len);
}

#endif
