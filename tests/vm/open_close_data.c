/*
 * open_close_data: what is in a file, and its attributes: to be seen by whoever opens it next.
 */
#include "vm/open_close.h"

#include "vm/expect.h"
#include "vm/file_ops.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE 9000u
#define LINE 16

static size_t some_size(unsigned round)
{
    return 1 + round * 3571 % SIZE;
}

static void contents_prepare(void)
{
    make_file("contents", SIZE, 0);
}

static void contents_make(unsigned round)
{
    uint8_t data[SIZE];
    fill(data, SIZE, round);
    int fd = open_must("contents", O_WRONLY, 0);
    write_must(fd, data, SIZE, 0);
    must(close(fd) == 0, "close");
}

static void contents_look(unsigned round)
{
    has_contents("contents", SIZE, round);
}

static void size_make(unsigned round)
{
    make_file("size", some_size(round), round);
}

static void size_look(unsigned round)
{
    has_contents("size", some_size(round), round);
    struct stat st = stat_of("size");
    expect(st.st_size == (off_t)some_size(round), "round %u: size %jd", round,
           (intmax_t)st.st_size);
}

static void cut_make(unsigned round)
{
    make_file("cut", SIZE, round);
    must(truncate("cut", (off_t)some_size(round)) == 0, "truncate");
}

static void cut_look(unsigned round)
{
    has_contents("cut", some_size(round), round);
}

/* A line of its own length each: nothing may be lost, and nothing overwritten. */
static void appended_make(unsigned round)
{
    char line[LINE + 1];
    snprintf(line, sizeof line, "%*u\n", LINE - 1, round);
    int fd = open_must("appended", O_WRONLY | O_CREAT | O_APPEND, 0644);
    must(write(fd, line, LINE) == LINE, "append");
    must(close(fd) == 0, "close");
}

static void appended_look(unsigned round)
{
    static char all[1 << 20];
    int fd = open_must("appended", O_RDONLY, 0);
    ssize_t n = read(fd, all, sizeof all - 1);
    close(fd);
    expect(n == (ssize_t)(round + 1) * LINE, "round %u: %zd octets were appended", round, n);
    for (unsigned i = 0; n == (ssize_t)(round + 1) * LINE && i <= round; i++)
        expect(strtoul(all + (size_t)i * LINE, NULL, 10) == i, "round %u: line %u is another one",
               round, i);
}

static void mapped_make(unsigned round)
{
    int fd = open_must("mapped", O_RDWR | O_CREAT, 0644);
    must(ftruncate(fd, SIZE) == 0, "truncate");
    uint8_t *map = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    must(map != MAP_FAILED, "mmap");
    fill(map, SIZE, round);
    must(msync(map, SIZE, MS_SYNC) == 0 && munmap(map, SIZE) == 0 && close(fd) == 0, "munmap");
}

static void mapped_look(unsigned round)
{
    uint8_t want[SIZE];
    fill(want, SIZE, round);
    int fd = open_must("mapped", O_RDONLY, 0);
    uint8_t *map = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0);
    must(map != MAP_FAILED, "mmap");
    expect(memcmp(map, want, SIZE) == 0, "round %u: the map shows something else", round);
    must(munmap(map, SIZE) == 0 && close(fd) == 0, "munmap");
}

static mode_t some_mode(unsigned round)
{
    return round / 2 % 2 == 0 ? 0644 : 0600;
}

static void mode_prepare(void)
{
    make_file("mode", 10, 1);
    must(chown("mode", ALICE, PROJECT) == 0, "chown");
}

static void mode_make(unsigned round)
{
    must(chmod("mode", some_mode(round)) == 0, "chmod");
}

/* Another user may open it, or may not. */
static void mode_look(unsigned round)
{
    int status;
    pid_t child = fork();
    must(child >= 0, "fork");
    if (child == 0) {
        become(CAROL);
        _exit(open("mode", O_RDONLY) >= 0 ? 0 : errno);
    }
    must(waitpid(child, &status, 0) == child && WIFEXITED(status), "wait");
    int want = some_mode(round) == 0644 ? 0 : EACCES;
    expect(WEXITSTATUS(status) == want, "round %u: opened by somebody else: error %d, not %d",
           round, WEXITSTATUS(status), want);
    int fd = open_must("mode", O_RDONLY, 0);
    struct stat st;
    must(fstat(fd, &st) == 0, "fstat");
    close(fd);
    expect((st.st_mode & 07777) == some_mode(round), "round %u: mode %o", round, st.st_mode);
}

static void times_prepare(void)
{
    make_file("times", 10, 1);
}

static void times_make(unsigned round)
{
    struct timespec set[2] = {{round, 1}, {1000 + round, round * 1001}};
    must(utimensat(AT_FDCWD, "times", set, 0) == 0 && chown("times", round, 7 * round) == 0,
         "utimens, chown");
}

static void times_look(unsigned round)
{
    int fd = open_must("times", O_RDONLY, 0);
    struct stat st;
    must(fstat(fd, &st) == 0, "fstat");
    close(fd);
    expect(st.st_mtim.tv_sec == 1000 + round && st.st_mtim.tv_nsec == round * 1001,
           "round %u: mtime %jd.%09ld", round, (intmax_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
    expect(st.st_uid == round && st.st_gid == 7 * round, "round %u: owner %u:%u", round, st.st_uid,
           st.st_gid);
}

const struct change data_changes[] = {
    {"contents", contents_prepare, contents_make, contents_look},
    {"size", NULL, size_make, size_look},
    {"truncate", NULL, cut_make, cut_look},
    {"append", NULL, appended_make, appended_look},
    {"map", NULL, mapped_make, mapped_look},
    {"mode", mode_prepare, mode_make, mode_look},
    {"times", times_prepare, times_make, times_look},
    {NULL, NULL, NULL, NULL},
};
