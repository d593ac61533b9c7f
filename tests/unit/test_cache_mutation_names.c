/*
 * Mutations and names: which stay, which go, and what a reply shows about changes behind the proxy's
 * back (K05 K06 K07).
 */
#include "cache_mutations.h"

static void begin_in(struct fixture *fx, struct cache_mutation *m, bool exclusive)
{
    cache_mutation_init(m, fx->server);
    if (exclusive)
        cache_mutation_exclusive(m);
    cache_mutation_add_object(m, text("d"));
    cache_mutation_begin(m, fx->now);
}

/* A mutation's own reply is no outside change, and takes no names along; `changed` starts anew. */
static void test_names_stay(void **state)
{
    struct fixture *fx = *state;
    struct file d = directory(1), e = d, f = regular(2);
    struct cache_mutation m;
    fill(fx, "d", &d);
    fill(fx, "f", &f);
    advance(fx, 50000);
    fill(fx, "d", &d);
    fill(fx, "f", &f);
    name(fx, "d", "x", "f");
    begin_name(fx, &m, "d", "new");
    assert_lookup(fx, "d", "x", NULL); /* the directory's attributes are not known now */
    assert_resolve(fx, "d", "x", "f");
    e.ctime++;
    result(fx, &m, 0, &d, &e);
    end(fx, &m);
    name(fx, "d", "other", "f"); /* proves that it may be searched */
    assert_lookup(fx, "d", "x", "f");
    assert_int_equal(usage(fx).outside, 0);
    advance(fx, 2999);
    assert_served(fx, "d", &e);
    advance(fx, 1);
    assert_not_served(fx, "d");

    /* The same where the reply has nothing and the next GETATTR tells; only in exclusive is nobody else about. */
    for (unsigned exclusive = 0; exclusive < 2; exclusive++) {
        fx->ages.exclusive = exclusive;
        fill(fx, "d", &e);
        name(fx, "d", "x", "f");
        begin_in(fx, &m, exclusive);
        assert_resolve(fx, "d", "x", "f");
        end(fx, &m);
        assert_resolve(fx, "d", "x", exclusive ? "f" : NULL);
        e.ctime++;
        fill(fx, "d", &e);
        name(fx, "d", "other", "f");
        assert_lookup(fx, "d", "x", exclusive ? "f" : NULL);
        assert_int_equal(usage(fx).outside, 0);
    }
}

/* wcc.before that differs from what was last known: somebody else wrote. All names go, K07. */
static void test_before_differs(void **state)
{
    struct fixture *fx = *state;
    struct file d = directory(1), f = regular(2);
    fill(fx, "f", &f);
    for (unsigned i = 0; i < 3; i++) {
        struct cache_mutation m;
        struct file before = d, after = d;
        fill(fx, "d", &d);
        name(fx, "d", "x", "f");
        if (i == 0)
            before.ctime++;
        else if (i == 1)
            before.mtime++;
        else
            before.size++;
        after.ctime += 2;
        begin_name(fx, &m, "d", "new");
        result(fx, &m, 0, &before, &after);
        end(fx, &m);
        assert_served(fx, "d", &after);
        assert_int_equal(usage(fx).outside, i + 1);
        assert_resolve(fx, "d", "x", NULL);
        d = after;
    }
}

/* No wcc.before at all: in doubt in shared, but not where all writers come through here. */
static void test_before_missing(void **state)
{
    struct fixture *fx = *state;
    struct file d = directory(1), f = regular(2);
    struct cache_mutation m;
    fill(fx, "f", &f);
    fill(fx, "d", &d);
    for (unsigned exclusive = 0; exclusive < 2; exclusive++) {
        name(fx, "d", "x", "f");
        assert_resolve(fx, "d", "x", "f");
        begin_in(fx, &m, exclusive);
        result(fx, &m, 0, NULL, &d);
        end(fx, &m);
        assert_resolve(fx, "d", "x", exclusive ? "f" : NULL);
    }
    assert_int_equal(usage(fx).outside, 0);
}

/* With another mutation about, a wcc.before that differs is that one's work; exclusive, since nobody says what that one
 * found. */
