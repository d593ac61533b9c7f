/*
 * idle: a client that is connected, does nothing until SIGUSR1, and then makes one call of each kind.
 *
 * Usage: see session.h. It prints "ready" when it has connected. Its connection must hold: losing it is a failure.
 */
#include "e2e/check.h"
#include "e2e/nfs_call.h"
#include "e2e/session.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct session session;
    struct nfs_client c;
    struct nfs_reply r;
    sigset_t set;
    int number;
    char name[32];
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    session_parse(&session, argc, argv);
    check_begin("calls after a pause");
    session_connect(&c, &session.tested);
    snprintf(name, sizeof name, "idle-%d", (int)getpid());
    struct nfs_handle dir = session_folder(&session, &c, name);
    printf("ready\n");
    fflush(stdout);
    sigwait(&set, &number);

    check_ok(nfs_call_getattr(&c, &dir, &r), &r, "GETATTR");
    check_ok(nfs_call_create(&c, &dir, "file", GUARDED, NULL, NULL, &r), &r, "CREATE");
    struct nfs_handle file = r.handle;
    check_ok(nfs_call_write(&c, &file, 0, 5, "hello", UNSTABLE, &r), &r, "WRITE");
    check_ok(nfs_call_commit(&c, &file, &r), &r, "COMMIT");
    check_ok(nfs_call_fsstat(&c, &dir, &r), &r, "FSSTAT");
    check_ok(nfs_call_pathconf(&c, &dir, &r), &r, "PATHCONF");
    check_ok(nfs_call_remove(&c, &dir, "file", &r), &r, "REMOVE");
    check(c.losses == 0, "the connection was lost");
    check_end();
    nfs_client_stop(&c);
    return check_status();
}
