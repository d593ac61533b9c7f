/*
 * nfsd_fixture: a model server for its tests, what it told, and what it replied. Calls and the results that are expected are
 * made by unit/stage_nfs.h, which shares nothing with the server.
 */
#ifndef SIM_NFSD_FIXTURE_H
#define SIM_NFSD_FIXTURE_H

#include "sim/nfsd.h"
#include "stage_nfs.h"

#define MNT    (STAGE_MOUNT + 1)
#define GETACL (STAGE_NFSACL + 1)
#define SETACL (STAGE_NFSACL + 2)

struct fixture {
    struct nfsd *nfsd;
    uint64_t now; /* one second more at each call */
    uint32_t xid; /* of the last call */
    uint64_t connection;
    char told
        [4096]; /* "NODE", "DIR/NAME", and "hNUMBER=NODE" of a handle, in order, a space behind each */
    struct nfsd_executed executed;
};

/* Times as they come, handles of 32 octets, one for each node, which are shown; no chances. */
extern const struct nfsd_options plain;

int fixture_setup(void **state);
int fixture_teardown(void **state);
/* Instead of the one that is there. */
void fixture_options(struct fixture *fx, const struct nfsd_options *options);
struct draw fixture_draw(const struct fixture *fx);

void assert_told(struct fixture *fx, const char *told);
void forget_told(struct fixture *fx);

/* Made directly, by alice, and nobody is told. */
fs_node make(struct fixture *fx, fs_node dir, const char *name, enum nfs3_ftype type,
             uint32_t mode);
/* As it is now: its attributes, and one of its handles. */
struct file file_of(struct fixture *fx, fs_node node);

/* Executes a call of the next second. */
void execute(struct fixture *fx, unsigned procedure, const struct who *who,
             const struct body *args);
/* The same octets once more. */
void execute_again(struct fixture *fx, unsigned procedure, const struct who *who,
                   const struct body *args);
/* What is behind the header of a reply that was accepted and a success. */
struct bytes results(const struct fixture *fx);
uint32_t status_of(const struct fixture *fx);
void assert_results(const struct fixture *fx, const struct body *expected);
/* Of a failure nothing may follow. */
struct nfs3_res decoded(const struct fixture *fx, nfs3_res_decoder *decode);
void assert_attr_is(const uint8_t *fattr, const struct file *file);

#endif
