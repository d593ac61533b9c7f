#include "proxy/order.h"

#include <pthread.h>
#include <stdio.h>

#include "wire.h"

/* Tickets, and whose turn came, in order. */
struct line {
    struct order *order;
    struct entrant *came[8];
    unsigned count;
};

struct entrant {
    struct order_ticket ticket;
    struct line *line;
};

static void granted(struct order_ticket *ticket)
{
    struct entrant *entrant = container_of(ticket, struct entrant, ticket);
    entrant->line->came[entrant->line->count++] = entrant;
}

static int setup(void **state)
{
    uint8_t secret[192];
    struct wire_random random = {7};
    wire_fill(&random, secret, sizeof secret);
    struct line *line = calloc(1, sizeof(*line));
    assert_non_null(line);
    line->order = order_create(secret, sizeof secret);
    assert_non_null(line->order);
    *state = line;
    return 0;
}

static int teardown(void **state)
{
    struct line *line = *state;
    order_destroy(NULL);
    order_destroy(line->order);
    free(line);
    return 0;
}

enum {
    SERVER,
    OTHER_SERVER,
};

static void enter_nothing(struct entrant *entrant, struct line *line)
{
    entrant->line = line;
    order_ticket_init(&entrant->ticket, line->order, granted);
}

static void enter(struct entrant *entrant, struct line *line, const char *name)
{
    enter_nothing(entrant, line);
    order_ticket_add(&entrant->ticket, SERVER, wire_text("dir"), wire_text(name));
}

static void enter_two(struct entrant *entrant, struct line *line, const char *name,
                      const char *name2)
{
    enter(entrant, line, name);
    order_ticket_add(&entrant->ticket, SERVER, wire_text("dir"), wire_text(name2));
}

static bool take(struct entrant *entrant)
{
    return order_take(&entrant->ticket);
}

static void release(struct entrant *entrant)
{
    order_release(&entrant->ticket);
}

/* Protects: mutations of one name go one at a time, in the order in which they came. */
static void test_one_name_in_order(void **state)
{
    struct line *line = *state;
    struct entrant t[4];
    for (unsigned i = 0; i < 4; i++)
        enter(&t[i], line, "f");
    assert_true(take(&t[0]));
    for (unsigned i = 1; i < 4; i++)
        assert_false(take(&t[i]));
    assert_int_equal(line->count, 0);
    for (unsigned i = 0; i < 3; i++) {
        release(&t[i]);
        assert_int_equal(line->count, i + 1);
        assert_ptr_equal(line->came[i], &t[i + 1]);
    }
    release(&t[3]);
    assert_int_equal(line->count, 3);
    enter(&t[0], line, "f");
    assert_true(take(&t[0])); /* nobody holds it now */
    release(&t[0]);
}

/* Protects: somebody who comes while others wait goes behind them, also after a hand-over. */
static void test_late_comer_waits_behind(void **state)
{
    struct line *line = *state;
    struct entrant t[4];
    for (unsigned i = 0; i < 4; i++)
        enter(&t[i], line, "f");
    assert_true(take(&t[0]));
    assert_false(take(&t[1]));
    assert_false(take(&t[2]));
    release(&t[0]);
    assert_false(take(&t[3]));
    release(&t[1]);
    release(&t[2]);
    release(&t[3]);
    assert_int_equal(line->count, 3);
    for (unsigned i = 0; i < 3; i++)
        assert_ptr_equal(line->came[i], &t[i + 1]);
}

/* Protects: other names, other directories and other servers never wait; nor does the split between
 * directory and name matter. */
static void test_different_names_are_independent(void **state)
{
    struct line *line = *state;
    static const struct {
        uint32_t scope;
        const char *dir, *name;
    } names[] = {{SERVER, "dir", "f"},       {SERVER, "dir", "g"}, {SERVER, "dirf", ""},
                 {OTHER_SERVER, "dir", "f"}, {SERVER, "di", "rf"}, {SERVER, "", "dirf"},
                 {SERVER, "dir", "f\x01"},   {SERVER, "dis", "f"}};
    enum {
        COUNT = sizeof names / sizeof names[0]
    };
    struct entrant t[COUNT];
    for (unsigned i = 0; i < COUNT; i++) {
        enter_nothing(&t[i], line);
        order_ticket_add(&t[i].ticket, names[i].scope, wire_text(names[i].dir),
                         wire_text(names[i].name));
        assert_true(take(&t[i]));
    }
    for (unsigned i = 0; i < COUNT; i++)
        release(&t[i]);
    assert_int_equal(line->count, 0);
}

