/*
 * hit: what is served without asking.
 *
 * What stands in several shards is read from one after the other, with one lock at a time: each
 * part was true at some time after the call came, and that is all that a server promises too.
 */
#include "cache/credential.h"
#include "cache/name.h"
#include "cache/verdict.h"

static bool handle_fits(struct bytes handle)
{
    return handle.len > 0 && handle.len <= NFS3_FH_MAX;
}

static bool servable(const struct cache_reader *reader, const struct object *object)
{
    if (!object_valid(reader->server, object) ||
        !(object->flags & object_flavor(reader->credential->flavor)))
        return false;
    struct fresh_state state = object_state(object);
    return fresh_attributes(reader->ages, &state, reader->now);
}

/* The object of a handle, if its attributes may be served now. The shard is held. */
static struct object *servable_object(const struct cache_reader *reader, uint32_t hash,
                                      struct bytes handle)
{
    uint32_t index = object_find(reader->server, hash, handle);
    if (index == 0)
        return NULL;
    struct object *object = object_at(reader->server->cache, index);
    if (!servable(reader, object))
        return NULL;
    thing_use((struct thing *)(void *)object);
    return object;
}

bool cache_getattr(const struct cache_reader *reader, struct bytes handle,
                   uint8_t fattr[NFS3_FATTR_LEN])
{
    if (!handle_fits(handle))
        return false;
    uint32_t hash = object_hash(reader->server, handle);
    struct shard *shard = shard_of(reader->server->cache, hash);
    lock_acquire(&shard->lock);
    const struct object *object = servable_object(reader, hash, handle);
    if (object)
        memcpy(fattr, object->fattr, NFS3_FATTR_LEN);
    lock_release(&shard->lock);
    return object != NULL;
}

bool cache_access(const struct cache_reader *reader, struct bytes handle, uint32_t mask,
                  uint32_t *granted, uint8_t fattr[NFS3_FATTR_LEN])
{
    if (!handle_fits(handle) || !credential_known(reader->credential))
        return false;
    uint32_t hash = object_hash(reader->server, handle);
    struct shard *shard = shard_of(reader->server->cache, hash);
    lock_acquire(&shard->lock);
    const struct object *object = servable_object(reader, hash, handle);
    bool hit = object && verdict_granted(reader, object, mask, granted);
    if (hit)
        memcpy(fattr, object->fattr, NFS3_FATTR_LEN);
    lock_release(&shard->lock);
    return hit;
}

/* ---- names ---- */

/* What is read of the directory. */
struct hit_dir {
    struct name_dir dir;
    struct fresh_state state;
};

static bool read_dir(const struct cache_reader *reader, uint32_t hash, struct bytes handle,
                     struct hit_dir *hit, uint8_t fattr[NFS3_FATTR_LEN])
{
    struct cache *cache = reader->server->cache;
    struct shard *shard = shard_of(cache, hash);
    lock_acquire(&shard->lock);
    uint32_t index = object_find(reader->server, hash, handle);
    struct object *object = index ? object_at(cache, index) : NULL;
    bool found = object && servable(reader, object) && verdict_searchable(reader, object);
    if (found) {
        thing_use((struct thing *)(void *)object);
        *hit = (struct hit_dir){{index, object->names}, object_state(object)};
        memcpy(fattr, object->fattr, NFS3_FATTR_LEN);
    }
    lock_release(&shard->lock);
    return found;
}

typedef bool fresh_rule(const struct cache_ages *ages, const struct fresh_name *name,
                        const struct fresh_state *dir, uint64_t now);

static bool read_name(const struct cache_reader *reader, uint32_t hash, struct bytes text,
                      const struct hit_dir *dir, fresh_rule *fresh, struct name_child *child)
{
    struct cache *cache = reader->server->cache;
    struct shard *shard = shard_of(cache, hash);
    bool found = false;
    lock_acquire(&shard->lock);
    uint32_t index = name_find(reader->server, hash, dir->dir, text);
    if (index) {
        struct name *name = name_at(cache, index);
        struct fresh_name state = name_state(name);
        found = packed_get48(name->received) >= server_valid_from(reader->server) &&
                fresh(reader->ages, &state, &dir->state, reader->now);
        if (found) {
            thing_use((struct thing *)(void *)name);
            *child = name_child(name);
        }
    }
    lock_release(&shard->lock);
    return found;
}

static bool read_child(const struct cache_reader *reader, struct name_child child,
                       struct cache_found *found, bool attributes)
{
    struct cache *cache = reader->server->cache;
    struct shard *shard = shard_at(cache, child.index);
    lock_acquire(&shard->lock);
    struct object *object = object_at(cache, child.index);
    bool hit =
        object_is(cache, child.index, child.birth) && (!attributes || servable(reader, object));
    if (hit) {
        thing_use((struct thing *)(void *)object);
        found->handle_len = object->handle_len;
        memcpy(found->handle, object->handle, object->handle_len);
        if (attributes)
            memcpy(found->object, object->fattr, NFS3_FATTR_LEN);
    }
    lock_release(&shard->lock);
    return hit;
}

enum cache_lookup cache_lookup(const struct cache_reader *reader, struct bytes dir,
                               struct bytes name, struct cache_found *found)
{
    if (!handle_fits(dir) || name.len == 0 || name.len > CACHE_NAME_MAX ||
        !credential_known(reader->credential))
        return CACHE_LOOKUP_MISS;
    const struct key_secret *secret = &reader->server->cache->secret;
    uint64_t key = key_handle(secret, reader->server->number, dir);
    struct hit_dir hit;
    struct name_child child;
    if (!read_dir(reader, (uint32_t)key, dir, &hit, found->dir) ||
        !read_name(reader, key_name(secret, key, name), name, &hit, fresh_lookup, &child))
        return CACHE_LOOKUP_MISS;
    if (child.index == 0)
        return CACHE_LOOKUP_ABSENT;
    return read_child(reader, child, found, true) ? CACHE_LOOKUP_FOUND : CACHE_LOOKUP_MISS;
}

/* ---- for mutations ---- */

static bool resolve_dir(const struct cache_reader *reader, uint32_t hash, struct bytes handle,
                        struct hit_dir *hit)
{
    struct cache *cache = reader->server->cache;
    struct shard *shard = shard_of(cache, hash);
    lock_acquire(&shard->lock);
    uint32_t index = object_find(reader->server, hash, handle);
    if (index) {
        const struct object *object = object_at(cache, index);
        *hit = (struct hit_dir){{index, object->names}, object_state(object)};
    }
    lock_release(&shard->lock);
    return index != 0;
}

enum cache_lookup cache_resolve(const struct cache_reader *reader, struct bytes dir,
                                struct bytes name, struct cache_found *found)
{
    if (!handle_fits(dir) || name.len == 0 || name.len > CACHE_NAME_MAX)
        return CACHE_LOOKUP_MISS;
    const struct key_secret *secret = &reader->server->cache->secret;
    uint64_t key = key_handle(secret, reader->server->number, dir);
    struct hit_dir hit;
    struct name_child child;
    if (!resolve_dir(reader, (uint32_t)key, dir, &hit) ||
        !read_name(reader, key_name(secret, key, name), name, &hit, fresh_resolve, &child))
        return CACHE_LOOKUP_MISS;
    if (child.index == 0)
        return CACHE_LOOKUP_ABSENT;
    return read_child(reader, child, found, false) ? CACHE_LOOKUP_FOUND : CACHE_LOOKUP_MISS;
}
