/*
 * fresh: in `shared`, what every NFS client does: between age_min and age_max, growing with how
 * long the object has not changed. In `exclusive`, always, with four exceptions: verdicts, what
 * was filled in doubt, objects that were asked for while a server may still be settling them, and
 * those with no link left: some servers (nfs-ganesha 4.3) go on answering for a file that was removed,
 * with nlink 0, and at some later time its handle is stale.
 */
#include "cache/fresh.h"

/* A server whose times have a granularity of a second may change a directory again, unseen, within
 * the second of the change that was seen. */
#define GRANULARITY_MSEC 2000u

static uint64_t since(uint64_t msec, uint64_t now)
{
    uint64_t then = msec * CACHE_NSEC_PER_MSEC;
    return now > then ? now - then : 0;
}

uint64_t fresh_age(const struct cache_ages *ages, const struct fresh_state *state)
{
    uint64_t age = state->fetched > state->changed
                       ? (state->fetched - state->changed) * CACHE_NSEC_PER_MSEC
                       : 0;
    if (age > ages->age_max)
        age = ages->age_max;
    return age < ages->age_min ? ages->age_min : age;
}

bool fresh_settling(const struct cache_ages *ages, const struct fresh_state *state)
{
    if (ages->settle == 0 || state->mutated == 0)
        return false;
    return state->fetched <= state->mutated ||
           (state->fetched - state->mutated) * CACHE_NSEC_PER_MSEC < ages->settle;
}

bool fresh_attributes(const struct cache_ages *ages, const struct fresh_state *state, uint64_t now)
{
    uint64_t age = since(state->fetched, now);
    if (fresh_settling(ages, state) && age >= ages->settle_age)
        return false;
    return (ages->exclusive && !state->doubtful) || age < fresh_age(ages, state);
}

static bool bounded(const struct cache_ages *ages, const struct fresh_name *name)
{
    return !ages->exclusive || name->doubtful;
}

bool fresh_resolve(const struct cache_ages *ages, const struct fresh_name *name,
                   const struct fresh_state *dir, uint64_t now)
{
    if (!bounded(ages, name))
        return true;
    uint64_t age = since(name->fetched, now);
    if (name->negative && age >= ages->negative_age)
        return false;
    return age < fresh_age(ages, dir);
}

bool fresh_lookup(const struct cache_ages *ages, const struct fresh_name *name,
                  const struct fresh_state *dir, uint64_t now)
{
    if (fresh_resolve(ages, name, dir, now))
        return true;
    /* A directory that was asked again, and has not changed since the name was, vouches for it. */
    if (name->negative && since(name->fetched, now) >= ages->negative_age)
        return false;
    return name->matched && name->fetched >= dir->changed + GRANULARITY_MSEC;
}

bool fresh_verdict(const struct cache_ages *ages, uint64_t fetched, uint64_t now)
{
    return since(fetched, now) < ages->access_age;
}
