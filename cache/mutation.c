/*
 * mutation: calls that may change something, from before they are sent until their reply has been
 * handled.
 *
 * begin raises the fences of all that the mutation may change and drops what is kept of it. result,
 * found and name_result keep what the reply says where the mutation was alone. end lowers the
 * fences, with a stamp that keeps away whatever was sent before.
 */
#include <assert.h>

#include "cache/attributes.h"
#include "cache/fattr.h"
#include "cache/name.h"

static struct bytes handle_of(const struct cache_mutation_object *object)
{
    return (struct bytes){object->handle, object->handle_len};
}

static struct shard *shard_with(const struct cache_mutation *mutation, uint32_t hash)
{
    return shard_of(mutation->server->cache, hash);
}

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

static void set_identity(struct cache_mutation_object *object, const uint8_t *fattr)
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
    uint32_t hash = object_hash(server, handle_of(object));
    struct shard *shard = shard_with(mutation, hash);
    lock_acquire(&shard->lock);
    uint32_t index = object_find(server, hash, handle_of(object));
    if (index)
        set_identity(object, object_at(server->cache, index)->fattr);
    lock_release(&shard->lock);
}

unsigned cache_mutation_add_object(struct cache_mutation *mutation, struct bytes handle)
{
    assert(handle.len <= NFS3_FH_MAX);
    for (unsigned i = 0; i < mutation->objects; i++) {
        if (bytes_equal(handle_of(&mutation->object[i]), handle))
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
    set_identity(&mutation->object[object], fattr);
    mutation->object[object].told = true;
}

bool cache_mutation_identified(const struct cache_mutation *mutation, unsigned object)
{
    assert(object < mutation->objects);
    return mutation->object[object].identified;
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

/* Begins at a fence, once for all keys that lead to it. Its lock is held. */
static void raise_fence(struct cache_mutation *mutation, bool identity, uint32_t hash)
{
    if (own_fence(mutation, identity, hash) >= 0)
        return;
    struct fence *fence = fence_of(mutation, identity, hash);
    assert(mutation->fences < CACHE_MUTATION_FENCES);
    mutation->fence[mutation->fences].identity = identity;
    mutation->fence[mutation->fences].hash = hash;
    mutation->fence[mutation->fences].number = fence_begin(fence, mutation->sent);
    mutation->fences++;
}

/* No other mutation is in flight there. The fence's lock is held. */
static bool quiet(const struct cache_mutation *mutation, bool identity, uint32_t hash)
{
    uint32_t own = own_fence(mutation, identity, hash) >= 0;
    return fence_of(mutation, identity, hash)->inflight == own;
}

/* No other mutation is in flight there, and none has begun since. The fence's lock is held. */
static bool latest(const struct cache_mutation *mutation, bool identity, uint32_t hash)
{
    int own = own_fence(mutation, identity, hash);
    return own >= 0 &&
           fence_latest(fence_of(mutation, identity, hash), mutation->fence[own].number);
}

/* What it says may be kept: it was alone here or, where it holds no fence, nobody else was. */
static bool may_keep(const struct cache_mutation *mutation, bool identity, uint32_t hash,
                     uint64_t state)
{
    const struct fence *fence = fence_of(mutation, identity, hash);
    int own = own_fence(mutation, identity, hash);
    if (own < 0)
        return fence_admits(fence, mutation->sent, state);
    return fence_alone(fence, mutation->fence[own].number, mutation->sent, state);
}

/* ---- the same file under other handles ---- */

enum alias_action {
    ALIAS_TOUCH,   /* what is kept goes */
    ALIAS_MUTATED, /* a mutation has just ended */
};

static void mark_mutated(struct object *object, uint64_t now)
{
    uint64_t msec = now / CACHE_NSEC_PER_MSEC;
    packed_put40(object->mutated, msec ? msec : 1);
}

/*
 * Visits them one by one, with nothing else held. No other can come in between: the identity's
 * fence keeps away what was sent before it was raised. `own` is left alone.
 */
static void visit(struct cache_server *server, const struct aliases *aliases, struct bytes own,
                  enum alias_action action, uint64_t now)
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
            if (action == ALIAS_TOUCH)
                object_touch(server, object, object_hash(server, object_handle(object)));
            mark_mutated(object, now);
        }
        lock_release(&shard->lock);
    }
}

