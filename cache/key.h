/*
 * key: the keyed hash of handles, names and identities. Handles and names come from clients and
 * servers, so nobody outside may choose which of them meet in one bucket: the hash has a secret.
 *
 * The lowest bits of a hash choose the shard, the others the fence and the bucket inside it.
 */
#ifndef CACHE_KEY_H
#define CACHE_KEY_H

#include <stdint.h>

#include "xdr/bytes.h"

#define KEY_SECRET_LEN 192u

struct key_secret {
    uint8_t octets[KEY_SECRET_LEN];
};

uint64_t key_handle(const struct key_secret *secret, uint16_t server, struct bytes handle);
/* `dir` is the key of the directory's handle. */
uint32_t key_name(const struct key_secret *secret, uint64_t dir, struct bytes name);
uint32_t key_identity(const struct key_secret *secret, uint16_t server, uint64_t fsid,
                      uint64_t fileid);
/* A digest of attributes, but for atime. */
uint64_t key_fattr(const struct key_secret *secret, const uint8_t *fattr);
uint32_t key_words(const struct key_secret *secret, const uint32_t *words, unsigned count);

#endif
