/*
 * shard: how the cache is divided, and who guards what.
 *
 * A shard has a part of the handles and names: the objects and names themselves, the verdicts and
 * credentials that belong to these objects, the fences of these keys, and a part of the memory. One
 * lock guards it all; a hit takes it for some tens of nanoseconds.
 *
 * A stripe has a part of the identities: for each, the chain of the objects that are that file
 * under different handles, and its fence. The objects themselves stand in other shards. What a walk
 * along the chain reads of them (link, server, birth, handle, attributes) is written only with both
 * the shard and the stripe held.
 *
 * Lock order: shards by number, then at most one stripe. What refers to a thing in another shard is
 * an index and the number of its birth, both checked under that shard's lock: never a pointer.
 */
#ifndef CACHE_SHARD_H
#define CACHE_SHARD_H

#include <stdatomic.h>

#include "cache/cache.h"
#include "cache/evict.h"
#include "cache/fence.h"
#include "cache/key.h"
#include "cache/lock.h"
#include "cache/slab.h"
#include "cache/table.h"

#define CACHE_LINE 64

struct shard {
    _Alignas(CACHE_LINE) struct lock lock;
    struct table objects;
    struct table names;
    struct table credentials;
    struct slab slab;
    struct evict evict;
    uint32_t births; /* the last number given to a birth or to a generation of names */
    uint64_t verdict_count;
    uint64_t evictions, fence_rejects, overlaps, outside;
};

struct stripe {
    _Alignas(CACHE_LINE) struct lock lock;
    struct table objects; /* by identity */
};

struct cache {
    struct arena arena;
    uint32_t shards;     /* a power of two; as many stripes */
    unsigned shard_bits; /* its log2: these bits of a hash choose the shard */
    uint32_t fences;     /* per server and table; a power of two */
    bool keeps;          /* there is memory to keep anything in */
    struct shard *shard;
    struct stripe *stripe;
    struct key_secret secret;
    uint8_t *tables; /* one mapping for all tables of all shards */
    size_t tables_size;
    struct lock servers_lock;
    struct cache_server **server; /* by number; CACHE_SERVERS_MAX of them */
    uint32_t servers;
};

#define CACHE_SERVERS_MAX 65535u

struct cache_server {
    struct cache *cache;
    char *name;
    uint16_t number;
    struct fence *fence;          /* of handles and names */
    struct fence *identity_fence; /* of identities */
    struct lock doubt_lock;
    atomic_uint_fast64_t valid_from;  /* what was received before is not served */
    atomic_uint_fast64_t doubt_until; /* ns */
    atomic_uint_fast64_t doubts;      /* cache_doubts */
    atomic_uint_fast64_t ended; /* ms; when the last mutation did that changed what nobody knows */
    atomic_uint_fast64_t blind; /* mutations in flight that may touch what nobody knows of */
    atomic_uint_fast64_t blind_ended; /* stamp of the last end of such a one */
    _Alignas(CACHE_LINE) atomic_uint_fast64_t clock;
};

static inline struct shard *shard_of(const struct cache *cache, uint32_t hash)
{
    return &cache->shard[hash & (cache->shards - 1)];
}

static inline struct shard *shard_at(const struct cache *cache, uint32_t index)
{
    return &cache->shard[arena_shard(&cache->arena, index)];
}

static inline struct stripe *stripe_of(const struct cache *cache, uint32_t hash)
{
    return &cache->stripe[hash & (cache->shards - 1)];
}

/* The part of a hash that chooses the bucket inside a shard. */
static inline uint32_t shard_rest(const struct cache *cache, uint32_t hash)
{
    return hash >> cache->shard_bits;
}

/* Fences of one shard stand together, so that no two shards write to one cache line. */
static inline uint32_t shard_fence_number(const struct cache *cache, uint32_t hash)
{
    uint32_t each = cache->fences >> cache->shard_bits;
    return (hash & (cache->shards - 1)) * each + (shard_rest(cache, hash) & (each - 1));
}

/* The fence of a handle, or of a name. */
static inline struct fence *shard_fence(const struct cache_server *server, uint32_t hash)
{
    return &server->fence[shard_fence_number(server->cache, hash)];
}

/* The fence of "all names in this directory": what begins a new generation of them raises it. It is
 * in the directory's own shard. */
static inline struct fence *shard_names_fence(const struct cache_server *server, uint32_t hash)
{
    uint32_t other = 0x9e3779b9u << server->cache->shard_bits;
    return shard_fence(server, hash ^ other);
}

static inline struct fence *stripe_fence(const struct cache_server *server, uint32_t hash)
{
    return &server->identity_fence[shard_fence_number(server->cache, hash)];
}

static inline cache_stamp server_valid_from(const struct cache_server *server)
{
    return atomic_load(&server->valid_from);
}

static inline bool server_in_doubt(const struct cache_server *server, uint64_t now)
{
    return now < atomic_load(&server->doubt_until);
}

static inline void server_doubted(struct cache_server *server)
{
    atomic_fetch_add(&server->doubts, 1);
}

/* Everything received so far is not served any more, and nothing that was sent is kept. */
void server_invalidate(struct cache_server *server);
void server_destroy(struct cache_server *server);

#endif
