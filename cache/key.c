/*
 * key: XXH3 with a secret of our own. What is hashed, but for handles, is put together in a buffer
 * that starts with the kind of thing it names, so that keys of different kinds have nothing to do
 * with each other.
 */
#include "cache/key.h"

#include <assert.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "cache/cache.h"
#include "cache/fattr.h"

enum kind {
    KIND_NAME = 1,
    KIND_LONG_NAME,
    KIND_IDENTITY,
    KIND_WORDS,
    KIND_FATTR,
};

static_assert(KEY_SECRET_LEN == CACHE_SECRET_LEN, "one secret");
static_assert(KEY_SECRET_LEN >= XXH3_SECRET_SIZE_MIN, "as long as the hash wants it");

static uint64_t hash(const struct key_secret *secret, const uint8_t *data, size_t len)
{
    return XXH3_64bits_withSecret(data, len, secret->octets, KEY_SECRET_LEN);
}

/* Not copied first, as the others are: every call comes by here. */
uint64_t key_handle(const struct key_secret *secret, uint16_t server, struct bytes handle)
{
    assert(handle.len <= NFS3_FH_MAX);
    return hash(secret, handle.data, handle.len) ^ (server + 1ull) * 0x9e3779b97f4a7c15ull;
}

uint32_t key_name(const struct key_secret *secret, uint64_t dir, struct bytes name)
{
    uint8_t buffer[9 + CACHE_NAME_MAX];
    size_t len = name.len;
    buffer[0] = name.len <= CACHE_NAME_MAX ? KIND_NAME : KIND_LONG_NAME;
    memcpy(buffer + 1, &dir, 8);
    if (name.len > CACHE_NAME_MAX) {
        uint64_t digest = hash(secret, name.data, name.len);
        len = sizeof(digest);
        memcpy(buffer + 9, &digest, len);
    } else if (len) {
        memcpy(buffer + 9, name.data, len);
    }
    return (uint32_t)hash(secret, buffer, 9 + len);
}

uint32_t key_identity(const struct key_secret *secret, uint16_t server, uint64_t fsid,
                      uint64_t fileid)
{
    uint8_t buffer[19] = {KIND_IDENTITY, (uint8_t)server, (uint8_t)(server >> 8)};
    memcpy(buffer + 3, &fsid, 8);
    memcpy(buffer + 11, &fileid, 8);
    return (uint32_t)hash(secret, buffer, sizeof(buffer));
}

uint32_t key_words(const struct key_secret *secret, const uint32_t *words, unsigned count)
{
    uint8_t buffer[1 + 32 * sizeof(*words)];
    assert(count <= 32);
    buffer[0] = KIND_WORDS;
    memcpy(buffer + 1, words, count * sizeof(*words));
    return (uint32_t)hash(secret, buffer, 1 + count * sizeof(*words));
}

uint64_t key_fattr(const struct key_secret *secret, const uint8_t *fattr)
{
    uint8_t buffer[1 + NFS3_FATTR_LEN - 8] = {KIND_FATTR};
    memcpy(buffer + 1, fattr, FATTR_ATIME);
    memcpy(buffer + 1 + FATTR_ATIME, fattr + FATTR_MTIME, NFS3_FATTR_LEN - FATTR_MTIME);
    return hash(secret, buffer, sizeof(buffer));
}
