/*
 * All of the interface from several threads at once, with an oracle: each file has a version that
 * mutators raise between begin and end. A reader notes the newest version that had been made by an
 * ended mutation, or had been shown, before it asks; what it is told must not be older (C1, C2).
 * Run under ThreadSanitizer it also shows what is not guarded.
 */
#include "cache_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "xdr/rpc.h"

enum {
    THREADS = 4,
    FILES = 32,
    HANDLES = 2,
    NAMES = 16,
    STEPS = 40000,
    NOISE = 4000,
};

struct world {
    struct fixture fx;
    atomic_uint version[FILES]; /* what the server has */
    atomic_uint floor[FILES];   /* what a client knows */
    atomic_uint hits, lookups, failures;
};

struct worker {
    struct world *world;
    pthread_t thread;
    uint64_t random;
};

static unsigned draw(struct worker *w, unsigned below)
{
    w->random = w->random * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)((w->random >> 33) % below);
}

static struct bytes handle_of(char buffer[40], unsigned file, unsigned handle)
{
    int len = snprintf(buffer, 40, "a-handle-of-some-length/%u/%u", file, handle);
    return (struct bytes){(uint8_t *)buffer, (uint32_t)len};
}

static struct bytes name_of(char buffer[40], unsigned n)
{
    int len = snprintf(buffer, 40, "name-%u", n);
    return (struct bytes){(uint8_t *)buffer, (uint32_t)len};
}

/* The first one is a directory. */
static void state_of(unsigned file, unsigned version, uint8_t fattr[NFS3_FATTR_LEN])
{
    struct file f = file == 0 ? directory(100) : regular(100 + file);
    f.size = version;
    f.ctime = version;
    file_fattr(&f, fattr);
}

static void raise_to(atomic_uint *floor, unsigned version)
{
    unsigned now = atomic_load(floor);
    while (now < version && !atomic_compare_exchange_weak(floor, &now, version))
        ;
}

static void check(struct worker *w, unsigned file, unsigned floor, const uint8_t *fattr)
{
    uint8_t expected[NFS3_FATTR_LEN];
    unsigned version = (unsigned)nfs3_fattr_size(fattr);
    state_of(file, version, expected);
    if (version < floor || memcmp(fattr, expected, NFS3_FATTR_LEN) != 0)
        atomic_fetch_add(&w->world->failures, 1);
    raise_to(&w->world->floor[file], version);
}

static struct cache_reader by(struct worker *w)
{
    struct fixture *fx = &w->world->fx;
    return (struct cache_reader){fx->server, &fx->ages, &fx->credential, fx->now};
}

static struct cache_filler from(struct worker *w, cache_stamp sent)
{
    struct fixture *fx = &w->world->fx;
    return (struct cache_filler){.server = fx->server,
                                 .credential = &fx->credential,
                                 .sent = sent,
                                 .received = tick(fx),
                                 .asked = fx->now,
                                 .exclusive = fx->ages.exclusive};
}

/* A GETATTR, or an ACCESS or LOOKUP that brings more. */
static void read_one(struct worker *w)
{
    struct world *world = w->world;
    uint8_t fattr[NFS3_FATTR_LEN];
    char buffer[40];
    unsigned file = draw(w, FILES);
    struct bytes handle = handle_of(buffer, file, draw(w, HANDLES));
    struct cache_reader reader = by(w);
    unsigned floor = atomic_load(&world->floor[file]);
    uint32_t granted;
    if (draw(w, 2) ? cache_getattr(&reader, handle, fattr)
                   : cache_access(&reader, handle, 0x3f, &granted, fattr)) {
        atomic_fetch_add(&world->hits, 1);
        check(w, file, floor, fattr);
        return;
    }
    cache_stamp sent = tick(&world->fx);
    unsigned version = atomic_load(&world->version[file]);
    state_of(file, version, fattr);
    struct cache_filler filler = from(w, sent);
    cache_fill_attributes(&filler, handle, fattr);
    cache_fill_verdict(&filler, handle, 0x3f, 0x3f);
    raise_to(&world->floor[file], version);
}

/* Each name leads to the same file always, so the handle can be checked exactly. */
static void look_up(struct worker *w)
{
    struct world *world = w->world;
    uint8_t fattr[NFS3_FATTR_LEN];
    char dir[40], of[40], child[40];
    unsigned n = draw(w, NAMES), file = n + 1;
    struct bytes in = handle_of(dir, 0, 0), text = name_of(of, n),
                 handle = handle_of(child, file, n % HANDLES);
    struct cache_reader reader = by(w);
    struct cache_found found;
    unsigned dir_floor = atomic_load(&world->floor[0]), floor = atomic_load(&world->floor[file]);
    switch (cache_lookup(&reader, in, text, &found)) {
    case CACHE_LOOKUP_FOUND:
        if (!bytes_equal((struct bytes){found.handle, found.handle_len}, handle))
            atomic_fetch_add(&world->failures, 1);
        check(w, file, floor, found.object);
        check(w, 0, dir_floor, found.dir);
        atomic_fetch_add(&world->lookups, 1);
        return;
    case CACHE_LOOKUP_ABSENT:
        atomic_fetch_add(&world->failures, 1);
        return;
    case CACHE_LOOKUP_MISS:
        break;
    }
    cache_stamp sent = tick(&world->fx);
    unsigned dir_version = atomic_load(&world->version[0]);
    unsigned version = atomic_load(&world->version[file]);
    struct cache_filler filler = from(w, sent);
    state_of(0, dir_version, fattr);
    cache_fill_attributes(&filler, in, fattr);
    state_of(file, version, fattr);
    cache_fill_attributes(&filler, handle, fattr);
    cache_fill_name(&filler, in, text, handle, true);
    raise_to(&world->floor[0], dir_version);
    raise_to(&world->floor[file], version);
}

