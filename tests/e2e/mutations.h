/*
 * mutations: after each kind of change by one client, every other client sees what the server says, at once.
 *
 * A case makes things in a folder of its own through client A, says what is watched, and warms B's and
 * C's view of it, so that it is all in the cache. Then A changes something, and B's and C's view is compared
 * with the server's own (watch.h): once as the change left the cache, and once more from what was filled then.
 */
#ifndef E2E_MUTATIONS_H
#define E2E_MUTATIONS_H

#include "e2e/check.h"
#include "e2e/nfs_call.h"
#include "e2e/watch.h"

struct stage {
    struct nfs_client a, b, c, direct;
    struct watch watch;
    struct nfs_handle dir; /* the case's folder */
    struct nfs_reply r;
};

struct mutation_case {
    const char *name;
    void (*run)(struct stage *s);
};

extern const struct mutation_case mutations_object[], mutations_name[], mutations_rename[],
    mutations_field[]; /* each ends with a NULL name */

/* Through A; end the test when they fail. Files and directories are uid 1001's, gid 1001's. */
struct nfs_handle stage_file(struct stage *s, const struct nfs_handle *dir, const char *name);
struct nfs_handle stage_dir(struct stage *s, const struct nfs_handle *dir, const char *name);
struct nfs_handle stage_link(struct stage *s, const struct nfs_handle *file,
                             const struct nfs_handle *dir, const char *name);

void stage_warm(struct stage *s);
/* The call that A just made: `err` and s->r. Checks its status and compares every view. */
void stage_changed(struct stage *s, int err, nfsstat3 status, const char *what);

sattr3 set_mode(uint32_t mode);
sattr3 set_size(uint64_t size);

#endif
