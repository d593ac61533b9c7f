/*
 * session: how a test program is told what to connect to, on its command line.
 *
 *   --port N --mount-port N      what is tested: the proxy, or the server itself
 *   --host ADDRESS               of it; 127.0.0.1
 *   --direct N --direct-mount N  the server, with nothing in between
 *   --path EXPORT                the export; on this machine also the folder that holds it
 *   --stat COMMAND               prints `nfsaccel stat --json`; absent: the test runs straight at the server, and
 *                                nothing is asked about the cache
 *   --service NAME               whose counts these are
 *   --seconds N                  how long
 *   --lingers                    the server may have a removed file for a while, without links (Linux)
 */
#ifndef E2E_SESSION_H
#define E2E_SESSION_H

#include "e2e/nfs_client.h"

struct session {
    struct nfs_client_target tested;
    struct nfs_client_target direct;
    const char *stat;
    const char *service;
    double seconds;
    bool lingers;
    char **rest; /* what is left of the arguments */
    int rest_count;
};

/* Exits with status 2 for a bad command line. */
void session_parse(struct session *s, int argc, char **argv);
/* A port's number; exits with status 2 when it is none. */
int session_port(const char *text);
/* Connects, or ends the test. */
void session_connect(struct nfs_client *c, const struct nfs_client_target *target);

/* A directory of the test's own in the export, made through `c`; ends the test if that fails. Its name is `name` and
 * what is tested. */
struct nfs_handle session_folder(const struct session *s, struct nfs_client *c, const char *name);

#endif