/* ---- begin ---- */

/* The handle's shard is held. Remembers what was last known, if nobody else is changing it. */
static void drop_object(struct cache_mutation *mutation, struct cache_mutation_object *of,
                        uint32_t hash, bool alone)
{
    struct cache_server *server = mutation->server;
    uint32_t index = object_find(server, hash, handle_of(of));
    if (index == 0)
        return;
    struct object *object = object_at(server->cache, index);
    if (!of->told)
        set_identity(of, object->fattr);
    of->had_before = alone && object_valid(server, object);
    fattr_wcc(object->fattr, of->before);
    object_touch(server, object, hash);
}

static void begin_identity(struct cache_mutation *mutation, struct cache_mutation_object *of,
                           struct aliases *aliases)
{
    struct identity identity = identity_make(mutation->server, of->fsid, of->fileid);
    struct stripe *stripe = identity_stripe(&identity);
    lock_acquire(&stripe->lock);
    of->had_before = of->had_before && quiet(mutation, true, identity.hash);
    raise_fence(mutation, true, identity.hash);
    of->fenced = true;
    identity_collect(&identity, aliases);
    lock_release(&stripe->lock);
}

static void begin_object(struct cache_mutation *mutation, struct cache_mutation_object *of,
                         uint64_t now)
{
    struct cache_server *server = mutation->server;
    uint32_t hash = object_hash(server, handle_of(of));
    struct shard *shard = shard_with(mutation, hash);
    struct aliases aliases = {0};
    lock_acquire(&shard->lock);
    bool alone = quiet(mutation, false, hash);
    raise_fence(mutation, false, hash);
    drop_object(mutation, of, hash, alone);
    if (of->identified)
        begin_identity(mutation, of, &aliases);
    lock_release(&shard->lock);
    visit(server, &aliases, handle_of(of), ALIAS_TOUCH, now);
}

/* Whatever is kept under the hash goes: mostly the name itself. */
static void begin_name(struct cache_mutation *mutation, uint32_t hash)
{
    struct shard *shard = shard_with(mutation, hash);
    lock_acquire(&shard->lock);
    raise_fence(mutation, false, hash);
    name_drop_hash(mutation->server, hash);
    lock_release(&shard->lock);
}

void cache_mutation_begin(struct cache_mutation *mutation, uint64_t now)
{
    mutation->sent = cache_tick(mutation->server);
    for (unsigned i = 0; i < mutation->objects; i++)
        begin_object(mutation, &mutation->object[i], now);
    for (unsigned i = 0; i < mutation->names; i++)
        begin_name(mutation, mutation->name[i]);
}

/* ---- what the reply says ---- */

/*
 * A change behind the proxy's back since the object was last asked for? Only where no other
 * mutation could have made it. The object's shard is held.
 */
static void check_before(const struct cache_mutation *mutation,
                         const struct cache_mutation_object *of, uint32_t hash,
                         const uint8_t *before)
{
    struct cache_server *server = mutation->server;
    struct cache *cache = server->cache;
    if (!of->had_before || !latest(mutation, false, hash))
        return;
    bool unknown = before == NULL;
    bool differs = before && memcmp(before, of->before, NFS3_WCC_ATTR_LEN) != 0;
    if (differs)
        shard_of(cache, hash)->outside++;
    uint32_t index = object_find(server, hash, handle_of(of));
    if (index && (differs || (unknown && !mutation->exclusive)))
        object_drop_names(server, object_at(cache, index), hash);
}

static bool keeps(const struct attributes *news, const struct cache_mutation *mutation)
{
    return may_keep(mutation, false, news->hash, news->state) &&
           may_keep(mutation, true, news->identity.hash, news->state) &&
           mutation->sent >= server_valid_from(news->server);
}

/*
 * Other handles' attributes, where the identity came to light only now, go. Those that say otherwise
 * were shown to somebody: what the mutation says is kept only if it is newer. All locks are held.
 */
static void touch_aliases(const struct attributes *news, uint32_t own)
{
    const struct cache *cache = news->server->cache;
    for (uint32_t i = identity_next(&news->identity, 0); i; i = identity_next(&news->identity, i)) {
        struct object *object = object_at(cache, i);
        if (i == own)
            continue;
        if ((object->flags & OBJECT_VALID) && !fattr_equal(object->fattr, news->fattr))
            fence_raise(identity_fence(&news->identity), object_received(object));
        object_touch(news->server, object, object_hash(news->server, object_handle(object)));
    }
}

