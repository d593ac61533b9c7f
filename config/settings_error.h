/*
 * settings_error: how the one error of a configuration comes to be.
 *
 * A value parser knows only what is wrong with a value: it fills in a `settings_cause`. Whoever
 * knows where the value stands makes "FILE:LINE: KEY: cause" of it. What the file's author wrote is
 * quoted cut to a readable length, and control characters never reach the log.
 */
#ifndef CONFIG_SETTINGS_ERROR_H
#define CONFIG_SETTINGS_ERROR_H

#include "config/settings.h"

#include <errno.h>

struct settings_cause {
    char text[320];
};

/* A piece of the file as messages show it: at most 60 octets and "..." if there was more. */
struct settings_quote {
    char text[64];
};

struct settings_quote settings_quote(const char *text);

__attribute__((format(printf, 2, 3))) void settings_cause_set(struct settings_cause *cause,
                                                              const char *format, ...);

/* The same for a parser to return: a compiler that sees -EINVAL knows that nothing was parsed. */
#define SETTINGS_BAD(cause, ...) (settings_cause_set((cause), __VA_ARGS__), -EINVAL)

/* Fills in the error; line 0 and key NULL are left out. Returns -EINVAL. */
int settings_error_set(struct settings_error *error, const char *file, unsigned line,
                       const char *key, const char *cause);

#endif
