/*
 * stat_count: what `nfsaccel stat --json` counts for one procedure of one service.
 */
#ifndef E2E_STAT_COUNT_H
#define E2E_STAT_COUNT_H

#include <stdint.h>

struct stat_count {
    int64_t calls, hits, forwarded;
};

/* Hits that were also asked of the server. */
struct stat_verify {
    int64_t verified, equal, outdated, violations, unclear, skipped;
};

/* `command` prints the JSON. What is asked for must be in it: ends the test if not. */
struct stat_count stat_count_get(const char *command, const char *service, const char *procedure);
/* Of the three that can be answered from cache, together. */
struct stat_count stat_count_answerable(const char *command, const char *service);

struct stat_verify stat_verify_get(const char *command, const char *service, const char *procedure);

#endif
