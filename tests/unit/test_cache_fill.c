/*
 * Fills of attributes: order and overlap, changes behind the proxy's back, flavors, other files
 * under the same handle (K18), and what STALE takes along.
 */
#include "cache_fixture.h"

#include <string.h>

#include "xdr/rpc.h"

/* What was told is served, octet for octet; nothing else is. */
static void test_served(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1);
    assert_not_served(fx, "f");
    fill(fx, "f", &f);
    assert_served(fx, "f", &f);
    assert_not_served(fx, "g");
    assert_not_served(fx, "");
    assert_int_equal(usage(fx).objects, 1);
}

/* Another server's object with the same handle is another object. */
static void test_servers(void **state)
{
    struct fixture *fx = *state;
    struct cache_server *first = fx->server;
    struct file f = regular(1), g = regular(2);
    fill(fx, "f", &f);
    fx->server = cache_server_get(fx->cache, "other:2049");
    assert_ptr_not_equal(fx->server, first);
    assert_not_served(fx, "f");
    fill(fx, "f", &g);
    assert_served(fx, "f", &g);
    fx->server = cache_server_get(fx->cache, "nas:2049");
    assert_ptr_equal(fx->server, first);
    assert_served(fx, "f", &f);
    assert_int_equal(usage(fx).objects, 2);
}

/* Ticks are unique, rise by one, and are each server's own. */
static void test_ticks(void **state)
{
    struct fixture *fx = *state;
    struct cache_server *other = cache_server_get(fx->cache, "other:2049");
    assert_int_equal(tick(fx), 1);
    assert_int_equal(tick(fx), 2);
    assert_int_equal(cache_tick(other), 1);
}

/* Handles of 1 to 64 octets are kept, longer ones are not (K22). */
static void test_handle_lengths(void **state)
{
    struct fixture *fx = *state;
    char handle[66];
    memset(handle, 'h', sizeof(handle));
    for (unsigned len = 1; len <= 65; len++) {
        struct file f = regular(len);
        handle[len] = 0;
        fill(fx, handle, &f);
        if (len <= 64)
            assert_served(fx, handle, &f);
        else
            assert_not_served(fx, handle);
        handle[len] = 'h';
    }
    assert_int_equal(usage(fx).objects, 64);
}

/* Ages at the interface: shared, from first sight, and growing with each revalidation. */
static void test_age(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1);
    fill(fx, "f", &f);
    advance(fx, 2999);
    assert_served(fx, "f", &f);
    advance(fx, 1);
    assert_not_served(fx, "f");
    advance(fx, 7000); /* asked again 10 s after first sight: fresh for 10 s */
    fill(fx, "f", &f);
    advance(fx, 9999);
    assert_served(fx, "f", &f);
    advance(fx, 1);
    assert_not_served(fx, "f");
    f.ctime++; /* changed: from the start again */
    fill(fx, "f", &f);
    advance(fx, 2999);
    assert_served(fx, "f", &f);
    advance(fx, 1);
    assert_not_served(fx, "f");
    fx->ages.exclusive = true;
    advance(fx, 1000000);
    assert_served(fx, "f", &f);
}

/* A worker whose clock is a moment behind asks again: that is no long time without a change. */
static void test_clock_behind(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1);
    fill(fx, "f", &f);
    fx->now -= CACHE_NSEC_PER_MSEC;
    fill(fx, "f", &f);
    advance(fx, 2999);
    assert_served(fx, "f", &f);
    advance(fx, 1);
    assert_not_served(fx, "f");
}

/*
 * Two replies with different states, in every order of sending and receiving. Only where one was
 * sent after the other had come is it known which is newer; else neither may be kept.
 */
