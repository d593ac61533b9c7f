/*
 * object: objects by handle, and the steps of their going: not served any more (invalidate), changed by a
 * mutation (touch), dropped. Each tells the object's fence what was shown, so that nothing older comes after it.
 */
#include "cache/object.h"

#include <assert.h>

#include "cache/credential.h"
#include "cache/verdict.h"
#include "xdr/rpc.h"

uint8_t object_flavor(uint32_t flavor)
{
    switch (flavor) {
    case RPC_AUTH_NONE:
        return OBJECT_NONE;
    case RPC_AUTH_SYS:
        return OBJECT_SYS;
    default:
        return 0;
    }
}

struct fresh_state object_state(const struct object *object)
{
    uint64_t fetched = packed_get40(object->fetched);
    return (struct fresh_state){
        .fetched = fetched,
        .changed = fetched > object->unchanged ? fetched - object->unchanged : 0,
        .mutated = packed_get40(object->mutated),
        .doubtful = object->flags & OBJECT_DOUBTFUL,
    };
}

uint32_t object_hash(const struct cache_server *server, struct bytes handle)
{
    return (uint32_t)key_handle(&server->cache->secret, server->number, handle);
}

uint32_t object_table_hash(const void *context, uint32_t index)
{
    const struct cache *cache = context;
    const struct object *object = object_at(cache, index);
    uint64_t hash = key_handle(&cache->secret, object->server, object_handle(object));
    return shard_rest(cache, (uint32_t)hash);
}

uint32_t object_find(const struct cache_server *server, uint32_t hash, struct bytes handle)
{
    const struct cache *cache = server->cache;
    uint32_t index = *table_chain(&shard_of(cache, hash)->objects, shard_rest(cache, hash));
    while (index != 0) {
        const struct object *object = object_at(cache, index);
        if (object->server == server->number && bytes_equal(object_handle(object), handle))
            return index;
        index = object->hash_link;
    }
    return 0;
}

bool object_is(const struct cache *cache, uint32_t index, uint32_t birth)
{
    const struct object *object = object_at(cache, index);
    return slab_holds(&shard_at(cache, index)->slab, index, SLAB_OBJECT) &&
           object->handle_len != 0 && object->birth == birth;
}

size_t object_size(struct bytes handle)
{
    return sizeof(struct object) + handle.len;
}

void object_insert(struct cache_server *server, uint32_t index, uint32_t hash, struct bytes handle)
{
    struct cache *cache = server->cache;
    struct shard *shard = shard_of(cache, hash);
    struct object *object = object_at(cache, index);
    assert(handle.len > 0 && handle.len <= NFS3_FH_MAX);
    memset(object, 0, sizeof(*object));
    object->server = server->number;
    object->handle_len = (uint8_t)handle.len;
    memcpy(object->handle, handle.data, handle.len);
    object->birth = ++shard->births;
    object->names = ++shard->births;
    packed_put40(object->mutated, shard_fence(server, hash)->ended);
    table_insert(&shard->objects, &cache->arena, shard_rest(cache, hash), index);
    table_grow(&shard->objects, &cache->arena, object_table_hash, cache);
    evict_added(cache, shard, index, hash);
}

/* What was kept was the newest that had been shown; its own call was sent after anything else that the fence remembers
 * of it. */
static void object_show(const struct cache_server *server, const struct object *object,
                        struct fence *fence)
{
    cache_stamp received = object_received(object);
    fence_show(fence, received, received, key_fattr(&server->cache->secret, object->fattr));
}

void object_drop(struct cache_server *server, uint32_t index, uint32_t hash)
{
    struct cache *cache = server->cache;
    struct shard *shard = shard_of(cache, hash);
    struct object *object = object_at(cache, index);
    struct identity identity = identity_of(server, object->fattr);
    struct stripe *stripe = identity_stripe(&identity);

    object_drop_verdicts(server, object, hash);
    if (object->flags & OBJECT_VALID)
        object_show(server, object, shard_fence(server, hash));
    lock_acquire(&stripe->lock);
    if (object->flags & OBJECT_VALID)
        object_show(server, object, identity_fence(&identity));
    identity_remove(&identity, index);
    lock_release(&stripe->lock);
    table_remove(&shard->objects, &cache->arena, shard_rest(cache, hash), index);
    evict_removed(shard, index);
}

void object_invalidate(struct cache_server *server, struct object *object, uint32_t hash)
{
    if (object->flags & OBJECT_VALID)
        object_show(server, object, shard_fence(server, hash));
    object->flags &= (uint8_t)~OBJECT_VALID;
}

void object_touch(struct cache_server *server, struct object *object, uint32_t hash)
{
    object_invalidate(server, object, hash);
    object->flags |= OBJECT_TOUCHED;
    object_drop_verdicts(server, object, hash);
}

void object_drop_names(struct cache_server *server, struct object *object, uint32_t hash)
{
    if (nfs3_fattr_type(object->fattr) != NF3DIR)
        return;
    object->names = ++shard_of(server->cache, hash)->births;
    fence_raise(shard_names_fence(server, hash), cache_tick(server));
}

void object_drop_verdicts(struct cache_server *server, struct object *object, uint32_t hash)
{
    while (object->verdicts != 0)
        verdict_remove(server, hash, &object->verdicts);
}
