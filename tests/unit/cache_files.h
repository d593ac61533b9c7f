/*
 * Many numbered files: a 32-octet handle, a 16-octet name and a verdict each.
 */
#ifndef CACHE_FILES_H
#define CACHE_FILES_H

#include <stdio.h>
#include <string.h>

#include "cache_fixture.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum {
    SANITIZED = 1
};
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum {
    SANITIZED = 1
};
#else
enum {
    SANITIZED = 0
};
#endif
#else
enum {
    SANITIZED = 0
};
#endif

/* A 32-octet handle. */
static inline struct bytes numbered(uint8_t handle[32], uint64_t number)
{
    memset(handle, 0x11, 32);
    memcpy(handle + 8, &number, sizeof(number));
    return (struct bytes){handle, 32};
}

static inline struct bytes numbered_name(char name[32], unsigned number)
{
    int len = snprintf(name, 32, "file-%011u", number);
    return (struct bytes){(uint8_t *)name, (uint32_t)len};
}

/* Object, name and verdict of one file, as LOOKUP and ACCESS bring them. */
static inline void fill_file(struct fixture *fx, const char *dir, uint64_t number)
{
    uint8_t handle[32], fattr[NFS3_FATTR_LEN];
    char of[32];
    struct file file = regular(1000 + number);
    struct cache_filler from = filler(fx, 0);
    file_fattr(&file, fattr);
    cache_fill_attributes(&from, numbered(handle, number), fattr);
    cache_fill_verdict(&from, numbered(handle, number), 0x2d, 0x0d);
    cache_fill_name(&from, text(dir), numbered_name(of, (unsigned)number), numbered(handle, number),
                    false);
}

static inline bool is_cached(struct fixture *fx, uint64_t number)
{
    uint8_t handle[32], fattr[NFS3_FATTR_LEN];
    struct cache_reader by = reader(fx);
    return cache_getattr(&by, numbered(handle, number), fattr);
}

static inline void open_with_root(struct fixture *fx, uint64_t memory)
{
    struct file root = directory(1);
    fixture_open(fx, memory, 0);
    fill(fx, "root", &root);
}

static inline void assert_within(struct fixture *fx, uint64_t memory)
{
    assert_true(usage(fx).bytes <= memory);
}

#endif