static void test_two(void **state)
{
    static const struct {
        cache_stamp sent_a, received_a, sent_b, received_b; /* b is handled after a */
        char kept;
    } cases[] = {
        {1, 2, 3, 4, 'b'}, /* one after the other */
        {1, 2, 2, 4, 'b'}, /* sent at the very stamp */
        {1, 3, 2, 4, 0},   /* overlap */
        {1, 4, 2, 3, 0},   /* b within a, handled late by another thread */
        {2, 3, 1, 4, 0},   /* a within b */
        {3, 4, 1, 2, 0},   /* b is older altogether, and handled late */
    };
    struct fixture *fx = *state;
    char handle[2] = "a";
    for (unsigned i = 0; i < 6; i++, handle[0]++) {
        uint8_t fattr[NFS3_FATTR_LEN];
        struct file a = regular(100 + i), b = a;
        b.ctime++;
        struct cache_filler from = filler(fx, 0);
        from.sent = cases[i].sent_a;
        from.received = cases[i].received_a;
        file_fattr(&a, fattr);
        cache_fill_attributes(&from, text(handle), fattr);
        assert_served(fx, handle, &a);
        from.sent = cases[i].sent_b;
        from.received = cases[i].received_b;
        file_fattr(&b, fattr);
        cache_fill_attributes(&from, text(handle), fattr);
        if (cases[i].kept)
            assert_served(fx, handle, &b);
        else
            assert_not_served(fx, handle);
        /* A third that was sent before either came can't fill the hole. */
        from.sent = 3;
        from.received = 9;
        file_fattr(&a, fattr);
        if (!cases[i].kept) {
            cache_fill_attributes(&from, text(handle), fattr);
            assert_not_served(fx, handle);
            from.sent = 9;
            from.received = 10;
            cache_fill_attributes(&from, text(handle), fattr);
            assert_served(fx, handle, &a);
        }
    }
    assert_int_equal(usage(fx).overlaps, 4);
}

/* Overlapping replies that say the same are kept, and count as received at the later time. */
static void test_two_equal(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1), g = f;
    cache_stamp early = tick(fx);
    cache_stamp second = tick(fx);
    fill(fx, "f", &f);
    cache_stamp between = tick(fx);
    fill_sent(fx, second, "f", &f);
    assert_served(fx, "f", &f);
    assert_int_equal(usage(fx).overlaps, 0);
    /* Sent after the first came, but before the second: it overlaps. */
    g.ctime++;
    fill_sent(fx, between, "f", &g);
    assert_not_served(fx, "f");
    assert_int_equal(usage(fx).overlaps, 1);
    fill_sent(fx, early, "f", &f);
    assert_not_served(fx, "f");
}

/* atime alone is no contradiction. Whichever is kept is one reply's, whole. */
static void test_atime(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1), g = f;
    g.atime += 100;
    cache_stamp sent = tick(fx);
    fill(fx, "f", &f);
    fill_sent(fx, sent, "f", &g);
    assert_served(fx, "f", &f);
    fill(fx, "f", &g);
    assert_served(fx, "f", &g);
    assert_int_equal(usage(fx).overlaps, 0);
}

/* Overlapping fills of three, all different: nothing is left, whatever the order. */
static void test_three(void **state)
{
    static const uint8_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                         {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    struct fixture *fx = *state;
    char handle[2] = "a";
    for (unsigned i = 0; i < 6; i++, handle[0]++) {
        cache_stamp sent[3];
        for (unsigned k = 0; k < 3; k++)
            sent[k] = tick(fx);
        for (unsigned k = 0; k < 3; k++) {
            struct file f = regular(200 + i);
            f.size += orders[i][k];
            fill_sent(fx, sent[orders[i][k]], handle, &f);
            if (k > 0)
                assert_not_served(fx, handle);
        }
    }
    assert_int_equal(usage(fx).overlaps, 6);
    assert_int_equal(usage(fx).fence_rejects, 6); /* the third meets a raised fence */
}

/* A reply that can't be kept, but says otherwise than what is kept: who was told it must not be told
 * the older one of the two later on. */
static void test_refused_contradicts(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1), g = f;
    cache_stamp sent = tick(fx);
    cache_drop_handle(fx->server, text("f")); /* raises the fence */
    fill(fx, "f", &f);
    fill_sent(fx, sent, "f", &f); /* refused, but the same */
    assert_served(fx, "f", &f);
    g.size++;
    fill_sent(fx, sent, "f", &g);
    assert_not_served(fx, "f");
    assert_int_equal(usage(fx).fence_rejects, 2);
}

/* ctime, mtime or size that differ without a mutation: verdicts and names go (ctime alone is
 * enough). Anything else may differ without that. */
