/*
 * check: what a test of e2e says, line by line, and its exit status.
 *
 * "ok - WHAT" and "not ok - WHAT" lines are counted by the test command. A line stands for one thing
 * that the test protects, however many single checks are behind it:
 *
 *   check_begin("RENAME over an existing file");
 *   check(a == b, "size %d, not %d", a, b);       // says why, when it fails
 *   check_end();
 */
#ifndef E2E_CHECK_H
#define E2E_CHECK_H

#include <stdbool.h>

struct nfs_reply; /* nfs_client.h */

__attribute__((format(printf, 1, 2))) void check_begin(const char *format, ...);
/* Returns `good`. The first few failures of a line are told. */
__attribute__((format(printf, 2, 3))) bool check(bool good, const char *format, ...);
void check_end(void);
/* Instead of the line that was begun. */
__attribute__((format(printf, 1, 2))) void check_skip(const char *format, ...);
/* Of main: 0, or 1 if any check failed or none was made. */
int check_status(void);

/* For what a test stands on: ends the process with status 1 when it is not so. */
__attribute__((format(printf, 2, 3))) void check_must(bool good, const char *format, ...);
/* A call had a reply, and it was a success. */
void check_ok(int err, const struct nfs_reply *r, const char *what);

#endif
