/*
 * One file under several handles: a mutation through one of them takes away what is kept under all,
 * also where the proxy learns only afterwards which file it was (K04).
 */
#include "cache_fixture.h"

#include <stdio.h>
#include <string.h>

#include "xdr/rpc.h"

static void begin(struct fixture *fx, struct cache_mutation *m, const char *object)
{
    cache_mutation_init(m, fx->server);
    cache_mutation_add_object(m, text(object));
    cache_mutation_begin(m, fx->now);
}

static void result(struct fixture *fx, struct cache_mutation *m, const struct file *after)
{
    uint8_t fattr[NFS3_FATTR_LEN];
    file_fattr(after, fattr);
    cache_mutation_result(m, 0, (struct nfs3_wcc){NULL, fattr}, RPC_AUTH_SYS, fx->now);
}

/* The identity is known: all handles of the file are dropped, at once, and stay so. */
static void test_known(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1), g = f;
    struct cache_mutation m;
    g.nlink = 2;
    g.ctime++;
    fill(fx, "f/a", &f);
    fill(fx, "f/b", &f);
    fill(fx, "f/c", &f);
    verdict(fx, "f/b", 0x3f, 0x3f);
    cache_stamp held = tick(fx);
    begin(fx, &m, "f/a");
    assert_true(cache_mutation_identified(&m, 0));
    assert_not_served(fx, "f/b");
    assert_not_served(fx, "f/c");
    assert_int_equal(usage(fx).verdicts, 0);
    fill(fx, "f/d", &f); /* a handle that is new, while it is in flight */
    assert_not_served(fx, "f/d");
    cache_mutation_end(&m, fx->now);
    fill_sent(fx, held, "f/b", &f);
    assert_not_served(fx, "f/b");
    fill_sent(fx, held, "f/e", &f);
    assert_not_served(fx, "f/e");
    fill(fx, "f/b", &g);
    assert_served(fx, "f/b", &g);
    assert_int_equal(usage(fx).outside, 0); /* it was this mutation */
}

/* Its own handle keeps what the reply says; the others are asked for again. */
static void test_result(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1), g = f;
    struct cache_mutation m;
    fill(fx, "f/a", &f);
    fill(fx, "f/b", &f);
    begin(fx, &m, "f/a");
    g.size++;
    result(fx, &m, &g);
    cache_mutation_end(&m, fx->now);
    assert_served(fx, "f/a", &g);
    assert_not_served(fx, "f/b");
    fill(fx, "f/b", &g);
    assert_served(fx, "f/a", &g);
    assert_served(fx, "f/b", &g);
}

/* The identity came with the reply. */
static void test_learned_from_result(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1), g = f;
    struct cache_mutation m;
    fill(fx, "f/b", &f);
    cache_stamp held = tick(fx);
    begin(fx, &m, "f/a");
    assert_false(cache_mutation_identified(&m, 0));
    assert_served(fx, "f/b", &f); /* as yet nobody was told otherwise */
    g.size++;
    result(fx, &m, &g);
    assert_true(cache_mutation_identified(&m, 0));
    cache_mutation_end(&m, fx->now);
    assert_not_served(fx, "f/b");
    assert_served(fx, "f/a", &g);
    fill_sent(fx, held, "f/c", &f);
    assert_not_served(fx, "f/c");
}

/* … while somebody was shown, under another handle, what may be newer than the reply. */
static void test_learned_and_shown(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1), g = f;
    struct cache_mutation m;
    begin(fx, &m, "f/a");
    g.ctime++;
    fill(fx, "f/b", &g);
    assert_served(fx, "f/b", &g);
    result(fx, &m, &f);
    assert_not_served(fx, "f/a");
    assert_not_served(fx, "f/b");
    cache_mutation_end(&m, fx->now);
    assert_not_served(fx, "f/a");
}

/* The handle leads to another file by now, as the reply shows, while somebody was shown, under another handle of that one, what
 * may be newer than the reply. */