static void test_outside_change(void **state)
{
    struct fixture *fx = *state;
    for (unsigned i = 0; i < 5; i++) {
        struct file d = directory(1), f = regular(2);
        cache_flush(fx->cache, NULL);
        fill(fx, "d", &d);
        fill(fx, "f", &f);
        verdict(fx, "d", 0x3f, 0x1f);
        name(fx, "d", "f", "f");
        assert_lookup(fx, "d", "f", "f");
        uint64_t outside = usage(fx).outside;
        switch (i) {
        case 0:
            d.ctime++;
            break;
        case 1:
            d.mtime++;
            break;
        case 2:
            d.size++;
            break;
        case 3:
            d.atime++;
            break;
        default:
            d.mode =
                0700; /* without another ctime: a second change within one tick of coarse times */
        }
        fill(fx, "d", &d);
        assert_served(fx, "d", &d);
        assert_int_equal(usage(fx).outside - outside, i != 3);
        if (i == 3)
            assert_granted(fx, "d", 0x01, 0x01);
        else
            assert_not_granted(fx, "d", 0x01);
        verdict(fx, "d", 0x3f, 0x1f);
        assert_lookup(fx, "d", "f", i != 3 ? NULL : "f");
    }
}

/* Replies that contradict each other, with no mutation in between, show a change; the next one shows it once more. */
static void test_outside_change_after_conflict(void **state)
{
    struct fixture *fx = *state;
    struct file d = directory(1), e = d, f = regular(2);
    fill(fx, "d", &d);
    fill(fx, "f", &f);
    name(fx, "d", "f", "f");
    cache_stamp sent = tick(fx);
    fill(fx, "d", &d);
    e.ctime++;
    fill_sent(fx, sent, "d", &e);
    assert_not_served(fx, "d");
    assert_int_equal(usage(fx).outside, 1);
    fill(fx, "d", &e);
    assert_served(fx, "d", &e);
    assert_lookup(fx, "d", "f", NULL);
    assert_int_equal(usage(fx).outside, 2);
}

/* K18: another fileid, fsid or type under the same handle. Nothing that was kept for it is left. */
static void test_another_file(void **state)
{
    struct fixture *fx = *state;
    for (unsigned i = 0; i < 3; i++) {
        struct file d = directory(10 + i), f = regular(50), parent = directory(60);
        cache_flush(fx->cache, NULL);
        fill(fx, "parent", &parent);
        fill(fx, "d", &d);
        fill(fx, "f", &f);
        verdict(fx, "parent", 0x02, 0x02);
        verdict(fx, "d", 0x3f, 0x1f);
        name(fx, "d", "f", "f");
        name(fx, "parent", "d", "d");
        assert_lookup(fx, "d", "f", "f");
        assert_lookup(fx, "parent", "d", "d");
        if (i == 0)
            d.fileid = 99;
        else if (i == 1)
            d.fsid = 99;
        else
            d.type = NF3REG;
        fill(fx, "d", &d);
        assert_served(fx, "d", &d);
        assert_not_granted(fx, "d", 0x01);
        assert_lookup(fx, "d", "f", NULL);
        assert_resolve(fx, "d", "f", NULL);
        assert_lookup(fx, "parent", "d", NULL);
        assert_resolve(fx, "parent", "d", NULL);
    }
    assert_int_equal(usage(fx).outside, 3);
}

/* K18 again, where the reply overlaps the one that is kept: nobody knows which file it is now. */
static void test_another_file_overlapping(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1), g = regular(2);
    cache_stamp sent = tick(fx);
    fill(fx, "f", &f);
    fill_sent(fx, sent, "f", &g);
    assert_not_served(fx, "f");
    fill(fx, "f", &g);
    assert_served(fx, "f", &g);
}

/* Attributes go only to a flavor that the server has answered for this object. */
static void test_flavors(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1), g = regular(2);
    fill(fx, "f", &f);
    fx->credential.flavor = RPC_AUTH_NONE;
    assert_not_served(fx, "f");
    fill(fx, "f", &f);
    assert_served(fx, "f", &f);
    fx->credential.flavor = RPC_AUTH_SYS;
    assert_served(fx, "f", &f);
    fx->credential.flavor = RPC_AUTH_GSS;
    assert_not_served(fx, "f");
    fill(fx, "g", &g);
    assert_not_served(fx, "g");
    fx->credential.flavor = RPC_AUTH_SYS;
    assert_not_served(fx, "g");
    fill(fx, "g", &g);
    assert_served(fx, "g", &g);
}

