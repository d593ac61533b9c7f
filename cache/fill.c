/*
 * fill: what replies to calls that change nothing leave behind.
 *
 * Each reply has been shown to a client. What is not kept of it, for whatever reason, the fence
 * remembers, and what is kept and says otherwise goes: nobody is told something older later on.
 */
#include "cache/attributes.h"
#include "cache/credential.h"
#include "cache/fattr.h"
#include "cache/name.h"
#include "cache/verdict.h"

static bool handle_fits(struct bytes handle)
{
    return handle.len > 0 && handle.len <= NFS3_FH_MAX;
}

/* ---- attributes ---- */

static cache_stamp later(cache_stamp a, cache_stamp b)
{
    return a > b ? a : b;
}

/*
 * What is kept of the same file under other handles, and says otherwise, goes. False when some of
 * it may be newer than the news: then `*received` is raised to it.
 */
static bool agree_aliases(const struct attributes *news, uint32_t own, bool admitted,
                          cache_stamp *received)
{
    const struct cache *cache = news->server->cache;
    bool in_order = true;
    for (uint32_t i = identity_next(&news->identity, 0); i; i = identity_next(&news->identity, i)) {
        struct object *object = object_at(cache, i);
        if (i == own || !object_valid(news->server, object) ||
            fattr_equal(object->fattr, news->fattr))
            continue;
        if (!admitted || news->sent < object_received(object)) {
            in_order = false;
            *received = later(*received, object_received(object));
        }
        object_invalidate(news->server, object, object_hash(news->server, object_handle(object)));
    }
    return in_order;
}

enum outcome {
    STORE,
    REFRESH, /* the same is kept, from a reply whose window overlaps */
    NEITHER,
    CONTRADICTION, /* something else is kept, and which one is newer is not known */
};

static enum outcome compare(const struct attributes *news, struct object *object, bool admitted,
                            cache_stamp *received)
{
    if (!(object->flags & OBJECT_VALID))
        return admitted ? STORE : NEITHER;
    bool same = fattr_equal(object->fattr, news->fattr);
    if (admitted && news->sent >= object_received(object))
        return STORE;
    if (admitted && same)
        return REFRESH;
    if (same)
        return NEITHER;
    *received = later(*received, object_received(object));
    /* No mutation of ours was under way. */
    if (admitted && !fattr_unchanged(object->fattr, news->fattr))
        attributes_outside(news->server, object, news->hash);
    object_invalidate(news->server, object, news->hash);
    return CONTRADICTION;
}

static void refresh(const struct attributes *news, struct object *object)
{
    struct fresh_state state = object_state(object);
    uint64_t now = news->asked / CACHE_NSEC_PER_MSEC;
    if (now > state.fetched) {
        uint64_t unchanged = now - state.changed;
        object->unchanged = unchanged > UINT32_MAX ? UINT32_MAX : (uint32_t)unchanged;
        packed_put40(object->fetched, now);
    }
    packed_put48(object->received, later(object_received(object), news->received));
    object->flags |= news->flavor;
    if (server_in_doubt(news->server, news->asked))
        object->flags |= OBJECT_DOUBTFUL;
    thing_use((struct thing *)(void *)object);
}

/*
 * What a mutation left behind was not known until now: a change by somebody else since then is not noticed as one. Names
 * that came since may be from before it.
 */
static bool store(const struct attributes *news, uint32_t index, uint32_t *spare)
{
    struct object *object = index ? object_at(news->server->cache, index) : NULL;
    if (object && (object->flags & OBJECT_TOUCHED) && !news->exclusive)
        object_drop_names(news->server, object, news->hash);
    return attributes_store(news, index, spare);
}

static void arrive(const struct attributes *news, uint32_t index, uint32_t *spare)
{
    struct shard *shard = shard_of(news->server->cache, news->hash);
    struct object *object = index ? object_at(news->server->cache, index) : NULL;
    bool admitted = attributes_admitted(news);
    cache_stamp received = news->received;
    bool in_order = agree_aliases(news, index, admitted, &received);
    enum outcome outcome = object ? compare(news, object, admitted, &received) : STORE;
    if (admitted && !in_order && object && (object->flags & OBJECT_VALID)) {
        received = later(received, object_received(object));
        object_invalidate(news->server, object, news->hash);
    }
    if (admitted && in_order && outcome == REFRESH) {
        refresh(news, object);
        return;
    }
    if (admitted && in_order && outcome == STORE && store(news, index, spare))
        return;
    shard->fence_rejects += !admitted;
    shard->overlaps += admitted && (!in_order || outcome == CONTRADICTION);
    if (!in_order || outcome == CONTRADICTION)
        attributes_raise(news, received);
    else
        attributes_show(news);
}

void cache_fill_attributes(const struct cache_filler *filler, struct bytes handle,
                           const uint8_t *fattr)
{
    if (!handle_fits(handle))
        return;
    struct attributes news = attributes_make(filler->server, handle, fattr);
    news.sent = filler->sent;
    news.received = filler->received;
    news.asked = filler->asked;
    news.flavor = object_flavor(filler->credential->flavor);
    news.exclusive = filler->exclusive;
    struct span span;
    uint32_t spare;
    uint32_t index = attributes_open(&span, &news, &spare);
    arrive(&news, index, &spare);
    attributes_close(&span, &news, spare);
}

