/*
 * What somebody was shown and is not kept: the fences remember it, of the handle as of the file, so that nothing older is
 * kept later on (C2). And the room that was taken for it is given back.
 */
#include "cache_mutations.h"

#include <stdio.h>

/* A handle leads to another file, of which a mutation is under way. What it led to before is on its way, and comes last. */
static void test_another_file(void **state)
{
    struct fixture *fx = *state;
    struct file was = regular(1), f = regular(2);
    struct cache_mutation m;
    fill(fx, "other", &f);
    cache_stamp held = tick(fx);
    begin(fx, &m, "other");
    fill(fx, "h", &f);
    assert_not_served(fx, "h");
    fill_sent(fx, held, "h", &was);
    assert_not_served(fx, "h");
    end(fx, &m);
    fill(fx, "h", &f);
    assert_served(fx, "h", &f);
}

/* Two replies of one file contradict each other. What the handle led to before them is on its way, and comes last. */
static void test_contradiction(void **state)
{
    struct fixture *fx = *state;
    struct file was = regular(1), f = regular(2), g = f;
    g.ctime++;
    cache_stamp held = tick(fx);
    fill(fx, "h", &f);
    cache_stamp between = tick(fx);
    fill_sent(fx, held, "h", &g);
    assert_not_served(fx, "h");
    assert_int_equal(usage(fx).overlaps, 1);
    fill_sent(fx, held, "h", &was);
    assert_not_served(fx, "h");
    fill_sent(fx, between, "h", &was);
    assert_not_served(fx, "h");
    fill(fx, "h", &was);
    assert_served(fx, "h", &was);
}

/* A file that is known under so many handles that no other is kept is shown under another, as it is now. What it was
 * before is on its way, and comes last. */
static void test_too_many_handles(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1), g = f;
    char handle[16];
    g.ctime++;
    for (unsigned i = 0; i < 15; i++) {
        (void)snprintf(handle, sizeof(handle), "f/%u", i);
        fill(fx, handle, &f);
        assert_served(fx, handle, &f);
    }
    cache_stamp held = tick(fx);
    fill(fx, "f/15", &g);
    assert_not_served(fx, "f/15");
    for (unsigned i = 0; i < 15; i++) {
        (void)snprintf(handle, sizeof(handle), "f/%u", i);
        assert_not_served(fx, handle);
        fill_sent(fx, held, handle, &f);
        assert_not_served(fx, handle);
    }
    fill(fx, "f/0", &g);
    assert_served(fx, "f/0", &g);
}

/* A reply is newer than what is kept under its own handle, and may be older than the same that came later under another one:
 * none is kept. */
static void test_between_two_handles(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1), g = f;
    g.ctime++;
    fill(fx, "f/a", &f);
    cache_stamp sent = tick(fx);
    fill(fx, "f/b", &f);
    fill_sent(fx, sent, "f/a", &g);
    assert_not_served(fx, "f/a");
    assert_not_served(fx, "f/b");
    assert_int_equal(usage(fx).overlaps, 1);
    fill(fx, "f/a", &g);
    assert_served(fx, "f/a", &g);
}

/* Something else is being changed that has the same fence: what is shown meanwhile is not kept, and what is kept says something
 * older from then on. */
static void test_shared_fence(void **state)
{
    (void)state;
    struct fixture one;
    struct fixture *fx = &one;
    struct file f = regular(1), g = f;
    struct cache_mutation m;
    g.ctime++;
    fixture_open(fx, FIXTURE_MEMORY, 1);
    fill(fx, "f", &f);
    begin(fx, &m, "other");
    fill(fx, "f", &f);
    assert_served(fx, "f", &f);
    fill(fx, "f", &g);
    assert_not_served(fx, "f");
    end(fx, &m);
    assert_not_served(fx, "f");
    fill(fx, "f", &g);
    assert_served(fx, "f", &g);
    fixture_close(fx);
}

