/*
 * Names: whom they lead to, how long, and what takes them along (K05 K06 K14).
 */
#include "cache_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/name.h"

/* A directory that was asked for long ago and has not changed: fresh for a minute from now on. */
static void warm(struct fixture *fx)
{
    struct file d = directory(1), f = regular(2), g = regular(3);
    fill(fx, "d", &d);
    fill(fx, "f", &f);
    fill(fx, "g", &g);
    advance(fx, 100000);
    fill(fx, "d", &d);
    fill(fx, "f", &f);
    fill(fx, "g", &g);
}

static void name_sent(struct fixture *fx, cache_stamp sent, const char *of, const char *handle)
{
    struct cache_filler from = filler(fx, sent);
    if (*handle)
        cache_fill_name(&from, text("d"), text(of), text(handle), true);
    else
        cache_fill_absent(&from, text("d"), text(of));
}

/* What a hit says: handle and both attributes, octet for octet; NOENT with the directory's. */
static void test_found(void **state)
{
    struct fixture *fx = *state;
    struct file d = directory(1), f = regular(2);
    uint8_t fattr[NFS3_FATTR_LEN];
    struct cache_found found;
    warm(fx);
    name(fx, "d", "x", "f");
    absent(fx, "d", "y");
    struct cache_reader by = reader(fx);
    assert_int_equal(cache_lookup(&by, text("d"), text("x"), &found), CACHE_LOOKUP_FOUND);
    assert_int_equal(found.handle_len, 1);
    assert_int_equal(found.handle[0], 'f');
    file_fattr(&f, fattr);
    assert_memory_equal(found.object, fattr, NFS3_FATTR_LEN);
    file_fattr(&d, fattr);
    assert_memory_equal(found.dir, fattr, NFS3_FATTR_LEN);
    memset(&found, 0, sizeof(found));
    assert_int_equal(cache_lookup(&by, text("d"), text("y"), &found), CACHE_LOOKUP_ABSENT);
    assert_memory_equal(found.dir, fattr, NFS3_FATTR_LEN);
    assert_lookup(fx, "d", "z", NULL);
    assert_lookup(fx, "g", "x", NULL);
    assert_int_equal(usage(fx).names, 2);
}

/* 1 to 255 octets are kept, and no more. */
static void test_lengths(void **state)
{
    struct fixture *fx = *state;
    char of[300];
    warm(fx);
    memset(of, 'n', sizeof(of));
    for (unsigned len = 1; len <= 256; len++) {
        of[len] = 0;
        name(fx, "d", of, "f");
        assert_lookup(fx, "d", of, len <= 255 ? "f" : NULL);
        assert_resolve(fx, "d", of, len <= 255 ? "f" : NULL);
        of[len] = 'n';
    }
    name(fx, "d", "", "f");
    assert_lookup(fx, "d", "", NULL);
    assert_int_equal(usage(fx).names, 255);
}

/* Names need a directory and an object that are kept. */
static void test_needs_objects(void **state)
{
    struct fixture *fx = *state;
    struct file d = directory(1), f = regular(2);
    fill(fx, "f", &f);
    name(fx, "d", "x", "f");
    fill(fx, "d", &d);
    name(fx, "d", "y", "h");
    absent(fx, "e", "x");
    assert_int_equal(usage(fx).names, 0);
    name(fx, "d", "x", "f");
    assert_lookup(fx, "d", "x", "f");
}

/* In shared a name is as fresh as its directory says, also when it was read together with it. */
static void test_age(void **state)
{
    struct fixture *fx = *state;
    struct file d = directory(1), f = regular(2);
    fill(fx, "d", &d);
    fill(fx, "f", &f);
    name(fx, "d", "x", "f");
    advance(fx, 2999);
    assert_lookup(fx, "d", "x", "f");
    assert_resolve(fx, "d", "x", "f");
    advance(fx, 1);
    assert_lookup(fx, "d", "x", NULL);
    assert_resolve(fx, "d", "x", NULL);
    fill(fx, "d", &d); /* the same 3 s later, but the name was read before it could be sure */
    fill(fx, "f", &f);
    assert_lookup(fx, "d", "x", NULL);
    fx->ages.exclusive = true;
    advance(fx, 10000000);
    fx->ages.access_age = UINT64_MAX;
    assert_lookup(fx, "d", "x", "f");
    assert_resolve(fx, "d", "x", "f");
}

