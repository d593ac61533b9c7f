/*
 * track: a mutation from before it leaves until its reply has been handled.
 *
 * Knows what a mutation may change (its row's `changes`), has the cache fence all of that, and says
 * which questions the proxy must ask the server itself: before the mutation, which file a directory
 * is, and which object is behind a name; after it, which file a handle is, or which object a CREATE
 * met. It sends nothing: call.c asks the questions and brings the answers.
 *
 *   track_init                      fences' keys from the arguments
 *   track_question, track_answer…   until no question is left: which files the directories are
 *   track_order                     the names' turns are known, and can be taken; when all are held:
 *   track_resolve                   what the cache knows of what is behind the names
 *   track_question, track_answer…   until no question is left: the rest of that
 *   track_begin                     fences raised; now the call may be sent
 *   track_reply                     the reply's results go in
 *   track_question, track_answer…   what the reply left open
 *   track_end                       fences lowered; now the client may get its reply
 */
#ifndef PROXY_TRACK_H
#define PROXY_TRACK_H

#include "cache/cache.h"
#include "proxy/order.h"
#include "proxy/reply.h"
#include "proxy/request.h"

/* What stands behind a name of the arguments. */
enum track_behind_state {
    BEHIND_UNUSED, /* the mutation does not touch it */
    BEHIND_OPEN,   /* to be asked */
    BEHIND_OBJECT, /* known, and part of the mutation */
    BEHIND_ABSENT, /* nothing */
};

struct track_behind {
    enum track_behind_state state;
    unsigned object; /* where BEHIND_OBJECT */
};

struct track {
    struct call *call; /* whose it is; for `granted` */
    struct cache_mutation mutation;
    struct order_ticket ticket;
    unsigned object, object2; /* numbers of args.object and args.object2 in the mutation */
    struct track_behind behind, behind2;
    /* An object that the reply brought to light, and of which nobody knows which file it is. */
    uint8_t found[NFS3_FH_MAX];
    uint32_t found_len; /* 0: there is none */
    bool ordered;       /* the ticket says which names */
    bool begun;
    bool doubt;  /* something was changed of which nobody knows what it is */
    bool unseen; /* nothing was there that the caller was let see: doubt if the mutation succeeds */
    bool unanswered;        /* a question was turned away: doubt unless the mutation is too */
    bool succeeded;         /* or nobody knows whether it did */
    uint64_t doubts;        /* cache_doubts when it became known what is behind its names */
    unsigned asked_objects; /* bit mask: identities that were asked for, whatever came of it */
};

enum track_question_kind {
    TRACK_NOTHING,
    TRACK_ASK_BEHIND,   /* LOOKUP of args.name in args.object */
    TRACK_ASK_BEHIND2,  /* LOOKUP of args.name2 in args.object2 */
    TRACK_ASK_IDENTITY, /* GETATTR of `handle`, the mutation's object `object` */
    TRACK_ASK_FOUND,    /* GETATTR of `handle`, which the reply brought to light */
};

struct track_question {
    enum track_question_kind kind;
    struct bytes handle; /* GETATTR: of what. LOOKUP: the directory */
    struct bytes name;
    unsigned object;
};

void track_init(struct track *track, const struct request *request, struct call *call,
                void (*granted)(struct order_ticket *ticket));
/* Called when no question about the directories is left: a directory that has two handles is one directory, and its names
 * are ordered by which file it is. The ticket may be taken now. */
void track_order(struct track *track, const struct request *request);
/* Called with all turns held; looks into the cache first. */
void track_resolve(struct track *track, const struct request *request);
/* The next question; TRACK_NOTHING when none is left for now. Its views stand in the request or in
 * the track. */
struct track_question track_question(struct track *track, const struct request *request);
void track_answer(struct track *track, const struct request *request,
                  const struct track_question *question, const struct reply *reply);
/* The tick at which it was sent. */
cache_stamp track_begin(struct track *track, const struct request *request);
void track_reply(struct track *track, const struct request *request, const struct reply *reply);
void track_end(struct track *track, const struct request *request);

/* Rows of the procedure table. */
procedure_results track_wcc_results;    /* SETATTR WRITE COMMIT */
procedure_results track_create_results; /* CREATE MKDIR SYMLINK MKNOD */
procedure_results track_remove_results; /* REMOVE RMDIR */
procedure_results track_rename_results;
procedure_results track_link_results;
procedure_results track_acl_results;

#endif
