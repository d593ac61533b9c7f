#include "config/settings_address.h"
#include "config/settings_parse.h"

#include <assert.h>
#include <stdlib.h>

/* The line that a service's key stands on, or that of its heading if the key is not given. */
static unsigned key_line(const struct settings_lines *lines, const struct settings_row *row)
{
    unsigned line = lines->keys[row - settings_rows];

    return line > 0 ? line : lines->heading;
}

static const struct settings_row *row_of(enum settings_section section, const char *key)
{
    const struct settings_row *row = settings_row_find(section, key);

    assert(row);
    return row;
}

static int check_required(const struct settings_service *service,
                          const struct settings_lines *lines, const char *file,
                          struct settings_error *error)
{
    struct settings_cause cause = {""};

    for (unsigned i = 0; i < SETTINGS_ROWS; i++) {
        const struct settings_row *row = &settings_rows[i];

        if (row->section == SETTINGS_SECTION_SERVICE && row->required && lines->keys[i] == 0) {
            settings_cause_set(&cause, "is missing in [service %s]", service->name);
            return settings_error_set(error, file, lines->heading, row->key, cause.text);
        }
    }
    return 0;
}

/* Two ages that contradict each other are an error where both were given. Where one was, it is what the operator wants,
 * and the other one follows it. */
static int check_ages(struct settings_service *service, const struct settings_lines *lines,
                      const char *file, struct settings_error *error)
{
    const struct settings_row *min = row_of(SETTINGS_SECTION_SERVICE, "age-min");
    const struct settings_row *max = row_of(SETTINGS_SECTION_SERVICE, "age-max");
    const struct settings_row *later = key_line(lines, max) > key_line(lines, min) ? max : min;

    if (service->age_min <= service->age_max)
        return 0;
    if (lines->keys[min - settings_rows] == 0)
        service->age_min = service->age_max;
    else if (lines->keys[max - settings_rows] == 0)
        service->age_max = service->age_min;
    else
        return settings_error_set(error, file, key_line(lines, later), later->key,
                                  "age-min is above age-max");
    return 0;
}

/* An address that is listened on, and by whom. */
struct listener {
    const struct settings_address *address;
    const char *key, *name; /* name NULL: http */
    unsigned line;
};

static int fail_twice(const struct listener *a, const struct listener *b, const char *file,
                      struct settings_error *error)
{
    const struct listener *later = b->line > a->line ? b : a, *other = later == b ? a : b;
    struct settings_cause cause = {""};
    char text[64];

    settings_address_text(later->address, text, sizeof(text));
    if (!other->name)
        settings_cause_set(&cause, "%s is also the address of http", text);
    else if (other->line == later->line)
        settings_cause_set(&cause, "%s stands twice in the list", text);
    else
        settings_cause_set(&cause, "%s is also an address of [service %s]", text, other->name);
    return settings_error_set(error, file, later->line, later->key, cause.text);
}

static int compare_with_service(const struct listener *one, const struct settings_service *service,
                                struct listener other, const char *file,
                                struct settings_error *error)
{
    for (unsigned i = 0; i < service->listen_count; i++) {
        other.address = &service->listen[i];
        if (other.address != one->address && settings_address_equal(one->address, other.address))
            return fail_twice(one, &other, file, error);
    }
    return 0;
}

/* Compares one address with those of the services up to and with `last`. */
static int check_address(const struct settings *settings, const struct settings_origin *origin,
                         const struct listener *one, unsigned last, struct settings_error *error)
{
    const struct settings_row *row = row_of(SETTINGS_SECTION_SERVICE, "listen");
    int rc = 0;

    for (unsigned i = 0; i <= last && rc == 0; i++) {
        const struct listener other = {.key = row->key,
                                       .name = settings->services[i].name,
                                       .line = key_line(&origin->services[i], row)};

        rc = compare_with_service(one, &settings->services[i], other, origin->file, error);
    }
    return rc;
}

static int check_listeners(const struct settings *settings, const struct settings_origin *origin,
                           struct settings_error *error)
{
    const struct settings_row *listen = row_of(SETTINGS_SECTION_SERVICE, "listen");
    const struct settings_row *http = row_of(SETTINGS_SECTION_DAEMON, "http");
    const struct listener status = {.address = &settings->http_address,
                                    .key = http->key,
                                    .line = key_line(&origin->daemon, http)};

    for (unsigned i = 0; i < settings->service_count; i++) {
        const struct settings_service *service = &settings->services[i];

        for (unsigned j = 0; j < service->listen_count; j++) {
            const struct listener one = {.address = &service->listen[j],
                                         .key = listen->key,
                                         .name = service->name,
                                         .line = key_line(&origin->services[i], listen)};
            int rc = check_address(settings, origin, &one, i, error);

            if (rc < 0)
                return rc;
        }
    }
    return settings->http
               ? check_address(settings, origin, &status, settings->service_count - 1, error)
               : 0;
}

int settings_check(struct settings *settings, const struct settings_origin *origin,
                   struct settings_error *error)
{
    if (settings->service_count == 0)
        return settings_error_set(error, origin->file, 0, NULL,
                                  "there is no [service NAME] section");
    for (unsigned i = 0; i < settings->service_count; i++) {
        struct settings_service *service = &settings->services[i];
        int rc = check_required(service, &origin->services[i], origin->file, error);

        if (rc == 0)
            rc = check_ages(service, &origin->services[i], origin->file, error);
        if (rc < 0)
            return rc;
    }
    return check_listeners(settings, origin, error);
}
