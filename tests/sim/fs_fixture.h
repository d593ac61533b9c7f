/*
 * fs_fixture: a file system for the tests of fs, and what was told of it.
 */
#ifndef SIM_FS_FIXTURE_H
#define SIM_FS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sim/fs.h"

struct fixture {
    struct fs *fs;
    uint64_t now;    /* 1000 at first */
    char told[2048]; /* "NODE" and "DIR/NAME", in order, a space behind each */
};

extern const struct fs_who root, alice,
    bob; /* alice: 1000, 100; bob: 2000, 200, and in group 300 */

/* Times in tens, a fsid of 7. */
int fixture_setup(void **state);
int fixture_teardown(void **state);
/* Instead of the one that is there. */
void fixture_options(struct fixture *fx, struct fs_options options);

/* What was told since the last time is exactly this. */
void assert_told(struct fixture *fx, const char *told);

/* Alice's, made 100 later; nobody is told. */
fs_node make_file(struct fixture *fx, fs_node dir, const char *name, uint32_t mode);
fs_node make_dir(struct fixture *fx, fs_node dir, const char *name, uint32_t mode);
struct fs_attr attr_of(const struct fixture *fx, fs_node node);
bool is_gone(const struct fixture *fx, fs_node node);

void assert_times(const struct fixture *fx, fs_node node, uint64_t atime, uint64_t mtime,
                  uint64_t ctime);

#endif
