/*
 * log: one line per event worth waking up for, on standard error.
 *
 * Under systemd each line carries its priority in front, as sd-daemon(3) wants it. Any thread may
 * write.
 */
#ifndef PROXY_LOG_H
#define PROXY_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "config/settings.h"
#include "proxy/silence.h"

struct log {
    _Atomic int level;      /* enum settings_log_level; may change at any time */
    bool with_priority;     /* standard error is the journal */
    struct silence silence; /* servers of which it says that they do not respond */
};

/* At most one line in an interval for one kind of event; what is left out is counted and said with
 * the next. */
struct log_limit {
    _Atomic uint64_t next; /* monotonic ns: no line before it */
    _Atomic uint64_t suppressed;
};

void log_init(struct log *log, enum settings_log_level level);
void log_close(struct log *log);
void log_set_level(struct log *log, enum settings_log_level level);
void log_line(struct log *log, enum settings_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void log_limited(struct log *log, struct log_limit *limit, uint64_t now,
                 enum settings_log_level level, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#endif
