/*
 * inih takes lines apart into keys and values. What it doesn't do, as it comes from the
 * distributions, is done here by the reader that hands it one line at a time:
 *
 * - it keeps no line numbers: each call of the reader is a line;
 * - it cuts lines at 200 octets without a word: the reader refuses longer ones, and a backslash at
 *   a line's end continues it in the next, as in nfs.conf. A continuation goes to inih indented,
 *   which makes it call the handler again with more of the same value;
 * - it cuts a section's name at 50 octets and says nothing of a section without keys: the reader
 *   takes the headings;
 * - it knows '#' only at the start of a line: the reader strips comments.
 *
 * A value is complete, and set, when the next line begins.
 */
#include "config/settings_parse.h"
#include "config/settings_value.h"

#include <errno.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

struct parser {
    struct settings *settings;
    struct settings_origin *origin;
    struct settings_error *error;
    unsigned error_line; /* 0: none yet */
    int result;          /* of the first error */

    const char *at, *end;
    unsigned line;
    bool continued; /* the line before ended in a backslash */

    struct settings_lines *lines; /* of the section we are in; NULL before the first */
    enum settings_section section;

    /* The value being collected. */
    const struct settings_row *row; /* NULL: none */
    unsigned row_line;
    char *value;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* Records an error at a line; false, for a handler or reader to return. */
static bool fail(struct parser *p, unsigned line, const char *key, const char *cause)
{
    p->result = settings_error_set(p->error, p->origin->file, line, key, cause);
    p->error_line = line;
    return false;
}

static bool fail_memory(struct parser *p)
{
    (void)settings_error_set(p->error, p->origin->file, 0, NULL, "out of memory");
    p->error_line = p->line > 0 ? p->line : 1;
    p->result = -ENOMEM;
    return false;
}

static void *section_base(struct parser *p, enum settings_section section)
{
    if (section == SETTINGS_SECTION_SERVICE)
        return &p->settings->services[p->settings->service_count - 1];
    return p->settings;
}

static bool set(struct parser *p, const struct settings_row *row, unsigned line, const char *text)
{
    struct settings_cause cause = {""};
    int rc = settings_value_set(row, text, section_base(p, row->section), &cause);

    if (rc == -ENOMEM)
        return fail_memory(p);
    return rc == 0 || fail(p, line, row->key, cause.text);
}

static bool set_defaults(struct parser *p, enum settings_section section)
{
    for (unsigned i = 0; i < SETTINGS_ROWS; i++) {
        const struct settings_row *row = &settings_rows[i];

        if (row->section == section && !row->required && !set(p, row, p->line, row->standard))
            return false;
    }
    return true;
}

/* --- headings --- */

static bool name_is_good(const char *name)
{
    size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");

    return len > 0 && len <= SETTINGS_NAME_MAX && name[len] == '\0';
}

static bool open_service(struct parser *p, const char *heading, const char *name)
{
    struct settings_service *grown;
    struct settings_cause cause = {""};
    unsigned count = p->settings->service_count;

    if (!name_is_good(name))
        return fail(p, p->line, heading,
                    *name == '\0'
                        ? "a service needs a name: [service NAME]"
                        : "a service's name is 1 to 63 of the characters A-Z a-z 0-9 _ . -");
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(p->settings->services[i].name, name) == 0) {
            settings_cause_set(&cause, "stands already at line %u", p->origin->services[i].heading);
            return fail(p, p->line, heading, cause.text);
        }
    }
    if (count == SETTINGS_SERVICES_MAX) {
        settings_cause_set(&cause, "more than %u services", SETTINGS_SERVICES_MAX);
        return fail(p, p->line, heading, cause.text);
    }
    grown = realloc(p->settings->services, (count + 1) * sizeof(*grown));
    if (!grown)
        return fail_memory(p);
    memset(&grown[count], 0, sizeof(*grown));
    p->settings->services = grown;
    p->settings->service_count = count + 1;
    grown[count].name = strdup(name);
    if (!grown[count].name)
        return fail_memory(p);
    p->lines = &p->origin->services[count];
    p->lines->heading = p->line;
    p->section = SETTINGS_SECTION_SERVICE;
    return set_defaults(p, SETTINGS_SECTION_SERVICE);
}

