#include "e2e/session.h"

#include "e2e/check.h"
#include "e2e/nfs_call.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define EXIT_USAGE 2

int session_port(const char *text)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value == 0 || value > 65535) {
        fprintf(stderr, "not a port: %s\n", text);
        exit(EXIT_USAGE);
    }
    return (int)value;
}

void session_parse(struct session *s, int argc, char **argv)
{
    static const struct option options[] = {{"port", required_argument, NULL, 'p'},
                                            {"mount-port", required_argument, NULL, 'm'},
                                            {"direct", required_argument, NULL, 'd'},
                                            {"direct-mount", required_argument, NULL, 'n'},
                                            {"path", required_argument, NULL, 'e'},
                                            {"stat", required_argument, NULL, 's'},
                                            {"service", required_argument, NULL, 'v'},
                                            {"seconds", required_argument, NULL, 't'},
                                            {"host", required_argument, NULL, 'h'},
                                            {"lingers", no_argument, NULL, 'l'},
                                            {NULL, 0, NULL, 0}};
    *s = (struct session){.service = "one",
                          .seconds = 1,
                          .tested = {.host = "127.0.0.1"},
                          .direct = {.host = "127.0.0.1"}};
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (c) {
        case 'h':
            s->tested.host = optarg;
            break;
        case 'p':
            s->tested.port = session_port(optarg);
            break;
        case 'm':
            s->tested.mount_port = session_port(optarg);
            break;
        case 'd':
            s->direct.port = session_port(optarg);
            break;
        case 'n':
            s->direct.mount_port = session_port(optarg);
            break;
        case 'e':
            s->tested.path = s->direct.path = optarg;
            break;
        case 's':
            s->stat = optarg;
            break;
        case 'v':
            s->service = optarg;
            break;
        case 'l':
            s->lingers = true;
            break;
        case 't':
            s->seconds = strtod(optarg, NULL);
            break;
        default:
            exit(EXIT_USAGE);
        }
    }
    if (s->tested.port == 0 || s->tested.path == NULL) {
        fprintf(stderr, "--port and --path are needed\n");
        exit(EXIT_USAGE);
    }
    if (s->tested.mount_port == 0)
        s->tested.mount_port = s->tested.port;
    s->rest = argv + optind;
    s->rest_count = argc - optind;
}

void session_connect(struct nfs_client *c, const struct nfs_client_target *target)
{
    check_must(nfs_client_start(c, target) == 0, "can't mount 127.0.0.1:%d %s", target->port,
               target->path);
}

struct nfs_handle session_folder(const struct session *s, struct nfs_client *c, const char *name)
{
    struct nfs_reply r;
    char full[NAME_MAX + 1];
    snprintf(full, sizeof full, "%s-%s", name, s->stat != NULL ? s->service : "straight");
    sattr3 attributes = {.mode = {.set_it = 1, .set_mode3_u.mode = 0755}};
    check_ok(nfs_call_mkdir(c, &c->root, full, &attributes, &r), &r, name);
    if (!r.has_handle)
        check_ok(nfs_call_lookup(c, &c->root, full, &r), &r, name);
    return r.handle;
}
