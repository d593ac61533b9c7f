/*
 * sim: runs the proxy's deciding part in simulated worlds, and checks the coherence contract after every reply.
 *
 * A seed decides everything in a run. One that breaks the contract is made as small as it can be, told, and ends the
 * program with status 1; with that seed it happens again exactly.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/run.h"
#include "sim/shrink.h"

static const char usage_text[] =
    "usage: sim [--seeds N] [--from S] [--calls N] [--quiet] [--all] [--broken]\n"
    "       sim --seed S [--calls N] [--whole]\n"
    "\n"
    "  --seeds N  so many runs (100)\n"
    "  --from S   the first seed (1)\n"
    "  --calls N  calls a run (400)\n"
    "  --quiet    a run that fails is not told\n"
    "  --broken   the program is a broken one: it is wrong if no run fails\n"
    "  --all      a run that fails does not end it: only says so, as with --quiet\n"
    "  --seed S   one run, and tells it: made small if it fails\n"
    "  --whole    tells all of it\n";

struct options {
    uint64_t seeds, from, seed;
    unsigned calls;
    bool one, quiet, all, broken, whole;
};

static void print_breach(const struct plan *plan, const struct breach *breach)
{
    printf("seed %llu: %s, %s: %s (call %u, at %.6f s)\n", (unsigned long long)plan->seed,
           clause_name(breach->clause), clause_text(breach->clause), breach->text, breach->call,
           (double)breach->at / 1e9);
}

static void tell(struct plan *plan, const struct omissions *omissions)
{
    char text[1024];
    struct outcome outcome;
    plan_print(plan, text, sizeof text);
    printf("seed %llu: %s\n", (unsigned long long)plan->seed, text);
    run_seed(plan, omissions, true, &outcome);
    if (outcome.breach.clause != CLAUSE_NONE)
        print_breach(plan, &outcome.breach);
}

static void tell_small(struct plan *plan)
{
    struct omissions omissions = {.call = NULL};
    shrink(plan, &omissions);
    tell(plan, &omissions);
    shrink_free(&omissions);
}

static int run_one(const struct options *options)
{
    struct plan plan;
    struct outcome outcome;
    plan_make(&plan, options->seed, options->calls);
    run_seed(&plan, NULL, false, &outcome);
    bool failed = outcome.breach.clause != CLAUSE_NONE;
    if (failed && !options->whole)
        tell_small(&plan);
    else
        tell(&plan, NULL);
    return failed;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int run_many(const struct options *options)
{
    struct outcome total = {.calls = 0};
    double start = now();
    uint64_t failed = 0;
    for (uint64_t i = 0; i < options->seeds; i++) {
        struct plan plan;
        struct outcome outcome;
        plan_make(&plan, options->from + i, options->calls);
        run_seed(&plan, NULL, false, &outcome);
        if (outcome.breach.clause != CLAUSE_NONE) {
            print_breach(&plan, &outcome.breach);
            failed++;
            if (!options->quiet) {
                tell_small(&plan);
                printf("told again by: sim --seed %llu\n", (unsigned long long)plan.seed);
            }
            if (!options->all)
                return !options->broken;
        }
        total.calls += outcome.calls;
        total.hits += outcome.hits;
        total.forwarded += outcome.forwarded;
        total.events += outcome.events;
    }
    double seconds = now() - start;
    printf(
        "%llu runs from seed %llu, %llu calls, %llu answered from the cache, %llu passed on: %llu broke the contract; "
        "%.0f runs a minute\n",
        (unsigned long long)options->seeds, (unsigned long long)options->from,
        (unsigned long long)total.calls, (unsigned long long)total.hits,
        (unsigned long long)total.forwarded, (unsigned long long)failed,
        (double)options->seeds * 60 / seconds);
    return options->broken ? failed == 0 : failed > 0;
}

static bool read_number(const char *text, uint64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && text[0] != '-';
}

static bool read_options(struct options *options, int argc, char **argv)
{
    static const struct option names[] = {
        {"seeds", required_argument, NULL, 'n'},
        {"from", required_argument, NULL, 'f'},
        {"calls", required_argument, NULL, 'c'},
        {"seed", required_argument, NULL, 's'},
        {"quiet", no_argument, NULL, 'q'},
        {"whole", no_argument, NULL, 'w'},
        {"all", no_argument, NULL, 'a'},
        {"broken", no_argument, NULL, 'b'},
        {NULL, 0, NULL, 0},
    };
    uint64_t calls = 0;
    bool ok = true;
    for (int c; ok && (c = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        if (c == 'n')
            ok = read_number(optarg, &options->seeds);
        else if (c == 'f')
            ok = read_number(optarg, &options->from);
        else if (c == 'c')
            ok = read_number(optarg, &calls) && calls > 0 && calls < 100000;
        else if (c == 's')
            ok = options->one = read_number(optarg, &options->seed);
        else if (c == 'q')
            options->quiet = true;
        else if (c == 'a')
            options->all = options->quiet = true;
        else if (c == 'b')
            options->broken = options->quiet = true;
        else if (c == 'w')
            options->whole = true;
        else
            ok = false;
    }
    options->calls = (unsigned)calls;
    return ok && optind == argc;
}

int main(int argc, char **argv)
{
    struct options options = {.seeds = 100, .from = 1};
    if (!read_options(&options, argc, argv)) {
        fputs(usage_text, stderr);
        return 2;
    }
    return options.one ? run_one(&options) : run_many(&options);
}
