/*
 * files_data: what is in files: reads, writes, maps, holes, large offsets, truncates.
 */
#include "vm/files.h"

#include "vm/expect.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIZE (300u * 1024 + 77)

/* What a file should have. */
static uint8_t model[1 << 20];
static uint8_t got[1 << 20];

static void put(int fd, size_t size, off_t offset, unsigned seed)
{
    fill(model + offset, size, seed);
    write_must(fd, model + offset, size, offset);
}

/* The descriptor reads exactly the model's first octets. */
static void reads_model(int fd, size_t size, const char *what)
{
    ssize_t n = pread(fd, got, sizeof got, 0);
    expect(n == (ssize_t)size, "%s: read %zd of %zu octets", what, n, size);
    for (ssize_t i = 0; i < n && i < (ssize_t)size; i++)
        if (!expect(got[i] == model[i], "%s: octet %zd is %02x, not %02x", what, i, got[i],
                    model[i]))
            return;
}

/* As a client does that has kept nothing of it. */
static void reads_model_anew(const char *path, size_t size, const char *what)
{
    int fd = open_must(path, O_RDONLY, 0);
    must(fsync(fd) == 0, "fsync");
    must(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0, "fadvise");
    reads_model(fd, size, what);
    close(fd);
    fd = open_must(path, O_RDONLY | O_DIRECT, 0);
    reads_model(fd, size, what);
    close(fd);
}

static void read_write(void)
{
    static const size_t sizes[] = {1, 2, 511, 512, 4095, 4096, 4097, 65536, 100001};
    int fd = open_must("file", O_RDWR | O_CREAT, 0640);
    off_t at = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        put(fd, sizes[i], at, (unsigned)i);
        at += (off_t)sizes[i];
    }
    reads_model(fd, (size_t)at, "before it is closed");
    put(fd, 5000, 3000, 100); /* over pages that were written, and are not yet with the server */
    put(fd, 1, at - 1, 101);
    reads_model(fd, (size_t)at, "written over");
    must(close(fd) == 0, "close");
    reads_model_anew("file", (size_t)at, "opened again");
    struct stat st = stat_of("file");
    expect(st.st_size == at && (st.st_mode & 07777) == 0640, "size %jd, mode %o",
           (intmax_t)st.st_size, st.st_mode);
}

static void synchronous(void)
{
    int fd = open_must("file", O_RDWR | O_CREAT | O_SYNC, 0644);
    for (unsigned i = 0; i < 8; i++)
        put(fd, 3001, (off_t)i * 3001, i);
    int direct = open_must("file", O_RDWR | O_DIRECT, 0);
    reads_model(direct, 8 * 3001, "read past the cache");
    fill(model + 4096, 8192, 50);
    write_must(direct, model + 4096, 8192, 4096);
    reads_model(fd, 8 * 3001, "written past the cache");
    must(close(fd) == 0 && close(direct) == 0, "close");
    reads_model_anew("file", 8 * 3001, "opened again");
}

static void map_shared(void)
{
    int fd = open_must("file", O_RDWR | O_CREAT, 0644);
    put(fd, SIZE, 0, 1);
    uint8_t *map = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    must(map != MAP_FAILED, "mmap");
    expect(memcmp(map, model, SIZE) == 0, "the map does not show what was written before");
    put(fd, 5000, 40000, 2);
    expect(memcmp(map, model, SIZE) == 0, "the map does not show a write");
    fill(model + 9000, 20000, 3);
    memcpy(map + 9000, model + 9000, 20000);
    reads_model(fd, SIZE, "written in the map");
    must(msync(map, SIZE, MS_SYNC) == 0, "msync");
    int direct = open_must("file", O_RDONLY | O_DIRECT, 0);
    reads_model(direct, SIZE, "after msync, past the cache");
    close(direct);
    fill(model + SIZE - 700, 700, 4);
    memcpy(map + SIZE - 700, model + SIZE - 700, 700);
    must(munmap(map, SIZE) == 0 && close(fd) == 0, "munmap");
    reads_model_anew("file", SIZE, "after munmap");
    expect(stat_of("file").st_size == SIZE, "a map changes the size");
}

static void map_private(void)
{
    make_file("file", SIZE, 5);
    int fd = open_must("file", O_RDWR, 0);
    uint8_t *map = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    must(map != MAP_FAILED, "mmap");
    memset(map, 0, SIZE);
    must(munmap(map, SIZE) == 0 && close(fd) == 0, "munmap");
    has_contents("file", SIZE, 5);
}

static sigjmp_buf beyond;

static void bus_error(int sig)
{
    siglongjmp(beyond, sig);
}

static void map_end(void)
{
    int fd = open_must("file", O_RDWR | O_CREAT, 0644);
    put(fd, 3 * 4096, 0, 6);
    volatile uint8_t *map = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    must(map != MAP_FAILED, "mmap");
    expect(map[2 * 4096] == model[2 * 4096], "the third page");
    must(ftruncate(fd, 5000) == 0, "truncate");
    expect(map[4999] == model[4999] && map[5000] == 0, "the rest of the last page is not zero");
    struct sigaction act = {.sa_handler = bus_error}, before;
    must(sigaction(SIGBUS, &act, &before) == 0, "sigaction");
    if (sigsetjmp(beyond, 1) == 0) {
        map[2 * 4096] = 1;
        expect(false, "a page behind the end can be written");
    }
    must(sigaction(SIGBUS, &before, NULL) == 0, "sigaction");
    must(munmap((void *)(uintptr_t)map, 3 * 4096) == 0 && close(fd) == 0, "munmap");
    memset(model + 5000, 0, sizeof model - 5000);
    reads_model_anew("file", 5000, "cut off under a map");
}

