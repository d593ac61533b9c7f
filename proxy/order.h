/*
 * order: mutations of one and the same name are sent one after the other.
 *
 * So that the object behind a name is known exactly when a mutation of it is sent. Those of
 * different names never wait for each other. Shared by all workers; a ticket holds up to two names
 * (RENAME) and gets them in one order everywhere, so that no two tickets can wait for each other.
 */
#ifndef PROXY_ORDER_H
#define PROXY_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "proxy/container.h"
#include "xdr/bytes.h"

#define ORDER_NAMES_MAX 2u

struct order;
struct order_ticket;

/* A place in the line for one name. */
struct order_turn {
    uint64_t key[2];
    struct list node;    /* holders: in the table; waiters: behind the holder */
    struct list waiters; /* of a holder */
    struct order_ticket *ticket;
};

struct order_ticket {
    struct order *order;
    unsigned names;
    unsigned held; /* turns 0 … held-1 are held; turn `held` is waited for, if there is one */
    struct order_turn turn[ORDER_NAMES_MAX];
    /* All turns are held now. Called on the thread that released the last one, under no lock. */
    void (*granted)(struct order_ticket *ticket);
};

/* `secret` as for the cache, copied. NULL with errno ENOMEM. */
struct order *order_create(const uint8_t *secret, uint32_t secret_len);
/* Nobody may hold or wait. */
void order_destroy(struct order *order);

void order_ticket_init(struct order_ticket *ticket, struct order *order,
                       void (*granted)(struct order_ticket *ticket));
/* `scope`: number of the server that the directory belongs to. `dir`: what tells it from its others. The same name twice is
 * one turn. */
void order_ticket_add(struct order_ticket *ticket, uint32_t scope, struct bytes dir,
                      struct bytes name);

/* True: all turns are held at once, or there are none. False: `granted` will be called. */
bool order_take(struct order_ticket *ticket);
/* Gives back all turns. Only when all are held. */
void order_release(struct order_ticket *ticket);

#endif
