/*
 * probe: mounts, makes one call in the export's root, and prints what the server says ("NFS3_OK").
 *
 *   e2e-probe ... getattr | fsstat | lookup NAME | create NAME      session.h; --host ADDRESS before the others
 *
 * Exit status: 1 when it can't mount or has no reply.
 */
#include "e2e/nfs_call.h"
#include "e2e/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    struct session session;
    struct nfs_client c;
    struct nfs_reply r;
    int err = -1;
    session_parse(&session, argc, argv);
    const char *what = session.rest_count > 0 ? session.rest[0] : "";
    const char *name = session.rest_count > 1 ? session.rest[1] : "";
    if (nfs_client_start(&c, &session.tested) != 0)
        return EXIT_FAILURE;
    if (strcmp(what, "getattr") == 0)
        err = nfs_call_getattr(&c, &c.root, &r);
    else if (strcmp(what, "fsstat") == 0)
        err = nfs_call_fsstat(&c, &c.root, &r);
    else if (strcmp(what, "lookup") == 0)
        err = nfs_call_lookup(&c, &c.root, name, &r);
    else if (strcmp(what, "create") == 0)
        err = nfs_call_create(&c, &c.root, name, GUARDED, NULL, NULL, &r);
    else
        return 2;
    if (err == 0)
        puts(nfsstat3_to_str(r.status));
    else
        fprintf(stderr, "no reply: %s\n", r.why);
    nfs_client_stop(&c);
    return err == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
