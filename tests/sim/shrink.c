/*
 * shrink: tries to leave out ever shorter stretches of incidents and calls, and each feature of the plan.
 */
#include "sim/shrink.h"

#include <stdlib.h>
#include <string.h>

#include "sim/memory.h"

#define TRIES_MAX 3000u /* runs; one takes some milliseconds */

struct shrinking {
    const struct plan *whole;
    enum clause clause;
    struct omissions omissions;
    unsigned tries;
};

static bool still_fails(struct shrinking *s)
{
    struct plan plan = *s->whole;
    struct outcome outcome;
    if (++s->tries > TRIES_MAX)
        return false;
    plan_omit(&plan, s->omissions.features);
    run_seed(&plan, &s->omissions, false, &outcome);
    return outcome.breach.clause == s->clause;
}

/* Leaves out one stretch after the other, of half the length each time. */
static void shrink_array(struct shrinking *s, uint8_t *array)
{
    const unsigned size = s->omissions.size;
    uint8_t *before = memory_get(size);
    for (unsigned length = size / 2; length > 0; length /= 2) {
        for (unsigned start = 1; start < size; start += length) {
            unsigned end = start + length < size ? start + length : size;
            if (memchr(array + start, 0, end - start) == NULL)
                continue;
            memcpy(before, array, size);
            memset(array + start, 1, end - start);
            if (!still_fails(s))
                memcpy(array, before, size);
        }
    }
    free(before);
}

static void shrink_features(struct shrinking *s)
{
    for (unsigned i = 0; i < PLAN_FEATURES; i++) {
        s->omissions.features |= 1u << i;
        if (!still_fails(s))
            s->omissions.features &= ~(1u << i);
    }
}

void shrink(struct plan *plan, struct omissions *omissions)
{
    const struct plan whole = *plan;
    struct outcome outcome;
    run_seed(&whole, NULL, false, &outcome);
    struct shrinking s = {.whole = &whole, .clause = outcome.breach.clause};
    s.omissions.size = (unsigned)outcome.calls; /* those of the end are among them */
    s.omissions.call = memory_get(s.omissions.size);
    s.omissions.incident = memory_get(s.omissions.size);
    shrink_array(&s, s.omissions.incident);
    shrink_array(&s, s.omissions.call);
    shrink_features(&s);
    shrink_array(&s, s.omissions.incident);
    shrink_array(&s, s.omissions.call);
    plan_omit(plan, s.omissions.features);
    *omissions = s.omissions;
}

void shrink_free(struct omissions *omissions)
{
    free(omissions->call);
    free(omissions->incident);
}
