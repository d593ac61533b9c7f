/*
 * identity: chains of objects by (fsid, fileid). A file has few handles, and no more than IDENTITY_HANDLES_MAX
 * are ever kept of it, so that all of them can be collected on the stack.
 */
#include "cache/identity.h"

#include <assert.h>

#include "cache/object.h"

struct identity identity_make(const struct cache_server *server, uint64_t fsid, uint64_t fileid)
{
    return (struct identity){
        .server = server,
        .fsid = fsid,
        .fileid = fileid,
        .hash = key_identity(&server->cache->secret, server->number, fsid, fileid),
    };
}

struct identity identity_of(const struct cache_server *server, const uint8_t *fattr)
{
    return identity_make(server, nfs3_fattr_fsid(fattr), nfs3_fattr_fileid(fattr));
}

uint32_t object_table_identity(const void *context, uint32_t index)
{
    const struct cache *cache = context;
    const struct object *object = object_at(cache, index);
    uint32_t hash = key_identity(&cache->secret, object->server, nfs3_fattr_fsid(object->fattr),
                                 nfs3_fattr_fileid(object->fattr));
    return shard_rest(cache, hash);
}

uint32_t identity_next(const struct identity *identity, uint32_t after)
{
    const struct cache *cache = identity->server->cache;
    const struct table *table = &identity_stripe(identity)->objects;
    uint32_t index = after ? object_at(cache, after)->identity_link
                           : *table_chain(table, shard_rest(cache, identity->hash));
    while (index != 0) {
        const struct object *object = object_at(cache, index);
        if (object->server == identity->server->number &&
            nfs3_fattr_fileid(object->fattr) == identity->fileid &&
            nfs3_fattr_fsid(object->fattr) == identity->fsid)
            return index;
        index = object->identity_link;
    }
    return 0;
}

void identity_collect(const struct identity *identity, struct aliases *aliases)
{
    const struct cache *cache = identity->server->cache;
    aliases->count = 0;
    for (uint32_t i = identity_next(identity, 0); i != 0; i = identity_next(identity, i)) {
        assert(aliases->count < IDENTITY_HANDLES_MAX);
        aliases->object[aliases->count++] = (struct alias){i, object_at(cache, i)->birth};
    }
}

void identity_add(const struct identity *identity, uint32_t index)
{
    const struct cache *cache = identity->server->cache;
    struct table *table = &identity_stripe(identity)->objects;
    table_insert(table, &cache->arena, shard_rest(cache, identity->hash), index);
    table_grow(table, &cache->arena, object_table_identity, cache);
}

void identity_remove(const struct identity *identity, uint32_t index)
{
    const struct cache *cache = identity->server->cache;
    table_remove(&identity_stripe(identity)->objects, &cache->arena,
                 shard_rest(cache, identity->hash), index);
}

void identity_raise(const struct identity *identity, cache_stamp stamp)
{
    struct stripe *stripe = identity_stripe(identity);
    lock_acquire(&stripe->lock);
    fence_raise(identity_fence(identity), stamp);
    lock_release(&stripe->lock);
}
