/*
 * What the cache costs, and that it never costs more than it may: the ceiling under all kinds of
 * churn, the price of an object, and what eviction leaves behind (a fence) and leaves alone (what is
 * in use).
 */
#include "cache_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MILLION = 1000000
};

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

static uint64_t resident(void)
{
    unsigned long size = 0, pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    assert_non_null(statm);
    assert_int_equal(fscanf(statm, "%lu %lu", &size, &pages), 2);
    assert_int_equal(fclose(statm), 0);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* A 32-octet handle. */
static struct bytes numbered(uint8_t handle[32], uint64_t number)
{
    memset(handle, 0x11, 32);
    memcpy(handle + 8, &number, sizeof(number));
    return (struct bytes){handle, 32};
}

static struct bytes numbered_name(char name[32], unsigned number)
{
    int len = snprintf(name, 32, "file-%011u", number);
    return (struct bytes){(uint8_t *)name, (uint32_t)len};
}

/* Object, name and verdict of one file, as LOOKUP and ACCESS bring them. */
static void fill_file(struct fixture *fx, const char *dir, uint64_t number)
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

static bool is_cached(struct fixture *fx, uint64_t number)
{
    uint8_t handle[32], fattr[NFS3_FATTR_LEN];
    struct cache_reader by = reader(fx);
    return cache_getattr(&by, numbered(handle, number), fattr);
}

/* The target of the design: 256 octets for an object with a 32-octet handle, a 16-octet name and a
 * verdict, hash tables and all. */
static void test_million(void **state)
{
    (void)state;
    static const uint64_t memories[] = {320ull << 20, 1ull << 30, 4ull << 30};
    for (unsigned i = 0; i < 3; i++) {
        struct fixture fx;
        fixture_open(&fx, memories[i], 0);
        struct file root = directory(1);
        fill(&fx, "root", &root);
        verdict(&fx, "root", 0x02, 0x02);
        uint64_t before = resident();
        for (uint64_t n = 0; n < MILLION; n++)
            fill_file(&fx, "root", n);
        uint64_t rss = resident() - before;
        struct cache_usage now = usage(&fx);
        print_message("memory %4llu MiB: bytes per object: %.1f (RSS %.1f)\n",
                      (unsigned long long)(memories[i] >> 20), (double)now.bytes / MILLION,
                      (double)rss / MILLION);
        assert_int_equal(now.objects, MILLION + 1);
        assert_int_equal(now.names, MILLION);
        assert_int_equal(now.verdicts, MILLION + 1);
        assert_int_equal(now.evictions, 0);
        assert_true(now.bytes <= 256ull * MILLION);
        if (!SANITIZED)
            assert_true(rss <= 256ull * MILLION);
        for (uint64_t n = 0; n < MILLION; n += 997)
            assert_true(is_cached(&fx, n));
        fixture_close(&fx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_million),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
