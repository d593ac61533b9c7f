/*
 * mutation: calls that may change something, from before they are sent until their reply has been
 * handled.
 *
 * begin raises the fences of all that the mutation may change and drops what is kept of it; then
 * mutation_reply.c has its say; end lowers the fences, with a stamp that keeps away whatever was
 * sent before.
 */
#include "cache/mutation.h"

#include <assert.h>
#include <stddef.h>

#include "cache/fattr.h"
#include "cache/name.h"

/* ---- what it may change ---- */

void cache_mutation_init(struct cache_mutation *mutation, struct cache_server *server)
{
    memset(mutation, 0, sizeof(*mutation));
    mutation->server = server;
}

void cache_mutation_exclusive(struct cache_mutation *mutation)
{
    mutation->exclusive = true;
}

void cache_mutation_blind(struct cache_mutation *mutation)
{
    mutation->blind = true;
}

void mutation_set_identity(struct cache_mutation_object *object, const uint8_t *fattr)
{
    uint64_t fsid = nfs3_fattr_fsid(fattr);
    uint64_t fileid = nfs3_fattr_fileid(fattr);
    if (object->identified && object->fsid == fsid && object->fileid == fileid)
        return;
    object->identified = true;
    object->fenced = false;
    object->fsid = fsid;
    object->fileid = fileid;
}

static void look_up_identity(const struct cache_mutation *mutation,
                             struct cache_mutation_object *object)
{
    struct cache_server *server = mutation->server;
    uint32_t hash = object_hash(server, mutation_handle(object));
    struct shard *shard = mutation_shard(mutation, hash);
    lock_acquire(&shard->lock);
    uint32_t index = object_find(server, hash, mutation_handle(object));
    if (index)
        mutation_set_identity(object, object_at(server->cache, index)->fattr);
    lock_release(&shard->lock);
}

unsigned cache_mutation_add_object(struct cache_mutation *mutation, struct bytes handle)
{
    assert(handle.len <= NFS3_FH_MAX);
    for (unsigned i = 0; i < mutation->objects; i++) {
        if (bytes_equal(mutation_handle(&mutation->object[i]), handle))
            return i;
    }
    assert(mutation->sent == 0 && mutation->objects < CACHE_MUTATION_OBJECTS);
    struct cache_mutation_object *object = &mutation->object[mutation->objects];
    object->handle_len = handle.len;
    if (handle.len)
        memcpy(object->handle, handle.data, handle.len);
    look_up_identity(mutation, object);
    return mutation->objects++;
}

void cache_mutation_identify(struct cache_mutation *mutation, unsigned object, const uint8_t *fattr)
{
    assert(object < mutation->objects);
    mutation_set_identity(&mutation->object[object], fattr);
    mutation->object[object].told = true;
}

bool cache_mutation_identified(const struct cache_mutation *mutation, unsigned object)
{
    assert(object < mutation->objects);
    return mutation->object[object].identified;
}

_Static_assert(offsetof(struct cache_mutation_object, fileid) ==
                   offsetof(struct cache_mutation_object, fsid) + sizeof(uint64_t),
               "an identity is one piece of octets");

struct bytes cache_mutation_file(const struct cache_mutation *mutation, unsigned object)
{
    assert(object < mutation->objects);
    const struct cache_mutation_object *of = &mutation->object[object];
    if (of->identified)
        return (struct bytes){(const uint8_t *)&of->fsid, sizeof(of->fsid) + sizeof(of->fileid)};
    return mutation_handle(of);
}

void cache_mutation_add_name(struct cache_mutation *mutation, struct bytes dir, struct bytes name)
{
    uint32_t hash = name_hash(mutation->server, dir, name);
    for (unsigned i = 0; i < mutation->names; i++) {
        if (mutation->name[i] == hash)
            return;
    }
    assert(mutation->sent == 0 && mutation->names < CACHE_MUTATION_NAMES);
    mutation->name[mutation->names++] = hash;
}

/* ---- its fences ---- */

static struct fence *fence_of(const struct cache_mutation *mutation, bool identity, uint32_t hash)
{
    return identity ? stripe_fence(mutation->server, hash) : shard_fence(mutation->server, hash);
}

/* The number of the mutation's own fence that the key leads to; -1: it has none there. */
static int own_fence(const struct cache_mutation *mutation, bool identity, uint32_t hash)
{
    const struct fence *fence = fence_of(mutation, identity, hash);
    for (unsigned i = 0; i < mutation->fences; i++) {
        if (fence_of(mutation, mutation->fence[i].identity, mutation->fence[i].hash) == fence)
            return (int)i;
    }
    return -1;
}

