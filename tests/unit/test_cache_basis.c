/*
 * What an answer stands on: since when nothing can have changed it, how old it is, and what of it may lag.
 */
#include "cache_fixture.h"

#include <string.h>

#include "xdr/rpc.h"

static bool clean(struct fixture *fx, const char *handle, const struct file *file,
                  cache_stamp since)
{
    uint8_t fattr[NFS3_FATTR_LEN];
    file_fattr(file, fattr);
    return cache_clean_since(fx->server, text(handle), fattr, since);
}

static bool name_clean(struct fixture *fx, const char *dir, const char *of, cache_stamp since)
{
    return cache_name_clean_since(fx->server, text(dir), text(of), since);
}

static void begin(struct fixture *fx, struct cache_mutation *m, const char *object)
{
    cache_mutation_init(m, fx->server);
    cache_mutation_add_object(m, text(object));
    cache_mutation_begin(m, fx->now);
}

/* Reading the clock does not move it. */
static void test_clock(void **state)
{
    struct fixture *fx = *state;
    cache_stamp last = tick(fx);
    assert_int_equal(cache_clock(fx->server), last);
    assert_int_equal(cache_clock(fx->server), last);
    assert_int_equal(tick(fx), last + 1);
}

/* A mutation in flight, and one that has ended since; under this handle, and under another one of the same file; not one
 * that ended before. Others' objects stay clean. */
static void test_mutation(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1), g = regular(2);
    struct cache_mutation m;
    fill(fx, "f", &f);
    fill(fx, "alias", &f);
    fill(fx, "g", &g);
    cache_stamp before = cache_clock(fx->server);
    assert_true(clean(fx, "f", &f, before));
    begin(fx, &m, "f");
    cache_stamp during = cache_clock(fx->server);
    assert_false(clean(fx, "f", &f, before));
    assert_false(clean(fx, "f", &f, during));
    assert_false(clean(fx, "alias", &f, during));
    assert_true(clean(fx, "g", &g, before));
    cache_mutation_end(&m, fx->now);
    cache_stamp after = cache_clock(fx->server);
    assert_false(clean(fx, "f", &f, during));
    assert_false(clean(fx, "alias", &f, during));
    assert_true(clean(fx, "f", &f, after));
    assert_true(clean(fx, "alias", &f, after));
    assert_true(clean(fx, "g", &g, before));
}

/* A name by itself: another one of the same directory is not touched by it. */
static void test_name(void **state)
{
    struct fixture *fx = *state;
    struct file d = directory(1);
    struct cache_mutation m;
    fill(fx, "d", &d);
    cache_stamp before = cache_clock(fx->server);
    cache_mutation_init(&m, fx->server);
    cache_mutation_add_object(&m, text("d"));
    cache_mutation_add_name(&m, text("d"), text("x"));
    cache_mutation_begin(&m, fx->now);
    assert_false(name_clean(fx, "d", "x", before));
    assert_true(name_clean(fx, "d", "y", before));
    assert_false(clean(fx, "d", &d, before));
    cache_mutation_end(&m, fx->now);
    assert_false(name_clean(fx, "d", "x", before));
    assert_true(name_clean(fx, "d", "x", cache_clock(fx->server)));
}

/* Doubt and flush are of everything of that server, and of no other; what was dropped is by itself. */
static void test_doubt(void **state)
{
    struct fixture *fx = *state;
    struct cache_server *first = fx->server;
    struct file f = regular(1), g = regular(2);
    fill(fx, "f", &f);
    fill(fx, "g", &g);
    fx->server = cache_server_get(fx->cache, "other:2049");
    cache_stamp other = cache_clock(fx->server);
    fx->server = first;
    cache_stamp before = cache_clock(fx->server);
    cache_drop_handle(fx->server, text("f"));
    cache_drop_name(fx->server, text("d"), text("x"));
    assert_false(clean(fx, "f", &f, before));
    assert_false(name_clean(fx, "d", "x", before));
    assert_true(clean(fx, "g", &g, before));
    before = cache_clock(fx->server);
    cache_doubt(fx->server, 0);
    assert_false(clean(fx, "g", &g, before));
    assert_false(name_clean(fx, "d", "y", before));
    before = cache_clock(fx->server);
    assert_true(clean(fx, "g", &g, before));
    cache_flush(fx->cache, fx->server);
    assert_false(clean(fx, "g", &g, before));
    fx->server = cache_server_get(fx->cache, "other:2049");
    assert_true(clean(fx, "g", &g, other));
}

/* While it is not known what is being changed nothing is clean: a mutation of a handle of which nobody knows which file it
 * is, and one whose caller says so. */
static void test_blind(void **state)
{
    struct fixture *fx = *state;
    struct file d = directory(1), f = regular(2);
    struct cache_mutation m, m2;
    fill(fx, "d", &d);
    fill(fx, "f", &f);
    cache_stamp before = cache_clock(fx->server);
    begin(fx, &m, "nobody has seen it");
    assert_false(clean(fx, "f", &f, cache_clock(fx->server)));
    assert_false(name_clean(fx, "d", "x", cache_clock(fx->server)));
    cache_mutation_init(&m2, fx->server);
    cache_mutation_add_object(&m2, text("d"));
    cache_mutation_blind(&m2);
    cache_mutation_begin(&m2, fx->now);
    cache_mutation_end(&m, fx->now);
    cache_stamp during = cache_clock(fx->server);
    assert_false(clean(fx, "f", &f, during)); /* the second one */
    cache_mutation_end(&m2, fx->now);
    assert_false(clean(fx, "f", &f, before));
    assert_false(clean(fx, "f", &f, during));
    assert_true(clean(fx, "f", &f, cache_clock(fx->server)));
    begin(fx, &m, "f"); /* known: only its own */
    assert_true(clean(fx, "d", &d, cache_clock(fx->server)));
    cache_mutation_end(&m, fx->now);
}

