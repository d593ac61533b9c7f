/*
 * drain: calls that are under way when the daemon is told to end get their replies.
 *
 * Usage: see session.h. Prints "ready", waits for SIGUSR1, sends several calls at once, prints "sent", and waits for all
 * their replies.
 */
#include "e2e/check.h"
#include "e2e/nfs_call.h"
#include "e2e/session.h"

#include <signal.h>
#include <stdio.h>

#define CALLS 6u

int main(int argc, char **argv)
{
    static struct nfs_call calls[CALLS];
    static char names[CALLS][16];
    struct session session;
    struct nfs_client c;
    sigset_t set;
    int number;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    session_parse(&session, argc, argv);
    check_begin("calls under way get their replies when the daemon ends");
    session_connect(&c, &session.tested);
    struct nfs_handle dir = session_folder(&session, &c, "drain");
    printf("ready\n");
    fflush(stdout);
    sigwait(&set, &number);

    for (unsigned i = 0; i < CALLS; i++) {
        snprintf(names[i], sizeof names[i], "file-%u", i);
        calls[i].procedure = i % 2 == 0 ? NFS3_CREATE : NFS3_FSSTAT;
        if (i % 2 == 0)
            calls[i].args.create.where = nfs_call_dirop(&dir, names[i]);
        else
            calls[i].args.fsstat.fsroot = nfs_call_handle(&dir);
        nfs_client_send(&c, &calls[i]);
    }
    struct nfs_client *one = &c;
    nfs_client_poll(&one, 1, 0);
    printf("sent\n");
    fflush(stdout);
    for (unsigned i = 0; i < CALLS; i++)
        check_ok(nfs_client_wait(&c, &calls[i]), &calls[i].reply, "a call under way");
    check_end();
    nfs_client_stop(&c);
    return check_status();
}
