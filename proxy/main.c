/*
 * nfsaccel: a caching NFSv3 proxy that keeps every client coherent.
 *
 * A map of this folder. The way of a call, from left to right:
 *
 *   listener      accepts; crew hands the socket to a worker
 *   connection    one client; on stream, which carries records (xdr/record.h)
 *   call          a record comes in: a hit is answered at once, all else goes through the states of a call
 *     request       the call, decoded, and refused where it has to be; credential: who it is from
 *     procedure     the table: what each procedure may change, how it is answered and harvested
 *     answer        hits
 *     verify        a share of them, compared with what the server says; violation: where the contract did not hold
 *     order         mutations of one name, one after the other
 *     track         a mutation, from before it leaves until its reply has been handled
 *     ask           the proxy's own questions to the server
 *     harvest       what replies bring into the cache
 *     reply         the server's replies read, the proxy's own made
 *   upstream      calls outstanding at the server, sent again after a loss
 *   port          the sockets below that; locate and portmap find the server
 *
 * Around it:
 *
 *   worker        one thread, one loop, with everything above; service: what it needs of a [service]
 *   crew          all workers; mailbox: how threads talk
 *   daemon        starts, reloads, stops; listeners: all listening sockets; snapshot: a configuration in force
 *   control       the socket behind `nfsaccel stat` and `nfsaccel flush` (commands); collect, report: what stat prints
 *   log           silence: which servers it says do not answer
 *   counters, client, container, address
 *
 * Only the files that touch sockets, timers and threads know libuv: stream, connection, port, locate, listener,
 * listeners, mailbox, worker, crew, collect, control and daemon. What decides (call and all that it stands on, down to
 * upstream) has time, sockets and other threads behind small structs of functions, so that it runs in a test as it runs
 * here.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/settings.h"
#include "proxy/commands.h"
#include "proxy/daemon.h"

#define EXIT_USAGE 2

static const char usage_text[] =
    "usage: nfsaccel serve -c FILE [--check]\n"
    "       nfsaccel stat  [-c FILE] [--json] [-i SECONDS]\n"
    "       nfsaccel flush [-c FILE] [SERVICE]\n"
    "\n"
    "  serve   run in the foreground; --check: read and validate the configuration only\n"
    "  stat    counters of the running daemon; -i: every so many seconds\n"
    "  flush   drop what is cached, of one service or of all\n"
    "\n"
    "  -c FILE    the configuration (stat, flush: " COMMANDS_DEFAULT_FILE " unless given)\n"
    "  -h, --help, -V, --version\n";

struct options {
    const char *file;
    bool check, json;
    unsigned interval;
};

static int usage_error(const char *what, const char *word)
{
    fprintf(stderr, "nfsaccel: %s%s%s\n%s", what, word != NULL ? ": " : "",
            word != NULL ? word : "", usage_text);
    return EXIT_USAGE;
}

static bool parse_interval(const char *text, unsigned *interval)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || *text == '-' || value == 0 || value > 86400)
        return false;
    *interval = (unsigned)value;
    return true;
}

enum {
    OPTION_CHECK = 'k',
    OPTION_JSON = 'j',
};

static const struct option long_options[] = {{"check", no_argument, NULL, OPTION_CHECK},
                                             {"json", no_argument, NULL, OPTION_JSON},
                                             {NULL, 0, NULL, 0}};

/* 0, or the exit status of a bad command line. `allowed`: the options of this command, by the values above. */
static int parse_options(int argc, char **argv, const char *allowed, struct options *options)
{
    int c;
    opterr = 0;
    while ((c = getopt_long(argc, argv, "+:c:i:", long_options, NULL)) != -1) {
        if (c == ':')
            return usage_error("this option needs a value", argv[optind - 1]);
        if (c == '?' || strchr(allowed, c) == NULL)
            return usage_error("this command has no such option", argv[optind - 1]);
        if (c == 'c')
            options->file = optarg;
        else if (c == 'i' && !parse_interval(optarg, &options->interval))
            return usage_error("not a number of seconds (1 to 86400)", optarg);
        options->check |= c == OPTION_CHECK;
        options->json |= c == OPTION_JSON;
    }
    return 0;
}

static int serve(const struct options *options)
{
    struct settings_error error;
    if (options->file == NULL)
        return usage_error("serve needs -c FILE", NULL);
    struct settings *settings = settings_load(options->file, &error);
    if (settings == NULL) {
        fprintf(stderr, "nfsaccel: %s\n", error.text);
        return EXIT_USAGE;
    }
    if (options->check) {
        settings_free(settings);
        return EXIT_SUCCESS;
    }
    return daemon_run(options->file, settings);
}

static int run_serve(int argc, char **argv)
{
    struct options options = {0};
    int status = parse_options(argc, argv, "ck", &options);
    if (status != 0)
        return status;
    if (optind < argc)
        return usage_error("serve takes no such argument", argv[optind]);
    return serve(&options);
}

static int run_stat(int argc, char **argv)
{
    struct options options = {.file = COMMANDS_DEFAULT_FILE};
    int status = parse_options(argc, argv, "cji", &options);
    if (status != 0)
        return status;
    if (optind < argc)
        return usage_error("stat takes no such argument", argv[optind]);
    return command_stat(options.file, options.json, options.interval);
}

static int run_flush(int argc, char **argv)
{
    struct options options = {.file = COMMANDS_DEFAULT_FILE};
    int status = parse_options(argc, argv, "c", &options);
    if (status != 0)
        return status;
    if (optind + 1 < argc)
        return usage_error("flush takes one service", argv[optind + 1]);
    return command_flush(options.file, argv[optind]);
}

/* Of the program or of one of its commands. */
static bool asks_for_help(int argc, char **argv)
{
    for (int i = 1; i < argc && i <= 2; i++) {
        if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0)
            return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
    } commands[] = {{"serve", run_serve}, {"stat", run_stat}, {"flush", run_flush}};

    if (argc < 2)
        return usage_error("a command is missing", NULL);
    for (unsigned i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(argv[1], commands[i].name) == 0 && !asks_for_help(argc, argv))
            return commands[i].run(argc - 1, argv + 1);
    }
    if (asks_for_help(argc, argv)) {
        fputs(usage_text, stdout);
        return EXIT_SUCCESS;
    }
    if (strcmp(argv[1], "-V") == 0 || strcmp(argv[1], "--version") == 0) {
        puts("nfsaccel " NFSACCEL_VERSION);
        return EXIT_SUCCESS;
    }
    return usage_error("there is no such command", argv[1]);
}