/* ---- attributes without a handle ---- */

/* One of the file's objects. Where it may be newer than what was shown, nothing that was sent before
 * both is kept under any handle: said before the object, which says so too, goes. */
static void compare_with_shown(const struct cache_filler *filler, const struct identity *identity,
                               struct alias alias, const uint8_t *fattr)
{
    struct cache_server *server = filler->server;
    struct shard *shard = shard_at(server->cache, alias.index);
    lock_acquire(&shard->lock);
    struct object *object = object_at(server->cache, alias.index);
    if (object_is(server->cache, alias.index, alias.birth) && object_valid(server, object) &&
        !fattr_equal(object->fattr, fattr)) {
        uint32_t hash = object_hash(server, object_handle(object));
        if (object_received(object) > filler->sent) {
            cache_stamp received = later(object_received(object), filler->received);
            identity_raise(identity, received);
            fence_raise(shard_fence(server, hash), received);
        }
        object_invalidate(server, object, hash);
    }
    lock_release(&shard->lock);
}

void cache_fill_shown(const struct cache_filler *filler, const uint8_t *fattr)
{
    struct cache_server *server = filler->server;
    struct identity identity = identity_of(server, fattr);
    struct stripe *stripe = identity_stripe(&identity);
    struct aliases aliases;
    lock_acquire(&stripe->lock);
    fence_show(identity_fence(&identity), filler->sent, filler->received,
               key_fattr(&server->cache->secret, fattr));
    identity_collect(&identity, &aliases);
    lock_release(&stripe->lock);
    for (unsigned i = 0; i < aliases.count; i++)
        compare_with_shown(filler, &identity, aliases.object[i], fattr);
}

/* ---- verdicts ---- */

/*
 * The attributes that are kept are those that came with this reply, or say the same, or came before its call was sent.
 * Else the reply may show something older than they do, or may be the one before an outside change that they show.
 */
static bool matches(const struct cache_filler *filler, const struct object *object)
{
    if (!object_valid(filler->server, object))
        return false;
    return object_received(object) == filler->received || object_received(object) <= filler->sent ||
           (filler->fattr != NULL && fattr_equal(filler->fattr, object->fattr));
}

/* They match, and the call overlapped with no mutation of the file, under whichever handle. The shard is held. */
static bool undisturbed(const struct cache_filler *filler, const struct object *object,
                        uint32_t hash)
{
    struct cache_server *server = filler->server;
    if (!matches(filler, object) || filler->sent < server_valid_from(server) ||
        !fence_clean(shard_fence(server, hash), filler->sent))
        return false;
    struct identity identity = identity_of(server, object->fattr);
    struct stripe *stripe = identity_stripe(&identity);
    lock_acquire(&stripe->lock);
    bool admitted = fence_clean(identity_fence(&identity), filler->sent);
    lock_release(&stripe->lock);
    return admitted;
}

/* The shard is held. */
static void fill_verdict(const struct cache_filler *filler, uint32_t index, uint32_t hash,
                         struct verdict_answer answer)
{
    answer.admitted = undisturbed(filler, object_at(filler->server->cache, index), hash);
    verdict_arrive(filler, index, hash, &answer);
}

void cache_fill_verdict(const struct cache_filler *filler, struct bytes handle, uint32_t asked,
                        uint32_t granted)
{
    if (!handle_fits(handle) || !credential_known(filler->credential))
        return;
    struct cache_server *server = filler->server;
    uint32_t hash = object_hash(server, handle);
    struct shard *shard = shard_of(server->cache, hash);
    struct verdict_answer answer = {.asked = asked & NFS3_ACCESS_ALL};
    answer.granted = answer.asked & granted;
    lock_acquire(&shard->lock);
    uint32_t index = object_find(server, hash, handle);
    if (index)
        fill_verdict(filler, index, hash, answer);
    else if (filler->fattr == NULL)
        fence_raise(shard_fence(server, hash), filler->received);
    lock_release(&shard->lock);
}

/* ---- names ---- */

/*
 * What a name of this directory may refer to; index 0 where none can be kept. A change of the
 * directory that was noticed after the call was sent may have been of this very name; unless this
 * reply is the one that showed it, or showed the same state. That does not help against a mutation
 * by another handle of the directory: a server may look at the name before, and at the directory
 * after it.
 */
static struct name_dir admit_dir(const struct cache_filler *filler, struct bytes handle,
                                 bool searched, bool *matched)
{
    struct cache_server *server = filler->server;
    struct name_dir dir = {0};
    uint32_t hash = object_hash(server, handle);
    struct shard *shard = shard_of(server->cache, hash);
    lock_acquire(&shard->lock);
    uint32_t index = object_find(server, hash, handle);
    if (index) {
        const struct object *object = object_at(server->cache, index);
        *matched = matches(filler, object);
        if (shard_names_fence(server, hash)->stamp <= filler->sent ||
            undisturbed(filler, object, hash))
            dir = (struct name_dir){index, object->names};
        if (searched && credential_known(filler->credential))
            fill_verdict(filler, index, hash, (struct verdict_answer){.searched = true});
    }
    lock_release(&shard->lock);
    return dir;
}

