/*
 * nfsd_again: a ring, searched from end to end.
 */
#include "sim/nfsd_again.h"

#include "sim/memory.h"
#include "sim/draw.h"

#include <stdlib.h>

struct nfsd_again {
    unsigned count, next; /* a ring, once it is full */
    uint64_t keys[NFSD_AGAIN_MAX];
    struct {
        uint8_t *data;
        uint32_t len;
    } replies[NFSD_AGAIN_MAX];
};

uint64_t again_key(uint64_t connection, struct bytes call)
{
    uint64_t key = draw_mix(connection + 1) ^ call.len;
    for (uint32_t at = 0; at < call.len; at += 8) {
        uint64_t word = 0;
        uint32_t left = call.len - at;
        memcpy(&word, call.data + at, left < 8 ? left : 8);
        key = draw_mix(key ^ le64toh(word)) + at;
    }
    return key;
}

struct bytes again_find(const struct nfsd_again *again, uint64_t key)
{
    for (unsigned i = 0; again && i < again->count; i++)
        if (again->keys[i] == key)
            return (struct bytes){again->replies[i].data, again->replies[i].len};
    return (struct bytes){0};
}

void again_remember(struct nfsd_again **again, uint64_t key, struct bytes reply)
{
    if (!*again)
        *again = memory_get(sizeof **again);
    struct nfsd_again *ring = *again;
    unsigned i = ring->next;
    ring->next = (i + 1) % NFSD_AGAIN_MAX;
    if (i == ring->count) {
        ring->replies[i].data = NULL;
        ring->count++;
    }
    ring->keys[i] = key;
    ring->replies[i].data = memory_resize(ring->replies[i].data, reply.len);
    ring->replies[i].len = reply.len;
    memcpy(ring->replies[i].data, reply.data, reply.len);
}

void again_forget(struct nfsd_again **again)
{
    if (!*again)
        return;
    for (unsigned i = 0; i < (*again)->count; i++)
        free((*again)->replies[i].data);
    free(*again);
    *again = NULL;
}
