/*
 * allocate: realloc for the simulation's own parts: without memory the run ends.
 */
#ifndef SIM_ALLOCATE_H
#define SIM_ALLOCATE_H

#include <stdio.h>
#include <stdlib.h>

static inline void *sim_allocate(void *old, size_t size)
{
    void *new = realloc(old, size);
    if (!new) {
        perror("simulation");
        abort();
    }
    return new;
}

#endif
