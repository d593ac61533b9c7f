#include "config/settings.h"
#include "config/settings_error.h"
#include "config/settings_parse.h"
#include "config/settings_value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* No configuration is near this large; what is, is not one. */
#define FILE_SIZE_MAX (1u << 20)

static void fail(struct settings_error *error, const char *file, int rc)
{
    (void)settings_error_set(error, file, 0, NULL, rc == -ENOMEM ? "out of memory" : strerror(-rc));
}

/* The whole file into a buffer of `size`; its length, or a negative errno. */
static ssize_t read_file(const char *file, char *buffer, size_t size)
{
    FILE *stream = fopen(file, "re");
    size_t len;
    int rc = 0;

    if (!stream)
        return -errno;
    errno = 0;
    len = fread(buffer, 1, size, stream);
    if (ferror(stream))
        rc = errno != 0 ? -errno : -EIO;
    if (fclose(stream) != 0 && rc == 0)
        rc = -errno;
    return rc < 0 ? rc : (ssize_t)len;
}

struct settings *settings_load(const char *file, struct settings_error *error)
{
    struct settings *settings = NULL;
    char *text = malloc(FILE_SIZE_MAX + 1);
    ssize_t len = text ? read_file(file, text, FILE_SIZE_MAX + 1) : -ENOMEM;

    if (len < 0)
        fail(error, file, (int)len);
    else if ((size_t)len > FILE_SIZE_MAX)
        fail(error, file, -EFBIG);
    else
        settings = settings_parse(text, (size_t)len, file, error);
    free(text);
    return settings;
}

struct settings *settings_parse(const char *text, size_t len, const char *file,
                                struct settings_error *error)
{
    struct settings *settings = calloc(1, sizeof(*settings));
    struct settings_origin *origin = calloc(1, sizeof(*origin));
    bool good = false;

    if (settings && origin) {
        origin->file = file;
        good = settings_parse_text(text, len, settings, origin, error) == 0 &&
               settings_check(settings, origin, error) == 0;
    } else {
        fail(error, file, -ENOMEM);
    }
    free(origin);
    if (good)
        return settings;
    settings_free(settings);
    return NULL;
}

static void clear_section(enum settings_section section, void *base)
{
    for (unsigned i = 0; i < SETTINGS_ROWS; i++)
        if (settings_rows[i].section == section)
            settings_value_clear(&settings_rows[i], base);
}

void settings_free(struct settings *settings)
{
    if (!settings)
        return;
    for (unsigned i = 0; i < settings->service_count; i++) {
        clear_section(SETTINGS_SECTION_SERVICE, &settings->services[i]);
        free(settings->services[i].name);
    }
    free(settings->services);
    clear_section(SETTINGS_SECTION_CACHE, settings);
    clear_section(SETTINGS_SECTION_DAEMON, settings);
    free(settings);
}

const char *settings_needs_restart(const struct settings *running, const struct settings *next)
{
    for (unsigned i = 0; i < SETTINGS_ROWS; i++) {
        const struct settings_row *row = &settings_rows[i];

        /* All that stands in a service can change while it runs; settings_table.c marks none of it. */
        if (row->restart && row->section != SETTINGS_SECTION_SERVICE &&
            !settings_value_equal(row, running, next))
            return row->key;
    }
    return NULL;
}
