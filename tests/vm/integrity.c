/*
 * integrity: see integrity.h.
 *
 *   vm-integrity file|tree FOLDER SEED STEPS [--verify] [--replays]
 *   vm-integrity shared FOLDER SEED STEPS --me 0|1 [--replays]
 *   vm-integrity crowd FOLDER SEED STEPS [--verify] [--replays]
 *
 * FOLDER is there already. `crowd` is one `file` of so many steps and three `tree` of so many in all, at once, each in a folder
 * of its own below FOLDER and with a seed of its own. With --verify nothing is changed: the files are compared with what the same seed and steps
 * must have left. Exits with 1 at the first mismatch, and prints the operations that led to it.
 */
#include "vm/integrity.h"

#include "vm/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOTES 200u
#define CROWD 4u

static char notes[NOTES][400];
static unsigned noted;
static const char *whose = "";

struct draw draw_from(uint64_t seed)
{
    return (struct draw){seed * 0x9e3779b97f4a7c15u + 1};
}

/* splitmix64 */
uint32_t draw(struct draw *d, uint32_t below)
{
    uint64_t z = d->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ (z >> 31)) % below);
}

/* What `format` says, on one line: odd octets are escaped, and of the long names, which repeat, only a part is shown. */
static void say_into(char *to, size_t size, const char *format, va_list args)
{
    static const char again[] = "01234567890123456789";
    char text[8192];
    size_t n = 0;
    vsnprintf(text, sizeof text, format, args);
    for (const char *c = text; *c != '\0' && n + 5 < size; c++) {
        if (strncmp(c, again, sizeof again - 1) == 0)
            c += 9;
        else if (*c >= ' ' && *c < 0x7f)
            to[n++] = *c;
        else
            n += (size_t)snprintf(to + n, size - n, "\\x%02x", (unsigned char)*c);
    }
    to[n] = '\0';
}

void note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say_into(notes[noted % NOTES], sizeof notes[0], format, args);
    va_end(args);
    noted++;
}

void hold(bool good, const char *format, ...)
{
    if (good)
        return;
    int error = errno;
    char text[1024];
    va_list args;
    for (unsigned i = noted > NOTES ? noted - NOTES : 0; i < noted; i++)
        printf("# %s%u: %s\n", whose, i, notes[i % NOTES]);
    va_start(args, format);
    say_into(text, sizeof text, format, args);
    va_end(args);
    printf("# %s%s (errno: %s)\n", whose, text, strerror(error));
    exit(EXIT_FAILURE);
}

void drop_caches(void)
{
    int fd = open("/proc/sys/vm/drop_caches", O_WRONLY);
    hold(fd >= 0 && write(fd, "3", 1) == 1, "drop caches");
    close(fd);
}

static void run_one(const struct plan *plan, bool file)
{
    if (file)
        integrity_file(plan);
    else
        integrity_tree(plan);
    replay_report();
}

/* Each in a process and a folder of its own. */
static int run_crowd(const struct plan *plan)
{
    int bad = 0, status;
    for (unsigned i = 0; i < CROWD; i++) {
        char folder[4096], name[16];
        snprintf(folder, sizeof folder, "%s/%u", plan->folder, i);
        snprintf(name, sizeof name, "%u: ", i);
        hold(!plan->apply || mkdir(folder, 0755) == 0, "mkdir %s", folder);
        fflush(stdout);
        pid_t child = fork();
        hold(child >= 0, "fork");
        if (child == 0) {
            whose = name;
            struct plan own = *plan;
            own.folder = folder;
            own.seed = plan->seed * CROWD + i;
            own.steps = i == 0 ? plan->steps : plan->steps / (CROWD - 1) + 1;
            run_one(&own, i == 0);
            exit(EXIT_SUCCESS);
        }
    }
    while (wait(&status) > 0)
        bad |= status;
    return bad == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int usage(void)
{
    fprintf(
        stderr,
        "usage: vm-integrity file|tree|crowd|shared FOLDER SEED STEPS [--verify] [--replays] [--me 0|1]\n");
    return 2;
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return usage();
    struct plan plan = {argv[2], strtoull(argv[3], NULL, 10), (unsigned)strtoul(argv[4], NULL, 10),
                        true, false};
    unsigned me = 0;
    for (int i = 5; i < argc; i++) {
        if (strcmp(argv[i], "--verify") == 0)
            plan.apply = false;
        else if (strcmp(argv[i], "--replays") == 0)
            plan.replays = true;
        else if (strcmp(argv[i], "--me") == 0 && i + 1 < argc)
            me = (unsigned)strtoul(argv[++i], NULL, 10);
        else
            return usage();
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    umask(0);
    replay_allow(plan.replays);
    if (strcmp(argv[1], "crowd") == 0)
        return run_crowd(&plan);
    if (strcmp(argv[1], "shared") == 0) {
        integrity_shared(&plan, me);
        replay_report();
    } else if (strcmp(argv[1], "file") == 0 || strcmp(argv[1], "tree") == 0) {
        run_one(&plan, argv[1][0] == 'f');
    } else {
        return usage();
    }
    return EXIT_SUCCESS;
}