/* A reply that another worker got later, and brought here sooner. */
static struct cache_filler from_later(struct fixture *fx, const char *handle,
                                      const struct file *file)
{
    uint8_t fattr[NFS3_FATTR_LEN];
    struct cache_filler from = filler(fx, 0);
    from.received += 100;
    file_fattr(file, fattr);
    cache_fill_attributes(&from, text(handle), fattr);
    return from;
}

/* Of two replies the later one counts, whichever was brought first: what was sent before that, and comes last, may be
 * older. They are of one handle or of two, and contradict each other or say the same. */
static void test_brought_sooner(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1), g = f;
    g.ctime++;
    for (unsigned i = 0; i < 3; i++) {
        struct cache_filler from = from_later(fx, "f/b", &g);
        assert_served(fx, "f/b", &g);
        fill(fx, i == 0 ? "f/a" : "f/b", i == 2 ? &g : &f);
        cache_stamp sent = tick(fx);
        assert_true(sent < from.received);
        fill_sent(fx, sent, "f/c", &f);
        assert_not_served(fx, "f/c");
        fill_sent(fx, from.received, "f/c", &f);
        assert_served(fx, "f/c", &f);
        while (tick(fx) < from.received)
            ;
        cache_flush(fx->cache, NULL);
    }
}

/* The same of names. */
static void test_name_brought_sooner(void **state)
{
    struct fixture *fx = *state;
    struct file d = directory(1), f = regular(2), g = regular(3);
    fx->ages.exclusive = true;
    fill(fx, "d", &d);
    fill(fx, "f", &f);
    fill(fx, "g", &g);
    for (unsigned i = 0; i < 2; i++) {
        struct cache_filler from = filler(fx, 0);
        from.received += 100;
        cache_fill_name(&from, text("d"), text("x"), text("g"), false);
        assert_resolve(fx, "d", "x", "g");
        name(fx, "d", "x", i == 0 ? "f" : "g");
        assert_resolve(fx, "d", "x", i == 0 ? NULL : "g");
        cache_stamp sent = tick(fx);
        assert_true(sent < from.received);
        struct cache_filler last = filler(fx, sent);
        cache_fill_name(&last, text("d"), text("x"), text("f"), false);
        assert_resolve(fx, "d", "x", NULL);
        while (tick(fx) < from.received)
            ;
        name(fx, "d", "x", "f");
        assert_resolve(fx, "d", "x", "f");
        cache_drop_name(fx->server, text("d"), text("x"));
    }
}

/* Room for an object is taken before it is known whether it is kept. It comes back: where there is one, where none is kept,
 * and where its other handles stand in other shards. */
static void test_room(void **state)
{
    (void)state;
    struct fixture one;
    struct fixture *fx = &one;
    struct file f = regular(1);
    char handle[16];
    fixture_open(fx, 64u << 20, 0);
    for (unsigned round = 0; round < 100; round++) {
        for (unsigned i = 0; i < 300; i++) {
            (void)snprintf(handle, sizeof(handle), "f/%u", i % 100);
            fill(fx, handle, &f);
        }
        assert_int_equal(usage(fx).objects, 15);
        for (unsigned i = 0; i < 100; i++) {
            (void)snprintf(handle, sizeof(handle), "f/%u", i);
            cache_drop_handle(fx->server, text(handle));
        }
        assert_int_equal(usage(fx).objects, 0);
    }
    assert_in_range(usage(fx).bytes, 0, 64u << 10); /* each lost one would be some 200 octets */
    fixture_close(fx);
    fixture_open(fx, 0, 0); /* none at all */
    fill(fx, "f", &f);
    assert_not_served(fx, "f");
    assert_int_equal(usage(fx).objects, 0);
    assert_int_equal(usage(fx).bytes, 0);
    fixture_close(fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_another_file),        TEST(test_contradiction),
        TEST(test_too_many_handles),    TEST(test_shared_fence),
        TEST(test_between_two_handles), TEST(test_brought_sooner),
        TEST(test_name_brought_sooner), TEST(test_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
