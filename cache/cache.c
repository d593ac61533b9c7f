/*
 * cache: making and unmaking it, and what operators ask of it.
 *
 *   key hash with a secret; its lowest bits choose the shard     lock, shard, server
 *   hit fill mutation basis   what cache.h offers                span, attributes
 *   object name verdict credential identity   what is kept       packed, fattr, fresh
 *   fence               what may become of a reply
 *   table slab evict    where it stands, and what goes for it
 */
#include "cache/cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cache/credential.h"
#include "cache/name.h"
#include "cache/object.h"

#define FENCES_DEFAULT        65536u
#define SHARDS_MAX            128u
#define SHARDS_UNCACHED       64u           /* fences only: as many locks as workers may want */
#define SHARD_MEMORY          (16ull << 20) /* a shard has at least so much, where there is more than one */
#define MEMORY_MAX            (32ull << 30) /* what 32-bit indexes of granules reach */
#define OCTETS_PER_CHAIN      320u  /* of a shard's memory: for each, a bucket in each table */
#define OCTETS_PER_CREDENTIAL 2560u /* likewise, in the table of credentials */
#define OCTETS_PER_GHOST      160u  /* about as many as things */
#define OCTETS_PER_RING       1024u

/* How a shard's memory is divided: the tables, so far as they come into use, and pages. */
struct plan {
    uint32_t buckets;     /* of objects, of names, of identities */
    uint32_t credentials; /* buckets */
    uint32_t ring;
    uint32_t ghosts;
    uint32_t pages;
    size_t tables; /* octets, of all but the pages themselves */
};

static size_t round_up(size_t size)
{
    return (size + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1);
}

static unsigned page_bits(uint64_t memory)
{
    if (memory >= 2u << 20)
        return 10; /* 8 KiB */
    return memory >= 256u << 10 ? 9 : 7;
}

static struct plan plan_shard(uint64_t memory, size_t page_size)
{
    struct plan plan = {
        .buckets = (uint32_t)(memory / OCTETS_PER_CHAIN) + 1,
        .credentials = (uint32_t)(memory / OCTETS_PER_CREDENTIAL) + 1,
        .ring = (uint32_t)(memory / OCTETS_PER_RING),
        .ghosts = (uint32_t)(memory / OCTETS_PER_GHOST),
    };
    size_t tables = 3 * round_up(plan.buckets * sizeof(uint32_t)) +
                    round_up(plan.credentials * sizeof(uint32_t)) +
                    round_up(plan.ring * sizeof(uint32_t)) +
                    round_up(plan.ghosts * sizeof(uint16_t)) + 2 * sizeof(struct slab_page);
    if (memory > tables + CACHE_LINE)
        plan.pages =
            (uint32_t)((memory - tables - CACHE_LINE) / (page_size + sizeof(struct slab_page)));
    plan.tables = tables + round_up((plan.pages + 1) * sizeof(struct slab_page));
    return plan;
}

static unsigned log2_up(uint64_t value)
{
    unsigned bits = 0;
    while ((1ull << bits) < value)
        bits++;
    return bits;
}

static void *carve(uint8_t **at, size_t size)
{
    void *start = *at;
    *at += round_up(size);
    return start;
}

static void init_shard(struct cache *cache, uint32_t number, const struct plan *plan, uint8_t *at)
{
    struct shard *shard = &cache->shard[number];
    struct stripe *stripe = &cache->stripe[number];
    size_t buckets = plan->buckets * sizeof(uint32_t);
    table_init(&shard->objects, carve(&at, buckets), plan->buckets,
               offsetof(struct object, hash_link));
    table_init(&shard->names, carve(&at, buckets), plan->buckets, offsetof(struct name, hash_link));
    table_init(&stripe->objects, carve(&at, buckets), plan->buckets,
               offsetof(struct object, identity_link));
    table_init(&shard->credentials, carve(&at, plan->credentials * sizeof(uint32_t)),
               plan->credentials, offsetof(struct credential, hash_link));
    shard->evict.ring = carve(&at, plan->ring * sizeof(uint32_t));
    shard->evict.ring_max = plan->ring;
    shard->evict.ghost = carve(&at, plan->ghosts * sizeof(uint16_t));
    shard->evict.ghosts = plan->ghosts;
    slab_init(&shard->slab, &cache->arena, number,
              carve(&at, (plan->pages + 1) * sizeof(struct slab_page)), plan->pages);
}

