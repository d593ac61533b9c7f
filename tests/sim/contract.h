/*
 * contract: the clauses that are checked, and how one that was broken is told.
 */
#ifndef SIM_CONTRACT_H
#define SIM_CONTRACT_H

#include <stdint.h>

enum clause {
    CLAUSE_NONE = 0,
    C1 = 1,      /* read your writes, and everybody's */
    C2,          /* never backwards */
    C3,          /* never mixed, never made up */
    C4,          /* permission */
    C5,          /* bounded staleness */
    C6,          /* only success is remembered */
    C7,          /* overlap is never cached */
    C8,          /* doubt means ask */
    CLAUSE_ONCE, /* every call that was accepted is answered once, and ends once */
    CLAUSES,
};

const char *clause_name(enum clause clause); /* "C1" */
const char *clause_text(enum clause clause);

/* The first thing that went wrong in a run. */
struct breach {
    enum clause clause; /* CLAUSE_NONE: nothing did */
    uint64_t at;        /* simulated ns */
    uint32_t call;      /* the number of the call whose reply shows it; 0: none's */
    char text[512];
};

#endif