/* STALE: the handle goes, and a reply that was on its way can't bring it back (K05, K14). */
static void test_drop_handle(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1);
    fill(fx, "f", &f);
    cache_stamp sent = tick(fx);
    cache_drop_handle(fx->server, text("f"));
    assert_not_served(fx, "f");
    assert_int_equal(usage(fx).objects, 0);
    fill_sent(fx, sent, "f", &f);
    assert_not_served(fx, "f");
    fill(fx, "f", &f);
    assert_served(fx, "f", &f);
    cache_drop_handle(fx->server, text("never seen"));
    cache_drop_handle(fx->server, text(""));
}

/* Two clients ask for one object without a pause, so that there is always a call in flight that was
 * sent before the other's reply came; a mutation made them miss. They do not keep each other's
 * replies away for ever. */
static void test_herd(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1);
    struct cache_mutation mutation;
    cache_stamp sent[2] = {tick(fx), tick(fx)};
    cache_mutation_init(&mutation, fx->server);
    cache_mutation_add_object(&mutation, (struct bytes){(const uint8_t *)"f", 1});
    cache_mutation_begin(&mutation, fx->now);
    cache_mutation_end(&mutation, fx->now);
    fill_sent(fx, sent[0], "f", &f);
    sent[0] = tick(fx);
    fill_sent(fx, sent[1], "f", &f);
    assert_not_served(fx, "f"); /* both were sent before the mutation ended */
    fill_sent(fx, sent[0], "f", &f);
    assert_served(fx, "f", &f);
}

/* The same with a change on the server in between: what was sent before it, and comes last, is kept
 * by nobody; what was sent after both were shown is. */
static void test_herd_and_change(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1), g = regular(1);
    g.ctime++;
    cache_stamp first = tick(fx), second = tick(fx), third = tick(fx);
    fill_sent(fx, second, "f", &g);
    fill_sent(fx, first, "f", &f);
    assert_not_served(fx, "f");
    fill_sent(fx, third, "f", &f);
    assert_not_served(fx, "f");
    cache_stamp fourth = tick(fx), fifth = tick(fx);
    fill_sent(fx, fourth, "f", &g);
    fill_sent(fx, fifth, "f", &g);
    assert_served(fx, "f", &g);
}

/* An entry of a READDIRPLUS page without a handle still shows the file's state: what is kept and
 * says otherwise goes, whichever handle it has; what says the same stays. */
static void test_shown_without_handle(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1), g = regular(1);
    uint8_t fattr[NFS3_FATTR_LEN];
    cache_stamp early = tick(fx);
    fill(fx, "f", &f);
    struct cache_filler shown = filler(fx, 0);
    file_fattr(&f, fattr);
    cache_fill_shown(&shown, fattr);
    assert_served(fx, "f", &f);
    g.ctime++;
    shown = filler(fx, 0);
    file_fattr(&g, fattr);
    cache_fill_shown(&shown, fattr);
    assert_not_served(fx, "f");
    fill_sent(fx, early, "f", &f); /* sent before that was shown */
    assert_not_served(fx, "f");
    fill(fx, "f", &g);
    assert_served(fx, "f", &g);
}

/* … and one that is older than what is kept must not bring its state in under another handle. */
static void test_shown_is_older(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1), g = regular(1);
    uint8_t fattr[NFS3_FATTR_LEN];
    g.ctime++;
    cache_stamp sent = tick(fx);
    fill(fx, "f/a", &g);
    struct cache_filler page = filler(fx, sent);
    file_fattr(&f, fattr);
    cache_fill_shown(&page, fattr);
    cache_fill_attributes(&page, text("f/b"), fattr);
    assert_not_served(fx, "f/a");
    assert_not_served(fx, "f/b");
    fill(fx, "f/b", &g);
    assert_served(fx, "f/b", &g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_herd),
        TEST(test_herd_and_change),
        TEST(test_shown_without_handle),
        TEST(test_shown_is_older),
        TEST(test_served),
        TEST(test_servers),
        TEST(test_ticks),
        TEST(test_handle_lengths),
        TEST(test_age),
        TEST(test_clock_behind),
        TEST(test_two),
        TEST(test_two_equal),
        TEST(test_atime),
        TEST(test_three),
        TEST(test_refused_contradicts),
        TEST(test_outside_change),
        TEST(test_outside_change_after_conflict),
        TEST(test_another_file),
        TEST(test_another_file_overlapping),
        TEST(test_flavors),
        TEST(test_drop_handle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
