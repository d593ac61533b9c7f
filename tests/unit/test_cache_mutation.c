/*
 * Mutations: what may be kept while they are in flight and after, and what their replies leave behind
 * (K01 K03 K08 K18).
 */
#include "cache_mutations.h"

/* Begin drops, result keeps, and what was sent before the end fills nothing, K01. */
static void test_alone(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1), g = f;
    struct cache_mutation m;
    fill(fx, "f", &f);
    verdict(fx, "f", 0x3f, 0x3f);
    cache_stamp held = tick(fx);
    begin(fx, &m, "f");
    cache_stamp during = tick(fx);
    assert_not_served(fx, "f");
    assert_int_equal(usage(fx).verdicts, 0);
    g.size = 0;
    g.ctime++;
    result(fx, &m, 0, &f, &g);
    assert_served(fx, "f", &g);
    end(fx, &m);
    assert_served(fx, "f", &g);
    assert_int_equal(usage(fx).outside, 0);
    cache_stamp after = tick(fx);
    fill_sent(fx, held, "f", &f);
    assert_not_served(fx, "f"); /* somebody was shown another state: it is asked for again */
    fill_sent(fx, during, "f", &f);
    assert_not_served(fx, "f");
    fill_sent(fx, after, "f", &g);
    assert_not_served(fx, "f"); /* sent before the refused one was shown */
    fill(fx, "f", &g);
    assert_served(fx, "f", &g);
}

/* K03: no result at all, or one without attributes: nothing is served until it is asked for. */
static void test_no_attributes(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1);
    struct cache_mutation m;
    for (unsigned i = 0; i < 2; i++) {
        fill(fx, "f", &f);
        assert_served(fx, "f", &f);
        begin(fx, &m, "f");
        if (i)
            result(fx, &m, 0, NULL, NULL);
        end(fx, &m);
        assert_not_served(fx, "f");
    }
    fill(fx, "f", &f);
    assert_served(fx, "f", &f);
}

/* An object that was never seen: its fence works all the same. */
static void test_unseen(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1);
    struct cache_mutation m;
    begin(fx, &m, "f");
    cache_stamp during = tick(fx);
    fill(fx, "f", &f);
    assert_not_served(fx, "f");
    end(fx, &m);
    fill_sent(fx, during, "f", &f);
    assert_not_served(fx, "f");
    assert_int_equal(usage(fx).fence_rejects, 2);
    begin(fx, &m, "f");
    result(fx, &m, 0, &f, &f);
    end(fx, &m);
    assert_served(fx, "f", &f);
}

/* K08: two in flight, their replies in either order: neither reply's attributes are kept, and so
 * those of the one that was executed first can't be the last. */
static void test_two(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1);
    for (unsigned i = 0; i < 4; i++) {
        struct cache_mutation m[2];
        struct file g = f, h = f;
        g.size = 200;
        h.size = 300;
        fill(fx, "f", &f);
        begin(fx, &m[0], "f");
        begin(fx, &m[1], "f");
        struct cache_mutation *first = &m[i & 1], *second = &m[1 - (i & 1)];
        result(fx, first, 0, NULL, &h);
        assert_not_served(fx, "f");
        if (i & 2)
            result(fx, second, 0, NULL, &g);
        end(fx, first);
        assert_not_served(fx, "f");
        if (!(i & 2))
            result(fx, second, 0, NULL, &g);
        end(fx, second);
        assert_not_served(fx, "f");
        f.ctime++;
    }
}

/* A second one that begins between result and end takes away what the first one kept. */
static void test_second_begins_late(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1), g = f;
    struct cache_mutation first, second;
    begin(fx, &first, "f");
    result(fx, &first, 0, NULL, &f);
    assert_served(fx, "f", &f);
    begin(fx, &second, "f");
    assert_not_served(fx, "f");
    end(fx, &first);
    assert_not_served(fx, "f");
    g.size++;
    result(fx, &second, 0, NULL, &g);
    end(fx, &second);
    assert_not_served(fx, "f");
}

/* Something was shown while it was in flight, and may be newer than what the mutation says. */
static void test_shown_meanwhile(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1), g = f;
    struct cache_mutation m;
    fill(fx, "f", &f);
    begin(fx, &m, "f");
    fill(fx, "f", &f);
    g.size++;
    result(fx, &m, 0, &f, &g);
    assert_not_served(fx, "f");
    end(fx, &m);
    assert_not_served(fx, "f");
}

