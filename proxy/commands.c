/*
 * commands: the configuration says where the daemon's control socket is; the daemon does the rest.
 */
#include "proxy/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "config/settings.h"
#include "proxy/control.h"
#include "proxy/report.h"

#define EXIT_CONFIGURATION 2

static struct settings *load(const char *file)
{
    struct settings_error error;
    struct settings *settings = settings_load(file, &error);
    if (settings == NULL)
        fprintf(stderr, "nfsaccel: %s\n", error.text);
    return settings;
}

static json_t *ask(const struct settings *settings, const char *line)
{
    char error[CONTROL_LINE_MAX + 256];
    json_t *answer = control_ask(settings->control, line, error, sizeof(error));
    if (answer == NULL)
        fprintf(stderr, "nfsaccel: %s\n", error);
    return answer;
}

static int show(const struct settings *settings, bool json)
{
    json_t *report = ask(settings, "stat");
    if (report == NULL)
        return EXIT_FAILURE;
    if (json) {
        json_dumpf(report, stdout, JSON_INDENT(2));
        putchar('\n');
    } else {
        report_print(report, stdout);
    }
    json_decref(report);
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int command_stat(const char *file, bool json, unsigned interval)
{
    struct settings *settings = load(file);
    if (settings == NULL)
        return EXIT_CONFIGURATION;
    int status = show(settings, json);
    while (interval > 0 && status == EXIT_SUCCESS) {
        sleep(interval);
        status = show(settings, json);
    }
    settings_free(settings);
    return status;
}

int command_flush(const char *file, const char *service)
{
    struct settings *settings = load(file);
    if (settings == NULL)
        return EXIT_CONFIGURATION;
    char line[CONTROL_LINE_MAX];
    int len = snprintf(line, sizeof(line), service != NULL ? "flush %s" : "flush", service);
    json_t *answer = NULL;
    if (len < 0 || (size_t)len >= sizeof(line) - 1)
        fprintf(stderr, "nfsaccel: there is no service '%s'\n", service);
    else
        answer = ask(settings, line);
    settings_free(settings);
    if (answer == NULL)
        return EXIT_FAILURE;
    json_decref(answer);
    return EXIT_SUCCESS;
}