bool mutation_owns(const struct cache_mutation *mutation, bool identity, uint32_t hash)
{
    return own_fence(mutation, identity, hash) >= 0;
}

/* Begins at a fence, once for all keys that lead to it. Its lock is held. */
static void raise_fence(struct cache_mutation *mutation, bool identity, uint32_t hash)
{
    if (mutation_owns(mutation, identity, hash))
        return;
    struct fence *fence = fence_of(mutation, identity, hash);
    assert(mutation->fences < CACHE_MUTATION_FENCES);
    mutation->fence[mutation->fences].identity = identity;
    mutation->fence[mutation->fences].hash = hash;
    mutation->fence[mutation->fences].number = fence_begin(fence, mutation->sent);
    mutation->fences++;
}

bool mutation_is_latest(const struct cache_mutation *mutation, bool identity, uint32_t hash)
{
    int own = own_fence(mutation, identity, hash);
    return own >= 0 &&
           fence_latest(fence_of(mutation, identity, hash), mutation->fence[own].number);
}

bool mutation_may_keep(const struct cache_mutation *mutation, bool identity, uint32_t hash,
                       uint64_t state)
{
    const struct fence *fence = fence_of(mutation, identity, hash);
    int own = own_fence(mutation, identity, hash);
    if (own < 0)
        return fence_admits(fence, mutation->sent, state);
    return fence_alone(fence, mutation->fence[own].number, mutation->sent, state);
}

/* ---- the same file under other handles ---- */

void mutation_mark(struct object *object, uint64_t now)
{
    uint64_t msec = now / CACHE_NSEC_PER_MSEC;
    packed_put40(object->mutated, msec ? msec : 1);
}

/* What it said may have been shown after the fence of the file was raised: no call that was sent before then may bring
 * something older, under whichever handle. The object's shard is held. */
static void touch_alias(struct cache_server *server, struct object *object)
{
    struct identity identity = identity_of(server, object->fattr);
    if (object->flags & OBJECT_VALID)
        identity_raise(&identity, object_received(object));
    object_touch(server, object, object_hash(server, object_handle(object)));
}

void mutation_visit(struct cache_server *server, const struct aliases *aliases, struct bytes own,
                    enum mutation_visit visit, uint64_t now)
{
    struct cache *cache = server->cache;
    for (unsigned i = 0; i < aliases->count; i++) {
        uint32_t index = aliases->object[i].index;
        struct shard *shard = shard_at(cache, index);
        lock_acquire(&shard->lock);
        struct object *object = object_at(cache, index);
        if (object_is(cache, index, aliases->object[i].birth) &&
            !bytes_equal(object_handle(object), own)) {
            /* Names are kept under the handle that they were asked with; which of these the
             * mutation changed under another is not known. */
            object_drop_names(server, object, object_hash(server, object_handle(object)));
            if (visit == MUTATION_TOUCH)
                touch_alias(server, object);
            mutation_mark(object, now);
        }
        lock_release(&shard->lock);
    }
}

/* ---- begin ---- */

/* The handle's shard is held. Remembers what was last known; it is valid only while nobody else is
 * changing the object. */
static void drop_object(struct cache_mutation *mutation, struct cache_mutation_object *of,
                        uint32_t hash)
{
    struct cache_server *server = mutation->server;
    uint32_t index = object_find(server, hash, mutation_handle(of));
    if (index == 0)
        return;
    struct object *object = object_at(server->cache, index);
    if (!of->told)
        mutation_set_identity(of, object->fattr);
    of->had_before = object_valid(server, object);
    fattr_wcc(object->fattr, of->before);
    object_touch(server, object, hash);
}

static void begin_identity(struct cache_mutation *mutation, struct cache_mutation_object *of,
                           struct aliases *aliases)
{
    struct identity identity = identity_make(mutation->server, of->fsid, of->fileid);
    struct stripe *stripe = identity_stripe(&identity);
    lock_acquire(&stripe->lock);
    raise_fence(mutation, true, identity.hash);
    of->fenced = true;
    identity_collect(&identity, aliases);
    lock_release(&stripe->lock);
}

static void begin_object(struct cache_mutation *mutation, struct cache_mutation_object *of,
                         uint64_t now)
{
    struct cache_server *server = mutation->server;
    uint32_t hash = object_hash(server, mutation_handle(of));
    struct shard *shard = mutation_shard(mutation, hash);
    struct aliases aliases = {0};
    lock_acquire(&shard->lock);
    raise_fence(mutation, false, hash);
    drop_object(mutation, of, hash);
    if (of->identified)
        begin_identity(mutation, of, &aliases);
    lock_release(&shard->lock);
    mutation_visit(server, &aliases, mutation_handle(of), MUTATION_TOUCH, now);
}

