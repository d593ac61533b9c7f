#include "cache_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "xdr/rpc.h"

const uint8_t fixture_secret[CACHE_SECRET_LEN] = {
    0x5b, 0xd1, 0xe9, 0x95, 0x27, 0xd4, 0xeb, 0x2f, 0x16, 0x56, 0x67, 0xb1, 0x9e, 0x37, 0x79, 0xb9,
    0x7f, 0x4a, 0x7c, 0x15, 0xbf, 0x58, 0x47, 0x6d, 0x1c, 0xe4, 0xe5, 0xb9, 0x94, 0xd0, 0x49, 0xbb,
};

void fixture_open(struct fixture *fx, uint64_t memory, unsigned fences)
{
    fixture_open_with(
        fx, &(struct cache_options){.memory = memory, .secret = fixture_secret, .fences = fences});
}

void fixture_open_with(struct fixture *fx, const struct cache_options *options)
{
    memset(fx, 0, sizeof(*fx));
    fx->cache = cache_create(options);
    assert_non_null(fx->cache);
    fx->server = cache_server_get(fx->cache, "nas:2049");
    assert_non_null(fx->server);
    fx->ages = (struct cache_ages){
        .age_min = 3 * CACHE_NSEC_PER_SEC,
        .age_max = 60 * CACHE_NSEC_PER_SEC,
        .negative_age = 30 * CACHE_NSEC_PER_SEC,
        .access_age = 60 * CACHE_NSEC_PER_SEC,
    };
    fx->credential = (struct cache_credential){.flavor = RPC_AUTH_SYS, .uid = 1000, .gid = 100};
    fx->now = 1000 * CACHE_NSEC_PER_SEC;
}

void fixture_close(struct fixture *fx)
{
    cache_destroy(fx->cache);
}

int fixture_setup(void **state)
{
    struct fixture *fx = calloc(1, sizeof(*fx));
    assert_non_null(fx);
    fixture_open(fx, FIXTURE_MEMORY, 0);
    *state = fx;
    return 0;
}

int fixture_teardown(void **state)
{
    struct fixture *fx = *state;
    fixture_close(fx);
    free(fx);
    return 0;
}

struct bytes text(const char *s)
{
    return (struct bytes){(const uint8_t *)s, (uint32_t)strlen(s)};
}

struct file regular(uint64_t fileid)
{
    return (struct file){.type = NF3REG,
                         .mode = 0644,
                         .nlink = 1,
                         .uid = 1000,
                         .size = 100,
                         .fsid = 7,
                         .fileid = fileid,
                         .atime = 50,
                         .mtime = 50,
                         .ctime = 50};
}

struct file directory(uint64_t fileid)
{
    struct file file = regular(fileid);
    file.type = NF3DIR;
    file.mode = 0755;
    return file;
}

static uint8_t *put32(uint8_t *at, uint32_t value)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        *at++ = (uint8_t)(value >> shift);
    return at;
}

static uint8_t *put64(uint8_t *at, uint64_t value)
{
    return put32(put32(at, (uint32_t)(value >> 32)), (uint32_t)value);
}

void file_fattr(const struct file *file, uint8_t fattr[NFS3_FATTR_LEN])
{
    uint8_t *at = put32(fattr, file->type);
    at = put32(at, file->mode);
    at = put32(at, file->nlink);
    at = put32(at, file->uid);
    at = put32(at, 100);
    at = put64(at, file->size);
    at = put64(at, file->size);
    at = put64(at, 0);
    at = put64(at, file->fsid);
    at = put64(at, file->fileid);
    at = put64(at, (uint64_t)file->atime << 32);
    at = put64(at, (uint64_t)file->mtime << 32);
    at = put64(at, (uint64_t)file->ctime << 32);
    assert_int_equal(at - fattr, NFS3_FATTR_LEN);
}

void file_wcc(const struct file *file, uint8_t wcc[NFS3_WCC_ATTR_LEN])
{
    uint8_t *at = put64(wcc, file->size);
    at = put64(at, (uint64_t)file->mtime << 32);
    put64(at, (uint64_t)file->ctime << 32);
}

void advance(struct fixture *fx, uint64_t msec)
{
    fx->now += msec * CACHE_NSEC_PER_MSEC;
}

