/*
 * log: a line is made whole first and written with one call, so that lines of several threads don't
 * mix.
 */
#include "proxy/log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_LEN   3072 /* VIOLATION_TEXT_MAX, and what stands around it */
#define LIMIT_INTERVAL 5000000000ull

void log_init(struct log *log, enum settings_log_level level)
{
    atomic_store(&log->level, (int)level);
    log->with_priority = getenv("JOURNAL_STREAM") != NULL;
    silence_init(&log->silence);
}

void log_close(struct log *log)
{
    silence_destroy(&log->silence);
}

void log_set_level(struct log *log, enum settings_log_level level)
{
    atomic_store(&log->level, (int)level);
}

/* syslog(3) priorities. */
static int priority_of(enum settings_log_level level)
{
    static const int priorities[] = {
        [SETTINGS_LOG_ERROR] = 3,
        [SETTINGS_LOG_WARNING] = 4,
        [SETTINGS_LOG_INFO] = 6,
        [SETTINGS_LOG_DEBUG] = 7,
    };
    return priorities[level];
}

static void write_all(const char *line, size_t len)
{
    while (len > 0) {
        ssize_t n = write(STDERR_FILENO, line, len);
        if (n <= 0)
            return; /* nobody to tell */
        line += n;
        len -= (size_t)n;
    }
}

/* Control characters in names that clients chose must not forge lines. */
static void defuse(char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
    }
}

static void vline(struct log *log, enum settings_log_level level, uint64_t suppressed,
                  const char *format, va_list args)
{
    char line[LINE_MAX_LEN];
    int at = 0;
    if (log->with_priority)
        at = snprintf(line, sizeof(line), "<%d>", priority_of(level));
    else
        at = snprintf(line, sizeof(line), "nfsaccel: ");
    if (at < 0)
        return;
    int text = vsnprintf(line + at, sizeof(line) - (size_t)at - 1, format, args);
    if (text < 0)
        return;
    defuse(line + at);
    size_t len = strlen(line);
    if (suppressed > 0 && len < sizeof(line) - 1) {
        int more = snprintf(line + len, sizeof(line) - len - 1,
                            " (%" PRIu64 " more like this were not logged)", suppressed);
        if (more < 0)
            return;
        len = strlen(line);
    }
    line[len++] = '\n';
    write_all(line, len);
}

void log_line(struct log *log, enum settings_log_level level, const char *format, ...)
{
    if ((int)level > atomic_load_explicit(&log->level, memory_order_relaxed))
        return;
    va_list args;
    va_start(args, format);
    vline(log, level, 0, format, args);
    va_end(args);
}

void log_limited(struct log *log, struct log_limit *limit, uint64_t now,
                 enum settings_log_level level, const char *format, ...)
{
    if ((int)level > atomic_load_explicit(&log->level, memory_order_relaxed))
        return;
    uint64_t next = atomic_load(&limit->next);
    if (now < next || !atomic_compare_exchange_strong(&limit->next, &next, now + LIMIT_INTERVAL)) {
        atomic_fetch_add(&limit->suppressed, 1);
        return;
    }
    va_list args;
    va_start(args, format);
    vline(log, level, atomic_exchange(&limit->suppressed, 0), format, args);
    va_end(args);
}
