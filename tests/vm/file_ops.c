#include "vm/file_ops.h"

#include "vm/expect.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void fill(uint8_t *to, size_t size, unsigned seed)
{
    uint32_t state = seed * 2654435761u + 1;
    for (size_t i = 0; i < size; i++) {
        state = state * 1664525u + 1013904223u;
        to[i] = (uint8_t)(state >> 24);
    }
}

int open_must(const char *path, int flags, mode_t mode)
{
    int fd = open(path, flags, mode);
    must(fd >= 0, "open %s", path);
    return fd;
}

void write_must(int fd, const void *data, size_t size, off_t offset)
{
    ssize_t put = pwrite(fd, data, size, offset);
    must(put == (ssize_t)size, "write %zu octets at %jd: %zd", size, (intmax_t)offset, put);
}

void make_file(const char *path, size_t size, unsigned seed)
{
    uint8_t *data = malloc(size + 1);
    must(data != NULL, "memory");
    fill(data, size, seed);
    int fd = open_must(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    write_must(fd, data, size, 0);
    must(close(fd) == 0, "close %s", path);
    free(data);
}

void has_contents(const char *path, size_t size, unsigned seed)
{
    uint8_t *data = malloc(size + 1), *got = malloc(size + 1);
    must(data != NULL && got != NULL, "memory");
    fill(data, size, seed);
    int fd = open(path, O_RDONLY);
    must(fd >= 0, "open %s", path);
    ssize_t n = read(fd, got, size + 1);
    expect(n == (ssize_t)size, "%s: read %zd of %zu octets", path, n, size);
    if (n == (ssize_t)size)
        expect(memcmp(got, data, size) == 0, "%s: other contents", path);
    close(fd);
    free(got);
    free(data);
}

struct stat stat_of(const char *path)
{
    struct stat st;
    must(lstat(path, &st) == 0, "stat %s", path);
    return st;
}

size_t count_names(const char *folder, const char *prefix)
{
    size_t n = 0;
    DIR *dir = opendir(folder);
    must(dir != NULL, "open directory %s", folder);
    for (const struct dirent *e = readdir(dir); e != NULL; e = readdir(dir))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            strncmp(e->d_name, prefix, strlen(prefix)) == 0)
            n++;
    closedir(dir);
    return n;
}

void become(enum user user)
{
    gid_t groups[] = {user, PROJECT};
    must(setgroups(user == CAROL ? 1 : 2, groups) == 0 && setresgid(user, user, user) == 0 &&
             setresuid(user, user, user) == 0,
         "become %d", user);
}
