/*
 * basis: what an answer stands on, for a proxy that checks its answers against the server.
 *
 * Off the way of a hit: these look at the same things a second time. What a hit finds may be newer than its basis, since
 * somebody else filled it in between; where that could matter the basis says that it may lag.
 */
#include "cache/credential.h"
#include "cache/name.h"
#include "cache/verdict.h"

cache_stamp cache_clock(const struct cache_server *server)
{
    return atomic_load(&server->clock);
}

/* ---- ages ---- */

static struct cache_part part_of(uint64_t msec, bool may_lag)
{
    return (struct cache_part){.fetched = msec * CACHE_NSEC_PER_MSEC, .may_lag = may_lag};
}

/* What is not there yet will be filled before it is served, in doubt maybe. */
static struct cache_part part_to_come(const struct cache_reader *reader)
{
    return (struct cache_part){.fetched = reader->now, .may_lag = true};
}

static struct cache_part object_part(const struct cache_reader *reader, const struct object *object)
{
    struct fresh_state state = object_state(object);
    return part_of(state.fetched, !object_valid(reader->server, object) || state.doubtful ||
                                      fresh_settling(reader->ages, &state));
}

/* A verdict from a time of doubt outlives it only where attributes that were asked for later show that nothing changed. */
static struct cache_part verdict_part(const struct cache_reader *reader,
                                      const struct object *object, uint32_t mask)
{
    uint64_t msec =
        credential_known(reader->credential) ? verdict_fetched(reader, object, mask) : 0;
    if (msec == 0)
        return part_to_come(reader);
    return part_of(msec,
                   !object_valid(reader->server, object) || (object->flags & OBJECT_DOUBTFUL));
}

/* Of an object and of a verdict on it. Returns its index and, for its names, their generation. */
static struct name_dir read_object(const struct cache_reader *reader, uint32_t hash,
                                   struct bytes handle, uint32_t mask, struct cache_part *object,
                                   struct cache_part *verdict)
{
    struct cache *cache = reader->server->cache;
    struct shard *shard = shard_of(cache, hash);
    struct name_dir dir = {0};
    lock_acquire(&shard->lock);
    uint32_t index = object_find(reader->server, hash, handle);
    if (index) {
        const struct object *found = object_at(cache, index);
        *object = object_part(reader, found);
        *verdict = verdict_part(reader, found, mask);
        dir = (struct name_dir){index, found->names};
    }
    lock_release(&shard->lock);
    return dir;
}

static struct name_child read_name(const struct cache_reader *reader, uint32_t hash,
                                   struct name_dir dir, struct bytes text, struct cache_part *part)
{
    struct cache *cache = reader->server->cache;
    struct shard *shard = shard_of(cache, hash);
    struct name_child child = {0};
    lock_acquire(&shard->lock);
    uint32_t index = name_find(reader->server, hash, dir, text);
    if (index) {
        const struct name *name = name_at(cache, index);
        struct fresh_name state = name_state(name);
        bool old = packed_get48(name->received) < server_valid_from(reader->server);
        *part = part_of(state.fetched, old || state.doubtful);
        child = name_child(name);
    }
    lock_release(&shard->lock);
    return child;
}

static void read_child(const struct cache_reader *reader, struct name_child child,
                       struct cache_part *part)
{
    struct cache *cache = reader->server->cache;
    struct shard *shard = shard_at(cache, child.index);
    lock_acquire(&shard->lock);
    if (object_is(cache, child.index, child.birth))
        *part = object_part(reader, object_at(cache, child.index));
    lock_release(&shard->lock);
}

void cache_basis_object(const struct cache_reader *reader, struct bytes handle, uint32_t mask,
                        struct cache_basis *basis)
{
    struct cache_part none = part_to_come(reader);
    *basis = (struct cache_basis){.object = none, .dir = none, .name = none, .verdict = none};
    read_object(reader, object_hash(reader->server, handle), handle, mask, &basis->object,
                &basis->verdict);
}

void cache_basis_name(const struct cache_reader *reader, struct bytes dir, struct bytes name,
                      struct cache_basis *basis)
{
    const struct cache_server *server = reader->server;
    struct cache_part none = part_to_come(reader);
    *basis = (struct cache_basis){.object = none, .dir = none, .name = none, .verdict = none};
    struct name_dir of =
        read_object(reader, object_hash(server, dir), dir, 0, &basis->dir, &basis->verdict);
    if (of.index == 0)
        return;
    struct name_child child =
        read_name(reader, name_hash(server, dir, name), of, name, &basis->name);
    if (child.index != 0)
        read_child(reader, child, &basis->object);
}

/* ---- fences ---- */

/* Mutations that may touch what nobody knows of have to be looked at before the others: when one ends, it counts as ended
 * before it is no longer in flight. */
static bool server_clean(const struct cache_server *server, cache_stamp since)
{
    return atomic_load(&server->blind) == 0 && atomic_load(&server->blind_ended) <= since &&
           server_valid_from(server) <= since;
}

static bool key_clean(const struct cache_server *server, uint32_t hash, cache_stamp since)
{
    struct shard *shard = shard_of(server->cache, hash);
    lock_acquire(&shard->lock);
    bool clean = fence_clean(shard_fence(server, hash), since);
    lock_release(&shard->lock);
    return clean;
}

bool cache_clean_since(const struct cache_server *server, struct bytes handle, const uint8_t *fattr,
                       cache_stamp since)
{
    if (!server_clean(server, since) || !key_clean(server, object_hash(server, handle), since))
        return false;
    struct identity identity = identity_of(server, fattr);
    struct stripe *stripe = identity_stripe(&identity);
    lock_acquire(&stripe->lock);
    bool clean = fence_clean(identity_fence(&identity), since);
    lock_release(&stripe->lock);
    return clean;
}

bool cache_name_clean_since(const struct cache_server *server, struct bytes dir, struct bytes name,
                            cache_stamp since)
{
    return server_clean(server, since) && key_clean(server, name_hash(server, dir, name), since);
}
