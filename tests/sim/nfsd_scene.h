/*
 * nfsd_scene: a small tree on a model server, and one call of each procedure that succeeds in it.
 */
#ifndef SIM_NFSD_SCENE_H
#define SIM_NFSD_SCENE_H

#include "sim/nfsd_fixture.h"

#define ALWAYS 1000u

struct call {
    unsigned procedure;
    struct body args;
    nfs3_res_decoder *decode;
    bool changes;
};

#define CALLS 23u

/* The same scene under other options: a directory 2 in the root with a file 3 in it, and a directory 4. */
void scene(struct fixture *fx, const struct nfsd_options *options);
/* One of each procedure that succeeds in a scene. */
void calls_of(struct fixture *fx, struct call calls[CALLS]);

/* How many pieces of each kind the results have. */
struct shown {
    unsigned before, after, handles;
};

struct shown shown_by(const struct nfs3_res *res);

#endif
