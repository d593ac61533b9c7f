/*
 * files_users: what one user does to a file's permissions is in force for another one's next call.
 */
#include "vm/files.h"

#include "vm/expect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 60

/* Of a process that is the user: 0 if the path can be opened, else errno. */
static int try(enum user user, const char *path, int flags)
{
    int status;
    pid_t child = fork();
    must(child >= 0, "fork");
    if (child == 0) {
        become(user);
        _exit(open(path, flags) >= 0 ? 0 : errno);
    }
    must(waitpid(child, &status, 0) == child && WIFEXITED(status), "wait");
    return WEXITSTATUS(status);
}

static void may(enum user user, const char *path, int flags, bool want, int round)
{
    int error = try(user, path, flags);
    expect(error == (want ? 0 : EACCES), "round %d: %d opens %s (%x): error %d", round, user, path,
           flags, error);
}

/* `user` sets both modes, and the group of the file. */
static void change(enum user user, mode_t file, mode_t folder, gid_t group)
{
    int status;
    pid_t child = fork();
    must(child >= 0, "fork");
    if (child == 0) {
        become(user);
        must(chmod("folder", folder) == 0, "chmod");
        must(chown("file", (uid_t)-1, group) == 0, "chgrp");
        must(chmod("file", file) == 0, "chmod");
        exit(0);
    }
    must(waitpid(child, &status, 0) == child && status == 0, "the change");
}

static void at_once(void)
{
    make_file("file", 10, 1);
    must(mkdir("folder", 0755) == 0, "mkdir");
    make_file("folder/in", 10, 1);
    must(chmod(".", 0755) == 0 && chown("file", ALICE, PROJECT) == 0 &&
             chown("folder", ALICE, PROJECT) == 0,
         "chown");
    for (int i = 0; i < ROUNDS; i++) {
        change(ALICE, 0640, 0710, PROJECT);
        may(BOB, "file", O_RDONLY, true, i);
        may(BOB, "file", O_WRONLY, false, i);
        may(BOB, "folder/in", O_RDONLY, true, i);
        may(CAROL, "file", O_RDONLY, false, i);
        may(CAROL, "folder/in", O_RDONLY, false, i);
        change(ALICE, 0606, 0705, PROJECT);
        may(BOB, "file", O_RDONLY, false, i);
        may(BOB, "folder", O_RDONLY, false, i);
        may(CAROL, "file", O_RDWR, true, i);
        may(CAROL, "folder/in", O_RDONLY, true, i);
        change(ALICE, 0660, 0700, ALICE);
        may(BOB, "file", O_RDWR, false, i);
        may(ALICE, "file", O_RDWR, true, i);
    }
}

const struct file_case user_cases[] = {
    {"at-once", "a chmod or chgrp is in force for others at once", at_once},
    {NULL, NULL, NULL},
};
