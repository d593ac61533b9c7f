/*
 * credential: a caller, kept once per shard for all the verdicts that are about it.
 */
#ifndef CACHE_CREDENTIAL_H
#define CACHE_CREDENTIAL_H

#include "cache/shard.h"

struct credential {
    uint32_t hash_link;
    uint32_t hash;
    uint32_t verdicts; /* that refer to it; it goes with the last of them */
    uint32_t uid;
    uint32_t gid;
    uint8_t flavor;
    uint8_t gid_count;
    uint8_t unused[2];
    uint32_t gids[];
};

/* Something may be kept for, and served to, such a caller. */
bool credential_known(const struct cache_credential *credential);

/* In what follows the shard is held. */

/* With a reference for the verdict that is going to be added. 0 when there is no room; evicts
 * anything but the object `keep`. */
uint32_t credential_take(struct cache *cache, struct shard *shard,
                         const struct cache_credential *credential, uint32_t keep);
void credential_give(struct cache *cache, struct shard *shard, uint32_t index);
bool credential_equal(const struct cache *cache, uint32_t index,
                      const struct cache_credential *credential);

table_hash credential_table_hash;

#endif
