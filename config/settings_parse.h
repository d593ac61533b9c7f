/*
 * settings_parse: from the text of a file to values, and where each stood.
 */
#ifndef CONFIG_SETTINGS_PARSE_H
#define CONFIG_SETTINGS_PARSE_H

#include "config/settings_error.h"
#include "config/settings_table.h"

/* The lines that one section stood on; 0: not given. */
struct settings_lines {
    unsigned heading;
    unsigned keys[SETTINGS_ROWS]; /* by the row's index in the table */
};

struct settings_origin {
    const char *file;
    struct settings_lines daemon, cache;
    struct settings_lines services[SETTINGS_SERVICES_MAX]; /* as in settings.services */
};

/*
 * Fills in settings that are all zero: defaults first, then what the text gives. `origin` is all
 * zero but for its file. 0, or a negative errno with the error filled in; the settings are the
 * caller's to free in either case.
 */
int settings_parse_text(const char *text, size_t len, struct settings *settings,
                        struct settings_origin *origin, struct settings_error *error);

/*
 * What no single line can tell: what is missing, and what contradicts what. Parsed settings only;
 * an age that was not given follows the one that was.
 * 0, or -EINVAL with the error filled in. (settings_check.c)
 */
int settings_check(struct settings *settings, const struct settings_origin *origin,
                   struct settings_error *error);

#endif
