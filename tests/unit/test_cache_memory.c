/*
 * What the cache costs, and that it never costs more than it may.
 */
#include "cache_files.h"

#include <stdlib.h>
#include <unistd.h>

enum {
    MILLION = 1000000
};

static uint64_t resident(void)
{
    char line[128], *pages = NULL;
    FILE *statm = fopen("/proc/self/statm", "r");
    assert_non_null(statm);
    assert_non_null(fgets(line, sizeof(line), statm));
    assert_int_equal(fclose(statm), 0);
    assert_true(strtoul(line, &pages, 10) > 0);
    return strtoull(pages, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* The target of the design: 256 octets for an object with a 32-octet handle, a 16-octet name and a
 * verdict, hash tables and all. */
static void test_million(void **state)
{
    (void)state;
    static const uint64_t memories[] = {320ull << 20, 1ull << 30, 4ull << 30};
    for (unsigned i = 0; i < (SANITIZED ? 1 : 3); i++) {
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

/* The ceiling holds from the first octet on, under churn of everything; a tiny memory still keeps
 * what is in use, and none keeps nothing. */
static void test_ceiling(void **state)
{
    (void)state;
    static const uint64_t memories[] = {0,         1,        1000,    4096,     16u << 10,
                                        64u << 10, 1u << 20, 3000017, 33u << 20};
    for (unsigned i = 0; i < sizeof(memories) / sizeof(*memories); i++) {
        struct fixture fx;
        struct file root = directory(1);
        unsigned files = 20000 + (unsigned)(memories[i] / 100);
        fixture_open(&fx, memories[i], 0);
        for (unsigned n = 0; n < files; n++) {
            fx.credential.uid = n % 1009;
            if (n % 16 == 0) {
                fill(&fx, "root", &root);
                if (memories[i] >= 4096)
                    assert_served(&fx, "root", &root);
            }
            fill_file(&fx, "root", n);
            if (n % 64 == 0)
                assert_within(&fx, memories[i]);
            if (memories[i] >= 64u << 10)
                assert_true(is_cached(&fx, n));
        }
        assert_within(&fx, memories[i]);
        if (memories[i] >= 64u << 10) {
            assert_true(usage(&fx).objects * 400 >= memories[i]);
            assert_true(usage(&fx).evictions > 0);
            assert_true(usage(&fx).names > usage(&fx).objects / 2);
        } else if (memories[i] == 0) {
            assert_int_equal(usage(&fx).objects, 0);
            assert_int_equal(usage(&fx).bytes, 0);
        }
        fixture_close(&fx);
    }
}

/* More than 32-bit indexes reach, or than there is: the cache can still be made and used. */
static void test_huge(void **state)
{
    (void)state;
    struct fixture fx;
    struct file f = regular(1);
    if (SANITIZED)
        skip();
    fixture_open(&fx, 1ull << 40, 0);
    fill(&fx, "f", &f);
    assert_served(&fx, "f", &f);
    fixture_close(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_million),
        cmocka_unit_test(test_ceiling),
        cmocka_unit_test(test_huge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
