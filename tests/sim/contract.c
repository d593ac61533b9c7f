/*
 * contract: the words that go with the clauses.
 */
#include "sim/contract.h"

#include <assert.h>

static const struct {
    const char *name, *text;
} clauses[CLAUSES] = {
    [CLAUSE_NONE] = {"-", "nothing"},
    [C1] = {"C1", "older than a mutation whose reply had been sent"},
    [C2] = {"C2", "older than what had been shown"},
    [C3] = {"C3", "nothing that the server had said"},
    [C4] = {"C4", "to a credential that the server had not answered"},
    [C5] = {"C5", "older than its age allows"},
    [C6] = {"C6", "an error from the cache"},
    [C7] = {"C7", "known only from replies that overlapped with a mutation"},
    [C8] = {"C8", "known only from before a doubt"},
    [CLAUSE_ONCE] = {"once", "a call that was not answered exactly once"},
};

const char *clause_name(enum clause clause)
{
    assert(clause < CLAUSES);
    return clauses[clause].name;
}

const char *clause_text(enum clause clause)
{
    assert(clause < CLAUSES);
    return clauses[clause].text;
}