static void keep_after(struct cache_mutation *mutation, struct cache_mutation_object *of,
                       const uint8_t *after, uint32_t flavor, uint64_t now)
{
    struct cache_server *server = mutation->server;
    struct attributes news = {
        .server = server,
        .handle = handle_of(of),
        .hash = object_hash(server, handle_of(of)),
        .fattr = after,
        .identity = identity_of(server, after),
        .state = key_fattr(&server->cache->secret, after),
        .sent = mutation->sent,
        .received = cache_tick(server),
        .now = now,
        .flavor = object_flavor(flavor),
    };
    struct span span;
    uint32_t spare;
    uint32_t index = attributes_open(&span, &news, &spare);
    if (!of->fenced || of->fsid != news.identity.fsid || of->fileid != news.identity.fileid)
        touch_aliases(&news, index);
    if (keeps(&news, mutation) && attributes_store(&news, index, &spare)) {
        index = object_find(server, news.hash, news.handle);
        mark_mutated(object_at(server->cache, index), now);
    }
    attributes_close(&span, &news, spare);
    set_identity(of, after);
}

void cache_mutation_result(struct cache_mutation *mutation, unsigned object, struct nfs3_wcc wcc,
                           uint32_t flavor, uint64_t now)
{
    assert(object < mutation->objects);
    struct cache_mutation_object *of = &mutation->object[object];
    uint32_t hash = object_hash(mutation->server, handle_of(of));
    struct shard *shard = shard_with(mutation, hash);
    lock_acquire(&shard->lock);
    check_before(mutation, of, hash, wcc.before);
    lock_release(&shard->lock);
    of->had_before = false;
    if (wcc.after && of->handle_len > 0)
        keep_after(mutation, of, wcc.after, flavor, now);
}

/* A mutation of it, which had no fence here, has just ended: what is filled soon is settling. */
static void note_ended(struct fence *fence, uint64_t now)
{
    uint64_t msec = now / CACHE_NSEC_PER_MSEC;
    if (fence->ended < msec)
        fence->ended = msec;
}

/* Everything that is kept for the handle goes. Its shard is held. */
static void forget(struct cache_server *server, uint32_t hash, struct bytes handle)
{
    uint32_t index = object_find(server, hash, handle);
    if (index == 0)
        return;
    struct object *object = object_at(server->cache, index);
    object_touch(server, object, hash);
    object_drop_names(server, object, hash);
}

/* Nothing but the handle is known: what is kept under it goes, and of the file that it was. */
static void found_handle(struct cache_server *server, struct bytes handle, uint64_t now)
{
    uint32_t hash = object_hash(server, handle);
    struct shard *shard = shard_of(server->cache, hash);
    cache_stamp stamp = cache_tick(server);
    struct aliases aliases = {0};
    lock_acquire(&shard->lock);
    uint32_t index = object_find(server, hash, handle);
    if (index) {
        struct identity identity = identity_of(server, object_at(server->cache, index)->fattr);
        struct stripe *stripe = identity_stripe(&identity);
        lock_acquire(&stripe->lock);
        fence_raise(identity_fence(&identity), stamp);
        note_ended(identity_fence(&identity), now);
        identity_collect(&identity, &aliases);
        lock_release(&stripe->lock);
        forget(server, hash, handle);
    }
    fence_raise(shard_fence(server, hash), stamp);
    note_ended(shard_fence(server, hash), now);
    lock_release(&shard->lock);
    visit(server, &aliases, handle, ALIAS_TOUCH, now);
}