cache_stamp tick(struct fixture *fx)
{
    return cache_tick(fx->server);
}

struct cache_reader reader(const struct fixture *fx)
{
    return (struct cache_reader){fx->server, &fx->ages, &fx->credential, fx->now};
}

struct cache_filler filler(struct fixture *fx, cache_stamp sent)
{
    if (sent == 0)
        sent = tick(fx);
    return (struct cache_filler){.server = fx->server,
                                 .credential = &fx->credential,
                                 .sent = sent,
                                 .received = tick(fx),
                                 .asked = fx->now,
                                 .exclusive = fx->ages.exclusive};
}

void fill_sent(struct fixture *fx, cache_stamp sent, const char *handle, const struct file *file)
{
    uint8_t fattr[NFS3_FATTR_LEN];
    struct cache_filler from = filler(fx, sent);
    file_fattr(file, fattr);
    cache_fill_attributes(&from, text(handle), fattr);
}

void fill(struct fixture *fx, const char *handle, const struct file *file)
{
    fill_sent(fx, 0, handle, file);
}

void verdict(struct fixture *fx, const char *handle, uint32_t asked, uint32_t granted)
{
    struct cache_filler from = filler(fx, 0);
    cache_fill_verdict(&from, text(handle), asked, granted);
}

void name(struct fixture *fx, const char *dir, const char *of, const char *handle)
{
    struct cache_filler from = filler(fx, 0);
    cache_fill_name(&from, text(dir), text(of), text(handle), true);
}

void absent(struct fixture *fx, const char *dir, const char *of)
{
    struct cache_filler from = filler(fx, 0);
    cache_fill_absent(&from, text(dir), text(of));
}

void assert_served(struct fixture *fx, const char *handle, const struct file *file)
{
    uint8_t expected[NFS3_FATTR_LEN], served[NFS3_FATTR_LEN];
    struct cache_reader by = reader(fx);
    file_fattr(file, expected);
    assert_true(cache_getattr(&by, text(handle), served));
    assert_memory_equal(served, expected, NFS3_FATTR_LEN);
}

void assert_not_served(struct fixture *fx, const char *handle)
{
    uint8_t served[NFS3_FATTR_LEN];
    struct cache_reader by = reader(fx);
    assert_false(cache_getattr(&by, text(handle), served));
}

void assert_granted(struct fixture *fx, const char *handle, uint32_t mask, uint32_t granted)
{
    uint8_t served[NFS3_FATTR_LEN];
    uint32_t answer = 0xffffffffu;
    struct cache_reader by = reader(fx);
    assert_true(cache_access(&by, text(handle), mask, &answer, served));
    assert_int_equal(answer, granted);
}

void assert_not_granted(struct fixture *fx, const char *handle, uint32_t mask)
{
    uint8_t served[NFS3_FATTR_LEN];
    uint32_t answer;
    struct cache_reader by = reader(fx);
    assert_false(cache_access(&by, text(handle), mask, &answer, served));
}

static void assert_found(enum cache_lookup answer, const struct cache_found *found,
                         const char *handle)
{
    if (handle == NULL) {
        assert_int_equal(answer, CACHE_LOOKUP_MISS);
    } else if (*handle == 0) {
        assert_int_equal(answer, CACHE_LOOKUP_ABSENT);
    } else {
        assert_int_equal(answer, CACHE_LOOKUP_FOUND);
        assert_int_equal(found->handle_len, strlen(handle));
        assert_memory_equal(found->handle, handle, found->handle_len);
    }
}

void assert_lookup(struct fixture *fx, const char *dir, const char *of, const char *handle)
{
    struct cache_found found;
    struct cache_reader by = reader(fx);
    assert_found(cache_lookup(&by, text(dir), text(of), &found), &found, handle);
}

void assert_resolve(struct fixture *fx, const char *dir, const char *of, const char *handle)
{
    struct cache_found found;
    struct cache_reader by = reader(fx);
    assert_found(cache_resolve(&by, text(dir), text(of), &found), &found, handle);
}

struct cache_usage usage(struct fixture *fx)
{
    struct cache_usage now;
    cache_usage(fx->cache, &now);
    return now;
}
