/*
 * fresh: how long what is kept may be served without asking. Pure functions of times; ages are
 * measured on the proxy's monotonic clock and never on the server's.
 *
 * Kept times are whole milliseconds, rounded down: what is kept looks up to a millisecond older
 * than it is, and never younger.
 */
#ifndef CACHE_FRESH_H
#define CACHE_FRESH_H

#include "cache/cache.h"

/* Times in milliseconds. */
struct fresh_state {
    uint64_t fetched; /* when the server said so last */
    uint64_t changed; /* when it was first seen like this */
    uint64_t mutated; /* when the last tracked mutation ended; 0: never */
    bool doubtful;    /* filled in doubt, or of a file without a name: aged also in exclusive */
};

struct fresh_name {
    uint64_t fetched;
    bool doubtful;
    bool negative;
    bool matched; /* the reply's state of the directory is the one that was kept */
};

/* How long attributes with these times are fresh, in nanoseconds. */
uint64_t fresh_age(const struct cache_ages *ages, const struct fresh_state *state);
/* Asked for less than `settle` after a mutation. It stays so until it is asked for again, however
 * much later that is: what was seen then may have changed without a trace. */
bool fresh_settling(const struct cache_ages *ages, const struct fresh_state *state);
bool fresh_attributes(const struct cache_ages *ages, const struct fresh_state *state, uint64_t now);

/* `dir` is the directory's state, whose attributes are fresh. */
bool fresh_lookup(const struct cache_ages *ages, const struct fresh_name *name,
                  const struct fresh_state *dir, uint64_t now);
/* The same where nothing is known of the directory's attributes now. */
bool fresh_resolve(const struct cache_ages *ages, const struct fresh_name *name,
                   const struct fresh_state *dir, uint64_t now);

bool fresh_verdict(const struct cache_ages *ages, uint64_t fetched, uint64_t now);

#endif
