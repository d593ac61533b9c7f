#include "e2e/stat_count.h"

#include "e2e/check.h"

#include <stdio.h>
#include <string.h>

#include <jansson.h>

static json_t *load(const char *command)
{
    json_error_t error;
    FILE *in = popen(command, "r"); /* NOLINT(cert-env33-c): the test's own command */
    check_must(in != NULL, "can't run: %s", command);
    json_t *root = json_loadf(in, 0, &error);
    check_must(pclose(in) == 0 && root != NULL, "%s: failed, or printed no JSON", command);
    return root;
}

static int64_t number(const json_t *procedure, const char *key)
{
    const json_t *value = json_object_get(procedure, key);
    check_must(json_is_integer(value), "stat --json has no number %s", key);
    return json_integer_value(value);
}

/* What the service has under `part` for the procedure. */
static const json_t *find(const json_t *root, const char *service, const char *part,
                          const char *procedure)
{
    size_t i;
    json_t *entry;
    const json_t *found = NULL;
    json_array_foreach(json_object_get(root, "services"), i, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "name"));
        if (name != NULL && strcmp(name, service) == 0)
            found = json_object_get(json_object_get(entry, part), procedure);
    }
    check_must(found != NULL, "stat --json has no %s of %s of service %s", part, procedure,
               service);
    return found;
}

static struct stat_count count_in(const json_t *root, const char *service, const char *procedure)
{
    const json_t *found = find(root, service, "procedures", procedure);
    return (struct stat_count){.calls = number(found, "calls"),
                               .hits = number(found, "hits"),
                               .forwarded = number(found, "forwarded")};
}

struct stat_count stat_count_get(const char *command, const char *service, const char *procedure)
{
    json_t *root = load(command);
    struct stat_count count = count_in(root, service, procedure);
    json_decref(root);
    return count;
}

struct stat_count stat_count_answerable(const char *command, const char *service)
{
    static const char *const procedures[] = {"GETATTR", "LOOKUP", "ACCESS"};
    struct stat_count sum = {.calls = 0};
    json_t *root = load(command);
    for (size_t i = 0; i < sizeof procedures / sizeof procedures[0]; i++) {
        struct stat_count one = count_in(root, service, procedures[i]);
        sum.calls += one.calls;
        sum.hits += one.hits;
        sum.forwarded += one.forwarded;
    }
    json_decref(root);
    return sum;
}

struct stat_verify stat_verify_get(const char *command, const char *service, const char *procedure)
{
    json_t *root = load(command);
    const json_t *found = find(root, service, "verify", procedure);
    struct stat_verify count = {.verified = number(found, "verified"),
                                .equal = number(found, "equal"),
                                .outdated = number(found, "outdated"),
                                .violations = number(found, "violations"),
                                .unclear = number(found, "unclear"),
                                .skipped = number(found, "skipped")};
    json_decref(root);
    return count;
}
