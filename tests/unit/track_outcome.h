/*
 * track_outcome: what a server may make of a mutation, and say.
 */
#ifndef UNIT_TRACK_OUTCOME_H
#define UNIT_TRACK_OUTCOME_H

#include "track_rows.h"

enum outcome {
    SUCCESS,           /* with all that a reply can say */
    SUCCESS_BARE,      /* no attributes, but a handle where there is one */
    SUCCESS_NO_HANDLE, /* attributes, and no handle */
    SUCCESS_NOTHING,   /* neither */
    ERROR_WCC,         /* and attributes */
    ERROR_BARE,
    ERROR_EXIST,
    RPC_FAILED,          /* SYSTEM_ERR */
    RPC_REFUSED,         /* AUTH_ERROR */
    UNREADABLE,          /* results that end early */
    CLIENT_LEFT,         /* SUCCESS, nobody to tell */
    OTHERS_ASKED,        /* SUCCESS, and others asked meanwhile */
    OTHERS_ASKED_ACROSS, /* likewise; they are answered only after the mutation's end */
    LOST_AND_RESENT,     /* SUCCESS, the second time */
    OUTCOMES,
};

extern const char *const outcome_name[OUTCOMES];

/* What its reply holds, if it is readable at all. */
struct says {
    uint32_t status;
    bool attributes, handle;
};

struct says outcome_says(enum outcome outcome);

/* All attributes that the mutation may change are changed. */
void outcome_change(struct world *world, const struct row *row);
/* The names that it changes lead to where they do after it. */
void outcome_move(struct world *world, const struct row *row);
/* Everything that the mutation may change is changed, whatever it says. */
void outcome_execute(struct world *world, const struct row *row, enum outcome outcome);
/* `before` and `after` it was executed. */
struct body outcome_results(const struct row *row, const struct world *before,
                            const struct world *after, struct says says);

#endif
