/*
 * Eviction: whom it meets and whom not, what it leaves behind (a fence), and that memory which was
 * cut for one kind of thing serves another.
 */
#include "cache_files.h"

#include "xdr/rpc.h"

/* Memory that is all in things of one size serves another size as soon as that is wanted: names
 * after objects, long handles after short ones, and back. */
static void test_no_starving(void **state)
{
    (void)state;
    enum {
        MEMORY = 1 << 20
    };
    struct fixture fx;
    struct file root = directory(1), f = regular(2);
    char handle[65], of[256];
    fixture_open(&fx, MEMORY, 0);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned n = 0; n < 10000; n++) {
            struct file file = regular(100 + n);
            (void)snprintf(handle, sizeof(handle), "%u", n);
            fill(&fx, handle, &file);
            assert_served(&fx, handle, &file); /* twice: it is no walk that passes by */
            assert_served(&fx, handle, &file);
        }
        uint64_t objects = usage(&fx).objects;
        assert_true(objects > MEMORY / 160);
        fill(&fx, "root", &root);
        for (unsigned n = 0; n < 20000; n++) {
            fill(&fx, "root", &root);
            fill(&fx, "f", &f);
            (void)snprintf(of, sizeof(of), "%0200u", n);
            name(&fx, "root", of, "f");
            assert_lookup(&fx, "root", of, "f");
            assert_lookup(&fx, "root", of, "f");
        }
        assert_true(usage(&fx).names > MEMORY / 300);
        for (unsigned n = 0; n < 10000; n++) {
            struct file file = regular(100 + n);
            (void)snprintf(handle, sizeof(handle), "%064u", n);
            fill(&fx, handle, &file);
            assert_served(&fx, handle, &file); /* twice: it is no walk that passes by */
            assert_served(&fx, handle, &file);
        }
        assert_within(&fx, MEMORY);
    }
    fixture_close(&fx);
}

/* K42: a flood of credentials takes its share and no more; new ones take the place of old ones, and
 * objects in use stay. */
static void test_credential_flood(void **state)
{
    (void)state;
    enum {
        MEMORY = 1 << 20,
        CREDENTIALS = 100000,
        FILES = 1000
    };
    struct fixture fx;
    uint32_t gids[16];
    unsigned kept = 0;
    struct file f = regular(1);
    open_with_root(&fx, MEMORY);
    fx.ages.exclusive = true;
    for (unsigned n = 0; n < FILES; n++)
        fill_file(&fx, "root", n);
    for (unsigned n = 0; n < CREDENTIALS; n++) {
        uint8_t fattr[NFS3_FATTR_LEN];
        uint32_t granted;
        char handle[16];
        (void)snprintf(handle, sizeof(handle), "%u", n % FILES);
        f.fileid = 5000 + n % FILES;
        for (unsigned g = 0; g < 16; g++)
            gids[g] = n * 16 + g;
        fx.credential.gids = gids;
        fx.credential.gid_count = 16;
        fill(&fx, handle, &f);
        verdict(&fx, handle, 0x3f, n & 0x3f);
        struct cache_reader by = reader(&fx);
        if (cache_access(&by, text(handle), 0x3f, &granted, fattr)) {
            assert_int_equal(granted, n & 0x3f);
            kept++;
        }
        if (n % 100 == 0) {
            assert_within(&fx, MEMORY);
            assert_true(is_cached(&fx, 7)); /* asked for all the time */
        }
    }
    assert_true(kept >= CREDENTIALS * 99 / 100);
    assert_int_equal(usage(&fx).objects, 2 * FILES + 1);
    assert_true(usage(&fx).credentials > FILES);
    assert_true(usage(&fx).credentials <= usage(&fx).verdicts);
    fixture_close(&fx);
}

/* A walk over a hundred times what fits leaves alone what is asked for again and again, although
 * each file of the walk is asked for once after it was filled. */
static void test_scan(void **state)
{
    (void)state;
    enum {
        MEMORY = 4 << 20,
        HOT = 4000,
        SCAN = 1600000
    };
    struct fixture fx;
    unsigned left = 0;
    open_with_root(&fx, MEMORY);
    fx.ages.exclusive = true;
    for (unsigned n = 0; n < HOT; n++)
        fill_file(&fx, "root", n);
    for (unsigned i = 0; i < 3; i++)
        for (unsigned n = 0; n < HOT; n++)
            assert_true(is_cached(&fx, n));
    for (unsigned n = 0; n < SCAN; n++) {
        fill_file(&fx, "root", 1000000 + n);
        assert_true(is_cached(&fx, 1000000 + n));
    }
    for (unsigned n = 0; n < HOT; n++)
        left += is_cached(&fx, n);
    print_message("%u of %u hot files after a walk over %u\n", left, HOT, SCAN);
    assert_int_equal(left, HOT);
    assert_within(&fx, MEMORY);
    fixture_close(&fx);
}

/* The hot set moves: what was hot makes room for what is. */
static void test_hot_set_moves(void **state)
{
    (void)state;
    enum {
        MEMORY = 1 << 20,
        HOT = 3000
    };
    struct fixture fx;
    open_with_root(&fx, MEMORY);
    fx.ages.exclusive = true;
    for (unsigned set = 0; set < 5; set++) {
        unsigned left = 0;
        for (unsigned round = 0; round < 20; round++) {
            for (unsigned n = set * HOT; n < (set + 1) * HOT; n++) {
                if (!is_cached(&fx, n))
                    fill_file(&fx, "root", n);
            }
        }
        for (unsigned n = set * HOT; n < (set + 1) * HOT; n++)
            left += is_cached(&fx, n);
        assert_true(left >= HOT * 95 / 100);
    }
    fixture_close(&fx);
}

