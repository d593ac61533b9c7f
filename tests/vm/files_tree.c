/*
 * files_tree: directories, odd names, and attributes.
 */
#include "vm/files.h"

#include "vm/expect.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define MANY 700

/* Exactly one of the directory's entries has this name. */
static size_t times_listed(const char *folder, const char *name)
{
    size_t n = 0;
    DIR *dir = opendir(folder);
    must(dir != NULL, "open directory %s", folder);
    for (const struct dirent *e = readdir(dir); e != NULL; e = readdir(dir))
        n += strcmp(e->d_name, name) == 0;
    closedir(dir);
    return n;
}

static void is_name(const char *name, unsigned seed)
{
    make_file(name, 20 + seed, seed);
    has_contents(name, 20 + seed, seed);
    expect(times_listed(".", name) == 1, "%s is listed %zu times", name, times_listed(".", name));
}

static void names(void)
{
    static const char *const odd[] = {"name with spaces",
                                      "-rf",
                                      "\n",
                                      "\\",
                                      "*",
                                      "\"'`$(x)",
                                      "caf\xc3\xa9",
                                      "cafe\xcc\x81",
                                      "\xe6\x97\xa5\xe6\x9c\xac",
                                      "\xf0\x9f\x90\xa7",
                                      "\xff\xfe",
                                      "\xc3",
                                      "...",
                                      "..a",
                                      ".hidden",
                                      "UPPER",
                                      "upper"};
    char longest[NAME_MAX + 2], octet[2] = "";
    unsigned count = 0;
    for (; count < sizeof odd / sizeof *odd; count++)
        is_name(odd[count], count);
    for (int c = 1; c < 256; c++) {
        octet[0] = (char)c;
        if (c == '/' || c == '.' || c == '\n' || c == '\\' || c == '*' || c == 0xc3)
            continue;
        must(close(open_must(octet, O_WRONLY | O_CREAT | O_EXCL, 0644)) == 0, "close");
        count++;
    }
    memset(longest, 'l', NAME_MAX + 1);
    longest[NAME_MAX + 1] = '\0';
    expect_error(open(longest, O_WRONLY | O_CREAT, 0644), ENAMETOOLONG, "a name of 256 octets");
    longest[NAME_MAX] = '\0';
    is_name(longest, count++);
    longest[0] = 'L';
    must(mkdir(longest, 0755) == 0 && symlink("file", "s") == -1, "mkdir");
    memset(longest, '\xe4', NAME_MAX);
    must(rename("UPPER", longest) == 0, "rename to a long name");
    has_contents(longest, 20 + 15, 15);
    has_contents("upper", 20 + 16, 16);
    expect(count_names(".", "") == count + 1, "%zu names, not %u", count_names(".", ""), count + 1);
}

static void deep(void)
{
    char path[PATH_MAX] = "";
    for (int i = 0; i < 14; i++) {
        size_t at = strlen(path);
        snprintf(path + at, sizeof path - at, "%s%0*d", i == 0 ? "" : "/", 255, i);
        must(mkdir(path, 0755) == 0, "mkdir %d levels deep", i);
    }
    strcat(path, "/file");
    make_file(path, 100, 1);
    has_contents(path, 100, 1);
}

static void many(void)
{
    char name[64];
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "%d a name that is not very short", i);
        must(close(open_must(name, O_WRONLY | O_CREAT | O_EXCL, 0644)) == 0, "close");
    }
    expect(count_names(".", "") == MANY, "%zu names, not %d", count_names(".", ""), MANY);
    /* Names are removed while they are listed: those that stay are all listed, once. */
    DIR *dir = opendir(".");
    must(dir != NULL, "open directory");
    int seen[MANY] = {0};
    for (const struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
        if (e->d_name[0] == '.')
            continue;
        long i = strtol(e->d_name, NULL, 10);
        must(i >= 0 && i < MANY, "%s was never made", e->d_name);
        seen[i]++;
        if (i % 3 == 0)
            must(unlink(e->d_name) == 0, "unlink %s", e->d_name);
    }
    closedir(dir);
    for (int i = 0; i < MANY; i++)
        expect(seen[i] == 1, "%d is listed %d times", i, seen[i]);
    expect(count_names(".", "") == MANY - (MANY + 2) / 3, "%zu names are left",
           count_names(".", ""));
}

