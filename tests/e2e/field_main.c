/*
 * The field's cases, and the matrix of mutations, in front of a daemon that has four services for one server:
 *
 *   e2e-field --server P --shared P --exclusive P --quick P --quick-exclusive P cases|matrix
 */
#include "e2e/field_cases.h"

#include <getopt.h>
#include <signal.h>

#include "e2e/check.h"

#define CONNECT_MS 6000
#define QUIET_MS   300

static void run_cases(struct field *field, const struct field_case *cases)
{
    static const char *const names[FIELD_SERVICES] = {"shared", "exclusive", "shared, short ages",
                                                      "exclusive, short ages"};
    for (; cases->run != NULL; cases++) {
        for (unsigned service = 0; service < FIELD_SERVICES; service++) {
            struct scene scene;
            if (!(cases->services & IN(service)))
                continue;
            field_begin(field, "%s (%s)", cases->name, names[service]);
            scene_open(&scene, field, (enum field_service)service);
            cases->run(&scene);
            scene_close(&scene);
            field_end(field);
        }
    }
}

static void run_all_cases(struct field *field)
{
    run_cases(field, field_coherence);
    run_cases(field, field_behind);
    run_cases(field, field_access);
    run_cases(field, field_handle);
    run_cases(field, field_directory);
}

static int parse(struct field *field, int argc, char **argv)
{
    static const struct option options[] = {
        {"server", required_argument, NULL, 's'},
        {"shared", required_argument, NULL, FIELD_SHARED},
        {"exclusive", required_argument, NULL, FIELD_EXCLUSIVE},
        {"quick", required_argument, NULL, FIELD_QUICK},
        {"quick-exclusive", required_argument, NULL, FIELD_QUICK_EXCLUSIVE},
        {NULL, 0, NULL, 0}};
    int c, server = 0;
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        int number = optarg != NULL ? (int)strtol(optarg, NULL, 10) : 0;
        if (c == 's')
            server = number;
        else if (c >= 0 && c < FIELD_SERVICES)
            field->port[c] = number;
        else
            exit(2);
    }
    check_must(optind == argc - 1, "cases, or matrix?");
    return server;
}

/* The daemon was there first, and comes when it finds the server listening. */
static void await_daemon(struct field *field)
{
    unsigned accepted;
    fake_server_next(&field->server, &field->call, QUIET_MS);
    do {
        accepted = field->server.accepted;
        fake_server_next(&field->server, &field->call, accepted == 0 ? CONNECT_MS : QUIET_MS);
    } while (field->server.accepted != accepted);
    check_must(accepted > 0, "the daemon does not connect");
    field->links = accepted;
}

int main(int argc, char **argv)
{
    struct field field = {.of = ""};
    signal(SIGPIPE, SIG_IGN);
    int server = parse(&field, argc, argv);
    check_must(fake_server_open(&field.server, server) == 0, "can't listen on port %d", server);
    await_daemon(&field);
    if (strcmp(argv[optind], "matrix") == 0)
        field_matrix(&field);
    else
        run_all_cases(&field);
    raw_free(&field.call.record);
    fake_server_close(&field.server);
    return check_status();
}