static void test_before_with_company(void **state)
{
    struct fixture *fx = *state;
    struct file d = directory(1), e = d, f = regular(2);
    e.ctime++;
    fill(fx, "f", &f);
    for (unsigned i = 0; i < 3; i++) {
        struct cache_mutation m, other;
        fill(fx, "d", &d);
        name(fx, "d", "x", "f");
        if (i == 0) /* before it began, and after */
            begin_in(fx, &other, true);
        begin_in(fx, &m, true);
        if (i == 0)
            end(fx, &other);
        if (i == 1) /* in the middle */
            begin_in(fx, &other, true);
        if (i == 1)
            end(fx, &other);
        if (i == 2)
            begin_in(fx, &other, true);
        result(fx, &m, 0, &e, &e);
        end(fx, &m);
        if (i == 2)
            end(fx, &other);
        assert_resolve(fx, "d", "x", "f");
    }
    assert_int_equal(usage(fx).outside, 0);
}

/* Names: begin drops, the result is kept where the mutation was alone on the name. */
static void test_name_result(void **state)
{
    struct fixture *fx = *state;
    struct file d = directory(1), f = regular(2), g = regular(3);
    struct cache_mutation m;
    fx->ages.exclusive = true;
    fill(fx, "d", &d);
    fill(fx, "f", &f);
    fill(fx, "g", &g);
    name(fx, "d", "x", "f");
    cache_stamp held = tick(fx);

    begin_name(fx, &m, "d", "x"); /* RENAME of another file over it */
    assert_resolve(fx, "d", "x", NULL);
    result(fx, &m, 0, &d, &d);
    cache_mutation_name_result(&m, text("d"), text("x"), text("g"));
    end(fx, &m);
    assert_resolve(fx, "d", "x", "g");
    name(fx, "d", "other", "f");
    assert_lookup(fx, "d", "x", "g");

    begin_name(fx, &m, "d", "x"); /* REMOVE */
    result(fx, &m, 0, &d, &d);
    cache_mutation_name_result(&m, text("d"), text("x"), (struct bytes){0});
    end(fx, &m);
    assert_resolve(fx, "d", "x", "");

    struct cache_filler from = filler(fx, held); /* K05: a page that was held */
    cache_fill_name(&from, text("d"), text("x"), text("f"), false);
    assert_resolve(fx, "d", "x", NULL);

    name(fx, "d", "x", "f");
    begin_name(fx, &m, "d", "x"); /* a reply that says nothing of the name */
    end(fx, &m);
    assert_resolve(fx, "d", "x", NULL);
}

/* K06: NOENT is on its way while a MKDIR is; it is not kept, whenever it comes. */
static void test_noent_across(void **state)
{
    struct fixture *fx = *state;
    struct file d = directory(1);
    struct cache_mutation m;
    fill(fx, "d", &d);
    for (unsigned i = 0; i < 2; i++) {
        cache_stamp sent = tick(fx);
        struct cache_filler from;
        begin_name(fx, &m, "d", "x");
        from = filler(fx, sent);
        if (i == 0)
            cache_fill_absent(&from, text("d"), text("x"));
        end(fx, &m);
        from = filler(fx, sent);
        if (i == 1)
            cache_fill_absent(&from, text("d"), text("x"));
        assert_resolve(fx, "d", "x", NULL);
        fill(fx, "d", &d);
    }
}

/* One that keeps names whatever its reply says of the directory. */
static void begin_name_exclusive(struct fixture *fx, struct cache_mutation *m, const char *name)
{
    cache_mutation_init(m, fx->server);
    cache_mutation_exclusive(m);
    cache_mutation_add_object(m, text("d"));
    cache_mutation_add_name(m, text("d"), text(name));
    cache_mutation_begin(m, fx->now);
}

/* Two mutations of one name: neither's result is kept. One that never had the name keeps nothing, nor does one that was sent
 * before a doubt. */