static void test_another_file_and_shown(void **state)
{
    struct fixture *fx = *state;
    for (unsigned i = 0; i < 2; i++) {
        struct file was = regular(1), f = was;
        struct cache_mutation m;
        if (i == 0)
            f.fileid = 2;
        else
            f.fsid = 8;
        struct file g = f;
        g.ctime++;
        fill(fx, "f/a", &was);
        begin(fx, &m, "f/a");
        fill(fx, "f/b", &g);
        assert_served(fx, "f/b", &g);
        result(fx, &m, &f);
        assert_not_served(fx, "f/a");
        assert_not_served(fx, "f/b");
        cache_mutation_end(&m, fx->now);
        assert_not_served(fx, "f/a");
        cache_flush(fx->cache, NULL);
    }
}

/* … or while a reply of before is on its way under another handle, and another mutation keeps this one's reply from being kept. */
static void test_another_file_on_its_way(void **state)
{
    struct fixture *fx = *state;
    for (unsigned i = 0; i < 2; i++) {
        struct file was = regular(1), f = was;
        struct cache_mutation m, other;
        if (i == 0)
            f.fileid = 2;
        else
            f.fsid = 8;
        struct file g = f;
        g.ctime++;
        fill(fx, "f/a", &was);
        cache_stamp held = tick(fx);
        begin(fx, &m, "f/a");
        begin(fx, &other, "f/a");
        result(fx, &m, &g);
        cache_mutation_end(&m, fx->now);
        cache_mutation_end(&other, fx->now);
        fill_sent(fx, held, "f/b", &f);
        assert_not_served(fx, "f/b");
        fill(fx, "f/b", &g);
        assert_served(fx, "f/b", &g);
        cache_flush(fx->cache, NULL);
    }
}

/* What the handle leads to is looked at once more when the mutation begins: another file may have been shown since. */
static void test_another_file_as_it_begins(void **state)
{
    struct fixture *fx = *state;
    struct file was = regular(1), f = regular(2);
    struct cache_mutation m;
    fill(fx, "f/a", &was);
    fill(fx, "f/b", &f);
    cache_mutation_init(&m, fx->server);
    cache_mutation_add_object(&m, text("f/a"));
    fill(fx, "f/a", &f);
    cache_mutation_begin(&m, fx->now);
    cache_mutation_end(&m, fx->now);
    assert_not_served(fx, "f/a");
    assert_not_served(fx, "f/b");
}

/* K04: REMOVE of a link that was made behind the proxy's back. The caller asks which file it was. */
static void test_identify(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1), g = f;
    uint8_t fattr[NFS3_FATTR_LEN];
    g.nlink = 1;
    f.nlink = 2;
    for (unsigned late = 0; late < 2; late++) {
        struct cache_mutation m;
        fill(fx, "f/b", &f);
        cache_stamp held = tick(fx);
        cache_mutation_init(&m, fx->server);
        cache_mutation_add_object(&m, text("link"));
        file_fattr(&f, fattr);
        if (!late)
            cache_mutation_identify(&m, 0, fattr);
        cache_mutation_begin(&m, fx->now);
        if (late) {
            assert_served(fx, "f/b", &f);
            assert_false(cache_mutation_identified(&m, 0));
            cache_mutation_identify(&m, 0, fattr);
        }
        assert_true(cache_mutation_identified(&m, 0));
        cache_mutation_end(&m, fx->now);
        assert_not_served(fx, "f/b");
        fill_sent(fx, held, "f/b", &f);
        assert_not_served(fx, "f/b");
        fill(fx, "f/b", &g);
        assert_served(fx, "f/b", &g);
        cache_drop_handle(fx->server, text("f/b"));
    }
}

/* A handle that only the reply brought to light, without attributes: what is kept of that file goes under all handles, and
 * so do replies that are on their way. */
static void test_found(void **state)
{
    struct fixture *fx = *state;
    struct file d = directory(9), f = regular(1);
    struct cache_mutation m;
    fill(fx, "d", &d);
    fill(fx, "f/a", &f);
    fill(fx, "f/b", &f);
    cache_stamp held = tick(fx);
    begin(fx, &m, "d");
    assert_served(fx, "f/b", &f);
    assert_true(cache_mutation_found(&m, text("f/a"), NULL, RPC_AUTH_SYS, fx->now));
    assert_not_served(fx, "f/a");
    assert_not_served(fx, "f/b");
    fill_sent(fx, held, "f/b", &f);
    fill_sent(fx, held, "f/c", &f); /* another handle that is new */
    assert_not_served(fx, "f/b");
    assert_not_served(fx, "f/c");
    cache_mutation_end(&m, fx->now);
    fill_sent(fx, held, "f/b", &f);
    assert_not_served(fx, "f/b");
    fill(fx, "f/b", &f);
    assert_served(fx, "f/b", &f);
}

