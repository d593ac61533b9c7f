/*
 * files: what a file system must do, asserted by a client of it, one case after the other.
 *
 *   vm-files                 lists the cases: NAME WHAT
 *   vm-files FOLDER NAME     runs one in FOLDER/NAME, which it makes
 *
 * Says what is not as it should be, and exits with 1 then.
 */
#include "vm/files.h"

#include "vm/expect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct file_case *const all_cases[] = {data_cases, name_cases, tree_cases, user_cases};

static const struct file_case *case_named(const char *name)
{
    for (size_t i = 0; i < sizeof all_cases / sizeof *all_cases; i++)
        for (const struct file_case *c = all_cases[i]; c->name != NULL; c++) {
            if (name == NULL)
                printf("%s %s\n", c->name, c->what);
            else if (strcmp(c->name, name) == 0)
                return c;
        }
    return NULL;
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 1) {
        case_named(NULL);
        return 0;
    }
    const struct file_case *c = argc == 3 ? case_named(argv[2]) : NULL;
    if (c == NULL) {
        fprintf(stderr, "usage: vm-files [FOLDER NAME]\n");
        return 2;
    }
    umask(022);
    must(chdir(argv[1]) == 0 && mkdir(c->name, 0777) == 0 && chdir(c->name) == 0, "%s in %s",
         c->name, argv[1]);
    c->run();
    return expect_status();
}
