/*
 * The contract (C1 C2 C4, and for what happens outside, C5) against a model server, with seeds.
 *
 * Calls are sent, executed and answered at times that the seed decides, up to six at once, and some
 * mutations' replies are lost.
 */
#include "cache_model.h"

#include <stdio.h>
#include <string.h>

enum {
    STEPS = 4000,
    SEEDS = 12,
};

/* ---- what else happens ---- */

static void change_outside(struct world *w)
{
    if (model_draw(w, 2))
        model_bump(&w->file[model_draw(w, FILES)]);
    else
        model_bind(w, model_draw(w, DIRS), model_draw(w, NAMES),
                   (int)model_draw(w, FILES - DIRS + 1) - 1);
}

/* Other files, which push out what is cached. */
static void make_noise(struct world *w)
{
    char handle[32];
    for (unsigned i = 0; i < 8; i++) {
        unsigned n = w->noise++;
        struct file f = regular(100000 + n);
        (void)snprintf(handle, sizeof(handle), "noise-%u", n);
        fill(&w->fx, handle, &f);
        name(&w->fx, model_handle(model_dir_file(n & 1), 0), handle, handle);
        verdict(&w->fx, handle, 0x3f, n & 0x3f);
    }
}

static void step(struct world *w)
{
    struct call *c = &w->call[model_draw(w, INFLIGHT)];
    unsigned what = model_draw(w, 200);
    advance(&w->fx, model_draw(w, 20));
    if (what == 0)
        cache_doubt(w->fx.server, w->fx.now + model_draw(w, 100) * CACHE_NSEC_PER_MSEC);
    else if (what == 1)
        cache_flush(w->fx.cache, model_draw(w, 2) ? w->fx.server : NULL);
    else if (what == 2)
        cache_drop_handle(w->fx.server,
                          text(model_handle(model_draw(w, FILES), model_draw(w, HANDLES))));
    else if (what == 3)
        cache_drop_name(
            w->fx.server,
            text(model_handle(model_dir_file(model_draw(w, DIRS)), model_draw(w, HANDLES))),
            text(model_name(model_draw(w, NAMES))));
    else if (w->outside && model_draw(w, w->outside_share) == 0)
        change_outside(w);
    else if (what < 20)
        make_noise(w);
    else if (!c->used)
        model_begin(w, c);
    else if (!c->executed)
        model_execute(w, c);
    else
        model_deliver(w, c);
}

struct setting {
    bool outside, mutations, exclusive;
    uint64_t memory;
    unsigned fences;
};

static void run(uint64_t seed, const struct setting *setting, unsigned *hits, unsigned *misses)
{
    static struct world world;
    struct world *w = &world;
    memset(w, 0, sizeof(*w));
    uint8_t secret[CACHE_SECRET_LEN];
    w->seed = seed;
    w->random = seed * 0x9e3779b97f4a7c15ull + 1;
    for (unsigned i = 0; i < sizeof(secret); i++) /* other keys meet on other fences each time */
        secret[i] = (uint8_t)model_draw(w, 256);
    fixture_open_with(&w->fx, &(struct cache_options){.memory = setting->memory,
                                                      .secret = secret,
                                                      .fences = setting->fences});
    w->outside = setting->outside;
    w->mutations = setting->mutations;
    w->mutation_share = 2 + model_draw(w, 60);
    w->outside_share = 10 + model_draw(w, 300);
    w->fx.ages.exclusive = setting->exclusive;
    w->fx.ages.age_min = w->fx.ages.age_max = 3600 * CACHE_NSEC_PER_SEC;
    w->fx.ages.negative_age = w->fx.ages.access_age = 3600 * CACHE_NSEC_PER_SEC;
    for (unsigned d = 0; d < DIRS; d++)
        for (unsigned n = 0; n < NAMES; n++)
            w->binding[d][n].history[0] = n == 0 ? -1 : (int)n;
    for (unsigned i = 0; i < STEPS; i++) {
        step(w);
        if (i % 64 == 0)
            assert_true(usage(&w->fx).bytes <= setting->memory);
    }
    for (unsigned i = 0; i < INFLIGHT; i++) {
        if (w->call[i].used && !w->call[i].executed)
            model_execute(w, &w->call[i]);
        if (w->call[i].used)
            model_deliver(w, &w->call[i]);
    }
    *hits += w->hits;
    *misses += w->misses;
    fixture_close(&w->fx);
}

static void run_all(const struct setting *base, unsigned seeds)
{
    static const uint64_t memories[] = {64u << 20, 4u << 20, 32u << 10, 8u << 10, 0};
    static const unsigned fences[] = {0, 16, 1};
    for (unsigned m = 0; m < 5; m++) {
        for (unsigned f = 0; f < 3; f++) {
            unsigned hits = 0, misses = 0;
            struct setting setting = *base;
            setting.memory = memories[m];
            setting.fences = fences[f];
            for (unsigned s = 1; s <= seeds; s++)
                run(s + m * 1000 + f * 10000, &setting, &hits, &misses);
            print_message("memory %llu fences %u: %u hits, %u misses\n",
                          (unsigned long long)memories[m], fences[f], hits, misses);
            if (memories[m] >= 4u << 20 && fences[f] == 0)
                assert_true(hits > misses / 5);
            if (memories[m] == 0)
                assert_int_equal(hits, 0);
        }
    }
}

/* Everything at once: what clients do, and what happens behind the proxy's back. */
static void test_shared(void **state)
{
    (void)state;
    run_all(&(struct setting){.outside = true, .mutations = true}, SEEDS);
}

/* All writers come through the proxy: names are exact, also for mutations. */
static void test_exclusive(void **state)
{
    (void)state;
    run_all(&(struct setting){.mutations = true, .exclusive = true}, SEEDS);
}

/* Nobody writes through the proxy: what a reply shows takes verdicts along at once. */
static void test_outside_only(void **state)
{
    (void)state;
    run_all(&(struct setting){.outside = true}, SEEDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_exclusive),
        cmocka_unit_test(test_outside_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
