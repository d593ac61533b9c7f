/*
 * files_name: what names lead to: exclusive creation, hard and symbolic links, renames, files that lose their name while
 * they are open.
 */
#include "vm/files.h"

#include "vm/expect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define RACERS 12

/* Each tries to be the one that makes the file; exits with 0 if it was. */
static int exclusive_racer(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (fd < 0)
        return errno == EEXIST ? 1 : 2;
    char self[16];
    int n = snprintf(self, sizeof self, "%d", getpid());
    return write(fd, self, (size_t)n) == n && close(fd) == 0 ? 0 : 2;
}

static void exclusive_race(const char *path)
{
    pid_t racers[RACERS], winner = 0;
    int winners = 0, status, fd;
    for (int i = 0; i < RACERS; i++) {
        racers[i] = fork();
        must(racers[i] >= 0, "fork");
        if (racers[i] == 0)
            _exit(exclusive_racer(path));
    }
    for (int i = 0; i < RACERS; i++) {
        must(waitpid(racers[i], &status, 0) == racers[i], "wait");
        expect(WIFEXITED(status) && WEXITSTATUS(status) < 2, "%s: a racer failed", path);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
            winners++;
            winner = racers[i];
        }
    }
    char got[16] = "";
    fd = open_must(path, O_RDONLY, 0);
    must(read(fd, got, sizeof got - 1) > 0, "read");
    close(fd);
    expect(winners == 1, "%s: %d winners", path, winners);
    expect(strtol(got, NULL, 10) == winner, "%s: of %s, not %d", path, got, winner);
}

static void exclusive(void)
{
    int fd = open_must("file", O_RDWR | O_CREAT | O_EXCL, 0604);
    expect((stat_of("file").st_mode & 07777) == 0604, "mode %o", stat_of("file").st_mode);
    expect(stat_of("file").st_size == 0, "it is not empty");
    expect_error(open("file", O_RDWR | O_CREAT | O_EXCL, 0600), EEXIST, "a second time");
    must(close(fd) == 0 && unlink("file") == 0, "unlink");
    must(close(open_must("file", O_RDWR | O_CREAT | O_EXCL, 0600)) == 0, "close");
    must(symlink("nowhere", "link") == 0, "symlink");
    expect_error(open("link", O_RDWR | O_CREAT | O_EXCL, 0600), EEXIST, "where a symbolic link is");
    expect_error(open(".", O_RDWR | O_CREAT | O_EXCL, 0600), EEXIST, "where a directory is");
    for (int i = 0; i < 10; i++) {
        char name[16];
        snprintf(name, sizeof name, "race%d", i);
        exclusive_race(name);
    }
}

static void hard_links(void)
{
    make_file("a", 5000, 1);
    must(mkdir("folder", 0755) == 0 && link("a", "b") == 0 && link("b", "folder/c") == 0, "link");
    struct stat a = stat_of("a"), c = stat_of("folder/c");
    expect(a.st_nlink == 3 && c.st_nlink == 3, "%ju and %ju links", (uintmax_t)a.st_nlink,
           (uintmax_t)c.st_nlink);
    expect(a.st_ino == c.st_ino, "two names, two files");
    expect_error(link("a", "b"), EEXIST, "link where a name is");
    expect_error(link("folder", "other"), EPERM, "link to a directory");
    expect_error(link("nothing", "other"), ENOENT, "link to nothing");
    make_file("folder/c", 7000, 2);
    has_contents("a", 7000, 2);
    must(chmod("b", 0600) == 0, "chmod");
    expect((stat_of("a").st_mode & 07777) == 0600, "chmod by another name: %o",
           stat_of("a").st_mode);
    must(unlink("a") == 0, "unlink");
    expect(stat_of("b").st_nlink == 2, "%ju links", (uintmax_t)stat_of("b").st_nlink);
    must(rename("b", "folder/c") == 0, "rename to another name of the same file");
    expect(stat_of("b").st_nlink == 2, "that does nothing");
    has_contents("b", 7000, 2);
    must(unlink("folder/c") == 0, "unlink");
    expect(stat_of("b").st_nlink == 1, "%ju links", (uintmax_t)stat_of("b").st_nlink);
}

static void read_link(const char *path, const char *target)
{
    char got[2048];
    ssize_t n = readlink(path, got, sizeof got);
    must(n >= 0, "readlink %s", path);
    expect((size_t)n == strlen(target) && memcmp(got, target, (size_t)n) == 0, "%s leads to %.*s",
           path, (int)n, got);
    expect(stat_of(path).st_size == n, "%s: size %jd", path, (intmax_t)stat_of(path).st_size);
}

static void symbolic_links(void)
{
    char target[1001];
    memset(target, 't', 1000);
    target[1000] = '\0';
    make_file("file", 300, 1);
    must(mkdir("folder", 0755) == 0, "mkdir");
    must(symlink("file", "to file") == 0 && symlink("folder", "to folder") == 0, "symlink");
    must(symlink("../to file", "folder/up") == 0 && symlink("nowhere", "dangling") == 0, "symlink");
    must(symlink(target, "long") == 0 && symlink("\xc3\xa4/\xff \n", "octets") == 0, "symlink");
    must(symlink("loop", "loop") == 0, "symlink");
    read_link("to file", "file");
    read_link("folder/up", "../to file");
    read_link("long", target);
    read_link("octets", "\xc3\xa4/\xff \n");
    has_contents("to folder/up", 300, 1);
    expect_error(open("dangling", O_RDONLY), ENOENT, "what leads nowhere");
    expect_error(open("loop", O_RDONLY), ELOOP, "what leads to itself");
    expect_error(symlink("other", "loop"), EEXIST, "a link where one is");
    make_file("dangling", 10, 2);
    has_contents("nowhere", 10, 2);
    must(rename("to file", "folder/moved") == 0 && unlink("to folder") == 0, "rename, unlink");
    read_link("folder/moved", "file");
    expect(stat_of("file").st_size == 300 && S_ISDIR(stat_of("folder").st_mode),
           "what it led to is not what it was");
}

