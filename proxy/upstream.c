/*
 * upstream: assigns xid and link, finds the call to a reply, and sends again after a loss.
 */
#include "proxy/upstream.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "xdr/rpc.h"

#define RING_FIRST 256u
/* So many outstanding calls at least as one in two places of the ring: the next free one is near. */
#define RING_LOAD           2u
#define NOT_RESPONDING_NSEC 15000000000ull

int upstream_init(struct upstream *upstream, const struct upstream_ops *ops, unsigned links,
                  uint32_t first_xid, struct counters *counters)
{
    assert(links >= 1 && links <= UPSTREAM_LINKS_MAX);
    *upstream = (struct upstream){
        .ops = ops,
        .counters = counters,
        .next_xid = first_xid,
        .links = links,
        .ring = RING_FIRST,
        .by_xid = calloc(RING_FIRST, sizeof(struct upstream_call *)),
    };
    if (upstream->by_xid == NULL)
        return -ENOMEM;
    for (unsigned i = 0; i < links; i++)
        list_init(&upstream->link[i].outstanding);
    return 0;
}

void upstream_destroy(struct upstream *upstream)
{
    assert(upstream->outstanding == 0);
    free(upstream->by_xid);
    upstream->by_xid = NULL;
}

static struct upstream_call **ring_place(struct upstream_call **ring, uint32_t size, uint32_t xid)
{
    return &ring[xid & (size - 1)];
}

/* Twice the places: xids that were apart stay apart. */
static int ring_grow(struct upstream *upstream)
{
    uint32_t size = upstream->ring * 2;
    struct upstream_call **ring = calloc(size, sizeof(struct upstream_call *));
    if (ring == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < upstream->ring; i++) {
        struct upstream_call *call = upstream->by_xid[i];
        if (call != NULL)
            *ring_place(ring, size, call->xid) = call;
    }
    free(upstream->by_xid);
    upstream->by_xid = ring;
    upstream->ring = size;
    return 0;
}

/* The next xid in sequence whose place is free: one that is still outstanding is never given again. */
static int xid_take(struct upstream *upstream, struct upstream_call *call)
{
    if (upstream->outstanding >= upstream->ring / RING_LOAD) {
        int err = ring_grow(upstream);
        if (err != 0 && upstream->outstanding >= upstream->ring - 1)
            return err;
    }
    while (*ring_place(upstream->by_xid, upstream->ring, upstream->next_xid) != NULL)
        upstream->next_xid++;
    call->xid = upstream->next_xid++;
    *ring_place(upstream->by_xid, upstream->ring, call->xid) = call;
    return 0;
}

/* A link that is up before one that is down, and the one with the fewest calls. */
static unsigned link_choose(const struct upstream *upstream)
{
    unsigned best = 0;
    for (unsigned i = 1; i < upstream->links; i++) {
        const struct upstream_link *a = &upstream->link[i], *b = &upstream->link[best];
        if (a->up != b->up ? a->up : a->count < b->count)
            best = i;
    }
    return best;
}

static void call_send(struct upstream *upstream, struct upstream_call *call)
{
    if (call->was_sent)
        counter_add(&upstream->counters->resends, 1);
    call->was_sent = true;
    call->sent_at = upstream->now;
    call->in_socket = true;
    upstream->ops->send(upstream, call->link, call);
}

int upstream_submit(struct upstream *upstream, struct upstream_call *call, uint64_t now)
{
    assert(call->head_len >= 4);
    int err = xid_take(upstream, call);
    if (err != 0)
        return err;
    rpc_xid_replace(call->head, call->xid);
    upstream->now = now;
    call->upstream = upstream;
    call->since = now;
    call->answered = false;
    call->was_sent = false;
    call->in_socket = false;
    call->link = link_choose(upstream);
    struct upstream_link *link = &upstream->link[call->link];
    list_append(&link->outstanding, &call->node);
    link->count++;
    upstream->outstanding++;
    if (link->up)
        call_send(upstream, call);
    return 0;
}

