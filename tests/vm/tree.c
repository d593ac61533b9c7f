/*
 * tree: lists a folder and all that is below it, a line each, so that two listings can be compared: of one tree as two
 * machines see it, or of a tree and its copy.
 *
 *   vm-tree [--no-times | --no-link-times] FOLDER
 *
 *   PATH TYPE MODE UID GID MTIME [NLINK SIZE WHAT]
 *
 * Octets of a name or a link's target that are not plain are escaped. WHAT is the sum of a file's contents, or where a symbolic
 * link leads. A file with several names has a sum at the first one only, which stands at the others. Of a directory
 * there is no link count and no size: these are its file system's own. The times of symbolic
 * links are left out on request.
 */
#include "vm/expect.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of a larger file only pieces are read: it has holes. */
#define WHOLE_MAX   (64L << 20)
#define PIECE       (1L << 20)
#define PIECE_EVERY (256L << 20)

struct seen {
    dev_t dev;
    ino_t ino;
    char *path;
    struct seen *next;
};

static struct seen *seen;
static bool times = true, link_times = true;

static void print_escaped(const char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c > ' ' && c < 0x7f && c != '\\')
            putchar(c);
        else
            printf("\\x%02x", c);
    }
}

/* The path under which the file was seen before, or NULL, and from now on this one. */
static const char *seen_before(const struct stat *st, const char *path)
{
    for (const struct seen *s = seen; s != NULL; s = s->next)
        if (s->ino == st->st_ino && s->dev == st->st_dev)
            return s->path;
    struct seen *s = calloc(1, sizeof *s);
    must(s != NULL, "memory");
    *s = (struct seen){st->st_dev, st->st_ino, strdup(path), seen};
    must(s->path != NULL, "memory");
    seen = s;
    return NULL;
}

/* FNV-1a, of `size` octets from `offset`. */
static uint64_t sum_piece(int fd, off_t offset, off_t size, uint64_t sum, const char *path)
{
    static uint8_t buffer[64 << 10];
    while (size > 0) {
        size_t want = size < (off_t)sizeof buffer ? (size_t)size : sizeof buffer;
        ssize_t got = pread(fd, buffer, want, offset);
        must(got >= 0, "read %s", path);
        if (got == 0)
            break;
        for (ssize_t i = 0; i < got; i++)
            sum = (sum ^ buffer[i]) * 0x100000001b3u;
        offset += got;
        size -= got;
    }
    return sum;
}

static uint64_t sum_file(int folder, const char *name, off_t size, const char *path)
{
    uint64_t sum = 0xcbf29ce484222325u;
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW);
    must(fd >= 0, "open %s", path);
    if (size <= WHOLE_MAX) {
        sum = sum_piece(fd, 0, size + 1, sum, path);
    } else {
        for (off_t at = 0; at < size; at += PIECE_EVERY)
            sum = sum_piece(fd, at > 0 ? at - PIECE / 2 : 0, PIECE, sum, path);
        sum = sum_piece(fd, size - PIECE, PIECE + 1, sum, path);
    }
    close(fd);
    return sum;
}

static char type_letter(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFREG:
        return 'f';
    case S_IFDIR:
        return 'd';
    case S_IFLNK:
        return 'l';
    case S_IFIFO:
        return 'p';
    case S_IFSOCK:
        return 's';
    case S_IFCHR:
        return 'c';
    default:
        return 'b';
    }
}

static void print_what(int folder, const char *name, const struct stat *st, const char *path)
{
    char target[PATH_MAX + 1] = "";
    printf(" %ju", (uintmax_t)st->st_nlink);
    const char *first = st->st_nlink > 1 ? seen_before(st, path) : NULL;
    if (first != NULL) {
        printf(" = ");
        print_escaped(first);
    } else if (S_ISREG(st->st_mode)) {
        printf(" %jd %016" PRIx64, (intmax_t)st->st_size,
               sum_file(folder, name, st->st_size, path));
    } else if (S_ISLNK(st->st_mode)) {
        must(readlinkat(folder, name, target, PATH_MAX) >= 0, "readlink %s", path);
        printf(" ");
        print_escaped(target);
    } else if (S_ISCHR(st->st_mode) || S_ISBLK(st->st_mode)) {
        printf(" %jx", (uintmax_t)st->st_rdev);
    }
}

static int wanted(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void list(int parent, const char *name, const char *path);

static void list_entries(int folder, const char *path)
{
    struct dirent **entries;
    int n = scandirat(folder, ".", &entries, wanted, by_name);
    must(n >= 0, "read directory %s", path);
    for (int i = 0; i < n; i++) {
        char *below = NULL;
        must(asprintf(&below, "%s%s%s", path, *path == '\0' ? "" : "/", entries[i]->d_name) >= 0,
             "memory");
        list(folder, entries[i]->d_name, below);
        free(below);
        free(entries[i]);
    }
    free(entries);
}

/* One entry, and what is below it. */
static void list(int parent, const char *name, const char *path)
{
    struct stat st;
    must(fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0, "stat %s", path);
    print_escaped(*path == '\0' ? "." : path);
    printf(" %c %04o %u %u", type_letter(st.st_mode), st.st_mode & 07777, st.st_uid, st.st_gid);
    if (times && (link_times || !S_ISLNK(st.st_mode)))
        printf(" %jd.%09ld", (intmax_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
    if (!S_ISDIR(st.st_mode)) {
        print_what(parent, name, &st, path);
        printf("\n");
        return;
    }
    printf("\n");
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    must(fd >= 0, "open directory %s", path);
    list_entries(fd, path);
    close(fd);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--no-times") == 0)
        times = false;
    else if (argc == 3 && strcmp(argv[1], "--no-link-times") == 0)
        link_times = false;
    else if (argc != 2) {
        fprintf(stderr, "usage: vm-tree [--no-times | --no-link-times] FOLDER\n");
        return 2;
    }
    list(AT_FDCWD, argv[argc - 1], "");
    return ferror(stdout) != 0;
}