/* Protects: nor do they where there are more names than places in the table. */
static void test_many_names(void **state)
{
    struct line *line = *state;
    enum {
        COUNT = 10000
    };
    struct entrant *t = calloc(COUNT, sizeof(*t));
    assert_non_null(t);
    for (unsigned i = 0; i < COUNT; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "%u", i);
        enter(&t[i], line, name);
        assert_true(take(&t[i]));
    }
    for (unsigned i = 0; i < COUNT; i++)
        release(&t[i]);
    assert_int_equal(line->count, 0);
    free(t);
}

/* Protects: a call that mutates no name never waits. */
static void test_no_name(void **state)
{
    struct line *line = *state;
    struct entrant t;
    enter_nothing(&t, line);
    assert_true(take(&t));
    release(&t);
    assert_int_equal(line->count, 0);
}

/* Protects: RENAME of a name to itself does not wait for itself, and holds the name once. */
static void test_same_name_twice_is_one_turn(void **state)
{
    struct line *line = *state;
    struct entrant same, next;
    enter_two(&same, line, "f", "f");
    enter(&next, line, "f");
    assert_int_equal(same.ticket.names, 1);
    assert_true(take(&same));
    assert_false(take(&next));
    release(&same);
    assert_int_equal(line->count, 1);
    release(&next);
}

/* Protects: RENAME a→b and RENAME b→a can't wait for each other, whoever comes first; and the
 * second holds nothing that others could wait for without end. */
static void test_crossed_pairs(void **state)
{
    struct line *line = *state;
    static const char *const pair[2] = {"a", "b"};
    for (unsigned first = 0; first < 2; first++) {
        struct entrant t[2];
        line->count = 0;
        enter_two(&t[0], line, pair[first], pair[!first]);
        enter_two(&t[1], line, pair[!first], pair[first]);
        assert_memory_equal(t[0].ticket.turn[0].key, t[1].ticket.turn[0].key,
                            sizeof t[0].ticket.turn[0].key);
        assert_memory_equal(t[0].ticket.turn[1].key, t[1].ticket.turn[1].key,
                            sizeof t[0].ticket.turn[1].key);
        assert_true(take(&t[0]));
        assert_false(take(&t[1]));
        release(&t[0]);
        assert_int_equal(line->count, 1);
        assert_ptr_equal(line->came[0], &t[1]);
        release(&t[1]);
    }
}

/* Protects: a pair holds both of its names, and is granted only when it has both: once. */
static void test_pair_needs_both(void **state)
{
    struct line *line = *state;
    struct entrant a, b, pair, after_a, after_b;
    enter(&a, line, "a");
    enter(&b, line, "b");
    enter_two(&pair, line, "a", "b");
    enter(&after_a, line, "a");
    enter(&after_b, line, "b");
    assert_true(take(&a));
    assert_true(take(&b));
    assert_false(take(&pair));
    release(&a);
    assert_int_equal(line->count, 0);
    release(&b);
    assert_int_equal(line->count, 1);
    assert_ptr_equal(line->came[0], &pair);
    assert_false(take(&after_a));
    assert_false(take(&after_b));
    release(&pair);
    assert_int_equal(line->count, 3);
    assert_true((line->came[1] == &after_a && line->came[2] == &after_b) ||
                (line->came[1] == &after_b && line->came[2] == &after_a));
    release(&after_a);
    release(&after_b);
}

/* Protects: one release may grant two others at once. */
static void test_pair_hands_on_both(void **state)
{
    struct line *line = *state;
    struct entrant pair, pair2, a;
    enter_two(&pair, line, "a", "b");
    enter_two(&pair2, line, "b", "a");
    enter(&a, line, "a");
    assert_true(take(&pair));
    assert_false(take(&pair2));
    assert_false(take(&a));
    release(&pair);
    /* "a" has gone to pair2 or to a, as the keys are: everybody gets there. */
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(line->count, i + 1);
        release(line->came[i]);
    }
    assert_int_equal(line->count, 2);
}

