/*
 * order: a table of holders, each with its line of waiters; nothing is allocated after
 * order_create.
 *
 * A ticket takes its turns in the order of their keys. The first free turn is taken at once; a turn
 * that somebody holds is waited for in line. Whoever releases a turn hands it to the first in line,
 * and goes on taking that ticket's further turns on its behalf.
 */
#include "proxy/order.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#define XXH_STATIC_LINKING_ONLY /* the state on the stack */
#include <xxhash.h>

#define SHARDS       64u
#define BUCKETS      64u
#define SECRET_BYTES 192u

struct shard {
    _Alignas(64) pthread_mutex_t lock;
    struct list buckets[BUCKETS]; /* of holders */
};

struct order {
    uint8_t secret[SECRET_BYTES];
    struct shard shards[SHARDS];
};

_Static_assert(SECRET_BYTES >= XXH3_SECRET_SIZE_MIN, "a secret that the hash takes");

struct order *order_create(const uint8_t *secret, uint32_t secret_len)
{
    assert(secret_len >= SECRET_BYTES);
    struct order *order = aligned_alloc(64, sizeof(*order));
    if (order == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    memcpy(order->secret, secret, SECRET_BYTES);
    for (unsigned i = 0; i < SHARDS; i++) {
        pthread_mutex_init(&order->shards[i].lock, NULL);
        for (unsigned j = 0; j < BUCKETS; j++)
            list_init(&order->shards[i].buckets[j]);
    }
    return order;
}

void order_destroy(struct order *order)
{
    if (order == NULL)
        return;
    for (unsigned i = 0; i < SHARDS; i++) {
        for (unsigned j = 0; j < BUCKETS; j++)
            assert(list_empty(&order->shards[i].buckets[j]));
        pthread_mutex_destroy(&order->shards[i].lock);
    }
    free(order);
}

void order_ticket_init(struct order_ticket *ticket, struct order *order,
                       void (*granted)(struct order_ticket *ticket))
{
    ticket->order = order;
    ticket->names = 0;
    ticket->held = 0;
    ticket->granted = granted;
}

static int key_compare(const uint64_t a[2], const uint64_t b[2])
{
    if (a[0] != b[0])
        return a[0] < b[0] ? -1 : 1;
    if (a[1] != b[1])
        return a[1] < b[1] ? -1 : 1;
    return 0;
}

/* 128 keyed bits stand for the name: two names that share them wait for each other without need,
 * and no more. */
static void key_of(const struct order *order, uint32_t scope, struct bytes dir, struct bytes name,
                   uint64_t key[2])
{
    XXH3_state_t state;
    XXH3_128bits_reset_withSecret(&state, order->secret, SECRET_BYTES);
    XXH3_128bits_update(&state, &scope, sizeof(scope));
    XXH3_128bits_update(&state, &dir.len, sizeof(dir.len));
    XXH3_128bits_update(&state, dir.data, dir.len);
    XXH3_128bits_update(&state, name.data, name.len);
    XXH128_hash_t hash = XXH3_128bits_digest(&state);
    key[0] = hash.high64;
    key[1] = hash.low64;
}

void order_ticket_add(struct order_ticket *ticket, uint32_t scope, struct bytes dir,
                      struct bytes name)
{
    uint64_t key[2];
    key_of(ticket->order, scope, dir, name, key);
    unsigned at = 0;
    while (at < ticket->names && key_compare(ticket->turn[at].key, key) < 0)
        at++;
    if (at < ticket->names && key_compare(ticket->turn[at].key, key) == 0)
        return;
    assert(ticket->names < ORDER_NAMES_MAX);
    for (unsigned i = ticket->names; i > at; i--)
        memcpy(ticket->turn[i].key, ticket->turn[i - 1].key, sizeof(key));
    memcpy(ticket->turn[at].key, key, sizeof(key));
    ticket->names++;
}

static struct shard *shard_of(struct order *order, const uint64_t key[2])
{
    return &order->shards[key[0] % SHARDS];
}

static struct list *bucket_of(struct shard *shard, const uint64_t key[2])
{
    return &shard->buckets[key[1] % BUCKETS];
}

static struct order_turn *holder_find(struct list *bucket, const uint64_t key[2])
{
    for (struct list *node = bucket->next; node != bucket; node = node->next) {
        struct order_turn *turn = container_of(node, struct order_turn, node);
        if (key_compare(turn->key, key) == 0)
            return turn;
    }
    return NULL;
}

/* Takes turns until one has to be waited for. Once a turn is in line, the ticket belongs to whoever
 * grants it. */
bool order_take(struct order_ticket *ticket)
{
    while (ticket->held < ticket->names) {
        struct order_turn *turn = &ticket->turn[ticket->held];
        struct shard *shard = shard_of(ticket->order, turn->key);
        turn->ticket = ticket;
        list_init(&turn->waiters);
        list_init(&turn->node);
        pthread_mutex_lock(&shard->lock);
        struct list *bucket = bucket_of(shard, turn->key);
        struct order_turn *holder = holder_find(bucket, turn->key);
        list_append(holder != NULL ? &holder->waiters : bucket, &turn->node);
        bool waits = holder != NULL;
        if (!waits)
            ticket->held++;
        pthread_mutex_unlock(&shard->lock);
        if (waits)
            return false;
    }
    return true;
}

/* The next in line inherits the others that wait. */
static struct order_ticket *turn_hand_on(struct order *order, struct order_turn *turn)
{
    struct order_ticket *next_ticket = NULL;
    struct shard *shard = shard_of(order, turn->key);
    pthread_mutex_lock(&shard->lock);
    list_remove(&turn->node);
    if (!list_empty(&turn->waiters)) {
        struct order_turn *next = container_of(turn->waiters.next, struct order_turn, node);
        list_remove(&next->node);
        list_splice(&next->waiters, &turn->waiters);
        list_append(bucket_of(shard, turn->key), &next->node);
        next->ticket->held++;
        next_ticket = next->ticket;
    }
    pthread_mutex_unlock(&shard->lock);
    return next_ticket;
}

void order_release(struct order_ticket *ticket)
{
    assert(ticket->held == ticket->names);
    struct order_ticket *granted[ORDER_NAMES_MAX];
    unsigned count = 0;
    while (ticket->held > 0) {
        ticket->held--;
        struct order_ticket *next = turn_hand_on(ticket->order, &ticket->turn[ticket->held]);
        if (next != NULL && order_take(next))
            granted[count++] = next;
    }
    for (unsigned i = 0; i < count; i++)
        granted[i]->granted(granted[i]);
}