/* An identity that the caller was told is believed before what is cached. */
static void test_told_otherwise(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1), g = regular(2);
    struct cache_mutation m;
    uint8_t fattr[NFS3_FATTR_LEN];
    fill(fx, "a", &f);
    fill(fx, "g", &g);
    cache_mutation_init(&m, fx->server);
    cache_mutation_add_object(&m, text("a"));
    file_fattr(&g, fattr);
    cache_mutation_identify(&m, 0, fattr);
    cache_mutation_begin(&m, fx->now);
    assert_not_served(fx, "a");
    assert_not_served(fx, "g");
    cache_mutation_end(&m, fx->now);
}

/* Fills under two handles are fills of one object: in order, the other is taken away where it says
 * otherwise; overlapping, both are. */
static void test_fills(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1), g = f;
    g.ctime++;
    fill(fx, "f/a", &f);
    fill(fx, "f/b", &f);
    assert_served(fx, "f/a", &f);
    assert_served(fx, "f/b", &f);
    cache_stamp sent = tick(fx);
    fill(fx, "f/b", &g);
    assert_not_served(fx, "f/a");
    assert_served(fx, "f/b", &g);
    fill_sent(fx, sent, "f/a", &f);
    assert_not_served(fx, "f/a");
    assert_not_served(fx, "f/b");
    assert_int_equal(usage(fx).overlaps, 1);
    fill_sent(fx, sent, "f/c", &f);
    assert_not_served(fx, "f/c");
    fill(fx, "f/a", &g);
    assert_served(fx, "f/a", &g);
    assert_not_served(fx, "f/b");
}

/* What was shown under one handle stays fenced under the others after it has gone. */
static void test_stale_alias(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1), g = f;
    g.ctime++;
    cache_stamp held = tick(fx);
    fill(fx, "f/a", &g);
    cache_drop_handle(fx->server, text("f/a"));
    fill_sent(fx, held, "f/b", &f);
    assert_not_served(fx, "f/b");
}

/* What was said of the file under another handle came just before the mutation dropped it, and after the mutation's clock was
 * read: what was sent before that came may be older, and is not kept under any handle, be it known or new. Seen here as a reply that
 * comes from a worker whose clock is ahead. Also where the mutation learns only from its reply which file it was. */
static void test_shown_as_it_begins(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1), g = f;
    uint8_t fattr[NFS3_FATTR_LEN];
    g.ctime++;
    file_fattr(&g, fattr);
    for (unsigned late = 0; late < 2; late++) {
        struct cache_mutation m;
        if (!late)
            fill(fx, "f/a", &f);
        struct cache_filler from = filler(fx, 0);
        from.received += 100;
        cache_fill_attributes(&from, text("f/b"), fattr);
        begin(fx, &m, "f/a");
        if (late)
            cache_mutation_identify(&m, 0, fattr);
        cache_mutation_end(&m, fx->now);
        cache_stamp sent = tick(fx);
        assert_true(sent < from.received);
        fill_sent(fx, sent, "f/c", &f);
        assert_not_served(fx, "f/c");
        fill_sent(fx, from.received - 1, "f/a", &f);
        assert_not_served(fx, "f/a");
        fill_sent(fx, from.received, "f/c", &g);
        assert_served(fx, "f/c", &g);
        while (tick(fx) < from.received)
            ;
        cache_flush(fx->cache, NULL);
    }
}

/* A verdict that is on its way while the file is mutated under another handle is not kept, although
 * the attributes that come with it are the same as after: an ACL may have changed, and no ctime. */
static void test_verdict_across(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1);
    struct cache_mutation m;
    uint8_t fattr[NFS3_FATTR_LEN];
    fill(fx, "f/a", &f);
    fill(fx, "f/b", &f);
    cache_stamp held = tick(fx);
    begin(fx, &m, "f/b");
    cache_mutation_end(&m, fx->now);
    fill(fx, "f/a", &f);
    struct cache_filler from = filler(fx, held);
    file_fattr(&f, fattr);
    from.fattr = fattr;
    cache_fill_verdict(&from, text("f/a"), 0x3f, 0x3f);
    assert_not_granted(fx, "f/a", 0x3f);
    assert_served(fx, "f/a", &f);
}