static void renames(void)
{
    make_file("a", 100, 1);
    make_file("b", 200, 2);
    must(mkdir("d1", 0755) == 0 && mkdir("d2", 0755) == 0 && mkdir("d1/below", 0755) == 0, "mkdir");
    ino_t a = stat_of("a").st_ino;
    must(rename("a", "b") == 0, "rename over a file");
    expect_error(access("a", F_OK), ENOENT, "the old name");
    expect(stat_of("b").st_ino == a, "another file");
    has_contents("b", 100, 1);
    must(rename("b", "d1/below/c") == 0 && rename("d1/below", "d2/moved") == 0,
         "rename to other directories");
    has_contents("d2/moved/c", 100, 1);
    expect(stat_of("d2/moved/c").st_ino == a, "another file");
    expect_error(access("d1/below/c", F_OK), ENOENT, "the old name");
    expect_error(rename("d2", "d2/moved/d2"), EINVAL, "into itself");
    expect_error(rename("nothing", "something"), ENOENT, "what is not there");
    expect_error(rename("d1", "d2"), ENOTEMPTY, "over a directory that is not empty");
    expect_error(rename("d2/moved/c", "d1"), EISDIR, "a file over a directory");
    expect_error(rename("d1", "d2/moved/c"), ENOTDIR, "a directory over a file");
    must(rename("d2/moved", "d1") == 0, "over an empty directory");
    has_contents("d1/c", 100, 1);
    expect(count_names("d2", "") == 0 && count_names(".", "") == 2, "something is left");
    for (int i = 0; i < 40; i++)
        must(rename(i % 2 == 0 ? "d1/c" : "d2/c", i % 2 == 0 ? "d2/c" : "d1/c") == 0,
             "rename to and fro");
    has_contents("d1/c", 100, 1);
}

/* A client keeps a file that is open by giving it another name (.nfs and digits), and takes that away at the end. */
static void hidden_is_there(const char *folder, size_t count)
{
    expect(count_names(folder, ".nfs") == count, "%s: %zu hidden files, not %zu", folder,
           count_names(folder, ".nfs"), count);
}

/* The client removes it in the background. */
static void hidden_is_gone(const char *folder)
{
    for (int i = 0; i < 1000 && count_names(folder, ".nfs") > 0; i++)
        usleep(10000);
    hidden_is_there(folder, 0);
}

static void unlink_open(void)
{
    uint8_t want[3000], got[3001];
    make_file("file", 2000, 1);
    int fd = open_must("file", O_RDWR, 0), again = open_must("file", O_RDONLY, 0);
    must(unlink("file") == 0, "unlink");
    expect_error(access("file", F_OK), ENOENT, "its name");
    hidden_is_there(".", 1);
    fill(want, 2000, 1);
    fill(want + 1500, 1500, 2);
    write_must(fd, want + 1500, 1500, 1500);
    make_file("file", 50, 3); /* another one takes the name */
    expect(pread(again, got, sizeof got, 0) == 3000 && memcmp(got, want, 3000) == 0,
           "what is open has other contents");
    must(ftruncate(fd, 7) == 0 && fsync(fd) == 0, "truncate");
    expect(pread(again, got, sizeof got, 0) == 7 && memcmp(got, want, 7) == 0,
           "what is open was not cut off");
    has_contents("file", 50, 3);
    must(close(fd) == 0, "close");
    hidden_is_there(".", 1);
    must(close(again) == 0, "close");
    hidden_is_gone(".");
    expect(count_names(".", "") == 1, "%zu names", count_names(".", ""));
}

static void rename_over_open(void)
{
    uint8_t want[2000], got[2001];
    must(mkdir("folder", 0755) == 0, "mkdir");
    make_file("new", 500, 1);
    make_file("folder/old", 2000, 2);
    int fd = open_must("folder/old", O_RDWR, 0), moved = open_must("new", O_RDONLY, 0);
    must(rename("new", "folder/old") == 0, "rename");
    hidden_is_there("folder", 1);
    has_contents("folder/old", 500, 1);
    fill(want, 2000, 2);
    expect(pread(fd, got, sizeof got, 0) == 2000 && memcmp(got, want, 2000) == 0,
           "what was replaced has other contents");
    fill(want, 500, 1);
    expect(pread(moved, got, sizeof got, 0) == 500 && memcmp(got, want, 500) == 0,
           "what was moved has other contents");
    expect_error(rmdir("folder"), ENOTEMPTY, "rmdir while there are names");
    must(close(fd) == 0 && close(moved) == 0, "close");
    hidden_is_gone("folder");
    expect(count_names("folder", "") == 1, "%zu names", count_names("folder", ""));
}

const struct file_case name_cases[] = {
    {"exclusive", "O_EXCL: once, and by one of twelve", exclusive},
    {"hard-links", "hard links: counts, contents, one after the other gone", hard_links},
    {"symbolic-links", "symbolic links: relative, long, dangling, a loop, odd octets",
     symbolic_links},
    {"renames", "renames: over files and directories, between directories, refused", renames},
    {"unlink-open", "unlink of an open file: hidden until it is closed", unlink_open},
    {"rename-over-open", "rename over an open file: hidden until it is closed", rename_over_open},
    {NULL, NULL, NULL},
};