void cache_mutation_found(struct cache_mutation *mutation, struct bytes handle,
                          const uint8_t *fattr, uint32_t flavor, uint64_t now)
{
    struct cache_server *server = mutation->server;
    if (handle.len == 0 || handle.len > NFS3_FH_MAX)
        return;
    if (fattr == NULL) {
        found_handle(server, handle, now);
        return;
    }
    struct attributes news = {
        .server = server,
        .handle = handle,
        .hash = object_hash(server, handle),
        .fattr = fattr,
        .identity = identity_of(server, fattr),
        .state = key_fattr(&server->cache->secret, fattr),
        .sent = mutation->sent,
        .received = cache_tick(server),
        .now = now,
        .flavor = object_flavor(flavor),
    };
    struct span span;
    uint32_t spare;
    uint32_t index = attributes_open(&span, &news, &spare);
    forget(server, news.hash, handle);
    touch_aliases(&news, index);
    if (attributes_admitted(&news) && attributes_store(&news, index, &spare)) {
        index = object_find(server, news.hash, handle);
        mark_mutated(object_at(server->cache, index), now);
    }
    attributes_raise(&news, news.received);
    note_ended(shard_fence(server, news.hash), now);
    note_ended(identity_fence(&news.identity), now);
    attributes_close(&span, &news, spare);
}

/* ---- names ---- */

/* What the name is kept under; index 0 where the directory, or the object, is not kept. */
static bool refer(struct cache_server *server, struct bytes handle, struct object *copy,
                  uint32_t *index)
{
    uint32_t hash = object_hash(server, handle);
    struct shard *shard = shard_of(server->cache, hash);
    lock_acquire(&shard->lock);
    *index = object_find(server, hash, handle);
    if (*index)
        memcpy(copy, object_at(server->cache, *index), sizeof(*copy));
    lock_release(&shard->lock);
    return *index != 0;
}

void cache_mutation_name_result(struct cache_mutation *mutation, struct bytes dir,
                                struct bytes name, struct bytes handle, uint64_t now)
{
    struct cache_server *server = mutation->server;
    struct name_news news = {.now = now};
    struct object copy;
    if (dir.len > NFS3_FH_MAX || handle.len > NFS3_FH_MAX || name.len == 0 ||
        name.len > CACHE_NAME_MAX || !refer(server, dir, &copy, &news.dir.index))
        return;
    news.dir.generation = copy.names;
    if (handle.len > 0 && !refer(server, handle, &copy, &news.child.index))
        return;
    news.child.birth = news.child.index ? copy.birth : 0;
    uint32_t hash = name_hash(server, dir, name);
    struct shard *shard = shard_with(mutation, hash);
    news.received = cache_tick(server);
    lock_acquire(&shard->lock);
    if (own_fence(mutation, false, hash) >= 0 &&
        may_keep(mutation, false, hash, name_child_state(news.child)) &&
        mutation->sent >= server_valid_from(server)) {
        name_drop(server, hash, name, 0);
        name_store(server, 0, hash, name, &news);
    }
    lock_release(&shard->lock);
}

void cache_mutation_directory_gone(struct cache_mutation *mutation, unsigned object)
{
    assert(object < mutation->objects);
    struct cache_server *server = mutation->server;
    struct bytes handle = handle_of(&mutation->object[object]);
    uint32_t hash = object_hash(server, handle);
    struct shard *shard = shard_with(mutation, hash);
    lock_acquire(&shard->lock);
    uint32_t index = object_find(server, hash, handle);
    if (index)
        object_drop_names(server, object_at(server->cache, index), hash);
    lock_release(&shard->lock);
}

/* ---- end ---- */

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
        note_ended(identity_fence(&identity), now);
    }
    identity_collect(&identity, &aliases);
    lock_release(&stripe->lock);
    visit(mutation->server, &aliases, handle_of(of), of->fenced ? ALIAS_MUTATED : ALIAS_TOUCH, now);
}

static void end_object(const struct cache_mutation *mutation,
                       const struct cache_mutation_object *of, cache_stamp stamp, uint64_t now)
{
    struct cache_server *server = mutation->server;
    uint32_t hash = object_hash(server, handle_of(of));
    struct shard *shard = shard_with(mutation, hash);
    lock_acquire(&shard->lock);
    uint32_t index = object_find(server, hash, handle_of(of));
    if (index)
        mark_mutated(object_at(server->cache, index), now);
    lock_release(&shard->lock);
    if (of->identified)
        end_identity(mutation, of, stamp, now);
}

static struct lock *fence_lock(const struct cache_mutation *mutation, bool identity, uint32_t hash)
{
    struct cache *cache = mutation->server->cache;
    return identity ? &stripe_of(cache, hash)->lock : &shard_of(cache, hash)->lock;
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
    mutation->sent = 0;
    mutation->fences = 0;
}