static bool open_single(struct parser *p, const char *heading, enum settings_section section)
{
    struct settings_cause cause = {""};

    p->lines = section == SETTINGS_SECTION_DAEMON ? &p->origin->daemon : &p->origin->cache;
    p->section = section;
    if (p->lines->heading > 0) {
        settings_cause_set(&cause, "stands already at line %u", p->lines->heading);
        return fail(p, p->line, heading, cause.text);
    }
    p->lines->heading = p->line;
    return true;
}

static bool fail_unknown_section(struct parser *p, const char *heading, const char *name)
{
    struct settings_cause cause = {"unknown section"};
    const char *nearest = settings_nearest_section(name);
    enum settings_section section;

    if (nearest && settings_section_find(nearest, &section) == 0)
        settings_cause_set(&cause, "unknown section; did you mean %s?",
                           settings_section_heading(section));
    return fail(p, p->line, heading, cause.text);
}

/* "[daemon]", "[cache]", "[service NAME]"; the text is cut up. */
static bool open_section(struct parser *p, char *text)
{
    struct settings_quote heading = settings_quote(text);
    size_t len = strlen(text);
    enum settings_section section;
    char *name, *rest;

    if (text[len - 1] != ']')
        return fail(p, p->line, heading.text, "a section's heading ends in ]");
    do
        text[--len] = '\0';
    while (is_space(text[len - 1]));
    name = text + 1 + strspn(text + 1, " \t");
    rest = name + strcspn(name, " \t");
    if (*rest != '\0') {
        *rest++ = '\0';
        rest += strspn(rest, " \t");
    }
    if (settings_section_find(name, &section) < 0)
        return fail_unknown_section(p, heading.text, name);
    if (section == SETTINGS_SECTION_SERVICE)
        return open_service(p, heading.text, rest);
    if (*rest != '\0')
        return fail(p, p->line, heading.text, "this section has no name of its own");
    return open_single(p, heading.text, section);
}

/* --- keys and values --- */

static bool fail_unknown_key(struct parser *p, const char *key)
{
    struct settings_quote quote = settings_quote(key);
    struct settings_cause cause = {""};
    const char *nearest = settings_nearest_key(p->section, key);
    const char *heading = settings_section_heading(p->section);

    settings_cause_set(&cause, "unknown key in %s", heading);
    if (nearest)
        settings_cause_set(&cause, "unknown key in %s; did you mean %s?", heading, nearest);
    for (unsigned i = 0; i < SETTINGS_ROWS; i++)
        if (strcmp(settings_rows[i].key, key) == 0)
            settings_cause_set(&cause, "unknown key in %s; it belongs in %s", heading,
                               settings_section_heading(settings_rows[i].section));
    return fail(p, p->line, quote.text, cause.text);
}

static bool begin_value(struct parser *p, const char *key, const char *text)
{
    struct settings_quote quote = settings_quote(key);
    struct settings_cause cause = {""};
    const struct settings_row *row;
    unsigned *line;

    if (!p->lines)
        return fail(p, p->line, quote.text, "stands before the first section");
    row = settings_row_find(p->section, key);
    if (!row)
        return fail_unknown_key(p, key);
    line = &p->lines->keys[row - settings_rows];
    if (*line > 0) {
        settings_cause_set(&cause, "stands already at line %u", *line);
        return fail(p, p->line, row->key, cause.text);
    }
    p->value = strdup(text);
    if (!p->value)
        return fail_memory(p);
    *line = p->line;
    p->row = row;
    p->row_line = p->line;
    return true;
}

static bool continue_value(struct parser *p, const char *text)
{
    size_t had = strlen(p->value), more = strlen(text);
    char *grown = realloc(p->value, had + 1 + more + 1);

    if (!grown)
        return fail_memory(p);
    p->value = grown;
    /* A value that begins with a continuation doesn't begin with a space. */
    if (had > 0)
        grown[had++] = ' ';
    memcpy(grown + had, text, more + 1);
    return true;
}

static bool end_value(struct parser *p)
{
    const struct settings_row *row = p->row;
    bool good;

    if (!row)
        return true;
    p->row = NULL;
    good = set(p, row, p->row_line, p->value);
    free(p->value);
    p->value = NULL;
    return good;
}

