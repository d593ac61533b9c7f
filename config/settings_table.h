/*
 * settings_table: one row per key. The parser, the defaults, the validation, the example file, the
 * reference and what a reload may change are all read from it; a new key is a new row and a member
 * of its struct.
 */
#ifndef CONFIG_SETTINGS_TABLE_H
#define CONFIG_SETTINGS_TABLE_H

#include "config/settings.h"

#define SETTINGS_ROWS 25u

enum settings_section {
    SETTINGS_SECTION_DAEMON,
    SETTINGS_SECTION_CACHE,
    SETTINGS_SECTION_SERVICE,
};
#define SETTINGS_SECTIONS 3u

enum settings_type {
    SETTINGS_TYPE_NUMBER,    /* unsigned */
    SETTINGS_TYPE_PORT,      /* unsigned */
    SETTINGS_TYPE_ID,        /* uint32_t */
    SETTINGS_TYPE_DURATION,  /* uint64_t, nanoseconds */
    SETTINGS_TYPE_SIZE,      /* uint64_t, octets */
    SETTINGS_TYPE_SHARE,     /* double, 0 to 1 */
    SETTINGS_TYPE_BOOL,      /* bool */
    SETTINGS_TYPE_CHOICE,    /* an enum; the words are in the order of its values */
    SETTINGS_TYPE_PATH,      /* char * */
    SETTINGS_TYPE_HOST,      /* char * */
    SETTINGS_TYPE_ENDPOINT,  /* char *, NULL if empty; also: struct settings_address */
    SETTINGS_TYPE_ADDRESSES, /* struct settings_address *; also: unsigned, their count */
    SETTINGS_TYPE_PREFIXES,  /* struct settings_prefix *; also: unsigned, their count */
};

struct settings_row {
    enum settings_section section;
    const char *key;
    enum settings_type type;
    bool required;        /* has no default: `standard` is only the example file's */
    bool restart;         /* a reload can't change it */
    const char *standard; /* the default, as it would stand in a file */
    /* As they would stand in a file; a list's is its count, a path's its length. */
    const char *min, *max;
    const char *const *words; /* a choice's, NULL at the end */
    size_t offset;            /* into struct settings, or struct settings_service */
    size_t also;              /* for the types that fill two members: the other one */
    const char *help;         /* one line */
};

extern const struct settings_row settings_rows[SETTINGS_ROWS];

/* "daemon", "cache", "service"; and as a heading: "[daemon]", "[service NAME]". */
const char *settings_section_name(enum settings_section section);
const char *settings_section_heading(enum settings_section section);
/* -ENOENT if there is none of that name. */
int settings_section_find(const char *name, enum settings_section *section);

/* NULL if the section has no such key. */
const struct settings_row *settings_row_find(enum settings_section section, const char *key);

/* What a misspelt name was probably meant to be; NULL if nothing is close. */
const char *settings_nearest_key(enum settings_section section, const char *key);
const char *settings_nearest_section(const char *name);

#endif
