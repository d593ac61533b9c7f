/*
 * lock: takes the place of the product's cache/lock.h in the simulation, where all workers are fibers of one thread
 * (sim/fibers.h). Before a lock is taken another worker may go on; one that is held is waited for by letting others go on.
 */
#ifndef CACHE_LOCK_H
#define CACHE_LOCK_H

#include <assert.h>
#include <stdint.h>

#include "sim/fibers.h"

struct lock {
    uint32_t held;
};

static inline void lock_acquire(struct lock *lock)
{
    fibers_may_switch();
    while (lock->held)
        fibers_wait();
    lock->held = 1;
}

static inline void lock_release(struct lock *lock)
{
    assert(lock->held);
    lock->held = 0;
}

#endif
