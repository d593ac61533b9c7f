/*
 * A cache with one server, and short ways to say what a reply brought and what a reader is told.
 *
 * Times are in milliseconds here, and start at 1000 s. Each call without an explicit `sent` is one
 * that was sent and answered with nothing else in between.
 */
#ifndef CACHE_FIXTURE_H
#define CACHE_FIXTURE_H

/* cmocka.h wants these first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* clang-format off */
#include <cmocka.h>
/* clang-format on */

#include "cache/cache.h"

struct fixture {
    struct cache *cache;
    struct cache_server *server;
    struct cache_ages ages;
    struct cache_credential credential;
    uint64_t now; /* ns */
};

/* The fields of a fattr3 that matter here; the others are derived from them. */
struct file {
    uint32_t type, mode, nlink, uid;
    uint64_t size, fsid, fileid;
    uint32_t atime, mtime, ctime;
};

/* A test with a fixture of its own. */
#define TEST(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)

#define FIXTURE_MEMORY (4u << 20)

extern const uint8_t fixture_secret[CACHE_SECRET_LEN];

/* cmocka's setup and teardown: 4 MiB, default fences, shared, the ages that the design shows. */
int fixture_setup(void **state);
int fixture_teardown(void **state);
void fixture_open(struct fixture *fx, uint64_t memory, unsigned fences);
void fixture_open_with(struct fixture *fx, const struct cache_options *options);
void fixture_close(struct fixture *fx);

struct bytes text(const char *s);
struct file regular(uint64_t fileid);
struct file directory(uint64_t fileid);
void file_fattr(const struct file *file, uint8_t fattr[NFS3_FATTR_LEN]);
void file_wcc(const struct file *file, uint8_t wcc[NFS3_WCC_ATTR_LEN]);

void advance(struct fixture *fx, uint64_t msec);
cache_stamp tick(struct fixture *fx);
struct cache_reader reader(const struct fixture *fx);
struct cache_filler filler(struct fixture *fx, cache_stamp sent);

/* Fills; `sent` 0: just now. */
void fill(struct fixture *fx, const char *handle, const struct file *file);
void fill_sent(struct fixture *fx, cache_stamp sent, const char *handle, const struct file *file);
void verdict(struct fixture *fx, const char *handle, uint32_t asked, uint32_t granted);
void name(struct fixture *fx, const char *dir, const char *of, const char *handle);
void absent(struct fixture *fx, const char *dir, const char *of);

/* Asserts that the attributes are served, and are exactly these. */
void assert_served(struct fixture *fx, const char *handle, const struct file *file);
void assert_not_served(struct fixture *fx, const char *handle);
/* Asserts that a mask is answered, with these bits; or not answered. */
void assert_granted(struct fixture *fx, const char *handle, uint32_t mask, uint32_t granted);
void assert_not_granted(struct fixture *fx, const char *handle, uint32_t mask);
/* Asserts what a LOOKUP says: a handle, "" for NOENT, NULL for a miss. */
void assert_lookup(struct fixture *fx, const char *dir, const char *of, const char *handle);
void assert_resolve(struct fixture *fx, const char *dir, const char *of, const char *handle);

struct cache_usage usage(struct fixture *fx);

#endif
