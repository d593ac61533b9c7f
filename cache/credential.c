/*
 * credential: found by its hash or made, counted by the verdicts that are about it, and freed with the last one.
 * Where there is no room for a new one its verdict is not kept.
 */
#include "cache/credential.h"

#include <assert.h>

#include "xdr/rpc.h"

bool credential_known(const struct cache_credential *credential)
{
    return (credential->flavor == RPC_AUTH_NONE || credential->flavor == RPC_AUTH_SYS) &&
           credential->gid_count <= RPC_AUTH_SYS_GIDS_MAX;
}

static struct credential *credential_at(const struct cache *cache, uint32_t index)
{
    return arena_at(&cache->arena, index);
}

bool credential_equal(const struct cache *cache, uint32_t index,
                      const struct cache_credential *credential)
{
    const struct credential *kept = credential_at(cache, index);
    return kept->uid == credential->uid && kept->gid == credential->gid &&
           kept->flavor == credential->flavor && kept->gid_count == credential->gid_count &&
           (kept->gid_count == 0 ||
            memcmp(kept->gids, credential->gids, kept->gid_count * sizeof(*kept->gids)) == 0);
}

uint32_t credential_table_hash(const void *context, uint32_t index)
{
    return credential_at(context, index)->hash;
}

static uint32_t hash_of(const struct cache *cache, const struct cache_credential *credential)
{
    uint32_t words[4 + RPC_AUTH_SYS_GIDS_MAX] = {credential->flavor, credential->uid,
                                                 credential->gid, credential->gid_count};
    if (credential->gid_count)
        memcpy(words + 4, credential->gids, credential->gid_count * sizeof(*words));
    return key_words(&cache->secret, words, 4 + credential->gid_count);
}

uint32_t credential_take(struct cache *cache, struct shard *shard,
                         const struct cache_credential *credential, uint32_t keep)
{
    assert(credential_known(credential));
    uint32_t hash = hash_of(cache, credential);
    uint32_t index = *table_chain(&shard->credentials, hash);
    for (; index != 0; index = credential_at(cache, index)->hash_link) {
        if (credential_equal(cache, index, credential)) {
            credential_at(cache, index)->verdicts++;
            return index;
        }
    }
    size_t gids_size = credential->gid_count * sizeof(*credential->gids);
    index = evict_alloc(cache, shard, SLAB_CREDENTIAL, sizeof(struct credential) + gids_size, keep);
    if (index == 0)
        return 0;
    struct credential *kept = credential_at(cache, index);
    *kept = (struct credential){.hash = hash,
                                .verdicts = 1,
                                .uid = credential->uid,
                                .gid = credential->gid,
                                .flavor = (uint8_t)credential->flavor,
                                .gid_count = (uint8_t)credential->gid_count};
    if (gids_size)
        memcpy(kept->gids, credential->gids, gids_size);
    table_insert(&shard->credentials, &cache->arena, hash, index);
    table_grow(&shard->credentials, &cache->arena, credential_table_hash, cache);
    return index;
}

void credential_give(struct cache *cache, struct shard *shard, uint32_t index)
{
    struct credential *kept = credential_at(cache, index);
    assert(kept->verdicts > 0);
    if (--kept->verdicts > 0)
        return;
    table_remove(&shard->credentials, &cache->arena, kept->hash, index);
    slab_free(&shard->slab, index);
}
