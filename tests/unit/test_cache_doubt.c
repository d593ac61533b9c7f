/*
 * Doubt, settling and flush: what is kept must be asked again before it is served (C8).
 */
#include "cache_fixture.h"

#include <string.h>

#include "xdr/rpc.h"

/* Everything kept so far, of that server and of no other, is asked again; nothing that was on its
 * way is kept. */
static void test_asked_again(void **state)
{
    struct fixture *fx = *state;
    struct cache_server *first = fx->server;
    struct file d = directory(1), f = regular(2), g = regular(3);
    fx->ages.exclusive = true;
    fill(fx, "d", &d);
    fill(fx, "f", &f);
    verdict(fx, "f", 0x3f, 0x3f);
    name(fx, "d", "x", "f");
    fx->server = cache_server_get(fx->cache, "other:2049");
    fill(fx, "g", &g);
    fx->server = first;
    cache_stamp held = tick(fx);
    cache_doubt(fx->server, 0);
    assert_not_served(fx, "f");
    assert_not_granted(fx, "f", 0x3f);
    assert_lookup(fx, "d", "x", NULL);
    assert_resolve(fx, "d", "x", NULL);
    fill_sent(fx, held, "f", &f);
    assert_not_served(fx, "f");
    fill(fx, "d", &d);
    fill(fx, "f", &f);
    assert_served(fx, "f", &f);
    assert_not_granted(fx, "f", 0x3f); /* each verdict, and each name, by itself */
    verdict(fx, "d", 0x02, 0x02);
    assert_lookup(fx, "d", "x", NULL);
    struct cache_filler from = filler(fx, held);
    cache_fill_name(&from, text("d"), text("x"), text("f"), true);
    assert_lookup(fx, "d", "x", NULL);
    name(fx, "d", "x", "f");
    verdict(fx, "f", 0x3f, 0x3f);
    assert_lookup(fx, "d", "x", "f");
    assert_granted(fx, "f", 0x3f, 0x3f);
    fx->server = cache_server_get(fx->cache, "other:2049");
    assert_served(fx, "g", &g);
}

/* A verdict that was asked for before a doubt is not kept, although its reply shows the attributes that are kept since. */
static void test_verdict_across(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1);
    uint8_t fattr[NFS3_FATTR_LEN];
    file_fattr(&f, fattr);
    cache_stamp before = tick(fx);
    cache_doubt(fx->server, 0);
    cache_stamp after = tick(fx);
    fill(fx, "f", &f);
    for (unsigned i = 0; i < 2; i++) {
        struct cache_filler from = filler(fx, i == 0 ? before : after);
        from.fattr = fattr;
        cache_fill_verdict(&from, text("f"), 0x3f, 0x3f);
        if (i == 0)
            assert_not_granted(fx, "f", 0x3f);
        else
            assert_granted(fx, "f", 0x3f, 0x3f);
    }
}

/* What was last known is still good for finding out what changed. */
static void test_still_compared(void **state)
{
    struct fixture *fx = *state;
    struct file d = directory(1);
    fill(fx, "d", &d);
    cache_doubt(fx->server, 0);
    d.ctime++;
    fill(fx, "d", &d);
    assert_int_equal(usage(fx).outside, 1);
}

/* What is filled before `until` ages as in shared, for good; what is filled at it does not. A doubt
 * that ends sooner does not shorten one that lasts. */
static void test_until(void **state)
{
    struct fixture *fx = *state;
    struct file d = directory(1), f = regular(2), g = regular(3);
    fx->ages.exclusive = true;
    fx->ages.access_age = UINT64_MAX;
    cache_doubt(fx->server, fx->now + 1000 * CACHE_NSEC_PER_MSEC);
    cache_doubt(fx->server, fx->now);
    fill(fx, "d", &d);
    fill(fx, "g", &g);
    advance(fx, 999);
    fill(fx, "d", &d);
    fill(fx, "f", &f);
    name(fx, "d", "x", "f");
    advance(fx, 1);
    fill(fx, "g", &g);
    advance(fx, 2998);
    assert_served(fx, "f", &f);
    assert_lookup(fx, "d", "x", "f");
    advance(fx, 1);
    assert_not_served(fx, "f");
    assert_lookup(fx, "d", "x", NULL);
    assert_resolve(fx, "d", "x", NULL);
    advance(fx, 1000000);
    assert_served(fx, "g", &g);
    fill(fx, "f", &f);
    advance(fx, 1000000);
    assert_served(fx, "f", &f);
}

/* A file without a name goes when the server likes: its attributes age as in shared, whichever reply brought or confirmed
 * them, until it has a name again. */
