/*
 * verify: a change behind the proxy's back in exclusive, with `verify = 1`: each is one violation, and what was served
 * wrongly is asked again at once. Before that, nothing but equal answers.
 *
 *   e2e-verify ...     session.h; --stat is needed
 */
#include "e2e/check.h"
#include "e2e/nfs_call.h"
#include "e2e/nfs_reply.h"
#include "e2e/session.h"
#include "e2e/stat_count.h"

#include <inttypes.h>
#include <time.h>

#define PATIENCE_S 10.0
#define ROUNDS     20u

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000L}, NULL);
}

/* Checks are made after the answer: until so many were compared. */
static struct stat_verify wait_for(const struct session *s, const char *procedure, int64_t verified)
{
    double end = nfs_client_now() + PATIENCE_S;
    struct stat_verify count = stat_verify_get(s->stat, s->service, procedure);
    while (count.verified < verified && nfs_client_now() < end) {
        pause_ms(20);
        count = stat_verify_get(s->stat, s->service, procedure);
    }
    check(count.verified == verified, "%s: %" PRId64 " were compared, not %" PRId64, procedure,
          count.verified, verified);
    check(count.verified == count.equal + count.outdated + count.violations,
          "%s: the counters don't add up", procedure);
    return count;
}

static void chmod_to(struct nfs_client *c, const struct nfs_handle *h, uint32_t mode)
{
    struct nfs_reply r;
    sattr3 attributes = {.mode = {.set_it = 1, .set_mode3_u.mode = mode}};
    check_ok(nfs_call_setattr(c, h, &attributes, NULL, &r), &r, "SETATTR");
}

static uint32_t mode_of(struct nfs_client *c, const struct nfs_handle *h)
{
    struct nfs_reply r;
    check_ok(nfs_call_getattr(c, h, &r), &r, "GETATTR");
    return r.object.value.mode;
}

int main(int argc, char **argv)
{
    struct session s;
    struct nfs_client c, direct;
    struct nfs_reply r;
    session_parse(&s, argc, argv);
    session_connect(&c, &s.tested);
    session_connect(&direct, &s.direct);
    struct nfs_handle dir = session_folder(&s, &c, "verify");
    check_ok(nfs_call_create(&c, &dir, "file", GUARDED, NULL, NULL, &r), &r, "CREATE");
    struct nfs_handle file = r.handle;
    chmod_to(&c, &file, 0600);

    check_begin("hits are compared with what the server says, and are equal");
    mode_of(&c, &file);
    struct stat_count before = stat_count_get(s.stat, s.service, "GETATTR");
    for (unsigned i = 0; i < ROUNDS; i++) {
        check(mode_of(&c, &file) == 0600, "another mode");
        check_ok(nfs_call_access(&c, &file, 0x3f, &r), &r, "ACCESS");
        check_ok(nfs_call_lookup(&c, &dir, "file", &r), &r, "LOOKUP");
    }
    struct stat_count after = stat_count_get(s.stat, s.service, "GETATTR");
    check(after.hits == before.hits + ROUNDS, "GETATTR was not answered from cache");
    static const char *const procedures[] = {"GETATTR", "LOOKUP", "ACCESS"};
    int64_t verified[3];
    for (unsigned i = 0; i < 3; i++) {
        verified[i] = stat_count_get(s.stat, s.service, procedures[i]).hits;
        struct stat_verify count = wait_for(&s, procedures[i], verified[i]);
        check(count.equal == count.verified, "%s: %" PRId64 " of %" PRId64 " are equal",
              procedures[i], count.equal, count.verified);
    }
    check_end();

    check_begin("a change behind the proxy's back is one violation, and asked again after it");
    chmod_to(&direct, &file, 0640);
    check(mode_of(&c, &file) == 0600, "not what was cached");
    struct stat_verify count = wait_for(&s, "GETATTR", verified[0] + 1);
    check(count.violations == 1 && count.outdated == 0,
          "%" PRId64 " violations, %" PRId64 " outdated", count.violations, count.outdated);
    check(mode_of(&c, &file) == 0640, "still the old mode");
    check(mode_of(&c, &file) == 0640, "the old mode again");
    count = wait_for(&s, "GETATTR", verified[0] + 2);
    check(count.violations == 1 && count.equal == verified[0] + 1, "more than one violation");
    for (unsigned i = 1; i < 3; i++)
        check(stat_verify_get(s.stat, s.service, procedures[i]).violations == 0,
              "a violation of %s", procedures[i]);
    check_end();
    nfs_client_stop(&c);
    nfs_client_stop(&direct);
    return check_status();
}
