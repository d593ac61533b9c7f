/*
 * nfsd_procedure: what there is to do for a call, by its procedure. Only nfsd*.c include this.
 *
 * A procedure is a row: how its arguments are decoded, what is done, and of what its reply is made:
 *
 *   status, front (success only), attributes (always), tail (success only)
 */
#ifndef SIM_NFSD_PROCEDURE_H
#define SIM_NFSD_PROCEDURE_H

#include "sim/nfsd.h"
#include "sim/nfsd_again.h"
#include "sim/nfsd_args.h"
#include "sim/nfsd_handles.h"
#include "sim/nfsd_put.h"

#define NFSD_IO_MAX 8192u /* of one READ or WRITE */

struct nfsd {
    struct nfsd_options options;
    struct nfsd_watch watch;
    struct fs *fs;
    struct nfsd_handles handles;
    struct nfsd_again *again;
    uint64_t boot;
    uint32_t grudge;
};

struct nfsd_procedure;

/* A call that is being executed. */
struct nfsd_call {
    struct nfsd *nfsd;
    const struct nfsd_procedure *procedure;
    struct fs_who who;
    uint64_t now;
    struct draw draw;
    struct put put;
    struct nfsd_args args;
    fs_node object, object2; /* behind args' handles; 0: none */
    bool has_before, has_before2;
    struct fs_attr before, before2;
    /* What was done. */
    fs_node found; /* LOOKUP; CREATE and such */
    uint32_t count;
    bool eof;
};

/* The attributes that results have whatever the status is. */
enum nfsd_attributes {
    NFSD_NONE,
    NFSD_OBJECT, /* the object's */
    NFSD_WCC,    /* wcc_data of the object */
    /* These have two objects. */
    NFSD_OBJECT_WCC, /* LINK: the object's, and wcc_data of object2 */
    NFSD_WCC_WCC,    /* RENAME: wcc_data of both */
};

struct nfsd_procedure {
    nfsd_args_decoder *decode;
    enum nfs3_status (*run)(struct nfsd_call *x);
    void (*front)(struct nfsd_call *x); /* or NULL */
    enum nfsd_attributes attributes;
    void (*tail)(struct nfsd_call *x); /* or NULL */
    bool changes;                      /* is remembered, and may fail after it was done */
};

/* NULL: there is no such procedure. Not for procedure 0. */
const struct nfsd_procedure *nfsd_nfs_procedure(uint32_t number);
const struct nfsd_procedure *nfsd_acl_procedure(uint32_t number);

/* The results of a call whose arguments are decoded. */
void nfsd_results(struct nfsd_call *x);
/* Those of a failure that shows no attributes. */
void nfsd_bare_failure(struct nfsd_call *x, enum nfs3_status status);

/* READDIR and READDIRPLUS, in nfsd_dir.c; GETACL, in nfsd_acl.c. */
enum nfs3_status nfsd_run_readdir(struct nfsd_call *x);
enum nfs3_status nfsd_run_readdirplus(struct nfsd_call *x);
void nfsd_put_readdir(struct nfsd_call *x);
void nfsd_put_readdirplus(struct nfsd_call *x);
enum nfs3_status nfsd_run_getacl(struct nfsd_call *x);
enum nfs3_status nfsd_run_setacl(struct nfsd_call *x);
void nfsd_put_acl(struct nfsd_call *x);

/* Pieces of results; whether they follow is the options' chance. */
void nfsd_put_fattr(struct put *put, const struct fs_attr *attr);
void nfsd_put_post_op(struct nfsd_call *x, fs_node node);
void nfsd_put_handle(struct nfsd_call *x, fs_node node);
void nfsd_put_post_op_handle(struct nfsd_call *x, fs_node node);

#endif
