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
    fill_sent(fx, held, "h", &g);
    assert_not_served(fx, "h");
    assert_int_equal(usage(fx).overlaps, 1);
    fill_sent(fx, held, "h", &was);
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
        TEST(test_another_file),
        TEST(test_contradiction),
        TEST(test_too_many_handles),
        TEST(test_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
