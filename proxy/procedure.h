/*
 * procedure: the one table that says what every procedure is.
 *
 * Dispatch, answering, tracking, harvesting and counting all read a row of it; nothing else
 * switches on a procedure's number.
 */
#ifndef PROXY_PROCEDURE_H
#define PROXY_PROCEDURE_H

#include <stdbool.h>
#include <stdint.h>

#include "xdr/nfs3.h"

struct request;
struct reply;
struct track;

/* What a call may change: which part of its arguments names it. No flag: it changes nothing. */
enum procedure_changes {
    CHANGES_OBJECT = 1 << 0,  /* attributes and verdicts of args.object: every mutation's */
    CHANGES_OBJECT2 = 1 << 1, /* … of args.object2 */
    CHANGES_NAME = 1 << 2,    /* what args.name in args.object leads to */
    CHANGES_NAME2 = 1 << 3,   /* what args.name2 in args.object2 leads to */
    CHANGES_BEHIND = 1 << 4, /* the object that args.name leads to: known before the call is sent */
    CHANGES_BEHIND2 = 1 << 5, /* the object that args.name2 leads to: likewise */
    CHANGES_PARENT = 1 << 6,  /* ".." of the object that args.name leads to */
    CHANGES_EXISTING = 1 << 7 /* the object that args.name leads to, if there is one: known when the
                                 reply is there */
};

/* Writes the results of a hit; false when the cache can't say. */
typedef bool procedure_answer(const struct request *request, struct writer *w);
/* Brings what a reply, which has been decoded, says into the cache: for procedures that change nothing. */
typedef void procedure_harvest(const struct request *request, const struct reply *reply);

/* The same for a mutation under way, between its begin and its end. */
typedef void procedure_results(struct track *track, const struct request *request,
                               const struct reply *reply);

struct procedure {
    const char *name;
    nfs3_args_decoder *args;    /* NULL: forwarded undecoded */
    nfs3_res_decoder *res;      /* NULL: likewise */
    procedure_answer *answer;   /* NULL: never answered from cache */
    procedure_harvest *harvest; /* NULL: nothing to learn, or a mutation */
    procedure_results *results; /* mutations only */
    unsigned changes;           /* enum procedure_changes */
    unsigned absent;            /* words that say "does not follow" in its failed results */
    bool sized;                 /* args.count bounds the size of its reply */
    bool local;                 /* answered by the proxy itself: NULL */
};

/* A program that is served, in the one version that is. */
struct program {
    const char *name;
    uint32_t number;
    uint32_t version;
    uint32_t procedure_count;
    const struct procedure *procedures;
    bool mount; /* forwarded to the server's mount port */
};

enum {
    PROGRAM_NFS,
    PROGRAM_MOUNT,
    PROGRAM_NFSACL,
    PROGRAMS,
};

#define PROCEDURES_MAX 22 /* of any one program */

extern const struct program programs[PROGRAMS];

/* NULL when no such program is served. */
const struct program *program_find(uint32_t number);

#endif
