/*
 * verdict: an object's verdicts are a short list, the newest first. What an answer contradicts, or says more than, goes
 * when it comes; where it may be the older one itself, neither is kept.
 */
#include "cache/verdict.h"

#include <assert.h>

#include "cache/credential.h"

static struct verdict *verdict_at(const struct cache *cache, uint32_t index)
{
    return arena_at(&cache->arena, index);
}

static bool is_for(const struct cache_reader *reader, const struct verdict *verdict)
{
    return credential_equal(reader->server->cache, verdict->credential, reader->credential) &&
           fresh_verdict(reader->ages, packed_get40(verdict->fetched), reader->now);
}

static bool answers_for(const struct verdict *verdict, uint32_t mask)
{
    return !verdict->searched && (verdict->asked & mask) == mask;
}

bool verdict_granted(const struct cache_reader *reader, const struct object *object, uint32_t mask,
                     uint32_t *granted)
{
    const struct cache *cache = reader->server->cache;
    for (uint32_t index = object->verdicts; index != 0; index = verdict_at(cache, index)->next) {
        const struct verdict *verdict = verdict_at(cache, index);
        if (!answers_for(verdict, mask) || !is_for(reader, verdict))
            continue;
        *granted = verdict->granted & mask;
        return true;
    }
    return false;
}

static bool lets_search(const struct verdict *verdict)
{
    return verdict->searched || (verdict->granted & NFS3_ACCESS_LOOKUP);
}

bool verdict_searchable(const struct cache_reader *reader, const struct object *object)
{
    const struct cache *cache = reader->server->cache;
    for (uint32_t index = object->verdicts; index != 0; index = verdict_at(cache, index)->next) {
        const struct verdict *verdict = verdict_at(cache, index);
        if (lets_search(verdict) && is_for(reader, verdict))
            return true;
    }
    return false;
}

uint64_t verdict_fetched(const struct cache_reader *reader, const struct object *object,
                         uint32_t mask)
{
    const struct cache *cache = reader->server->cache;
    for (uint32_t index = object->verdicts; index != 0; index = verdict_at(cache, index)->next) {
        const struct verdict *verdict = verdict_at(cache, index);
        bool answers = mask != 0 ? answers_for(verdict, mask) : lets_search(verdict);
        if (answers && is_for(reader, verdict))
            return packed_get40(verdict->fetched);
    }
    return 0;
}

void verdict_remove(struct cache_server *server, uint32_t hash, uint32_t *link)
{
    struct shard *shard = shard_of(server->cache, hash);
    uint32_t index = *link;
    const struct verdict *verdict = verdict_at(server->cache, index);
    if (verdict->bare)
        fence_raise(shard_fence(server, hash), packed_get48(verdict->received));
    credential_give(server->cache, shard, verdict->credential);
    *link = verdict->next;
    slab_free(&shard->slab, index);
    shard->verdict_count--;
}

/* Both can't be true at one time. */
static bool contradicts(const struct verdict *kept, const struct verdict_answer *answer)
{
    if (answer->searched)
        return (kept->asked & NFS3_ACCESS_LOOKUP) && !(kept->granted & NFS3_ACCESS_LOOKUP);
    if (kept->searched)
        return (answer->asked & NFS3_ACCESS_LOOKUP) && !(answer->granted & NFS3_ACCESS_LOOKUP);
    return (kept->granted ^ answer->granted) & kept->asked & answer->asked;
}

/* The new one says all that the old one did. */
static bool supersedes(const struct verdict *kept, const struct verdict_answer *answer)
{
    return kept->searched == answer->searched && (kept->asked & ~answer->asked) == 0;
}

/*
 * Takes away what the answer contradicts or supersedes. False when it contradicts one that may be
 * newer than itself: neither is kept then.
 */
static bool clear(const struct cache_filler *filler, struct object *object, uint32_t hash,
                  const struct verdict_answer *answer, cache_stamp *received)
{
    struct cache *cache = filler->server->cache;
    struct fence *fence = shard_fence(filler->server, hash);
    bool in_order = true;
    uint32_t *link = &object->verdicts;
    while (*link != 0) {
        const struct verdict *kept = verdict_at(cache, *link);
        bool against = contradicts(kept, answer);
        if (!credential_equal(cache, kept->credential, filler->credential) ||
            !(against || (answer->admitted && supersedes(kept, answer)))) {
            link = &verdict_at(cache, *link)->next;
            continue;
        }
        if (packed_get48(kept->received) > *received)
            *received = packed_get48(kept->received);
        if (against && packed_get48(kept->received) > filler->sent)
            in_order = false;
        cache_stamp stamp = fence->stamp;
        verdict_remove(filler->server, hash, link);
        if (answer->admitted && in_order)
            fence->stamp = stamp; /* the new one stands in for it */
    }
    return in_order;
}

static void limit(struct cache_server *server, struct object *object, uint32_t hash)
{
    uint32_t *link = &object->verdicts;
    unsigned count = 0;
    while (*link != 0) {
        if (++count == VERDICTS_MAX)
            verdict_remove(server, hash, link);
        else
            link = &verdict_at(server->cache, *link)->next;
        if (count == VERDICTS_MAX)
            break;
    }
}

static bool add(const struct cache_filler *filler, uint32_t object, uint32_t hash,
                const struct verdict_answer *answer, cache_stamp received)
{
    struct cache *cache = filler->server->cache;
    struct shard *shard = shard_of(cache, hash);
    limit(filler->server, object_at(cache, object), hash);
    uint32_t credential = credential_take(cache, shard, filler->credential, object);
    if (credential == 0)
        return false;
    uint32_t index = evict_alloc(cache, shard, SLAB_VERDICT, sizeof(struct verdict), object);
    if (index == 0) {
        credential_give(cache, shard, credential);
        return false;
    }
    struct verdict *verdict = verdict_at(cache, index);
    *verdict = (struct verdict){.next = object_at(cache, object)->verdicts,
                                .credential = credential,
                                .asked = answer->asked,
                                .granted = answer->granted,
                                .searched = answer->searched,
                                .bare = filler->fattr == NULL};
    packed_put48(verdict->received, received);
    packed_put40(verdict->fetched, filler->asked / CACHE_NSEC_PER_MSEC);
    object_at(cache, object)->verdicts = index;
    shard->verdict_count++;
    return true;
}

void verdict_arrive(const struct cache_filler *filler, uint32_t object, uint32_t hash,
                    const struct verdict_answer *answer)
{
    struct cache_server *server = filler->server;
    struct shard *shard = shard_of(server->cache, hash);
    struct fence *fence = shard_fence(server, hash);
    cache_stamp received = filler->received;
    bool in_order = clear(filler, object_at(server->cache, object), hash, answer, &received);
    if (answer->admitted && in_order) {
        if (add(filler, object, hash, answer, received))
            return;
        fence_raise(fence, received);
    }
    shard->fence_rejects += !answer->admitted;
    shard->overlaps += answer->admitted && !in_order;
    if (!in_order || filler->fattr == NULL)
        fence_raise(fence, received);
}