/* ---- real threads ---- */

#define THREADS    4u
#define ITERATIONS 4000u
#define NAMES      5u

struct contest {
    struct order *order;
    uint64_t holders[NAMES]; /* unguarded on purpose: the order is what guards them */
    uint64_t total[NAMES];
};

struct racer {
    struct order_ticket ticket;
    struct contest *contest;
    pthread_mutex_t lock;
    pthread_cond_t turn;
    bool granted;
    uint64_t seed;
    uint64_t did[NAMES];
    uint64_t clashes;
};

static void racer_granted(struct order_ticket *ticket)
{
    struct racer *racer = container_of(ticket, struct racer, ticket);
    pthread_mutex_lock(&racer->lock);
    racer->granted = true;
    pthread_cond_signal(&racer->turn);
    pthread_mutex_unlock(&racer->lock);
}

static void racer_work(struct racer *racer, uint32_t name)
{
    struct contest *contest = racer->contest;
    racer->clashes += contest->holders[name] != 0;
    contest->holders[name] = 1;
    contest->total[name]++;
    racer->did[name]++;
    contest->holders[name] = 0;
}

static void racer_once(struct racer *racer, struct wire_random *random)
{
    static const char *const names[NAMES] = {"a", "b", "c", "d", "e"};
    uint32_t first = wire_below(random, NAMES), second = wire_below(random, NAMES);
    racer->granted = false;
    order_ticket_init(&racer->ticket, racer->contest->order, racer_granted);
    order_ticket_add(&racer->ticket, SERVER, wire_text("dir"), wire_text(names[first]));
    order_ticket_add(&racer->ticket, SERVER, wire_text("dir"), wire_text(names[second]));
    if (!order_take(&racer->ticket)) {
        pthread_mutex_lock(&racer->lock);
        while (!racer->granted)
            pthread_cond_wait(&racer->turn, &racer->lock);
        pthread_mutex_unlock(&racer->lock);
    }
    racer_work(racer, first);
    if (second != first)
        racer_work(racer, second);
    order_release(&racer->ticket);
}

static void *racer_run(void *argument)
{
    struct racer *racer = argument;
    struct wire_random random = {racer->seed};
    for (unsigned i = 0; i < ITERATIONS; i++)
        racer_once(racer, &random);
    return NULL;
}

/* Protects: exclusion and progress (no deadlock, no lost grant) with real threads that take pairs
 * in all orders; under ThreadSanitizer also that a turn publishes what its last holder did. */
static void test_threads(void **state)
{
    struct line *line = *state;
    struct contest contest = {.order = line->order};
    struct racer racers[THREADS];
    pthread_t threads[THREADS];
    memset(racers, 0, sizeof racers);
    for (unsigned i = 0; i < THREADS; i++) {
        racers[i].contest = &contest;
        racers[i].seed = i;
        pthread_mutex_init(&racers[i].lock, NULL);
        pthread_cond_init(&racers[i].turn, NULL);
        assert_int_equal(pthread_create(&threads[i], NULL, racer_run, &racers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned n = 0; n < NAMES; n++) {
        uint64_t sum = 0;
        for (unsigned i = 0; i < THREADS; i++)
            sum += racers[i].did[n];
        assert_int_equal(contest.total[n], sum);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(racers[i].clashes, 0);
        pthread_cond_destroy(&racers[i].turn);
        pthread_mutex_destroy(&racers[i].lock);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_name_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(test_late_comer_waits_behind, setup, teardown),
        cmocka_unit_test_setup_teardown(test_different_names_are_independent, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_names, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_name, setup, teardown),
        cmocka_unit_test_setup_teardown(test_same_name_twice_is_one_turn, setup, teardown),
        cmocka_unit_test_setup_teardown(test_crossed_pairs, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pair_needs_both, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pair_hands_on_both, setup, teardown),
        cmocka_unit_test_setup_teardown(test_threads, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
