/*
 * attributes: attributes_open finds the handle's object with all locks of its file held, attributes_store
 * makes or renews it, attributes_close gives the locks back.
 *
 * What is found under the handle may be of another file by now, or of before a doubt: the first goes, the second is
 * only good for comparing. A state that differs from the last known, with no mutation in between, is an outside change.
 */
#include "cache/attributes.h"

#include "cache/fattr.h"

struct attributes attributes_make(struct cache_server *server, struct bytes handle,
                                  const uint8_t *fattr)
{
    return (struct attributes){
        .server = server,
        .handle = handle,
        .hash = object_hash(server, handle),
        .fattr = fattr,
        .identity = identity_of(server, fattr),
        .state = key_fattr(&server->cache->secret, fattr),
    };
}

bool attributes_admitted(const struct attributes *news)
{
    return fence_admits(shard_fence(news->server, news->hash), news->sent, news->state) &&
           fence_admits(identity_fence(&news->identity), news->sent, news->state) &&
           news->sent >= server_valid_from(news->server);
}

void attributes_show(const struct attributes *news)
{
    fence_show(shard_fence(news->server, news->hash), news->sent, news->received, news->state);
    fence_show(identity_fence(&news->identity), news->sent, news->received, news->state);
}

void attributes_raise(const struct attributes *news, cache_stamp received)
{
    fence_raise(shard_fence(news->server, news->hash), received);
    fence_raise(identity_fence(&news->identity), received);
}

/* What a doubt left behind is only good for comparing. */
static void expire(const struct attributes *news, struct object *object)
{
    if (object_received(object) >= server_valid_from(news->server))
        return;
    object_invalidate(news->server, object, news->hash);
    object_drop_verdicts(news->server, object, news->hash);
    object->flags &= (uint8_t)~OBJECT_FLAVORS;
}

static uint32_t find(const struct attributes *news)
{
    uint32_t index = object_find(news->server, news->hash, news->handle);
    if (index == 0)
        return 0;
    struct object *object = object_at(news->server->cache, index);
    if (!fattr_same_file(object->fattr, news->fattr)) {
        shard_of(news->server->cache, news->hash)->outside++;
        server_doubted(news->server);
        object_drop(news->server, index, news->hash);
        return 0;
    }
    expire(news, object);
    return index;
}

uint32_t attributes_open(struct span *span, const struct attributes *news, uint32_t *spare)
{
    struct cache *cache = news->server->cache;
    uint32_t index;
    *spare = 0;
    span_init(span, cache, news->hash);
    do {
        span_lock(span);
        index = find(news);
        if (index == 0 && *spare == 0)
            *spare = evict_alloc(cache, shard_of(cache, news->hash), SLAB_OBJECT,
                                 object_size(news->handle), 0);
    } while (!span_join(span, &news->identity));
    return index;
}

void attributes_close(struct span *span, const struct attributes *news, uint32_t spare)
{
    if (spare)
        slab_free(&shard_of(span->cache, news->hash)->slab, spare);
    span_unlock(span, &news->identity);
}

/* ---- keeping ---- */

static unsigned handles(const struct identity *identity)
{
    unsigned count = 0;
    for (uint32_t i = identity_next(identity, 0); i != 0; i = identity_next(identity, i))
        count++;
    return count;
}

static uint32_t saturate32(uint64_t value)
{
    return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

/* What may change without a call that comes through the proxy: one from before a doubt may still be executed, and a file
 * without a name is gone as soon as the server has done with it. */
static bool doubtful(const struct attributes *news)
{
    return server_in_doubt(news->server, news->asked) || nfs3_fattr_nlink(news->fattr) == 0;
}

static void settle_since(struct object *object, uint64_t ended)
{
    if (ended > packed_get40(object->mutated))
        packed_put40(object->mutated, ended);
}

static void put(const struct attributes *news, struct object *object, uint64_t unchanged)
{
    settle_since(object, atomic_load(&news->server->ended));
    memcpy(object->fattr, news->fattr, NFS3_FATTR_LEN);
    packed_put48(object->received, news->received);
    packed_put40(object->fetched, news->asked / CACHE_NSEC_PER_MSEC);
    object->unchanged = saturate32(unchanged);
    object->flags &= (uint8_t) ~(OBJECT_TOUCHED | OBJECT_DOUBTFUL);
    object->flags |= OBJECT_VALID | news->flavor;
    object->flags |= doubtful(news) ? OBJECT_DOUBTFUL : 0;
}

static bool store_new(const struct attributes *news, uint32_t *spare)
{
    if (*spare == 0 || handles(&news->identity) >= IDENTITY_HANDLES_MAX)
        return false;
    uint32_t index = *spare;
    struct object *object = object_at(news->server->cache, index);
    *spare = 0;
    object_insert(news->server, index, news->hash, news->handle);
    put(news, object, 0);
    object_drop_names(news->server, object, news->hash);
    settle_since(object, identity_fence(&news->identity)->ended);
    identity_add(&news->identity, index);
    return true;
}

void attributes_outside(struct cache_server *server, struct object *object, uint32_t hash)
{
    object_drop_verdicts(server, object, hash);
    object_drop_names(server, object, hash);
    shard_of(server->cache, hash)->outside++;
}

static void notice(const struct attributes *news, struct object *object, bool changed)
{
    if (changed && !(object->flags & OBJECT_TOUCHED))
        attributes_outside(news->server, object, news->hash);
    else if (!fattr_same_owner(object->fattr, news->fattr))
        object_drop_verdicts(news->server, object, news->hash);
}

bool attributes_store(const struct attributes *news, uint32_t index, uint32_t *spare)
{
    if (index == 0)
        return store_new(news, spare);
    struct object *object = object_at(news->server->cache, index);
    bool changed = !fattr_unchanged(object->fattr, news->fattr);
    notice(news, object, changed);
    struct fresh_state before = object_state(object);
    uint64_t now = news->asked / CACHE_NSEC_PER_MSEC;
    put(news, object, !changed && now > before.changed ? now - before.changed : 0);
    thing_use((struct thing *)(void *)object);
    return true;
}