/* STALE for one handle: the file may be gone, and nothing that is on its way shows it again. */
static void test_stale(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1);
    fill(fx, "f/a", &f);
    cache_stamp held = tick(fx);
    cache_drop_handle(fx->server, text("f/a"));
    fill_sent(fx, held, "f/b", &f);
    assert_not_served(fx, "f/b");
    fill(fx, "f/b", &f);
    assert_served(fx, "f/b", &f);
}

/* Names are kept under the handle that they were asked with; what a mutation changed through another
 * handle of the directory is not known, so all go. */
static void test_directory(void **state)
{
    struct fixture *fx = *state;
    struct file d = directory(1), e = d, f = regular(2);
    struct cache_mutation m;
    fx->ages.exclusive = true;
    fill(fx, "f", &f);
    fill(fx, "d/a", &d);
    fill(fx, "d/b", &d);
    name(fx, "d/a", "x", "f");
    name(fx, "d/b", "x", "f");
    name(fx, "d/b", "y", "f");
    cache_stamp held = tick(fx);
    cache_mutation_init(&m, fx->server);
    cache_mutation_exclusive(&m);
    cache_mutation_add_object(&m, text("d/a"));
    cache_mutation_add_name(&m, text("d/a"), text("y"));
    cache_mutation_begin(&m, fx->now);
    assert_resolve(fx, "d/a", "x", "f");
    assert_resolve(fx, "d/b", "x", NULL);
    assert_resolve(fx, "d/b", "y", NULL);
    name(fx, "d/b", "y", "f"); /* sent while it is in flight, and maybe executed before */
    cache_mutation_end(&m, fx->now);
    assert_resolve(fx, "d/b", "y", NULL);
    struct cache_filler from = filler(fx, held);
    cache_fill_name(&from, text("d/b"), text("y"), text("f"), true);
    assert_resolve(fx, "d/b", "y", NULL);
    e.ctime++;
    fill(fx, "d/b", &e);
    name(fx, "d/b", "y", "f");
    assert_resolve(fx, "d/b", "y", "f");
}

/* A file has no more than 15 handles in the cache; the others are asked for each time, and safe. */
static void test_many(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1), g = f;
    struct cache_mutation m;
    char handle[8];
    for (unsigned i = 0; i < 40; i++) {
        (void)snprintf(handle, sizeof(handle), "f/%u", i);
        fill(fx, handle, &f);
        if (i < 15)
            assert_served(fx, handle, &f);
        else
            assert_not_served(fx, handle);
    }
    assert_int_equal(usage(fx).objects, 15);
    begin(fx, &m, "f/39");
    result(fx, &m, &g);
    cache_mutation_end(&m, fx->now);
    for (unsigned i = 0; i < 40; i++) {
        (void)snprintf(handle, sizeof(handle), "f/%u", i);
        assert_not_served(fx, handle);
    }
}

/* The same fsid and fileid on another server is another file. */
static void test_servers(void **state)
{
    struct fixture *fx = *state;
    struct cache_server *first = fx->server;
    struct file f = regular(1);
    struct cache_mutation m;
    fill(fx, "f/a", &f);
    fx->server = cache_server_get(fx->cache, "other:2049");
    fill(fx, "f/b", &f);
    begin(fx, &m, "f/b");
    cache_mutation_end(&m, fx->now);
    assert_not_served(fx, "f/b");
    fx->server = first;
    assert_served(fx, "f/a", &f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_known),
        TEST(test_result),
        TEST(test_learned_from_result),
        TEST(test_learned_and_shown),
        TEST(test_another_file_and_shown),
        TEST(test_another_file_on_its_way),
        TEST(test_another_file_as_it_begins),
        TEST(test_identify),
        TEST(test_found),
        TEST(test_told_otherwise),
        TEST(test_fills),
        TEST(test_stale_alias),
        TEST(test_shown_as_it_begins),
        TEST(test_verdict_across),
        TEST(test_stale),
        TEST(test_directory),
        TEST(test_many),
        TEST(test_servers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
