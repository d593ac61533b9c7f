/*
 * name: names by hash and text. Dead ones (of an old generation of names, or leading to an object that has gone)
 * stay in the table until they are met or evicted; name_find never returns one of an old generation. What goes is
 * remembered by its fence. Without room a name is not kept.
 */
#include "cache/name.h"

#include <assert.h>

uint32_t name_hash(const struct cache_server *server, struct bytes dir, struct bytes name)
{
    const struct key_secret *secret = &server->cache->secret;
    return key_name(secret, key_handle(secret, server->number, dir), name);
}

uint32_t name_table_hash(const void *context, uint32_t index)
{
    const struct cache *cache = context;
    return shard_rest(cache, name_at(cache, index)->hash);
}

static bool has_text(const struct name *name, const struct cache_server *server, uint32_t hash,
                     struct bytes text)
{
    return name->hash == hash && name->server == server->number &&
           bytes_equal((struct bytes){name->text, name->len}, text);
}

static uint32_t first(const struct cache *cache, uint32_t hash)
{
    return *table_chain(&shard_of(cache, hash)->names, shard_rest(cache, hash));
}

uint32_t name_find(const struct cache_server *server, uint32_t hash, struct name_dir dir,
                   struct bytes text)
{
    const struct cache *cache = server->cache;
    uint32_t index = first(cache, hash);
    while (index != 0) {
        const struct name *name = name_at(cache, index);
        if (has_text(name, server, hash, text) && name->dir == dir.index &&
            name->generation == dir.generation)
            return index;
        index = name->hash_link;
    }
    return 0;
}

void name_remove(struct cache_server *server, uint32_t index)
{
    struct cache *cache = server->cache;
    const struct name *name = name_at(cache, index);
    struct shard *shard = shard_of(cache, name->hash);
    cache_stamp received = packed_get48(name->received);
    fence_show(shard_fence(server, name->hash), received, received,
               name_child_state(name_child(name)));
    table_remove(&shard->names, &cache->arena, shard_rest(cache, name->hash), index);
    evict_removed(shard, index);
}

void name_drop(struct cache_server *server, uint32_t hash, struct bytes text, uint32_t keep)
{
    const struct cache *cache = server->cache;
    uint32_t index = first(cache, hash);
    while (index != 0) {
        const struct name *name = name_at(cache, index);
        uint32_t next = name->hash_link;
        if (index != keep && has_text(name, server, hash, text))
            name_remove(server, index);
        index = next;
    }
}

void name_drop_hash(struct cache_server *server, uint32_t hash)
{
    const struct cache *cache = server->cache;
    uint32_t index = first(cache, hash);
    while (index != 0) {
        const struct name *name = name_at(cache, index);
        uint32_t next = name->hash_link;
        if (name->hash == hash && name->server == server->number)
            name_remove(server, index);
        index = next;
    }
}

static uint32_t insert(struct cache_server *server, uint32_t hash, struct bytes text)
{
    struct cache *cache = server->cache;
    struct shard *shard = shard_of(cache, hash);
    assert(text.len > 0 && text.len <= CACHE_NAME_MAX);
    size_t size = offsetof(struct name, text) + text.len;
    uint32_t index = evict_alloc(cache, shard, SLAB_NAME, size, 0);
    if (index == 0)
        return 0;
    struct name *name = name_at(cache, index);
    name->hash = hash;
    name->server = server->number;
    name->len = (uint8_t)text.len;
    name->flags = 0;
    memcpy(name->text, text.data, text.len);
    table_insert(&shard->names, &cache->arena, shard_rest(cache, hash), index);
    table_grow(&shard->names, &cache->arena, name_table_hash, cache);
    evict_added(cache, shard, index, hash);
    return index;
}

bool name_store(struct cache_server *server, uint32_t index, uint32_t hash, struct bytes text,
                const struct name_news *news)
{
    if (index == 0)
        index = insert(server, hash, text);
    if (index == 0)
        return false;
    struct name *name = name_at(server->cache, index);
    name->dir = news->dir.index;
    name->generation = news->dir.generation;
    name->child = news->child.index;
    name->child_birth = news->child.birth;
    name->flags &= (uint8_t)~THING_OWN;
    name->flags |= server_in_doubt(server, news->asked) ? NAME_DOUBTFUL : 0;
    name->flags |= news->matched ? NAME_MATCHED : 0;
    packed_put48(name->received, news->received);
    packed_put40(name->fetched, news->asked / CACHE_NSEC_PER_MSEC);
    return true;
}