static void mutate(struct worker *w)
{
    struct world *world = w->world;
    uint8_t before[NFS3_FATTR_LEN], after[NFS3_FATTR_LEN], wcc[NFS3_WCC_ATTR_LEN];
    struct cache_mutation m;
    char buffer[40], of[40];
    unsigned file = draw(w, FILES);
    struct bytes handle = handle_of(buffer, file, draw(w, HANDLES));
    cache_mutation_init(&m, world->fx.server);
    cache_mutation_exclusive(&m);
    cache_mutation_add_object(&m, handle);
    if (file == 0)
        cache_mutation_add_name(&m, handle, name_of(of, draw(w, NAMES)));
    cache_mutation_begin(&m, world->fx.now);
    unsigned version = atomic_fetch_add(&world->version[file], 1) + 1;
    state_of(file, version - 1, before);
    state_of(file, version, after);
    memcpy(wcc, before + 20, 8);
    memcpy(wcc + 8, before + 68, 16);
    if (draw(w, 4))
        cache_mutation_result(&m, 0, (struct nfs3_wcc){wcc, after}, RPC_AUTH_SYS, world->fx.now);
    if (!cache_mutation_identified(&m, 0))
        cache_mutation_identify(&m, 0, after);
    cache_mutation_end(&m, world->fx.now);
    raise_to(&world->floor[file], version);
}

/* Other files, so that things are evicted all the time. */
static void make_noise(struct worker *w)
{
    uint8_t fattr[NFS3_FATTR_LEN];
    char buffer[40], dir[40];
    unsigned n = FILES + draw(w, NOISE);
    struct bytes handle = handle_of(buffer, n, 0);
    struct cache_filler filler = from(w, tick(&w->world->fx));
    state_of(n, 1, fattr);
    cache_fill_attributes(&filler, handle, fattr);
    cache_fill_verdict(&filler, handle, 0x3f, 0x01);
    cache_fill_name(&filler, handle_of(dir, 0, 0), handle, handle, false);
}

static void operate(struct worker *w)
{
    struct fixture *fx = &w->world->fx;
    char buffer[40];
    struct cache_usage now;
    switch (draw(w, 16)) {
    case 0:
        cache_flush(fx->cache, draw(w, 2) ? fx->server : NULL);
        break;
    case 1:
        cache_doubt(fx->server, 0);
        break;
    case 2:
        cache_usage(fx->cache, &now);
        if (now.bytes > 33u << 20)
            atomic_fetch_add(&w->world->failures, 1);
        break;
    case 3:
        if (cache_server_get(fx->cache, "nas:2049") != fx->server)
            atomic_fetch_add(&w->world->failures, 1);
        break;
    default:
        cache_drop_handle(fx->server, handle_of(buffer, draw(w, FILES), draw(w, HANDLES)));
    }
}

static void *work(void *argument)
{
    struct worker *w = argument;
    for (unsigned i = 0; i < STEPS; i++) {
        unsigned what = draw(w, 1000);
        if (what < 3)
            operate(w);
        else if (what < 40)
            mutate(w);
        else if (what < 100)
            make_noise(w);
        else if (what < 400)
            look_up(w);
        else
            read_one(w);
    }
    return NULL;
}

static void run(uint64_t memory, unsigned fences)
{
    static struct world world;
    struct worker workers[THREADS];
    memset(&world, 0, sizeof(world));
    fixture_open(&world.fx, memory, fences);
    world.fx.ages.exclusive = true;
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.world = &world, .random = i * 977 + 1};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    print_message("memory %llu fences %u: %u attributes and %u names served\n",
                  (unsigned long long)memory, fences, atomic_load(&world.hits),
                  atomic_load(&world.lookups));
    assert_int_equal(atomic_load(&world.failures), 0);
    assert_true(usage(&world.fx).bytes <= memory);
    /* No mutation is left in flight: everything can be filled. */
    for (unsigned file = 0; file < FILES; file++) {
        uint8_t fattr[NFS3_FATTR_LEN], served[NFS3_FATTR_LEN];
        char buffer[40];
        struct cache_reader reader = by(&workers[0]);
        struct cache_filler filler = from(&workers[0], tick(&world.fx));
        state_of(file, atomic_load(&world.version[file]), fattr);
        cache_fill_attributes(&filler, handle_of(buffer, file, 0), fattr);
        assert_true(cache_getattr(&reader, handle_of(buffer, file, 0), served));
        assert_memory_equal(served, fattr, NFS3_FATTR_LEN);
    }
    fixture_close(&world.fx);
}

/* Several shards. */
static void test_large(void **state)
{
    (void)state;
    run(64ull << 20, 0);
}

/* One shard, which evicts all the time, and fences that meet. */
static void test_small(void **state)
{
    (void)state;
    run(64ull << 10, 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
