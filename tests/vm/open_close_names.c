/*
 * open_close_names: what a name leads to: to be seen by whoever looks it up next.
 */
#include "vm/open_close.h"

#include "vm/expect.h"
#include "vm/file_ops.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LISTED 5u

/* The name that something has in a round; a few names are in use at once. */
static const char *named(const char *what, unsigned round)
{
    static char names[4][64];
    static unsigned next;
    char *name = names[next++ % 4];
    snprintf(name, sizeof names[0], "%s-%u", what, round);
    return name;
}

static void is_gone(const char *name, unsigned round)
{
    expect(access(name, F_OK) == -1 && errno == ENOENT, "round %u: %s is still there", round, name);
}

static void create_make(unsigned round)
{
    make_file(named("new", round), 50, round);
}

/* The name of the next round was looked up, in vain. */
static void create_look(unsigned round)
{
    has_contents(named("new", round), 50, round);
    expect_error(open(named("new", round), O_WRONLY | O_CREAT | O_EXCL, 0644), EEXIST,
                 "O_EXCL of what the other made");
    is_gone(named("new", round + 1), round);
    is_gone(named("new", round + 2), round);
}

static void remove_make(unsigned round)
{
    make_file(named("old", round), 10, round);
    must(round < 2 || unlink(named("old", round - 2)) == 0, "unlink");
}

static void remove_look(unsigned round)
{
    has_contents(named("old", round), 10, round);
    if (round >= 2) {
        is_gone(named("old", round - 2), round);
        expect_error(open(named("old", round - 2), O_RDONLY), ENOENT, "what the other removed");
    }
}

static void rename_make(unsigned round)
{
    if (round == 0)
        make_file(named("moving", 0), 700, 1);
    else
        must(rename(named("moving", round - 1), named("moving", round)) == 0, "rename");
}

static void rename_look(unsigned round)
{
    static ino_t ino;
    has_contents(named("moving", round), 700, 1);
    if (round > 0)
        is_gone(named("moving", round - 1), round);
    ino_t now = stat_of(named("moving", round)).st_ino;
    expect(ino == 0 || ino == now, "round %u: another file was moved", round);
    ino = now;
}

static void replace_make(unsigned round)
{
    make_file("replacement", 100 + round, round);
    must(rename("replacement", "replaced") == 0, "rename");
}

static void replace_look(unsigned round)
{
    has_contents("replaced", 100 + round, round);
    is_gone("replacement", round);
}

static void link_make(unsigned round)
{
    if (round == 0)
        make_file("linked", 10, 1);
    must(link("linked", named("link", round)) == 0, "link");
    must(round < 2 || unlink(named("link", round - 2)) == 0, "unlink");
}

static void link_look(unsigned round)
{
    struct stat a = stat_of("linked"), b = stat_of(named("link", round));
    nlink_t want = round == 0 ? 2 : 3;
    expect(a.st_ino == b.st_ino, "round %u: two names, two files", round);
    expect(a.st_nlink == want && b.st_nlink == want, "round %u: %ju and %ju links", round,
           (uintmax_t)a.st_nlink, (uintmax_t)b.st_nlink);
    if (round >= 2)
        is_gone(named("link", round - 2), round);
}

static void symlink_make(unsigned round)
{
    must(round == 0 || unlink("pointer") == 0, "unlink");
    must(symlink(named("to", round), "pointer") == 0, "symlink");
}

static void symlink_look(unsigned round)
{
    char target[64] = "";
    must(readlink("pointer", target, sizeof target - 1) > 0, "readlink");
    expect(strcmp(target, named("to", round)) == 0, "round %u: it leads to %s", round, target);
}

static void folder_make(unsigned round)
{
    must(mkdir(named("folder", round), 0755) == 0, "mkdir");
    must(round < 2 || rmdir(named("folder", round - 2)) == 0, "rmdir");
}

static void folder_look(unsigned round)
{
    expect(count_names(named("folder", round), "") == 0, "round %u: it is not empty", round);
    if (round >= 2)
        is_gone(named("folder", round - 2), round);
}

/* What is in a directory moves with it. */
static void house_make(unsigned round)
{
    if (round == 0) {
        must(mkdir(named("house", 0), 0755) == 0 && chdir(named("house", 0)) == 0, "mkdir");
        make_file("inside", 30, 1);
        must(chdir("..") == 0, "chdir");
    } else {
        must(rename(named("house", round - 1), named("house", round)) == 0, "rename");
    }
}

static void house_look(unsigned round)
{
    char path[100];
    snprintf(path, sizeof path, "%s/inside", named("house", round));
    has_contents(path, 30, 1);
    if (round > 0) {
        snprintf(path, sizeof path, "%s/inside", named("house", round - 1));
        is_gone(path, round);
    }
}

static void list_prepare(void)
{
    must(mkdir("list", 0755) == 0, "mkdir");
}

static void list_make(unsigned round)
{
    make_file(named("list/entry", round), 0, 0);
    must(round < LISTED || unlink(named("list/entry", round - LISTED)) == 0, "unlink");
}

static void list_look(unsigned round)
{
    size_t want = round < LISTED ? round + 1 : LISTED, seen = count_names("list", "");
    expect(seen == want, "round %u: %zu names are listed, not %zu", round, seen, want);
    expect(count_names("list", named("entry", round)) == 1, "round %u: the new one is not listed",
           round);
    if (round >= LISTED)
        expect(count_names("list", named("entry", round - LISTED)) == 0,
               "round %u: the old one is listed", round);
}

const struct change name_changes[] = {
    {"create", NULL, create_make, create_look},
    {"remove", NULL, remove_make, remove_look},
    {"rename", NULL, rename_make, rename_look},
    {"rename over", NULL, replace_make, replace_look},
    {"link", NULL, link_make, link_look},
    {"symlink", NULL, symlink_make, symlink_look},
    {"mkdir, rmdir", NULL, folder_make, folder_look},
    {"rename of a directory", NULL, house_make, house_look},
    {"readdir", list_prepare, list_make, list_look},
    {NULL, NULL, NULL, NULL},
};