static void directories(void)
{
    must(mkdir("d", 0751) == 0 && mkdir("d/e", 0700) == 0, "mkdir");
    expect((stat_of("d").st_mode & 07777) == 0751, "mode %o", stat_of("d").st_mode);
    expect_error(mkdir("d", 0755), EEXIST, "a second time");
    expect_error(mkdir("x/y", 0755), ENOENT, "below nothing");
    make_file("file", 1, 1);
    expect_error(mkdir("file/y", 0755), ENOTDIR, "below a file");
    expect_error(rmdir("d"), ENOTEMPTY, "rmdir of what is not empty");
    expect_error(rmdir("file"), ENOTDIR, "rmdir of a file");
    expect_error(unlink("d"), EISDIR, "unlink of a directory");
    expect_error(unlink("nothing"), ENOENT, "unlink of nothing");
    struct stat before = stat_of("d");
    must(rmdir("d/e") == 0, "rmdir");
    struct stat after = stat_of("d");
    expect(after.st_nlink == before.st_nlink - 1, "%ju links", (uintmax_t)after.st_nlink);
    expect(memcmp(&after.st_mtim, &before.st_mtim, sizeof after.st_mtim) != 0,
           "its time is as before");
    int fd = open_must("d", O_RDONLY | O_DIRECTORY, 0);
    must(rmdir("d") == 0, "rmdir while it is open");
    expect_error(openat(fd, "new", O_WRONLY | O_CREAT, 0644), ENOENT,
                 "a file in a directory that is gone");
    close(fd);
    expect_error(access("d", F_OK), ENOENT, "what was removed");
}

static void special(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    must(mkfifo("pipe", 0620) == 0, "mkfifo");
    must(mknod("device", S_IFCHR | 0600, 0x0103) == 0 &&
             mknod("block", S_IFBLK | 0600, 0x0801) == 0,
         "mknod");
    must(fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0, "bind");
    expect(S_ISFIFO(stat_of("pipe").st_mode) && (stat_of("pipe").st_mode & 07777) == 0600,
           "pipe: %o", stat_of("pipe").st_mode);
    expect(S_ISSOCK(stat_of("socket").st_mode), "socket: %o", stat_of("socket").st_mode);
    expect(S_ISCHR(stat_of("device").st_mode) && stat_of("device").st_rdev == 0x0103, "device: %jx",
           (uintmax_t)stat_of("device").st_rdev);
    int reader = open_must("pipe", O_RDWR, 0);
    char got[5] = "";
    expect(write(reader, "pipe", 4) == 4 && read(reader, got, 4) == 4 && strcmp(got, "pipe") == 0,
           "the pipe");
    expect_error(mkfifo("pipe", 0600), EEXIST, "a pipe where one is");
    close(reader);
    close(fd);
    must(unlink("block") == 0, "unlink");
}

static void attributes(void)
{
    static const struct timespec set[2] = {{981173106, 123456789}, {4102444799, 999999999}};
    struct timespec omit[2] = {{0, UTIME_OMIT}, {7, 1}};
    make_file("file", 10, 1);
    must(mkdir("folder", 0755) == 0 && symlink("file", "link") == 0, "mkdir");
    must(chmod("file", 06711) == 0 && chmod("folder", 03770) == 0, "chmod");
    must(chown("folder", 1000, 2000) == 0 && lchown("link", 1001, 1002) == 0, "chown");
    must(utimensat(AT_FDCWD, "file", set, 0) == 0 && utimensat(AT_FDCWD, "folder", set, 0) == 0,
         "utimens");
    struct stat st = stat_of("file");
    expect(st.st_mtim.tv_sec == set[1].tv_sec && st.st_mtim.tv_nsec == set[1].tv_nsec,
           "mtime %jd.%09ld", (intmax_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
    expect(st.st_atim.tv_sec == set[0].tv_sec && st.st_atim.tv_nsec == set[0].tv_nsec,
           "atime %jd.%09ld", (intmax_t)st.st_atim.tv_sec, st.st_atim.tv_nsec);
    expect((st.st_mode & 07777) == 06711, "mode %o", st.st_mode);
    must(utimensat(AT_FDCWD, "file", omit, 0) == 0, "utimens");
    st = stat_of("file");
    expect(st.st_mtim.tv_sec == 7 && st.st_mtim.tv_nsec == 1 && st.st_atim.tv_sec == set[0].tv_sec,
           "only mtime was set");
    st = stat_of("folder");
    expect((st.st_mode & 07777) == 03770 && st.st_uid == 1000 && st.st_gid == 2000,
           "folder: %o %u %u", st.st_mode, st.st_uid, st.st_gid);
    expect(stat_of("link").st_uid == 1001 && stat_of("link").st_gid == 1002, "the link's owner");
    must(chown("file", 1002, (gid_t)-1) == 0, "chown");
    st = stat_of("file");
    expect(st.st_uid == 1002 && st.st_gid == 0 && (st.st_mode & S_ISUID) == 0, "chown: %o %u %u",
           st.st_mode, st.st_uid, st.st_gid);
    struct timespec changed = st.st_ctim;
    must(chmod("file", 0600) == 0, "chmod");
    st = stat_of("file");
    expect(memcmp(&st.st_ctim, &changed, sizeof changed) != 0, "ctime is as before");
}

const struct file_case tree_cases[] = {
    {"names", "names: 255 octets, not ASCII, not UTF-8, each octet", names},
    {"deep", "a path of 3,600 octets", deep},
    {"many", "a directory of 700 names, listed while they are removed", many},
    {"directories", "directories: made, removed, refused", directories},
    {"special", "a pipe, a socket, devices", special},
    {"attributes", "modes, owners, times to the nanosecond", attributes},
    {NULL, NULL, NULL},
};
