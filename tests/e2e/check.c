#include "e2e/check.h"

#include "e2e/nfs_client.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define TOLD_MAX 8u

/* One test is one process and one thread. */
static struct {
    char what[256];
    unsigned failures; /* of this line */
    bool skipped;
    unsigned good, bad;
} state;

void check_begin(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(state.what, sizeof state.what, format, args);
    va_end(args);
    state.failures = 0;
    state.skipped = false;
}

bool check(bool good, const char *format, ...)
{
    if (good)
        return true;
    if (state.failures++ < TOLD_MAX) {
        va_list args;
        printf("# ");
        va_start(args, format);
        vprintf(format, args);
        va_end(args);
        printf("\n");
    }
    return false;
}

void check_end(void)
{
    if (state.skipped && state.failures == 0)
        return;
    if (state.failures == 0)
        state.good++;
    else
        state.bad++;
    printf("%s - %s\n", state.failures == 0 ? "ok" : "not ok", state.what);
    fflush(stdout);
}

void check_skip(const char *format, ...)
{
    va_list args;
    state.skipped = true;
    printf("skip - ");
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
}

int check_status(void)
{
    return state.bad == 0 && state.good > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

void check_must(bool good, const char *format, ...)
{
    if (good)
        return;
    va_list args;
    printf("# ");
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\nnot ok - %s: can't go on\n", state.what);
    exit(EXIT_FAILURE);
}

void check_ok(int err, const struct nfs_reply *r, const char *what)
{
    check_must(err == 0, "%s: no reply: %d %s", what, err, r->why);
    check_must(r->status == NFS3_OK, "%s: %s", what, nfsstat3_to_str(r->status));
}