static void test_name_not_alone(void **state)
{
    struct fixture *fx = *state;
    struct file d = directory(1), f = regular(2);
    struct cache_mutation first, second;
    fx->ages.exclusive = true;
    fill(fx, "d", &d);
    fill(fx, "f", &f);
    begin_name_exclusive(fx, &first, "x");
    begin_name_exclusive(fx, &second, "x");
    cache_mutation_name_result(&first, text("d"), text("x"), text("f"));
    assert_resolve(fx, "d", "x", NULL);
    end(fx, &first);
    cache_mutation_name_result(&second, text("d"), text("x"), text("f"));
    end(fx, &second);
    assert_resolve(fx, "d", "x", NULL);
    begin_name_exclusive(fx, &first, "y");
    cache_mutation_name_result(&first, text("d"), text("x"), text("f"));
    cache_mutation_name_result(&first, text("d"), text("y"), text("f"));
    end(fx, &first);
    assert_resolve(fx, "d", "x", NULL);
    assert_resolve(fx, "d", "y", "f");
    begin_name_exclusive(fx, &first, "x");
    cache_doubt(fx->server, 0);
    cache_mutation_name_result(&first, text("d"), text("x"), text("f"));
    end(fx, &first);
    assert_resolve(fx, "d", "x", NULL);
    assert_int_equal(usage(fx).names, 1); /* y, which must be asked again */
}

/* The name leads to an object that is not kept: that does not mean that there is none. */
static void test_name_of_unknown(void **state)
{
    struct fixture *fx = *state;
    struct file d = directory(1);
    struct cache_mutation m;
    fx->ages.exclusive = true;
    fill(fx, "d", &d);
    begin_name_exclusive(fx, &m, "x");
    cache_mutation_name_result(&m, text("d"), text("x"), text("f"));
    end(fx, &m);
    assert_resolve(fx, "d", "x", NULL);
    begin_name_exclusive(fx, &m, "x");
    cache_mutation_name_result(&m, text("d"), text("x"), text(""));
    end(fx, &m);
    assert_resolve(fx, "d", "x", "");
}

/* A reply that says what the directory was before, and not what it is now: what somebody else does next would be taken for
 * this mutation's doing. In exclusive nobody else is there. */
static void test_after_missing(void **state)
{
    struct fixture *fx = *state;
    struct file d = directory(1), f = regular(2);
    struct cache_mutation m;
    fill(fx, "f", &f);
    for (unsigned exclusive = 0; exclusive < 2; exclusive++) {
        fill(fx, "d", &d);
        name(fx, "d", "x", "f");
        assert_resolve(fx, "d", "x", "f");
        begin_in(fx, &m, exclusive);
        result(fx, &m, 0, &d, NULL);
        end(fx, &m);
        assert_resolve(fx, "d", "x", exclusive ? "f" : NULL);
    }
    assert_int_equal(usage(fx).outside, 0);
}

/* RMDIR: all names in the removed directory go. */
static void test_directory_gone(void **state)
{
    struct fixture *fx = *state;
    struct file parent = directory(1), d = directory(2), f = regular(3);
    struct cache_mutation m;
    fx->ages.exclusive = true;
    fill(fx, "parent", &parent);
    fill(fx, "d", &d);
    fill(fx, "f", &f);
    name(fx, "d", "x", "f");
    cache_mutation_init(&m, fx->server);
    cache_mutation_exclusive(&m);
    assert_int_equal(cache_mutation_add_object(&m, text("parent")), 0);
    assert_int_equal(cache_mutation_add_object(&m, text("d")), 1);
    assert_int_equal(cache_mutation_add_object(&m, text("parent")), 0);
    cache_mutation_begin(&m, fx->now);
    assert_resolve(fx, "d", "x", "f");
    cache_mutation_directory_gone(&m, 1);
    assert_resolve(fx, "d", "x", NULL);
    end(fx, &m);
    begin(fx, &m, "never seen");
    cache_mutation_directory_gone(&m, 0);
    end(fx, &m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_names_stay),          TEST(test_before_differs), TEST(test_before_missing),
        TEST(test_before_with_company), TEST(test_name_result),    TEST(test_noent_across),
        TEST(test_name_not_alone),      TEST(test_directory_gone), TEST(test_name_of_unknown),
        TEST(test_after_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
