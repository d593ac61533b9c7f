/*
 * mutation_reply: what the reply to a mutation says, between begin and end.
 *
 * It is kept where the mutation was alone. Where its `before` is not what was last known, somebody
 * else wrote.
 */
#include <assert.h>

#include "cache/attributes.h"
#include "cache/fattr.h"
#include "cache/mutation.h"
#include "cache/name.h"

static void drop_names(const struct cache_mutation *mutation, struct bytes handle, uint32_t hash)
{
    uint32_t index = object_find(mutation->server, hash, handle);
    if (index)
        object_drop_names(mutation->server, object_at(mutation->server->cache, index), hash);
}

/*
 * True when it was before what was last known, and no other mutation could have made a difference. Where it was something
 * else, somebody has changed it behind the proxy's back. The object's shard is held.
 */
static bool check_before(const struct cache_mutation *mutation,
                         const struct cache_mutation_object *of, uint32_t hash,
                         const uint8_t *before)
{
    if (!of->had_before || before == NULL || !mutation_is_latest(mutation, false, hash))
        return false;
    if (memcmp(before, of->before, NFS3_WCC_ATTR_LEN) == 0)
        return true;
    shard_of(mutation->server->cache, hash)->outside++;
    drop_names(mutation, mutation_handle(of), hash);
    return false;
}

static bool keeps(const struct attributes *news, const struct cache_mutation *mutation)
{
    return mutation_may_keep(mutation, false, news->hash, news->state) &&
           mutation_may_keep(mutation, true, news->identity.hash, news->state) &&
           mutation->sent >= server_valid_from(news->server);
}

/*
 * Other handles' attributes, where the identity came to light only now, go. Those that say otherwise
 * were shown to somebody: what the mutation says is kept only if it is newer. All locks are held.
 */
static void touch_aliases(const struct attributes *news, uint32_t own, uint64_t now)
{
    const struct cache *cache = news->server->cache;
    for (uint32_t i = identity_next(&news->identity, 0); i; i = identity_next(&news->identity, i)) {
        struct object *object = object_at(cache, i);
        if (i == own)
            continue;
        if ((object->flags & OBJECT_VALID) && !fattr_equal(object->fattr, news->fattr))
            fence_raise(identity_fence(&news->identity), object_received(object));
        object_touch(news->server, object, object_hash(news->server, object_handle(object)));
        mutation_mark(object, now);
    }
}

/* What the mutation's reply says; it counts as received now. */
static struct attributes news_of(const struct cache_mutation *mutation, struct bytes handle,
                                 const uint8_t *fattr, uint32_t flavor)
{
    struct attributes news = attributes_make(mutation->server, handle, fattr);
    news.sent = mutation->sent;
    news.received = cache_tick(mutation->server);
    news.asked = mutation->since;
    news.flavor = object_flavor(flavor);
    return news;
}

/* False where they are not kept. */
static bool keep_after(struct cache_mutation *mutation, struct cache_mutation_object *of,
                       const uint8_t *after, uint32_t flavor, uint64_t now)
{
    struct cache_server *server = mutation->server;
    struct attributes news = news_of(mutation, mutation_handle(of), after, flavor);
    struct span span;
    uint32_t spare;
    uint32_t index = attributes_open(&span, &news, &spare);
    if (!of->fenced || of->fsid != news.identity.fsid || of->fileid != news.identity.fileid)
        touch_aliases(&news, index, now);
    bool kept = keeps(&news, mutation) && attributes_store(&news, index, &spare);
    if (kept) {
        index = object_find(server, news.hash, news.handle);
        mutation_mark(object_at(server->cache, index), now);
    }
    attributes_close(&span, &news, spare);
    mutation_set_identity(of, after);
    return kept;
}

void cache_mutation_result(struct cache_mutation *mutation, unsigned object, struct nfs3_wcc wcc,
                           uint32_t flavor, uint64_t now)
{
    assert(object < mutation->objects);
    struct cache_mutation_object *of = &mutation->object[object];
    uint32_t hash = object_hash(mutation->server, mutation_handle(of));
    struct shard *shard = mutation_shard(mutation, hash);
    lock_acquire(&shard->lock);
    bool same = check_before(mutation, of, hash, wcc.before);
    lock_release(&shard->lock);
    of->had_before = false;
    bool kept = wcc.after && of->handle_len > 0 && keep_after(mutation, of, wcc.after, flavor, now);
    of->vouched |= same && kept; /* RENAME within a directory speaks of it twice */
    if (of->vouched || mutation->exclusive)
        return;
    lock_acquire(&shard->lock);
    drop_names(mutation, mutation_handle(of), hash);
    lock_release(&shard->lock);
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
static bool found_handle(struct cache_server *server, struct bytes handle, uint64_t now)
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
        mutation_note_ended(identity_fence(&identity), now);
        identity_collect(&identity, &aliases);
        lock_release(&stripe->lock);
        forget(server, hash, handle);
    }
    fence_raise(shard_fence(server, hash), stamp);
    mutation_note_ended(shard_fence(server, hash), now);
    lock_release(&shard->lock);
    mutation_visit(server, &aliases, handle, MUTATION_TOUCH, now);
    return index != 0;
}

bool cache_mutation_found(struct cache_mutation *mutation, struct bytes handle,
                          const uint8_t *fattr, uint32_t flavor, uint64_t now)
{
    struct cache_server *server = mutation->server;
    if (handle.len == 0 || handle.len > NFS3_FH_MAX)
        return true;
    if (fattr == NULL)
        return found_handle(server, handle, now);
    struct attributes news = news_of(mutation, handle, fattr, flavor);
    struct span span;
    uint32_t spare;
    uint32_t index = attributes_open(&span, &news, &spare);
    forget(server, news.hash, handle);
    touch_aliases(&news, index, now);
    if (attributes_admitted(&news) && attributes_store(&news, index, &spare))
        index = object_find(server, news.hash, handle);
    if (index)
        mutation_mark(object_at(server->cache, index), now);
    attributes_raise(&news, news.received);
    mutation_note_ended(shard_fence(server, news.hash), now);
    mutation_note_ended(identity_fence(&news.identity), now);
    attributes_close(&span, &news, spare);
    return true;
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
                                struct bytes name, struct bytes handle)
{
    struct cache_server *server = mutation->server;
    struct name_news news = {.asked = mutation->since};
    struct object copy;
    if (dir.len > NFS3_FH_MAX || handle.len > NFS3_FH_MAX || name.len == 0 ||
        name.len > CACHE_NAME_MAX || !refer(server, dir, &copy, &news.dir.index))
        return;
    /* Where the directory's new state is not known, a change that somebody else makes next would not be noticed. */
    if (!mutation->exclusive && !object_valid(server, &copy))
        return;
    news.dir.generation = copy.names;
    if (handle.len > 0 && !refer(server, handle, &copy, &news.child.index))
        return;
    news.child.birth = news.child.index ? copy.birth : 0;
    uint32_t hash = name_hash(server, dir, name);
    struct shard *shard = mutation_shard(mutation, hash);
    news.received = cache_tick(server);
    lock_acquire(&shard->lock);
    if (mutation_owns(mutation, false, hash) &&
        mutation_may_keep(mutation, false, hash, name_child_state(news.child)) &&
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
    struct bytes handle = mutation_handle(&mutation->object[object]);
    uint32_t hash = object_hash(server, handle);
    struct shard *shard = mutation_shard(mutation, hash);
    lock_acquire(&shard->lock);
    uint32_t index = object_find(server, hash, handle);
    if (index)
        object_drop_names(server, object_at(server->cache, index), hash);
    lock_release(&shard->lock);
}
