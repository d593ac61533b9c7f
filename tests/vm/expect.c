#include "vm/expect.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first few say enough. */
#define TOLD_MAX 12u

static unsigned failures;

static void tell(const char *format, va_list args)
{
    printf("# ");
    vprintf(format, args);
}

bool expect(bool good, const char *format, ...)
{
    if (good)
        return true;
    if (failures++ < TOLD_MAX) {
        va_list args;
        va_start(args, format);
        tell(format, args);
        va_end(args);
        printf("\n");
    }
    return false;
}

void must(bool good, const char *format, ...)
{
    if (good)
        return;
    int error = errno;
    va_list args;
    va_start(args, format);
    tell(format, args);
    va_end(args);
    printf(" (errno: %s)\n", strerror(error));
    exit(EXIT_FAILURE);
}

bool expect_error(long result, int error, const char *what)
{
    int got = errno;
    if (result != -1)
        return expect(false, "%s: success, not %s", what, strerror(error));
    return expect(got == error, "%s: %s, not %s", what, strerror(got), strerror(error));
}

int expect_status(void)
{
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