void upstream_link_up(struct upstream *upstream, unsigned link_number)
{
    struct upstream_link *link = &upstream->link[link_number];
    assert(!link->up);
    bool again = link->was_up;
    link->up = true;
    link->was_up = true;
    counter_add(&upstream->counters->upstream_connects, 1);
    if (again && upstream->ops->doubt != NULL)
        upstream->ops->doubt(upstream);
    for (struct list *node = link->outstanding.next; node != &link->outstanding;
         node = node->next) {
        struct upstream_call *call = container_of(node, struct upstream_call, node);
        assert(!call->in_socket);
        call_send(upstream, call);
    }
}

void upstream_link_down(struct upstream *upstream, unsigned link_number)
{
    struct upstream_link *link = &upstream->link[link_number];
    if (!link->up)
        return;
    link->up = false;
    counter_add(&upstream->counters->upstream_losses, 1);
    if (upstream->ops->doubt != NULL)
        upstream->ops->doubt(upstream);
}

void upstream_sent(struct upstream *upstream, struct upstream_call *call)
{
    (void)upstream;
    assert(call->in_socket);
    call->in_socket = false;
    if (call->answered)
        call->release(call);
}

static struct upstream_call *call_find(struct upstream *upstream, unsigned link, uint32_t xid)
{
    struct upstream_call *call = *ring_place(upstream->by_xid, upstream->ring, xid);
    return call != NULL && call->xid == xid && call->link == link ? call : NULL;
}

static void call_forget(struct upstream *upstream, struct upstream_call *call)
{
    *ring_place(upstream->by_xid, upstream->ring, call->xid) = NULL;
    list_remove(&call->node);
    upstream->link[call->link].count--;
    upstream->outstanding--;
}

bool upstream_withdraw(struct upstream_call *call)
{
    if (call->was_sent)
        return false;
    call_forget(call->upstream, call);
    return true;
}

/* Off the books; the call is the submitter's again once the socket is through with it. */
static void call_complete(struct upstream *upstream, struct upstream_call *call,
                          struct record *reply)
{
    call_forget(upstream, call);
    call->answered = true;
    /* `replied` may submit further calls, but not release this one: that waits for the socket, or comes here. */
    bool release = !call->in_socket;
    call->replied(call, reply);
    if (release)
        call->release(call);
}

static void answered(struct upstream *upstream)
{
    if (!upstream->not_responding)
        return;
    upstream->not_responding = false;
    upstream->ops->responding(upstream, true);
}

void upstream_receive(struct upstream *upstream, unsigned link_number, struct record *reply)
{
    struct cursor c = cursor_over(reply->data, reply->len);
    uint32_t xid = cursor_u32(&c);
    uint32_t type = cursor_u32(&c);
    if (!cursor_ok(&c) || type != RPC_REPLY) {
        upstream->ops->reset(upstream, link_number, UPSTREAM_GARBAGE);
        goto drop;
    }
    struct upstream_call *call = call_find(upstream, link_number, xid);
    if (call == NULL) {
        counter_add(&upstream->counters->strays, 1);
        goto drop;
    }
    answered(upstream);
    call_complete(upstream, call, reply);
    return;
drop:
    if (reply->owned)
        free(reply->data);
}

static const struct upstream_call *link_oldest(const struct upstream_link *link)
{
    if (list_empty(&link->outstanding))
        return NULL;
    return container_of(link->outstanding.next, struct upstream_call, node);
}

static void notice_silence(struct upstream *upstream, const struct upstream_call *oldest)
{
    if (upstream->not_responding || upstream->now - oldest->since < NOT_RESPONDING_NSEC)
        return;
    upstream->not_responding = true;
    upstream->ops->responding(upstream, false);
}

void upstream_tick(struct upstream *upstream, uint64_t now)
{
    upstream->now = now;
    for (unsigned i = 0; i < upstream->links; i++) {
        const struct upstream_call *oldest = link_oldest(&upstream->link[i]);
        if (oldest == NULL)
            continue;
        notice_silence(upstream, oldest);
        if (upstream->link[i].up && now - oldest->sent_at >= UPSTREAM_PATIENCE)
            upstream->ops->reset(upstream, i, UPSTREAM_SILENCE);
    }
}

void upstream_abandon(struct upstream *upstream)
{
    for (unsigned i = 0; i < upstream->links; i++) {
        struct list *outstanding = &upstream->link[i].outstanding;
        while (!list_empty(outstanding))
            call_complete(upstream, container_of(outstanding->next, struct upstream_call, node),
                          NULL);
    }
}