/* Revalidating the directory extends its names: they are not asked for one by one. */
static void test_extended(void **state)
{
    struct fixture *fx = *state;
    struct file d = directory(1), f = regular(2);
    fx->ages.access_age = UINT64_MAX;
    warm(fx);
    name(fx, "d", "x", "f");
    absent(fx, "d", "y");
    for (unsigned i = 0; i < 10; i++) {
        advance(fx, 59999);
        assert_lookup(fx, "d", "x", "f");
        assert_lookup(fx, "d", "y", NULL); /* negative-age is 30 s */
        advance(fx, 1);
        assert_lookup(fx, "d", "x", NULL);
        fill(fx, "d", &d);
        fill(fx, "f", &f);
        assert_lookup(fx, "d", "x", "f");
    }
    d.ctime++;
    fill(fx, "d", &d);
    assert_lookup(fx, "d", "x", NULL);
}

/* A name whose reply did not show the directory's state as it is kept is not vouched for by it. */
static void test_not_matched(void **state)
{
    struct fixture *fx = *state;
    struct file d = directory(1), f = regular(2);
    fx->ages.access_age = UINT64_MAX;
    warm(fx);
    cache_stamp sent = tick(fx);
    fill(fx, "d", &d); /* later than the call, and in another reply */
    name_sent(fx, sent, "x", "f");
    name(fx, "d", "y", "f");
    advance(fx, 59000);
    fill(fx, "d", &d);
    fill(fx, "f", &f);
    advance(fx, 1000);
    fill(fx, "d", &d);
    assert_lookup(fx, "d", "y", "f");
    assert_lookup(fx, "d", "x", NULL);
}

/* NOENT lives for negative-age in shared, to the millisecond. */
static void test_negative_age(void **state)
{
    struct fixture *fx = *state;
    warm(fx);
    absent(fx, "d", "x");
    advance(fx, 29999);
    assert_lookup(fx, "d", "x", "");
    assert_resolve(fx, "d", "x", "");
    advance(fx, 1);
    assert_lookup(fx, "d", "x", NULL);
    assert_resolve(fx, "d", "x", NULL);
    fx->ages.exclusive = true;
    assert_lookup(fx, "d", "x", "");
    assert_resolve(fx, "d", "x", "");
}

/* Directory and object must both be fresh to be served; to be resolved they need only be kept. */
static void test_attributes_needed(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(2);
    fx->ages.exclusive = true;
    warm(fx);
    name(fx, "d", "x", "f");
    cache_stamp sent = tick(fx);
    fill(fx, "f", &f);
    f.size++;
    fill_sent(fx, sent, "f", &f); /* in conflict: the object's attributes go */
    assert_lookup(fx, "d", "x", NULL);
    assert_resolve(fx, "d", "x", "f");
    cache_drop_handle(fx->server, text("f"));
    assert_resolve(fx, "d", "x", NULL);
}

/* Two replies about one name: in order, overlapping and the same, overlapping and not; and a third
 * that is older. */
static void test_two(void **state)
{
    struct fixture *fx = *state;
    warm(fx);
    name(fx, "d", "x", "f");
    name(fx, "d", "x", "g");
    assert_lookup(fx, "d", "x", "g");
    absent(fx, "d", "x");
    assert_lookup(fx, "d", "x", "");
    assert_int_equal(usage(fx).names, 1);

    cache_stamp first = tick(fx), second = tick(fx), third = tick(fx);
    name_sent(fx, second, "x", "f");
    name_sent(fx, first, "x", "f");
    assert_lookup(fx, "d", "x", "f");
    assert_int_equal(usage(fx).overlaps, 0);
    name_sent(fx, third, "x", "g");
    assert_lookup(fx, "d", "x", NULL);
    assert_resolve(fx, "d", "x", NULL);
    assert_int_equal(usage(fx).overlaps, 1);
    name_sent(fx, second, "x", "f");
    assert_lookup(fx, "d", "x", NULL);
    name(fx, "d", "x", "f");
    assert_lookup(fx, "d", "x", "f");
    first = tick(fx);
    name(fx, "d", "y", "f");
    name_sent(fx, first, "y", ""); /* K06, first half: NOENT is held across the appearance */
    assert_lookup(fx, "d", "y", NULL);
}

