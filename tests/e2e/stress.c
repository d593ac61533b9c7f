/*
 * stress: many clients change and ask in one small tree, in exclusive and with `verify = 1`: each hit is compared with what
 * the server says, and each client checks what it can tell itself (stress.h).
 *
 *   e2e-stress ... [CLIENTS [READS [HITS]]]     session.h; --stat is needed
 *
 * READS: of a hundred steps so many only ask, eight questions at a time. HITS: runs until so many hits were compared, and
 * not for --seconds.
 */
#include "e2e/check.h"
#include "e2e/nfs_call.h"
#include "e2e/stat_count.h"
#include "e2e/stress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_S   20.0
#define VERIFIED_MIN 1000

static const char *const procedures[] = {"GETATTR", "LOOKUP", "ACCESS"};
#define PROCEDURES (sizeof procedures / sizeof procedures[0])

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL);
}

/* ---- what is there at first ---- */

static void make_tree(struct stress *stress, const struct session *s, struct nfs_client *c)
{
    static const char *const names[STRESS_DIRS] = {"stress", "stress-other"};
    sattr3 attributes = {.mode = {.set_it = 1, .set_mode3_u.mode = STRESS_OPEN}};
    struct nfs_reply r;
    char name[16];
    for (unsigned i = 0; i < STRESS_DIRS; i++)
        stress->dir[i] = session_folder(s, c, names[i]);
    for (unsigned i = 0; i < STRESS_COUNTERS; i++) {
        stress_counter_name(i, name);
        check_ok(nfs_call_create(c, &stress->dir[0], name, GUARDED, &attributes, NULL, &r), &r,
                 name);
        stress->counter[i].handle = r.handle;
    }
}

/* ---- the clients ---- */

static void start(struct stress *stress, const struct session *s, pid_t *pids)
{
    fflush(stdout);
    for (unsigned i = 0; i < stress->clients; i++) {
        pids[i] = fork();
        if (pids[i] == 0)
            exit(stress_work(stress, s, i));
        check_must(pids[i] > 0, "can't fork");
    }
}

static int64_t verified(const struct session *s)
{
    int64_t sum = 0;
    for (unsigned i = 0; i < PROCEDURES; i++)
        sum += stat_verify_get(s->stat, s->service, procedures[i]).verified;
    return sum;
}

/* True while all clients are there. */
static bool all_run(void)
{
    siginfo_t info = {.si_pid = 0};
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

static void run(struct stress *stress, const struct session *s, int64_t hits)
{
    pid_t pids[STRESS_CLIENTS_MAX];
    double begin = nfs_client_now(), said = begin;
    start(stress, s, pids);
    while (all_run() && (hits > 0 ? verified(s) < hits : nfs_client_now() - begin < s->seconds)) {
        pause_ms(hits > 0 ? 1000 : 100);
        if (hits > 0 && nfs_client_now() - said > 60) {
            said = nfs_client_now();
            printf("# %.0f s: %" PRId64 " hits compared\n", said - begin, verified(s));
            fflush(stdout);
        }
    }
    atomic_store(&stress->stop, true);
    for (unsigned i = 0; i < stress->clients; i++) {
        int status;
        waitpid(pids[i], &status, 0);
        check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "client %u failed", i);
    }
    printf("# %.0f s, %u clients: %" PRIu64 " calls, %" PRIu64
           " answers checked by the clients themselves\n",
           nfs_client_now() - begin, stress->clients, atomic_load(&stress->calls),
           atomic_load(&stress->answers));
}

/* ---- what was counted ---- */

/* Every hit has been compared, or it is known why not. */
static struct stat_verify settled(const struct session *s, const char *procedure)
{
    double end = nfs_client_now() + PATIENCE_S;
    for (;;) {
        struct stat_count count = stat_count_get(s->stat, s->service, procedure);
        struct stat_verify verify = stat_verify_get(s->stat, s->service, procedure);
        int64_t sum = verify.verified + verify.unclear + verify.skipped;
        if (sum == count.hits || nfs_client_now() > end) {
            check(sum == count.hits, "%s: %" PRId64 " checks for %" PRId64 " hits", procedure, sum,
                  count.hits);
            return verify;
        }
        pause_ms(50);
    }
}

static void judge(const struct session *s)
{
    int64_t all = 0;
    for (unsigned i = 0; i < PROCEDURES; i++) {
        struct stat_verify v = settled(s, procedures[i]);
        struct stat_count count = stat_count_get(s->stat, s->service, procedures[i]);
        printf("# %-8s calls %" PRId64 ", hits %" PRId64 ", verified %" PRId64 ", equal %" PRId64
               ", outdated %" PRId64 ", violations %" PRId64 ", unclear %" PRId64
               ", skipped %" PRId64 "\n",
               procedures[i], count.calls, count.hits, v.verified, v.equal, v.outdated,
               v.violations, v.unclear, v.skipped);
        check(v.violations == 0, "%s: %" PRId64 " violations", procedures[i], v.violations);
        check(v.outdated == 0, "%s: %" PRId64 " outdated, with neither doubt nor settling",
              procedures[i], v.outdated);
        check(v.equal == v.verified, "%s: the counters don't add up", procedures[i]);
        all += v.verified;
    }
    printf("# verified %" PRId64 " hits\n", all);
    check(all >= VERIFIED_MIN, "only %" PRId64 " hits were compared", all);
}

static long argument(const struct session *s, int number, long standard)
{
    return s->rest_count > number ? strtol(s->rest[number], NULL, 10) : standard;
}

int main(int argc, char **argv)
{
    struct session s;
    struct nfs_client tested, direct;
    session_parse(&s, argc, argv);
    struct stress *stress =
        mmap(NULL, sizeof *stress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    check_must(stress != MAP_FAILED, "no memory");
    long clients = argument(&s, 0, 16);
    check_must(clients > 0 && clients <= (long)STRESS_CLIENTS_MAX, "1 to %u clients",
               STRESS_CLIENTS_MAX);
    stress->clients = (unsigned)clients;
    stress->reads = (unsigned)argument(&s, 1, 80);
    session_connect(&tested, &s.tested);
    make_tree(stress, &s, &tested);

    check_begin("%ld clients in one small tree are told nothing that they know to be wrong",
                clients);
    run(stress, &s, argument(&s, 2, 0));
    check_end();
    if (s.stat == NULL)
        return check_status();
    session_connect(&direct, &s.direct);
    check_begin("afterwards the whole tree is as the server says");
    stress_compare(stress, &tested, &direct);
    check_end();
    check_begin("no hit was anything but what the server says");
    judge(&s);
    check_end();
    nfs_client_stop(&tested);
    nfs_client_stop(&direct);
    return check_status();
}