static void append(void)
{
    int a = open_must("file", O_WRONLY | O_CREAT | O_APPEND, 0644),
        b = open_must("file", O_WRONLY | O_APPEND, 0);
    size_t size = 0;
    for (unsigned i = 0; i < 50; i++) {
        size_t n = 1 + i * 37 % 500;
        fill(model + size, n, i);
        must(write(i % 3 == 0 ? b : a, model + size, n) == (ssize_t)n, "append");
        size += n;
    }
    must(close(a) == 0 && close(b) == 0, "close");
    reads_model_anew("file", size, "appended");
}

static void truncates(void)
{
    int fd = open_must("file", O_RDWR | O_CREAT, 0644);
    put(fd, 100000, 0, 1);
    must(ftruncate(fd, 50001) == 0, "truncate");
    memset(model + 50001, 0, sizeof model - 50001);
    reads_model(fd, 50001, "made shorter");
    must(ftruncate(fd, 90000) == 0, "truncate");
    reads_model(fd, 90000, "made longer: zeros, not what was there");
    put(fd, 10, 120000, 2);
    reads_model(fd, 120010, "written behind the end");
    must(truncate("file", 70000) == 0, "truncate");
    memset(model + 70000, 0, sizeof model - 70000);
    reads_model(fd, 70000, "made shorter by name");
    must(close(fd) == 0, "close");
    reads_model_anew("file", 70000, "opened again");
    must(close(open_must("file", O_WRONLY | O_TRUNC, 0)) == 0, "close");
    expect(stat_of("file").st_size == 0, "O_TRUNC leaves something");
    must(truncate("file", 5) == 0, "truncate");
    memset(model, 0, 5);
    reads_model_anew("file", 5, "from nothing");
    expect_error(truncate("nothing", 5), ENOENT, "truncate of what is not there");
    expect_error(truncate(".", 5), EISDIR, "truncate of a directory");
}

/* A sparse file: a few octets at each place, everything else a hole. */
static void large(void)
{
    static const off_t at[] = {0, (2LL << 30) - 5, (4LL << 30) - 5, (4LL << 30) + 4096,
                               (5LL << 30) + 12345};
    uint8_t data[10], back[30];
    int fd = open_must("file", O_RDWR | O_CREAT, 0644);
    for (unsigned i = 0; i < 5; i++) {
        fill(data, sizeof data, i);
        write_must(fd, data, sizeof data, at[i]);
    }
    must(close(fd) == 0, "close");
    expect(stat_of("file").st_size == at[4] + 10, "size %jd", (intmax_t)stat_of("file").st_size);
    fd = open_must("file", O_RDWR | O_DIRECT, 0);
    for (unsigned i = 0; i < 5; i++) {
        size_t before = at[i] == 0 ? 0 : 10, after = i == 4 ? 0 : 10;
        uint8_t want[30] = {0};
        fill(want + before, 10, i);
        ssize_t n = pread(fd, back, before + 10 + after, at[i] - (off_t)before);
        expect(n == (ssize_t)(before + 10 + after) && memcmp(back, want, (size_t)n) == 0,
               "around %jd", (intmax_t)at[i]);
    }
    expect(pread(fd, back, 30, at[4] + 10) == 0, "there is something behind the end");
    must(ftruncate(fd, (4LL << 30) + 1) == 0 && close(fd) == 0, "truncate");
    expect(stat_of("file").st_size == (4LL << 30) + 1, "size %jd",
           (intmax_t)stat_of("file").st_size);
    expect(stat_of("file").st_blocks < 2048, "%jd blocks: the holes are filled",
           (intmax_t)stat_of("file").st_blocks);
}

static void offsets(void)
{
    char octet = 'x';
    int fd = open_must("file", O_RDWR | O_CREAT, 0644);
    write_must(fd, &octet, 1, 1LL << 40);
    must(fsync(fd) == 0, "fsync");
    expect(stat_of("file").st_size == (1LL << 40) + 1, "size %jd",
           (intmax_t)stat_of("file").st_size);
    must(ftruncate(fd, (1LL << 32) - 1) == 0, "truncate");
    expect(lseek(fd, 0, SEEK_END) == (1LL << 32) - 1, "end at %jd",
           (intmax_t)lseek(fd, 0, SEEK_END));
    must(ftruncate(fd, 1) == 0 && close(fd) == 0, "truncate");
    expect(stat_of("file").st_size == 1, "size %jd", (intmax_t)stat_of("file").st_size);
}

const struct file_case data_cases[] = {
    {"read-write", "reads and writes of all sizes", read_write},
    {"synchronous", "O_SYNC, and O_DIRECT beside it", synchronous},
    {"map-shared", "a shared map, writes and reads see each other; msync", map_shared},
    {"map-private", "a private map changes nothing", map_private},
    {"map-end", "a map of a file that is cut off", map_end},
    {"append", "O_APPEND by two descriptors", append},
    {"truncates", "truncates: shorter, longer, by name, to nothing", truncates},
    {"large", "a sparse file of 5 GiB", large},
    {"offsets", "offsets of 1 TiB and 4 GiB", offsets},
    {NULL, NULL, NULL},
};