/* inih's: a key with a value, or more of the last one's value. */
static int handle(void *user, const char *section, const char *name, const char *value)
{
    struct parser *p = user;

    (void)section;
    if (p->error_line > 0)
        return 0;
    return p->row ? continue_value(p, value) : begin_value(p, name, value);
}

/* --- lines --- */

/* A comment begins at the start of a line or after a space. */
static const char *comment(const char *start, const char *end)
{
    for (const char *c = start; c < end; c++)
        if ((*c == '#' || *c == ';') && (c == start || is_space(c[-1])))
            return c;
    return end;
}

/* The next line without its comment and outer spaces. */
static void take_line(struct parser *p, const char **start, const char **end)
{
    const char *newline = memchr(p->at, '\n', (size_t)(p->end - p->at));
    const char *stop = newline ? newline : p->end;

    *start = p->at;
    p->at = newline ? newline + 1 : p->end;
    p->line++;
    while (*start < stop && is_space(**start))
        (*start)++;
    stop = comment(*start, stop);
    while (stop > *start && is_space(stop[-1]))
        stop--;
    *end = stop;
}

/* Takes the backslash off the end of a line that has one. */
static bool take_backslash(const char *start, const char **end)
{
    if (*end == start || (*end)[-1] != '\\')
        return false;
    (*end)--;
    while (*end > start && is_space((*end)[-1]))
        (*end)--;
    return true;
}

/* Copies a line for inih, and opens a section if it is a heading. */
static bool give_line(struct parser *p, const char *start, const char *end, bool continuation,
                      char *out, int size)
{
    size_t len = (size_t)(end - start);
    struct settings_cause cause = {""};

    if (memchr(start, '\0', len))
        return fail(p, p->line, NULL, "a zero octet; this is not a text file");
    /* An indent, the newline and the terminating zero. */
    if (len + 3 > (size_t)size) {
        settings_cause_set(
            &cause, "line too long: more than %d characters; end it with \\ and go on in the next",
            size - 3);
        return fail(p, p->line, NULL, cause.text);
    }
    if (continuation)
        *out++ = ' ';
    memcpy(out, start, len);
    out[len] = '\0';
    if (*out == '[' && !continuation) {
        if (!open_section(p, out))
            return false;
        len = 0;
    }
    memcpy(out + len, "\n", 2);
    return true;
}

/* inih's: like fgets. */
static char *read_line(char *out, int size, void *stream)
{
    struct parser *p = stream;
    bool continuation = p->continued;
    const char *start, *end;

    if (p->error_line > 0)
        return NULL;
    if ((!continuation || p->at == p->end) && !end_value(p))
        return NULL;
    if (p->at == p->end)
        return NULL;
    take_line(p, &start, &end);
    p->continued = take_backslash(start, &end);
    if (p->continued && !continuation && (start == end || *start == '[')) {
        (void)fail(p, p->line, NULL, "a backslash with nothing to continue");
        return NULL;
    }
    return give_line(p, start, end, continuation, out, size) ? out : NULL;
}

static int parse_lines(struct parser *p)
{
    int rc = ini_parse_stream(read_line, p, handle, p);

    if (rc < 0)
        (void)fail_memory(p);
    else if (rc > 0 && (p->error_line == 0 || (unsigned)rc < p->error_line))
        (void)fail(p, (unsigned)rc, NULL, "neither [section] nor key = value");
    free(p->value);
    return p->result;
}

int settings_parse_text(const char *text, size_t len, struct settings *settings,
                        struct settings_origin *origin, struct settings_error *error)
{
    struct parser p = {
        .settings = settings, .origin = origin, .error = error, .at = text, .end = text + len};
    size_t mark = strlen(BYTE_ORDER_MARK);

    if (len >= mark && memcmp(text, BYTE_ORDER_MARK, mark) == 0)
        p.at += mark;
    if (!set_defaults(&p, SETTINGS_SECTION_DAEMON) || !set_defaults(&p, SETTINGS_SECTION_CACHE))
        return p.result;
    return parse_lines(&p);
}