static void test_no_links(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1);
    fx->ages.exclusive = true;
    for (unsigned i = 0; i < 2; i++) {
        struct cache_mutation m;
        uint8_t fattr[NFS3_FATTR_LEN];
        f.nlink = 1;
        f.ctime++;
        fill(fx, "f", &f);
        advance(fx, 1000000);
        assert_served(fx, "f", &f);
        f.nlink = 0;
        f.ctime++;
        cache_stamp sent = tick(fx);
        if (i == 0) {
            fill(fx, "f", &f);
        } else {
            cache_mutation_init(&m, fx->server);
            cache_mutation_add_object(&m, text("f"));
            cache_mutation_begin(&m, fx->now);
            file_fattr(&f, fattr);
            cache_mutation_result(&m, 0, (struct nfs3_wcc){NULL, fattr}, RPC_AUTH_SYS, fx->now);
            cache_mutation_end(&m, fx->now);
            sent = tick(fx);
            fill(fx, "f", &f);
        }
        advance(fx, 2999);
        assert_served(fx, "f", &f);
        fill_sent(fx, sent, "f", &f); /* overlaps the one before, and says the same */
        advance(fx, 2999);
        assert_served(fx, "f", &f);
        advance(fx, 1);
        assert_not_served(fx, "f");
        fill(fx, "f", &f); /* seen like this for 5999 ms */
        advance(fx, 5998);
        assert_served(fx, "f", &f);
        advance(fx, 1);
        assert_not_served(fx, "f");
    }
}

/* After a mutation: one second at a time, until it was asked for ten seconds after. Also where the
 * object was not cached when it was mutated, and under another handle of the file. */
static void test_settle(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1);
    uint8_t fattr[NFS3_FATTR_LEN];
    fx->ages.exclusive = true;
    fx->ages.settle = 10 * CACHE_NSEC_PER_SEC;
    fx->ages.settle_age = CACHE_NSEC_PER_SEC;
    for (unsigned i = 0; i < 4; i++) { /* the last: kept, and the reply says nothing */
        struct cache_mutation m;
        if (i != 1)
            fill(fx, "f/a", &f);
        cache_mutation_init(&m, fx->server);
        cache_mutation_add_object(&m, text("f/a"));
        if (i == 2) { /* through a handle that nobody knew, and the reply says which file it is */
            cache_mutation_init(&m, fx->server);
            cache_mutation_add_object(&m, text("f/b"));
        }
        cache_mutation_begin(&m, fx->now);
        file_fattr(&f, fattr);
        if (i == 2)
            cache_mutation_identify(&m, 0, fattr);
        if (i == 0)
            cache_mutation_result(&m, 0, (struct nfs3_wcc){NULL, fattr}, RPC_AUTH_SYS, fx->now);
        cache_mutation_end(&m, fx->now);
        if (i != 0)
            fill(fx, "f/a", &f);
        advance(fx, 999);
        assert_served(fx, "f/a", &f);
        advance(fx, 1);
        assert_not_served(fx, "f/a");
        advance(fx, 8999);
        fill(fx, "f/a", &f); /* 9.999 s after the mutation */
        advance(fx, 999);
        assert_served(fx, "f/a", &f);
        advance(fx, 1);
        assert_not_served(fx, "f/a");
        fill(fx, "f/a", &f);
        advance(fx, 1000000);
        assert_served(fx, "f/a", &f);
        cache_flush(fx->cache, NULL);
    }
}

/* What the reply says settles from when it came: the mutation may take long to end, since the server is asked about something
 * else. */
static void test_settle_before_the_end(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1), g = f;
    uint8_t fattr[NFS3_FATTR_LEN];
    g.ctime++;
    file_fattr(&g, fattr);
    for (unsigned kept = 0; kept < 2; kept++) {
        struct cache_mutation m;
        fixture_close(fx);
        fixture_open(fx, FIXTURE_MEMORY, 0);
        fx->ages.exclusive = true;
        fx->ages.settle = 10 * CACHE_NSEC_PER_SEC;
        fx->ages.settle_age = CACHE_NSEC_PER_SEC;
        if (kept)
            fill(fx, "f", &f);
        cache_mutation_init(&m, fx->server);
        cache_mutation_add_object(&m, text("f"));
        cache_mutation_begin(&m, fx->now);
        cache_mutation_result(&m, 0, (struct nfs3_wcc){NULL, fattr}, RPC_AUTH_SYS, fx->now);
        advance(fx, 999);
        assert_served(fx, "f", &g);
        advance(fx, 1);
        assert_not_served(fx, "f");
        cache_mutation_end(&m, fx->now);
    }
}

/* What is kept under that handle, just asked for, is served for a second. */
static void assert_settles(struct fixture *fx, const char *handle, const struct file *file)
{
    advance(fx, 999);
    assert_served(fx, handle, file);
    advance(fx, 1);
    assert_not_served(fx, handle);
    advance(fx, 9000);
    fill(fx, handle, file);
    advance(fx, 1000000);
    assert_served(fx, handle, file);
}