/* A reply that shows the name, and can't be kept since its object is not, is news all the same. */
static void test_contradicted_by_unknown(void **state)
{
    struct fixture *fx = *state;
    warm(fx);
    absent(fx, "d", "x");
    name(fx, "d", "x", "not kept");
    assert_lookup(fx, "d", "x", NULL);
    assert_resolve(fx, "d", "x", NULL);
    name(fx, "d", "x", "f");
    name(fx, "d", "x", "not kept");
    assert_resolve(fx, "d", "x", NULL);
    assert_int_equal(usage(fx).names, 0);
}

/* … and what was sent before it came, and says something else, is not kept. */
static void test_older_than_shown(void **state)
{
    struct fixture *fx = *state;
    warm(fx);
    cache_stamp held = tick(fx);
    name(fx, "d", "x", "not kept");
    name_sent(fx, held, "x", "f");
    assert_resolve(fx, "d", "x", NULL);
    name_sent(fx, held, "x", "");
    assert_resolve(fx, "d", "x", NULL);
    name(fx, "d", "x", "f");
    assert_resolve(fx, "d", "x", "f");
}

/* A directory that was not kept when the name was asked for: what it looks like now was seen later,
 * and the change may have been of this name. */
static void test_newborn_directory(void **state)
{
    struct fixture *fx = *state;
    struct file d = directory(1), f = regular(2);
    fill(fx, "f", &f);
    cache_stamp held = tick(fx);
    fill(fx, "d", &d);
    name_sent(fx, held, "x", "f");
    assert_resolve(fx, "d", "x", NULL);
    name_sent(fx, held, "y", "");
    assert_resolve(fx, "d", "y", NULL);
    name(fx, "d", "x", "f");
    assert_resolve(fx, "d", "x", "f");
}

/* EXIST contradicts a negative name (K06); a NOENT that was on its way can't bring it back. */
static void test_drop_name(void **state)
{
    struct fixture *fx = *state;
    warm(fx);
    absent(fx, "d", "x");
    cache_stamp sent = tick(fx);
    cache_drop_name(fx->server, text("d"), text("x"));
    assert_lookup(fx, "d", "x", NULL);
    assert_int_equal(usage(fx).names, 0);
    name_sent(fx, sent, "x", "");
    assert_lookup(fx, "d", "x", NULL);
    name(fx, "d", "x", "f");
    assert_lookup(fx, "d", "x", "f");
    cache_drop_name(fx->server, text("unknown"), text("x"));
    cache_drop_name(fx->server, text(""), text("x"));
    assert_lookup(fx, "d", "x", "f");
}

/* STALE for a handle takes all names to it along (C6); also when the handle is kept again (K14), and
 * a LOOKUP that was on its way can't bring the name back. */
static void test_stale(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(2);
    warm(fx);
    name(fx, "d", "x", "f");
    name(fx, "d", "y", "f");
    name(fx, "d", "z", "g");
    cache_stamp sent = tick(fx);
    cache_drop_handle(fx->server, text("f"));
    fill(fx, "f", &f);
    assert_lookup(fx, "d", "x", NULL);
    assert_resolve(fx, "d", "x", NULL);
    assert_lookup(fx, "d", "y", NULL);
    assert_lookup(fx, "d", "z", "g");
    name_sent(fx, sent, "x", "f");
    assert_lookup(fx, "d", "x", NULL);
    name(fx, "d", "x", "f");
    assert_lookup(fx, "d", "x", "f");
}

/* A directory whose handle is STALE takes its names along, and they don't come back with it. */
static void test_stale_directory(void **state)
{
    struct fixture *fx = *state;
    struct file d = directory(1);
    warm(fx);
    name(fx, "d", "x", "f");
    cache_drop_handle(fx->server, text("d"));
    fill(fx, "d", &d);
    verdict(fx, "d", 0x02, 0x02);
    assert_lookup(fx, "d", "x", NULL);
    assert_resolve(fx, "d", "x", NULL);
}