/* The reply shows another file under the handle (K18): all that was kept for it is gone. */
static void test_another_file(void **state)
{
    struct fixture *fx = *state;
    struct file d = directory(1), e = directory(9), f = regular(2);
    struct cache_mutation m;
    fill(fx, "d", &d);
    fill(fx, "f", &f);
    name(fx, "d", "x", "f");
    begin(fx, &m, "d");
    result(fx, &m, 0, NULL, &e);
    end(fx, &m);
    assert_served(fx, "d", &e);
    assert_resolve(fx, "d", "x", NULL);
}

/* A CREATE's new object: kept with its name; all that was kept under its handle before is gone. */
static void test_found(void **state)
{
    struct fixture *fx = *state;
    struct file d = directory(1), f = regular(2), old = regular(2);
    uint8_t fattr[NFS3_FATTR_LEN];
    struct cache_mutation m;
    fx->ages.exclusive = true;
    fill(fx, "d", &d);
    for (unsigned i = 0; i < 2; i++) {
        cache_stamp held = tick(fx);
        if (i) {
            old.ctime -= 10;
            fill(fx, "f", &old);
            verdict(fx, "f", 0x3f, 0x3f);
        }
        begin_name(fx, &m, "d", "x");
        result(fx, &m, 0, &d, &d);
        file_fattr(&f, fattr);
        cache_mutation_found(&m, text("f"), fattr, RPC_AUTH_SYS, fx->now);
        cache_mutation_name_result(&m, text("d"), text("x"), text("f"));
        end(fx, &m);
        assert_served(fx, "f", &f);
        assert_not_granted(fx, "f", 0x3f);
        assert_resolve(fx, "d", "x", "f");
        fill_sent(fx, held, "f", &old);
        if (i)
            assert_not_served(fx, "f");
        cache_drop_handle(fx->server, text("f"));
    }
}

/* It is not what it was, although its attributes are the same: names in it and verdicts go, and so
 * do those that are on their way. */
static void test_found_again(void **state)
{
    struct fixture *fx = *state;
    struct file d = directory(1), n = directory(2), f = regular(3);
    uint8_t fattr[NFS3_FATTR_LEN];
    struct cache_mutation m;
    fx->ages.exclusive = true;
    file_fattr(&n, fattr);
    fill(fx, "d", &d);
    fill(fx, "n", &n);
    fill(fx, "f", &f);
    name(fx, "n", "x", "f");
    verdict(fx, "n", 0x3f, 0x3f);
    cache_stamp held = tick(fx);
    begin_name(fx, &m, "d", "n");
    cache_mutation_found(&m, text("n"), fattr, RPC_AUTH_SYS, fx->now);
    end(fx, &m);
    assert_resolve(fx, "n", "x", NULL);
    struct cache_filler from = filler(fx, held);
    from.fattr = fattr;
    cache_fill_verdict(&from, text("n"), 0x3f, 0x3f);
    assert_not_granted(fx, "n", 0x3f);
}

/* Found without attributes: what is kept goes, and so does what is on its way. */
static void test_found_without(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(2);
    struct cache_mutation m;
    fill(fx, "f", &f);
    cache_stamp held = tick(fx);
    begin(fx, &m, "d");
    cache_mutation_found(&m, text("f"), NULL, RPC_AUTH_SYS, fx->now);
    cache_mutation_found(&m, text("never seen"), NULL, RPC_AUTH_SYS, fx->now);
    end(fx, &m);
    assert_not_served(fx, "f");
    fill_sent(fx, held, "f", &f);
    assert_not_served(fx, "f");
    fill(fx, "f", &f);
    assert_served(fx, "f", &f);
}

/* A mutation of the found object began or ended meanwhile: the attributes may be older than it. */
static void test_found_in_company(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(2);
    uint8_t fattr[NFS3_FATTR_LEN];
    struct cache_mutation m, other;
    file_fattr(&f, fattr);
    begin(fx, &m, "d");
    begin(fx, &other, "f");
    cache_mutation_found(&m, text("f"), fattr, RPC_AUTH_SYS, fx->now);
    assert_not_served(fx, "f");
    end(fx, &other);
    cache_mutation_found(&m, text("f"), fattr, RPC_AUTH_SYS, fx->now);
    assert_not_served(fx, "f");
    end(fx, &m);
}

/* Attributes from a reply go to the flavor of its caller. */
static void test_flavor(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1);
    struct cache_mutation m;
    uint8_t fattr[NFS3_FATTR_LEN];
    file_fattr(&f, fattr);
    begin(fx, &m, "f");
    cache_mutation_result(&m, 0, (struct nfs3_wcc){NULL, fattr}, RPC_AUTH_NONE, fx->now);
    end(fx, &m);
    assert_not_served(fx, "f");
    fx->credential.flavor = RPC_AUTH_NONE;
    assert_served(fx, "f", &f);
}