static int init_shards(struct cache *cache, const struct plan *plan)
{
    cache->tables_size = cache->shards * plan->tables;
    void *tables = mmap(NULL, cache->tables_size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (tables == MAP_FAILED)
        return -ENOMEM;
    cache->tables = tables;
    for (uint32_t i = 0; i < cache->shards; i++)
        init_shard(cache, i, plan, cache->tables + i * plan->tables);
    return 0;
}

static uint32_t shards_for(uint64_t memory, uint32_t fences)
{
    uint64_t wanted = memory ? memory / SHARD_MEMORY : SHARDS_UNCACHED;
    uint32_t shards = 1;
    while (shards * 2ull <= wanted && shards < SHARDS_MAX && shards < fences)
        shards *= 2;
    return shards;
}

static int init(struct cache *cache, const struct cache_options *options)
{
    uint64_t memory = options->memory < MEMORY_MAX ? options->memory : MEMORY_MAX;
    cache->fences = options->fences ? options->fences : FENCES_DEFAULT;
    cache->keeps = memory > 0;
    cache->shards = shards_for(memory, cache->fences);
    cache->shard_bits = log2_up(cache->shards);
    cache->arena.page_bits = page_bits(memory / cache->shards);
    struct plan plan = plan_shard(memory / cache->shards, arena_page_size(&cache->arena));
    cache->arena.shard_bits = cache->arena.page_bits + log2_up(plan.pages + 1ull);
    memcpy(cache->secret.octets, options->secret, KEY_SECRET_LEN);

    int error = arena_map(&cache->arena, cache->shards);
    if (error)
        return error;
    size_t shards_size = cache->shards * sizeof(*cache->shard);
    size_t stripes_size = cache->shards * sizeof(*cache->stripe);
    cache->shard = aligned_alloc(CACHE_LINE, shards_size);
    cache->stripe = aligned_alloc(CACHE_LINE, stripes_size);
    cache->server = calloc(CACHE_SERVERS_MAX, sizeof(struct cache_server *));
    error = -ENOMEM;
    if (!cache->shard || !cache->stripe || !cache->server)
        goto fail;
    memset(cache->shard, 0, shards_size);
    memset(cache->stripe, 0, stripes_size);
    error = init_shards(cache, &plan);
    if (!error)
        return 0;
fail:
    free(cache->server);
    free(cache->stripe);
    free(cache->shard);
    arena_unmap(&cache->arena);
    return error;
}

struct cache *cache_create(const struct cache_options *options)
{
    struct cache *cache = calloc(1, sizeof(*cache));
    if (!cache || init(cache, options) != 0) {
        free(cache);
        errno = ENOMEM;
        return NULL;
    }
    return cache;
}

void cache_destroy(struct cache *cache)
{
    if (!cache)
        return;
    for (uint32_t i = 0; i < cache->servers; i++)
        server_destroy(cache->server[i]);
    munmap(cache->tables, cache->tables_size);
    arena_unmap(&cache->arena);
    free(cache->server);
    free(cache->stripe);
    free(cache->shard);
    free(cache);
}

/* ---- flush ---- */

static void flush_slot(struct cache *cache, uint32_t index, uint8_t kind,
                       const struct cache_server *server)
{
    if (kind == SLAB_OBJECT) {
        struct object *object = object_at(cache, index);
        struct cache_server *of = cache->server[object->server];
        if (object->handle_len != 0 && (!server || of == server))
            object_drop(of, index, object_hash(of, object_handle(object)));
    } else {
        const struct name *name = name_at(cache, index);
        struct cache_server *of = cache->server[name->server];
        if (name->len != 0 && (!server || of == server))
            name_remove(of, index);
    }
}

static void flush_page(struct cache *cache, struct shard *shard, uint32_t number,
                       const struct cache_server *server)
{
    const struct slab_page *page = &shard->slab.page[number];
    uint8_t kind = page->kind;
    if (kind != SLAB_OBJECT && kind != SLAB_NAME)
        return;
    for (uint32_t slot = 0; page->kind == kind && slot < page->fresh; slot++)
        flush_slot(cache, slab_index(&shard->slab, number, slot), kind, server);
}

void cache_flush(struct cache *cache, struct cache_server *server)
{
    lock_acquire(&cache->servers_lock);
    uint32_t servers = cache->servers;
    lock_release(&cache->servers_lock);
    for (uint32_t i = 0; i < servers; i++) {
        if (!server || cache->server[i] == server)
            server_invalidate(cache->server[i]);
    }
    for (uint32_t i = 0; i < cache->shards; i++) {
        struct shard *shard = &cache->shard[i];
        /* Page by page: nobody waits for a whole shard. */
        for (uint32_t number = 1; number <= shard->slab.page_max; number++) {
            lock_acquire(&shard->lock);
            bool touched = number <= shard->slab.page_touched;
            if (touched)
                flush_page(cache, shard, number, server);
            lock_release(&shard->lock);
            if (!touched)
                break;
        }
    }
}

/* ---- usage ---- */

static uint64_t shard_bytes(const struct cache *cache, const struct shard *shard)
{
    if (shard->slab.page_touched == 0)
        return 0;
    return shard->slab.page_used * arena_page_size(&cache->arena) +
           (shard->slab.page_touched + 1) * sizeof(struct slab_page) +
           (shard->objects.count + shard->names.count + shard->credentials.count +
            shard->evict.ring_cap) *
               sizeof(uint32_t) +
           (shard->evict.ghost_used ? shard->evict.ghosts * sizeof(uint16_t) : 0);
}

void cache_usage(struct cache *cache, struct cache_usage *usage)
{
    *usage = (struct cache_usage){0};
    for (uint32_t i = 0; i < cache->shards; i++) {
        struct shard *shard = &cache->shard[i];
        struct stripe *stripe = &cache->stripe[i];
        lock_acquire(&shard->lock);
        usage->objects += shard->objects.items;
        usage->names += shard->names.items;
        usage->verdicts += shard->verdict_count;
        usage->credentials += shard->credentials.items;
        usage->bytes += shard_bytes(cache, shard);
        usage->evictions += shard->evictions;
        usage->fence_rejects += shard->fence_rejects;
        usage->overlaps += shard->overlaps;
        usage->outside += shard->outside;
        lock_release(&shard->lock);
        lock_acquire(&stripe->lock);
        usage->bytes += stripe->objects.items ? stripe->objects.count * sizeof(uint32_t) : 0;
        lock_release(&stripe->lock);
    }
}