/* The object that a name leads to. False where the name can't be kept. */
static bool admit_child(const struct cache_filler *filler, struct bytes handle,
                        struct name_child *child)
{
    struct cache_server *server = filler->server;
    *child = (struct name_child){NAME_UNKNOWN, 0};
    if (!handle_fits(handle))
        return false;
    uint32_t hash = object_hash(server, handle);
    struct shard *shard = shard_of(server->cache, hash);
    lock_acquire(&shard->lock);
    uint32_t index = object_find(server, hash, handle);
    if (index)
        *child = (struct name_child){index, object_at(server->cache, index)->birth};
    bool admitted = index && fence_clean(shard_fence(server, hash), filler->sent);
    lock_release(&shard->lock);
    return admitted;
}

static bool leads_to(const struct name *name, struct name_child child)
{
    return name->child == child.index && (child.index == 0 || name->child_birth == child.birth);
}

/* The name's shard is held. */
static void name_arrives(const struct cache_filler *filler, uint32_t hash, struct bytes text,
                         const struct name_news *news, bool admitted)
{
    struct cache_server *server = filler->server;
    struct shard *shard = shard_of(server->cache, hash);
    struct fence *fence = shard_fence(server, hash);
    struct name_news kept = *news;
    uint64_t state = name_child_state(news->child);
    bool in_order = true;
    uint32_t index = news->dir.index ? name_find(server, hash, news->dir, text) : 0;
    const struct name *name = index ? name_at(server->cache, index) : NULL;
    bool open =
        fence_admits(fence, filler->sent, state) && filler->sent >= server_valid_from(server);

    shard->fence_rejects += admitted && !open;
    if (name && packed_get48(name->received) >= server_valid_from(server)) {
        kept.received = later(kept.received, packed_get48(name->received));
        in_order = leads_to(name, news->child) || filler->sent >= packed_get48(name->received);
        if (!leads_to(name, news->child) && !(admitted && open && in_order))
            index = 0; /* it is dropped with the others */
    }
    shard->overlaps += admitted && open && !in_order;
    name_drop(server, hash, text, index);
    /* What was dropped just now is older than the news, or `received` says so. */
    if (admitted && open && in_order && fence_admits(fence, filler->sent, state) &&
        name_store(server, index, hash, text, &kept))
        return;
    if (in_order)
        fence_show(fence, filler->sent, kept.received, state);
    else
        fence_raise(fence, kept.received);
}

static void fill_name(const struct cache_filler *filler, struct bytes dir, struct bytes text,
                      const struct bytes *handle, bool searched)
{
    struct cache_server *server = filler->server;
    if (!handle_fits(dir))
        return;
    struct name_news news = {.received = filler->received, .asked = filler->asked};
    news.dir = admit_dir(filler, dir, searched, &news.matched);
    bool admitted = news.dir.index != 0 && text.len > 0 && text.len <= CACHE_NAME_MAX;
    if (handle && !admit_child(filler, *handle, &news.child))
        admitted = false;
    uint32_t hash = name_hash(server, dir, text);
    struct shard *shard = shard_of(server->cache, hash);
    lock_acquire(&shard->lock);
    name_arrives(filler, hash, text, &news, admitted);
    lock_release(&shard->lock);
}

void cache_fill_name(const struct cache_filler *filler, struct bytes dir, struct bytes name,
                     struct bytes handle, bool searched)
{
    fill_name(filler, dir, name, &handle, searched);
}

void cache_fill_absent(const struct cache_filler *filler, struct bytes dir, struct bytes name)
{
    fill_name(filler, dir, name, NULL, true);
}

/* ---- what the server contradicts ---- */

void cache_drop_handle(struct cache_server *server, struct bytes handle)
{
    if (!handle_fits(handle))
        return;
    uint32_t hash = object_hash(server, handle);
    struct shard *shard = shard_of(server->cache, hash);
    cache_stamp stamp = cache_tick(server);
    lock_acquire(&shard->lock);
    uint32_t index = object_find(server, hash, handle);
    if (index) {
        struct identity identity = identity_of(server, object_at(server->cache, index)->fattr);
        object_drop(server, index, hash);
        identity_raise(&identity, stamp);
    }
    fence_raise(shard_fence(server, hash), stamp);
    fence_raise(shard_names_fence(server, hash), stamp);
    lock_release(&shard->lock);
}

void cache_drop_name(struct cache_server *server, struct bytes dir, struct bytes name)
{
    if (!handle_fits(dir))
        return;
    uint32_t hash = name_hash(server, dir, name);
    struct shard *shard = shard_of(server->cache, hash);
    lock_acquire(&shard->lock);
    name_drop(server, hash, name, 0);
    fence_raise(shard_fence(server, hash), cache_tick(server));
    lock_release(&shard->lock);
}
