/*
 * mktree: a tree of files as a file server sees them, and then some.
 *
 *   mktree [--files N] [--dirs N] [--seed N] DIRECTORY
 *
 * The same numbers make the same tree. DIRECTORY is made, and must not exist. In it are a crowded
 * directory, a deep chain, a chain of 255-byte names whose path is longer than PATH_MAX, and a
 * random tree; empty, small, and sparse files; symbolic links (some dangling), hard links, FIFOs,
 * sockets and devices; names with spaces, newlines, UTF-8, bytes that are not UTF-8, leading
 * dashes, backslashes and percent signs; many modes, owners and times. It takes some ten megabytes
 * of disk, most of it for the directories themselves.
 *
 * As another user than root, owners and devices are left out.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define NAME_LEN_MAX 255
#define DEEP_CHAIN   40u /* levels */
#define LONG_CHAIN   20u /* levels, each with a name of 255 bytes: 5100 bytes of path */
#define CROWD_SHARE  10u /* one file in so many stands in one directory */
#define DEPTH_MAX    12u /* of the random part */
#define COUNT_MAX    10000000ul

struct name {
    char text[NAME_LEN_MAX + 1];
};

enum kind {
    KIND_EMPTY,
    KIND_SMALL,
    KIND_SPARSE,
    KIND_LINK,
    KIND_DANGLING,
    KIND_HARD_LINK,
    KIND_FIFO,
    KIND_SOCKET,
    KIND_DEVICE,
    KINDS,
};

static const char *const kind_names[KINDS] = {
    "empty",      "small", "sparse",  "symbolic links", "dangling symbolic links",
    "hard links", "FIFOs", "sockets", "devices"};

/* How many of a hundred files are of a kind. */
static const unsigned kind_shares[KINDS] = {42, 5, 30, 8, 4, 8, 1, 1, 1};

struct dir {
    uint32_t first_child; /* 0: none; the root is nobody's child */
    uint32_t next_sibling;
    uint32_t depth;
    uint32_t files;
    bool long_name;
};

struct tree {
    uint64_t random;
    struct dir *dirs;
    uint32_t dir_count;
    uint32_t file_count;
    uint32_t next_name;
    uint64_t made[KINDS];
    bool root;
};

/* Where a hard link may point to: a regular file of the directory above, or of this one. */
struct origin {
    int dir; /* -1: there is none yet */
    struct name name;
};