/* The same for what only the reply brought to light, where the reply says which file that is or not. */
static void test_settle_found(void **state)
{
    static const struct {
        bool said,
            kept; /* the reply says attributes; some are kept under the handle that it says */
        const char *asked; /* afterwards */
    } rows[] = {
        {false, false, "f/a"}, {true, false, "f/a"}, {true, true, "f/a"},
        {false, true, "f/b"},  {true, false, "f/c"}, {false, true, "f/c"},
    };
    struct fixture *fx = *state;
    struct file f = regular(1);
    uint8_t fattr[NFS3_FATTR_LEN];
    file_fattr(&f, fattr);
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cache_mutation m;
        fixture_close(fx);
        fixture_open(fx, FIXTURE_MEMORY, 0);
        fx->ages.exclusive = true;
        fx->ages.settle = 10 * CACHE_NSEC_PER_SEC;
        fx->ages.settle_age = CACHE_NSEC_PER_SEC;
        if (rows[i].kept)
            fill(fx, "f/a", &f);
        fill(fx, "f/b", &f);
        cache_mutation_init(&m, fx->server);
        cache_mutation_add_object(&m, text("d"));
        cache_mutation_begin(&m, fx->now);
        cache_mutation_found(&m, text("f/a"), rows[i].said ? fattr : NULL, RPC_AUTH_SYS, fx->now);
        cache_mutation_end(&m, fx->now);
        if (!rows[i].said || strcmp(rows[i].asked, "f/a") != 0)
            fill(fx, rows[i].asked, &f);
        assert_settles(fx, rows[i].asked, &f);
    }
}

/* The same for a file that came to light only while the mutation was under way, and a handle of it that is new. */
static void test_settle_identified(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1);
    uint8_t fattr[NFS3_FATTR_LEN];
    struct cache_mutation m;
    file_fattr(&f, fattr);
    fx->ages.exclusive = true;
    fx->ages.settle = 10 * CACHE_NSEC_PER_SEC;
    fx->ages.settle_age = CACHE_NSEC_PER_SEC;
    cache_mutation_init(&m, fx->server);
    cache_mutation_add_object(&m, text("f/a"));
    cache_mutation_begin(&m, fx->now);
    cache_mutation_identify(&m, 0, fattr);
    cache_mutation_end(&m, fx->now);
    fill(fx, "f/b", &f);
    assert_settles(fx, "f/b", &f);
}

/* What was told before a doubt counts for nobody any more: a flavor to which the server has told nothing since is told
 * nothing, and the others what they were told. */
static void test_flavors(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1);
    fx->ages.exclusive = true;
    fill(fx, "f", &f);
    fx->credential.flavor = RPC_AUTH_NONE;
    assert_not_served(fx, "f");
    fill(fx, "f", &f);
    assert_served(fx, "f", &f);
    cache_doubt(fx->server, 0);
    fx->credential.flavor = RPC_AUTH_SYS;
    fill(fx, "f", &f);
    assert_served(fx, "f", &f);
    fx->credential.flavor = RPC_AUTH_NONE;
    assert_not_served(fx, "f");
    fill(fx, "f", &f);
    assert_served(fx, "f", &f);
    fx->credential.flavor = RPC_AUTH_SYS;
    assert_served(fx, "f", &f);
}

/* Flush: everything goes, of one server or of all; nothing that is on its way comes back; fences
 * and their mutations are as they were. */
static void test_flush(void **state)
{
    struct fixture *fx = *state;
    struct cache_server *first = fx->server;
    struct cache_server *second = cache_server_get(fx->cache, "other:2049");
    struct file d = directory(1), f = regular(2);
    struct cache_mutation m;
    for (unsigned both = 0; both < 2; both++) {
        for (unsigned i = 0; i < 2; i++) {
            fx->server = i ? second : first;
            fill(fx, "d", &d);
            fill(fx, "f", &f);
            verdict(fx, "f", 0x3f, 0x3f);
            name(fx, "d", "x", "f");
        }
        fx->server = first;
        cache_stamp held = tick(fx);
        cache_mutation_init(&m, first);
        cache_mutation_add_object(&m, text("g"));
        cache_mutation_begin(&m, fx->now);
        cache_flush(fx->cache, both ? NULL : first);
        assert_not_served(fx, "f");
        fill_sent(fx, held, "f", &f);
        assert_not_served(fx, "f");
        fill(fx, "g", &f);
        assert_not_served(fx, "g");
        cache_mutation_end(&m, fx->now);
        struct cache_usage now = usage(fx);
        assert_int_equal(now.objects, both ? 0 : 2);
        assert_int_equal(now.names, both ? 0 : 1);
        assert_int_equal(now.verdicts, both ? 0 : 2);
        assert_int_equal(now.credentials, both ? 0 : 1);
        fx->server = second;
        if (both)
            assert_not_served(fx, "f");
        else
            assert_lookup(fx, "d", "x", "f");
        fx->server = first;
        fill(fx, "f", &f);
        assert_served(fx, "f", &f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_asked_again),
        TEST(test_still_compared),
        TEST(test_until),
        TEST(test_settle),
        TEST(test_settle_found),
        TEST(test_flush),
        TEST(test_no_links),
        TEST(test_flavors),
        TEST(test_verdict_across),
        TEST(test_settle_identified),
        TEST(test_settle_before_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
