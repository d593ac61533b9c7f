/*
 * violation: a table of fattr3's fields (RFC 1813 2.5), and how each is written.
 */
#include "proxy/violation.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cache/fattr.h"

/* Longest: two numbers of 20 digits. */
#define VALUE_MAX 48u

typedef void field_print(const uint8_t *at, char value[VALUE_MAX]);

static void print_number(const uint8_t *at, char value[VALUE_MAX])
{
    snprintf(value, VALUE_MAX, "%" PRIu32, bytes_load_u32(at));
}

static void print_octal(const uint8_t *at, char value[VALUE_MAX])
{
    snprintf(value, VALUE_MAX, "0%" PRIo32, bytes_load_u32(at));
}

static void print_long(const uint8_t *at, char value[VALUE_MAX])
{
    snprintf(value, VALUE_MAX, "%" PRIu64, bytes_load_u64(at));
}

static void print_pair(const uint8_t *at, char value[VALUE_MAX])
{
    snprintf(value, VALUE_MAX, "%" PRIu32 ",%" PRIu32, bytes_load_u32(at), bytes_load_u32(at + 4));
}

static void print_time(const uint8_t *at, char value[VALUE_MAX])
{
    snprintf(value, VALUE_MAX, "%" PRIu32 ".%09" PRIu32, bytes_load_u32(at),
             bytes_load_u32(at + 4));
}

/* All but atime, which may lag. */
static const struct {
    const char *name;
    unsigned offset, len;
    field_print *print;
} fields[] = {
    {"type", FATTR_TYPE, 4, print_number},      {"mode", FATTR_TYPE + 4, 4, print_octal},
    {"nlink", FATTR_TYPE + 8, 4, print_number}, {"uid", FATTR_TYPE + 12, 4, print_number},
    {"gid", FATTR_TYPE + 16, 4, print_number},  {"size", FATTR_SIZE, 8, print_long},
    {"used", FATTR_SIZE + 8, 8, print_long},    {"rdev", FATTR_SIZE + 16, 8, print_pair},
    {"fsid", FATTR_FSID, 8, print_long},        {"fileid", FATTR_FSID + 8, 8, print_long},
    {"mtime", FATTR_MTIME, 8, print_time},      {"ctime", FATTR_CTIME, 8, print_time},
};

/* A text that grows, up to its room. */
struct line {
    char *text;
    size_t size, len;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line->text + line->len, line->size - line->len, format, args);
    va_end(args);
    if (n > 0)
        line->len += (size_t)n < line->size - line->len ? (size_t)n : line->size - line->len - 1;
}

static void add_octets(struct line *line, struct bytes octets)
{
    for (uint32_t i = 0; i < octets.len; i++)
        add(line, "%02x", octets.data[i]);
}

static void add_attributes(struct line *line, const char *of, const uint8_t *served,
                           const uint8_t *told)
{
    if (served == NULL || told == NULL)
        return;
    for (unsigned i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        const uint8_t *a = served + fields[i].offset, *b = told + fields[i].offset;
        char from_cache[VALUE_MAX], from_server[VALUE_MAX];
        if (memcmp(a, b, fields[i].len) == 0)
            continue;
        fields[i].print(a, from_cache);
        fields[i].print(b, from_server);
        add(line, "; %s.%s %s, not %s", of, fields[i].name, from_cache, from_server);
    }
}

static void add_status(struct line *line, uint32_t status)
{
    const char *name = nfs3_status_name(status);
    if (name != NULL)
        add(line, "%s", name);
    else
        add(line, "%" PRIu32, status);
}

static void add_difference(struct line *line, const struct violation *violation)
{
    const struct nfs3_res *served = violation->served, *told = violation->told;
    if (served->status != told->status) {
        add(line, "; status ");
        add_status(line, served->status);
        add(line, ", not ");
        add_status(line, told->status);
    } else if (!bytes_equal(served->handle, told->handle)) {
        add(line, "; object ");
        add_octets(line, served->handle);
        add(line, ", not ");
        add_octets(line, told->handle);
    }
    uint32_t granted = told->access & violation->args->access;
    if (served->status == told->status && served->access != granted)
        add(line, "; access 0x%02" PRIx32 ", not 0x%02" PRIx32, served->access, granted);
    /* Two objects' attributes are no two states of one. */
    if (bytes_equal(served->handle, told->handle))
        add_attributes(line, "obj_attributes", served->object, told->object);
    add_attributes(line, "dir_attributes", served->dir, told->dir);
}

void violation_text(const struct violation *violation, char *text, size_t size)
{
    struct line line = {text, size, 0};
    const struct nfs3_args *args = violation->args;
    add(&line, "%s: served what the server does not say: %s ", violation->service,
        violation->procedure->name);
    add_octets(&line, args->object);
    if (args->name.len > 0)
        add(&line, " '%.*s'", (int)args->name.len, (const char *)args->name.data);
    add_difference(&line, violation);
}