/* A reply that shows the directory changed means all its names, also one that is still on its way;
 * but not those that come with the very reply that shows it. */
static void test_generation(void **state)
{
    struct fixture *fx = *state;
    uint8_t fattr[NFS3_FATTR_LEN];
    struct file d = directory(1);
    warm(fx);
    name(fx, "d", "x", "f");
    cache_stamp sent = tick(fx);
    d.ctime++;
    struct cache_filler from = filler(fx, 0);
    file_fattr(&d, fattr);
    cache_fill_attributes(&from, text("d"), fattr);
    cache_fill_name(&from, text("d"), text("y"), text("g"), true);
    assert_lookup(fx, "d", "x", NULL);
    assert_lookup(fx, "d", "y", "g");
    name_sent(fx, sent, "x", "f");
    assert_lookup(fx, "d", "x", NULL);
    name(fx, "d", "x", "f");
    assert_lookup(fx, "d", "x", "f");
}

#define MANY 300000u /* names, of which some share their 32 bits with another */

struct hashed {
    uint32_t hash, number;
};

static int by_hash(const void *a, const void *b)
{
    const struct hashed *one = a, *other = b;
    return (one->hash > other->hash) - (one->hash < other->hash);
}

/* Two numbers that make names of one hash, and, of directories, in different shards. */
static void find_two(const struct cache_server *server, bool directories, char one[16],
                     char other[16])
{
    struct hashed *all = calloc(MANY, sizeof(*all));
    assert_non_null(all);
    for (unsigned i = 0; i < MANY; i++) {
        (void)snprintf(one, 16, "%u", i);
        all[i] = (struct hashed){directories ? name_hash(server, text(one), text("x"))
                                             : name_hash(server, text("d"), text(one)),
                                 i};
    }
    qsort(all, MANY, sizeof(*all), by_hash);
    for (unsigned i = 1; i < MANY; i++) {
        (void)snprintf(one, 16, "%u", all[i - 1].number);
        (void)snprintf(other, 16, "%u", all[i].number);
        if (all[i].hash == all[i - 1].hash &&
            (!directories || shard_of(server->cache, object_hash(server, text(one))) !=
                                 shard_of(server->cache, object_hash(server, text(other))))) {
            free(all);
            return;
        }
    }
    fail_msg("no two names have the same hash");
}

/* Two names that share their hash lead each to its own object. */
static void test_hash_of_two_names(void **state)
{
    struct fixture *fx = *state;
    char one[16], other[16];
    fx->ages.exclusive = true;
    warm(fx);
    find_two(fx->server, false, one, other);
    name(fx, "d", one, "f");
    assert_resolve(fx, "d", one, "f");
    assert_resolve(fx, "d", other, NULL);
    name(fx, "d", other, "g");
    assert_lookup(fx, "d", one, "f");
    assert_lookup(fx, "d", other, "g");
}

/* The same of one name in two directories, each the first of its shard. */
static void test_hash_of_two_directories(void **state)
{
    (void)state;
    struct fixture fx;
    struct file d = directory(1), e = directory(2), f = regular(3);
    char one[16], other[16];
    fixture_open(&fx, 64u << 20, 0);
    fx.ages.exclusive = true;
    find_two(fx.server, true, one, other);
    fill(&fx, one, &d);
    fill(&fx, other, &e);
    fill(&fx, "f", &f);
    name(&fx, one, "x", "f");
    assert_resolve(&fx, one, "x", "f");
    assert_resolve(&fx, other, "x", NULL);
    absent(&fx, other, "x");
    assert_resolve(&fx, one, "x", NULL); /* it had to make room */
    assert_resolve(&fx, other, "x", "");
    fixture_close(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_found),
        TEST(test_lengths),
        TEST(test_needs_objects),
        TEST(test_age),
        TEST(test_extended),
        TEST(test_not_matched),
        TEST(test_negative_age),
        TEST(test_attributes_needed),
        TEST(test_two),
        TEST(test_contradicted_by_unknown),
        TEST(test_older_than_shown),
        TEST(test_newborn_directory),
        TEST(test_drop_name),
        TEST(test_stale),
        TEST(test_stale_directory),
        TEST(test_generation),
        TEST(test_hash_of_two_names),
        TEST(test_hash_of_two_directories),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