/* Verdicts that are on their way while a mutation (SETACL, say) is in flight are not kept (K37). */
static void test_verdict_across(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1);
    struct cache_mutation m;
    fill(fx, "f", &f);
    cache_stamp held = tick(fx);
    begin(fx, &m, "f");
    result(fx, &m, 0, &f, &f);
    end(fx, &m);
    assert_served(fx, "f", &f);
    struct cache_filler from = filler(fx, held);
    cache_fill_verdict(&from, text("f"), 0x3f, 0x3f);
    assert_not_granted(fx, "f", 0x3f);
    assert_served(fx, "f", &f);
}

/* Nor is one that comes after a mutation which did not say what it left behind: whether somebody else changed the object since
 * then is not known. */
static void test_verdict_after(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1), g = f;
    struct cache_mutation m;
    g.ctime++;
    fill(fx, "f", &f);
    begin(fx, &m, "f");
    end(fx, &m);
    verdict(fx, "f", 0x3f, 0x3f);
    fill(fx, "f", &g);
    assert_served(fx, "f", &g);
    assert_not_granted(fx, "f", 0x3f);
    verdict(fx, "f", 0x3f, 0x3f);
    assert_granted(fx, "f", 0x3f, 0x3f);
}

/* All keys on one fence: it is raised once and lowered once, and everything is safe. */
static void test_collisions(void **state)
{
    (void)state;
    struct fixture one;
    struct fixture *fx = &one;
    struct file d = directory(1), f = regular(2);
    struct cache_mutation m;
    fixture_open(fx, FIXTURE_MEMORY, 1);
    fill(fx, "d", &d);
    fill(fx, "f", &f);
    name(fx, "d", "x", "f");
    cache_mutation_init(&m, fx->server);
    cache_mutation_add_object(&m, text("d"));
    cache_mutation_add_object(&m, text("f"));
    cache_mutation_add_name(&m, text("d"), text("x"));
    cache_mutation_add_name(&m, text("d"), text("y"));
    cache_mutation_begin(&m, fx->now);
    assert_not_served(fx, "d");
    fill(fx, "unrelated", &f);
    assert_not_served(fx, "unrelated");
    end(fx, &m);
    struct file g = regular(7);
    fill(fx, "g", &g); /* the fence is clean again */
    assert_served(fx, "g", &g);
    cache_mutation_init(&m, fx->server); /* two keys on one fence are no company for each other */
    cache_mutation_add_object(&m, text("g"));
    cache_mutation_add_name(&m, text("g"), text("x"));
    cache_mutation_begin(&m, fx->now);
    result(fx, &m, 0, &g, &g);
    end(fx, &m);
    assert_served(fx, "g", &g);
    fixture_close(fx);
}

/* A server in doubt: what was sent before keeps nothing. */
static void test_doubt(void **state)
{
    struct fixture *fx = *state;
    struct file d = directory(1), f = regular(2);
    struct cache_mutation m;
    fill(fx, "d", &d);
    fill(fx, "f", &f);
    begin_name(fx, &m, "d", "x");
    cache_doubt(fx->server, 0);
    result(fx, &m, 0, &d, &d);
    cache_mutation_name_result(&m, text("d"), text("x"), text("f"));
    end(fx, &m);
    assert_not_served(fx, "d");
    fx->ages.exclusive = true;
    assert_resolve(fx, "d", "x", NULL);
}

/* What orders the names of a directory: which file it is where that is known, whatever its handle; else its handle. */
static void test_file(void **state)
{
    struct fixture *fx = *state;
    struct file d = directory(1), e = directory(2);
    struct cache_mutation m;
    fill(fx, "d/a", &d);
    fill(fx, "d/b", &d);
    fill(fx, "e", &e);
    cache_mutation_init(&m, fx->server);
    const char *const handles[] = {"d/a", "d/b", "e", "unknown", "also unknown"};
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(cache_mutation_add_object(&m, text(handles[i])), i);
    for (unsigned i = 0; i < 5; i++) {
        for (unsigned j = 0; j < 5; j++)
            assert_int_equal(bytes_equal(cache_mutation_file(&m, i), cache_mutation_file(&m, j)),
                             i == j || (i < 2 && j < 2));
    }
    assert_true(bytes_equal(cache_mutation_file(&m, 3), text("unknown")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_alone),
        TEST(test_no_attributes),
        TEST(test_unseen),
        TEST(test_two),
        TEST(test_second_begins_late),
        TEST(test_shown_meanwhile),
        TEST(test_another_file),
        TEST(test_found),
        TEST(test_found_again),
        TEST(test_found_without),
        TEST(test_found_in_company),
        TEST(test_flavor),
        TEST(test_verdict_across),
        TEST(test_verdict_after),
        TEST(test_collisions),
        TEST(test_doubt),
        TEST(test_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