/* splitmix64 */
static uint64_t random_next(struct tree *t)
{
    uint64_t z = (t->random += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint32_t random_below(struct tree *t, uint64_t limit)
{
    return (uint32_t)(random_next(t) % limit);
}

static bool failed(const char *what, const char *name)
{
    fprintf(stderr, "mktree: %s %s: %s\n", what, name, strerror(errno));
    return false;
}

static struct name name_long(uint32_t number, const char *filling)
{
    struct name name;
    size_t len = (size_t)snprintf(name.text, sizeof name.text, "%07u-", number);
    size_t unit = strlen(filling);
    while (len + unit <= NAME_LEN_MAX) {
        memcpy(name.text + len, filling, unit);
        len += unit;
    }
    while (len < NAME_LEN_MAX)
        name.text[len++] = '.';
    name.text[len] = '\0';
    return name;
}

static struct name name_next(struct tree *t, const char *plain)
{
    static const char *const odd[] = {
        " spaces at both ends ",
        "two\nlines",
        "Grüße, Ωμέγα, 日本語, 🎞",
        "-rf",
        "--help=",
        "back\\slash\\",
        "100%_%s%n%2f",
        ".hidden",
        "...",
        "\t\033[31m\177",
        "caf\351 in Latin-1",
        "*?[a]'\"`$(x);&|<>",
    };
    const uint32_t odd_count = sizeof odd / sizeof *odd;
    struct name name;
    uint32_t number = t->next_name++;
    uint32_t form = random_below(t, UINT64_C(4) * odd_count);
    if (form == odd_count)
        return name_long(number, "x");
    if (form == odd_count + 1)
        return name_long(number, "日本");
    if (form < odd_count)
        (void)snprintf(name.text, sizeof name.text, "%s%u", odd[form], number);
    else
        (void)snprintf(name.text, sizeof name.text, "%s-%05u", plain, number);
    return name;
}

static bool set_owner(struct tree *t, int dir, const char *name)
{
    static const uint32_t ids[] = {0, 0, 1, 1000, 1000, 65534, 2147483648u, 4294967294u};
    const size_t id_count = sizeof ids / sizeof *ids;
    uint32_t uid = ids[random_below(t, id_count)];
    uint32_t gid = ids[random_below(t, id_count)];
    if (!t->root || fchownat(dir, name, uid, gid, AT_SYMLINK_NOFOLLOW) == 0)
        return true;
    /* A container may know only some ids. */
    return errno == EINVAL || errno == EPERM || failed("chown", name);
}

static bool set_mode(struct tree *t, int dir, const char *name)
{
    static const mode_t modes[] = {0644, 0644, 0600, 0755,  0,     0444, 0666,
                                   0640, 0711, 0555, 02755, 04755, 01777};
    mode_t mode = modes[random_below(t, sizeof modes / sizeof *modes)];
    return fchmodat(dir, name, mode, 0) == 0 || failed("chmod", name);
}

/*
 * The access time is put far ahead: under "relatime" reading a directory or a link then never
 * changes it, so that what the tests read is the same however often they do.
 */
static bool set_times(struct tree *t, int dir, const char *name)
{
    static const long odd_nanoseconds[] = {0, 1, 787086328, 999999999};
    const time_t year_2000 = 946684800;
    const time_t year_2038_end = 2177452799;
    const time_t year_2100 = 4102444800;
    struct timespec times[2] = {{.tv_sec = year_2100, .tv_nsec = 123456789}};
    uint32_t form = random_below(t, 100);
    times[1].tv_sec = form == 0 ? year_2038_end : year_2000 + random_below(t, 700000000);
    times[1].tv_nsec = form < 4 ? odd_nanoseconds[form] : random_below(t, 1000000000);
    return utimensat(dir, name, times, AT_SYMLINK_NOFOLLOW) == 0 ||
           failed("set the times of", name);
}

static bool make_regular(struct tree *t, int dir, const char *name, enum kind kind)
{
    char content[3000];
    int fd = openat(dir, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0)
        return failed("create", name);
    bool ok = true;
    if (kind == KIND_SMALL) {
        size_t len = 1 + random_below(t, sizeof content);
        memset(content, 'a' + (int)random_below(t, 26), len);
        ok = write(fd, content, len) == (ssize_t)len;
    } else if (kind == KIND_SPARSE) {
        const unsigned bits_max = 34; /* some are above 4 GiB */
        ok = ftruncate(fd, (off_t)(random_next(t) >> (64 - 1 - random_below(t, bits_max)))) == 0;
    }
    if (!ok)
        failed("write", name);
    close(fd);
    return ok;
}

static bool make_link(struct tree *t, int dir, const char *name, enum kind kind,
                      const struct origin *origin)
{
    char dangling[600];
    if (kind == KIND_LINK)
        return symlinkat(origin->name.text, dir, name) == 0 || failed("link", name);
    size_t len = 1 + random_below(t, random_below(t, 8) == 0 ? sizeof dangling - 1 : 50);
    memset(dangling, '/', len);
    for (size_t i = 1; i < len; i += 2)
        dangling[i] = (char)('a' + (int)(i % 26));
    dangling[len - 1] = '!';
    dangling[len] = '\0';
    return symlinkat(dangling, dir, name) == 0 || failed("link", name);
}

static bool make_special(const struct tree *t, int dir, const char *name, enum kind kind)
{
    mode_t type = kind == KIND_SOCKET ? S_IFSOCK : S_IFIFO;
    if (kind == KIND_DEVICE && t->root && mknodat(dir, name, S_IFCHR | 0600, makedev(1, 3)) == 0)
        return true;
    return mknodat(dir, name, type | 0600, 0) == 0 || failed("make", name);
}

static enum kind kind_pick(struct tree *t, const struct origin *origin)
{
    unsigned share = random_below(t, 100);
    unsigned kind = 0;
    while (share >= kind_shares[kind])
        share -= kind_shares[kind++];
    bool needs_origin = kind == KIND_LINK || kind == KIND_HARD_LINK;
    return needs_origin && origin->dir < 0 ? KIND_EMPTY : (enum kind)kind;
}

static bool make_file(struct tree *t, int dir, struct origin *origin)
{
    struct name name = name_next(t, "file");
    enum kind kind = kind_pick(t, origin);
    t->made[kind]++;
    bool ok;
    switch (kind) {
    case KIND_HARD_LINK:
        /* It shares everything with its origin, so nothing more is set. */
        return linkat(origin->dir, origin->name.text, dir, name.text, 0) == 0 ||
               failed("link", name.text);
    case KIND_LINK:
    case KIND_DANGLING:
        return make_link(t, dir, name.text, kind, origin) && set_owner(t, dir, name.text) &&
               set_times(t, dir, name.text);
    case KIND_FIFO:
    case KIND_SOCKET:
    case KIND_DEVICE:
        ok = make_special(t, dir, name.text, kind);
        break;
    default:
        ok = make_regular(t, dir, name.text, kind);
        if (ok)
            *origin = (struct origin){dir, name};
        break;
    }
    return ok && set_owner(t, dir, name.text) && set_mode(t, dir, name.text) &&
           set_times(t, dir, name.text);
}

/* Fills the directory that is open as `fd`, with all below it. */
static bool fill(struct tree *t, uint32_t index, int fd, struct origin origin)
{
    const struct dir *self = &t->dirs[index];
    for (uint32_t i = 0; i < self->files; i++)
        if (!make_file(t, fd, &origin))
            return false;
    for (uint32_t child = self->first_child; child != 0; child = t->dirs[child].next_sibling) {
        struct name name =
            t->dirs[child].long_name ? name_long(child, "directory") : name_next(t, "dir");
        if (mkdirat(fd, name.text, 0700) != 0)
            return failed("mkdir", name.text);
        int below = openat(fd, name.text, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (below < 0)
            return failed("open", name.text);
        bool ok = fill(t, child, below, origin);
        close(below);
        if (!ok || !set_owner(t, fd, name.text) || !set_mode(t, fd, name.text) ||
            !set_times(t, fd, name.text))
            return false;
    }
    return true;
}

static void adopt(struct tree *t, uint32_t parent, uint32_t child, bool long_name)
{
    t->dirs[child].depth = t->dirs[parent].depth + 1;
    t->dirs[child].long_name = long_name;
    t->dirs[child].next_sibling = t->dirs[parent].first_child;
    t->dirs[parent].first_child = child;
}

/* Directory 0 is the root, 1 the crowded one; then the two chains; the rest hangs wherever it is
 * not too deep. */
static void plan(struct tree *t)
{
    for (uint32_t i = 1; i < t->dir_count; i++) {
        uint32_t in_chain = i - 2;
        if (i == 1 || in_chain == 0 || in_chain == DEEP_CHAIN) {
            adopt(t, 0, i, in_chain == DEEP_CHAIN);
        } else if (in_chain < DEEP_CHAIN + LONG_CHAIN) {
            adopt(t, i - 1, i, in_chain > DEEP_CHAIN);
        } else {
            uint32_t parent;
            do
                parent = random_below(t, i);
            while (t->dirs[parent].depth >= DEPTH_MAX);
            adopt(t, parent, i, false);
        }
    }
    for (uint32_t i = 0; i < t->file_count; i++) {
        bool crowd = i % CROWD_SHARE == 0 && t->dir_count > 1;
        t->dirs[crowd ? 1 : random_below(t, t->dir_count)].files++;
    }
}

static bool build(struct tree *t, const char *path)
{
    if (mkdir(path, 0755) != 0)
        return failed("mkdir", path);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return failed("open", path);
    bool ok = fill(t, 0, fd, (struct origin){.dir = -1}) && set_times(t, AT_FDCWD, path);
    /* Some file systems count blocks only once they are written. */
    if (ok && syncfs(fd) != 0)
        ok = failed("sync", path);
    close(fd);
    return ok;
}

static void report(const struct tree *t)
{
    printf("%u files in %u directories:", t->file_count, t->dir_count);
    for (unsigned i = 0; i < KINDS; i++)
        printf("%s %llu %s", i == 0 ? "" : ",", (unsigned long long)t->made[i], kind_names[i]);
    putchar('\n');
}

static bool number(const char *text, unsigned long min, unsigned long max, unsigned long *value)
{
    char *end;
    errno = 0;
    *value = strtoul(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && *text != '-' && *value >= min &&
           *value <= max;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"files", required_argument, NULL, 'f'},
                                            {"dirs", required_argument, NULL, 'd'},
                                            {"seed", required_argument, NULL, 's'},
                                            {0}};
    unsigned long files = 20000;
    unsigned long dirs = 2400;
    unsigned long seed = 1;
    bool good = true;
    int option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == 'f')
            good = number(optarg, 0, COUNT_MAX, &files) && good;
        else if (option == 'd')
            good = number(optarg, 1, COUNT_MAX, &dirs) && good;
        else
            good = option == 's' && number(optarg, 0, UINT32_MAX, &seed) && good;
    }
    if (!good || argc - optind != 1) {
        fputs("usage: mktree [--files N] [--dirs N] [--seed N] DIRECTORY\n", stderr);
        return 2;
    }
    struct tree tree = {.random = seed,
                        .dirs = calloc(dirs, sizeof *tree.dirs),
                        .dir_count = (uint32_t)dirs,
                        .file_count = (uint32_t)files,
                        .root = geteuid() == 0};
    if (tree.dirs == NULL)
        return 1;
    plan(&tree);
    bool ok = build(&tree, argv[optind]);
    free(tree.dirs);
    if (ok)
        report(&tree);
    return ok ? 0 : 1;
}