static void push_out(struct fixture *fx)
{
    for (unsigned n = 0; n < 3000; n++)
        fill_file(fx, "root", 70000 + n);
}

/* What is evicted was shown to somebody: a reply that was sent before that can't come back as news,
 * be it attributes under any handle of the file, a verdict, or a name. One that was sent later can. */
static void test_eviction_raises(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct fixture fx;
        struct file d = directory(1), f = regular(2), g = f;
        fixture_open(&fx, 64u << 10, 0);
        fx.ages.exclusive = true;
        g.ctime--;
        cache_stamp held = tick(&fx);
        fill(&fx, "d", &d);
        fill(&fx, "f", &f);
        verdict(&fx, "f", 0x3f, 0x01);
        name(&fx, "d", "x", "f");
        push_out(&fx);
        assert_not_served(&fx, "f");
        assert_not_served(&fx, "d");
        struct cache_filler from = filler(&fx, held);
        if (i == 0) {
            fill_sent(&fx, held, "f", &g);
            assert_not_served(&fx, "f");
        } else if (i == 1) {
            fill_sent(&fx, held, "f/alias", &g);
            assert_not_served(&fx, "f/alias");
        } else if (i == 2) {
            fill(&fx, "f", &f);
            cache_fill_verdict(&from, text("f"), 0x3f, 0x3f);
            assert_not_granted(&fx, "f", 0x3f);
        } else {
            fill(&fx, "d", &d);
            fill(&fx, "f", &f);
            cache_fill_absent(&from, text("d"), text("x"));
            assert_resolve(&fx, "d", "x", NULL);
            name(&fx, "d", "x", "f");
            assert_resolve(&fx, "d", "x", "f");
        }
        fill(&fx, "f", &f);
        assert_served(&fx, "f", &f);
        fixture_close(&fx);
    }
}

/* The same for a name by itself, whose directory and object stay. */
static void test_eviction_of_a_name(void **state)
{
    (void)state;
    struct fixture fx;
    struct file d = directory(1), f = regular(2);
    char of[64];
    fixture_open(&fx, 64u << 10, 0);
    fx.ages.exclusive = true;
    fill(&fx, "d", &d);
    fill(&fx, "f", &f);
    cache_stamp held = tick(&fx);
    name(&fx, "d", "x", "f");
    for (unsigned n = 0; n < 5000; n++) {
        (void)snprintf(of, sizeof(of), "%040u", n);
        name(&fx, "d", of, "f");
        assert_served(&fx, "d", &d);
        assert_served(&fx, "f", &f);
    }
    assert_resolve(&fx, "d", "x", NULL);
    struct cache_filler from = filler(&fx, held);
    cache_fill_absent(&from, text("d"), text("x"));
    assert_resolve(&fx, "d", "x", NULL);
    name(&fx, "d", "x", "f");
    assert_resolve(&fx, "d", "x", "f");
    fixture_close(&fx);
}

/* A flush gives everything back for use. */
static void test_flush_frees(void **state)
{
    (void)state;
    enum {
        MEMORY = 1 << 20
    };
    struct fixture fx;
    fixture_open(&fx, MEMORY, 0);
    for (unsigned i = 0; i < 10; i++) {
        struct file root = directory(1);
        fill(&fx, "root", &root);
        for (unsigned n = 0; n < 3000; n++)
            fill_file(&fx, "root", n + i * 5000);
        assert_int_equal(usage(&fx).objects, 3001);
        assert_int_equal(usage(&fx).names, 3000);
        cache_flush(fx.cache, NULL);
        assert_int_equal(usage(&fx).objects + usage(&fx).names + usage(&fx).verdicts, 0);
        assert_true(usage(&fx).bytes < MEMORY / 16);
    }
    fixture_close(&fx);
}

/* Memory for a few things only: what finds no room is not kept, and leaves nothing behind. */
static void test_little_memory(void **state)
{
    (void)state;
    static const uint32_t gids[16];
    char handle[16];
    for (uint64_t memory = 1 << 10; memory <= 64 << 10; memory *= 2) {
        struct fixture fx;
        struct file d = directory(1);
        fixture_open(&fx, memory, 0);
        fill(&fx, "d", &d);
        for (unsigned n = 0; n < 2000; n++) {
            fx.credential = (struct cache_credential){RPC_AUTH_SYS, n, n, n % 17, gids};
            verdict(&fx, "d", 0x3f, n & 0x3f);
            name(&fx, "d", "x", "d");
            if (n % 50 == 49) {
                struct file f = regular(n);
                (void)snprintf(handle, sizeof(handle), "%u", n);
                fill(&fx, handle, &f);
                name(&fx, "d", handle, handle);
            }
            assert_within(&fx, memory);
        }
        cache_drop_handle(fx.server, text("d"));
        cache_drop_name(fx.server, text("d"), text("x"));
        for (unsigned n = 49; n < 2000; n += 50) {
            (void)snprintf(handle, sizeof(handle), "%u", n);
            cache_drop_handle(fx.server, text(handle));
            cache_drop_name(fx.server, text("d"), text(handle));
        }
        struct cache_usage now = usage(&fx);
        assert_int_equal(now.objects, 0);
        assert_int_equal(now.names, 0);
        assert_int_equal(now.verdicts, 0);
        assert_int_equal(now.credentials, 0);
        fixture_close(&fx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_starving),
        cmocka_unit_test(test_credential_flood),
        cmocka_unit_test(test_scan),
        cmocka_unit_test(test_hot_set_moves),
        cmocka_unit_test(test_eviction_raises),
        cmocka_unit_test(test_eviction_of_a_name),
        cmocka_unit_test(test_flush_frees),
        cmocka_unit_test(test_little_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