/* ---- ages ---- */

static struct cache_basis of_object(struct fixture *fx, const char *handle, uint32_t mask)
{
    struct cache_reader by = reader(fx);
    struct cache_basis basis;
    cache_basis_object(&by, text(handle), mask, &basis);
    return basis;
}

static struct cache_basis of_name(struct fixture *fx, const char *dir, const char *of)
{
    struct cache_reader by = reader(fx);
    struct cache_basis basis;
    cache_basis_name(&by, text(dir), text(of), &basis);
    return basis;
}

static void expect(struct cache_part part, uint64_t fetched, bool may_lag)
{
    assert_int_equal(part.fetched, fetched);
    assert_int_equal(part.may_lag, may_lag);
}

/* Each part has its own age; what is not kept is from now, and may lag. */
static void test_ages(void **state)
{
    struct fixture *fx = *state;
    struct file d = directory(1), f = regular(2);
    uint64_t first = fx->now;
    fx->ages.exclusive = true;
    fill(fx, "d", &d);
    advance(fx, 1);
    verdict(fx, "d", 0x02, 0x02);
    advance(fx, 1);
    fill(fx, "f", &f);
    verdict(fx, "f", 0x3f, 0x01);
    advance(fx, 1);
    struct cache_basis basis = of_name(fx, "d", "x");
    expect(basis.name, fx->now, true);
    expect(basis.object, fx->now, true);
    name(fx, "d", "x", "f");
    uint64_t named = fx->now;
    advance(fx, 5);
    basis = of_name(fx, "d", "x");
    expect(basis.dir, first, false);
    expect(basis.verdict, named, false); /* the LOOKUP searched: the newest verdict says so */
    expect(basis.name, named, false);
    expect(basis.object, first + 2 * CACHE_NSEC_PER_MSEC, false);
    basis = of_object(fx, "f", 0x03);
    expect(basis.object, first + 2 * CACHE_NSEC_PER_MSEC, false);
    expect(basis.verdict, first + 2 * CACHE_NSEC_PER_MSEC, false);
    expect(basis.dir, fx->now, true);
    absent(fx, "d", "y");
    basis = of_name(fx, "d", "y");
    expect(basis.name, fx->now, false);
    expect(basis.object, fx->now, true);
    expect(of_object(fx, "nobody", 0).object, fx->now, true);
    expect(of_name(fx, "nobody", "x").dir, fx->now, true);
}

/* An object is settling when it was asked for less than `settle` after a mutation, and until it is asked again; names and
 * verdicts don't settle. */
static void test_settling(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(2);
    struct cache_mutation m;
    fx->ages.exclusive = true;
    fx->ages.settle = 10 * CACHE_NSEC_PER_SEC;
    fill(fx, "f", &f);
    begin(fx, &m, "f");
    cache_mutation_end(&m, fx->now);
    advance(fx, 9999);
    fill(fx, "f", &f);
    verdict(fx, "f", 0x3f, 0x3f);
    assert_true(of_object(fx, "f", 0x3f).object.may_lag);
    assert_false(of_object(fx, "f", 0x3f).verdict.may_lag);
    advance(fx, 1);
    assert_true(of_object(fx, "f", 0x3f).object.may_lag);
    fill(fx, "f", &f);
    assert_false(of_object(fx, "f", 0x3f).object.may_lag);
    fx->ages.settle = 0;
    begin(fx, &m, "f");
    cache_mutation_end(&m, fx->now);
    fill(fx, "f", &f);
    assert_false(of_object(fx, "f", 0).object.may_lag);
}

/* What was kept before a doubt, and what is filled while it lasts. */
static void test_doubtful(void **state)
{
    struct fixture *fx = *state;
    struct file d = directory(1), f = regular(2);
    fx->ages.exclusive = true;
    for (unsigned round = 0; round < 2; round++) {
        fill(fx, "d", &d);
        fill(fx, "f", &f);
        verdict(fx, "f", 0x3f, 0x3f);
        name(fx, "d", "x", "f");
        struct cache_basis basis = of_name(fx, "d", "x"), object = of_object(fx, "f", 0x3f);
        bool doubtful = round > 0;
        assert_int_equal(basis.dir.may_lag, doubtful);
        assert_int_equal(basis.verdict.may_lag, doubtful);
        assert_int_equal(basis.name.may_lag, doubtful);
        assert_int_equal(basis.object.may_lag, doubtful);
        assert_int_equal(object.object.may_lag, doubtful);
        assert_int_equal(object.verdict.may_lag, doubtful);
        cache_doubt(fx->server, fx->now + CACHE_NSEC_PER_SEC);
        basis = of_name(fx, "d", "x");
        assert_true(basis.dir.may_lag && basis.verdict.may_lag && basis.name.may_lag &&
                    basis.object.may_lag);
    }
}

/* Attributes with nlink 0, and a verdict beside them; until there is a link again. */
static void test_no_links(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(2);
    fx->ages.exclusive = true;
    for (f.nlink = 0; f.nlink < 2; f.nlink++) {
        f.ctime++;
        fill(fx, "f", &f);
        verdict(fx, "f", 0x3f, 0x3f);
        struct cache_basis basis = of_object(fx, "f", 0x3f);
        expect(basis.object, fx->now, f.nlink == 0);
        expect(basis.verdict, fx->now, f.nlink == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_clock),    TEST(test_mutation), TEST(test_name),
        TEST(test_doubt),    TEST(test_blind),    TEST(test_ages),
        TEST(test_settling), TEST(test_doubtful), TEST(test_no_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
