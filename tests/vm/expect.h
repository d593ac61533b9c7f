/*
 * expect: what a program that runs in a guest says when something is not as it should be.
 */
#ifndef VM_EXPECT_H
#define VM_EXPECT_H

#include <stdbool.h>

/* Returns `good`. If it is not, says why and counts. */
__attribute__((format(printf, 2, 3))) bool expect(bool good, const char *format, ...);
/* For what all that follows stands on: says why, with errno, and ends the process with status 1. */
__attribute__((format(printf, 2, 3))) void must(bool good, const char *format, ...);
/* `result` is -1, and errno is `error`. */
bool expect_error(long result, int error, const char *what);
/* Of main: 0, or 1 if anything was not as expected. */
int expect_status(void);

#endif
