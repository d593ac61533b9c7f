#include "vm/turns.h"

#include "vm/expect.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_S 240
#define DIGITS     12
#define NAP_US     2000

static int fd = -1;

void turns_begin(const char *path, int me)
{
    for (int i = 0; fd < 0 && i < PATIENCE_S * 20; i++) {
        if (i > 0)
            usleep(50000);
        fd = open(path, O_RDWR | O_DIRECT | (me == 0 ? O_CREAT : 0), 0666);
    }
    must(fd >= 0, "open %s", path);
    if (me == 0)
        turns_done(-1u);
}

/* How many are over. */
static unsigned turns_over(void)
{
    char text[DIGITS + 1] = "";
    ssize_t n = pread(fd, text, DIGITS, 0);
    must(n >= 0, "read whose turn it is");
    return n == DIGITS ? (unsigned)strtoul(text, NULL, 10) : 0;
}

void turns_wait(unsigned turn)
{
    time_t end = time(NULL) + PATIENCE_S;
    for (; turns_over() < turn; usleep(NAP_US))
        must(time(NULL) < end, "turn %u does not end", turn);
}

void turns_done(unsigned turn)
{
    char text[DIGITS + 1];
    snprintf(text, sizeof text, "%0*u", DIGITS, turn + 1);
    ssize_t n = pwrite(fd, text, DIGITS, 0);
    must(n == DIGITS, "write whose turn it is");
}