/* Whatever is kept under the hash goes: mostly the name itself. */
static void begin_name(struct cache_mutation *mutation, uint32_t hash)
{
    struct shard *shard = mutation_shard(mutation, hash);
    lock_acquire(&shard->lock);
    raise_fence(mutation, false, hash);
    name_drop_hash(mutation->server, hash);
    lock_release(&shard->lock);
}

void cache_mutation_begin(struct cache_mutation *mutation, uint64_t now)
{
    mutation->sent = cache_tick(mutation->server);
    mutation->since = now;
    for (unsigned i = 0; i < mutation->objects; i++) {
        begin_object(mutation, &mutation->object[i], now);
        mutation->blind |= !mutation->object[i].identified;
    }
    for (unsigned i = 0; i < mutation->names; i++)
        begin_name(mutation, mutation->name[i]);
    if (mutation->blind)
        atomic_fetch_add(&mutation->server->blind, 1);
}

/* ---- end ---- */

void mutation_note_ended(struct fence *fence, uint64_t now)
{
    uint64_t msec = now / CACHE_NSEC_PER_MSEC;
    if (fence->ended < msec)
        fence->ended = msec;
}

/* The identity's other objects: they go where nobody knew of them when the mutation began. */
static void end_identity(const struct cache_mutation *mutation,
                         const struct cache_mutation_object *of, cache_stamp stamp, uint64_t now)
{
    struct identity identity = identity_make(mutation->server, of->fsid, of->fileid);
    struct stripe *stripe = identity_stripe(&identity);
    struct aliases aliases;
    lock_acquire(&stripe->lock);
    if (!of->fenced) {
        fence_raise(identity_fence(&identity), stamp);
        mutation_note_ended(identity_fence(&identity), now);
    }
    identity_collect(&identity, &aliases);
    lock_release(&stripe->lock);
    mutation_visit(mutation->server, &aliases, mutation_handle(of),
                   of->fenced ? MUTATION_MARK : MUTATION_TOUCH, now);
}

static void end_object(const struct cache_mutation *mutation,
                       const struct cache_mutation_object *of, cache_stamp stamp, uint64_t now)
{
    struct cache_server *server = mutation->server;
    uint32_t hash = object_hash(server, mutation_handle(of));
    struct shard *shard = mutation_shard(mutation, hash);
    lock_acquire(&shard->lock);
    uint32_t index = object_find(server, hash, mutation_handle(of));
    if (index) {
        mutation_mark(object_at(server->cache, index), now);
        /* What somebody else did meanwhile, or does next, would be taken for this mutation's doing. */
        if (!of->vouched && !mutation->exclusive)
            object_drop_names(server, object_at(server->cache, index), hash);
    }
    lock_release(&shard->lock);
    if (of->identified)
        end_identity(mutation, of, stamp, now);
}

static struct lock *fence_lock(const struct cache_mutation *mutation, bool identity, uint32_t hash)
{
    struct cache *cache = mutation->server->cache;
    return identity ? &stripe_of(cache, hash)->lock : &shard_of(cache, hash)->lock;
}

/* It has ended before it is no longer in flight: somebody who sees neither has looked before it began. */
static void end_blind(struct cache_mutation *mutation, cache_stamp stamp)
{
    struct cache_server *server = mutation->server;
    uint_fast64_t ended = atomic_load(&server->blind_ended);
    while (ended < stamp && !atomic_compare_exchange_weak(&server->blind_ended, &ended, stamp))
        ;
    atomic_fetch_sub(&server->blind, 1);
    mutation->blind = false;
}

void cache_mutation_end(struct cache_mutation *mutation, uint64_t now)
{
    assert(mutation->sent != 0);
    cache_stamp stamp = cache_tick(mutation->server);
    uint64_t msec = now / CACHE_NSEC_PER_MSEC;
    for (unsigned i = 0; i < mutation->objects; i++)
        end_object(mutation, &mutation->object[i], stamp, now);
    for (unsigned i = 0; i < mutation->fences; i++) {
        bool identity = mutation->fence[i].identity;
        uint32_t hash = mutation->fence[i].hash;
        struct lock *lock = fence_lock(mutation, identity, hash);
        lock_acquire(lock);
        fence_end(fence_of(mutation, identity, hash), stamp, msec ? msec : 1);
        lock_release(lock);
    }
    if (mutation->blind)
        end_blind(mutation, stamp);
    mutation->sent = 0;
    mutation->fences = 0;
}
