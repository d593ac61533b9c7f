/*
 * lock: what guards one shard. Held for some tens of nanoseconds, so it spins before it sleeps; four
 * octets, and two atomic operations where nobody waits.
 */
#ifndef CACHE_LOCK_H
#define CACHE_LOCK_H

#include <stdatomic.h>
#include <stdint.h>

enum lock_state {
    LOCK_FREE = 0, /* a zeroed lock is free */
    LOCK_HELD,
    LOCK_AWAITED, /* held, and somebody may sleep until it is not */
};

struct lock {
    _Atomic uint32_t state;
};

void lock_wait(struct lock *lock);
void lock_wake(struct lock *lock);

static inline void lock_acquire(struct lock *lock)
{
    uint32_t expected = LOCK_FREE;
    if (!atomic_compare_exchange_strong_explicit(&lock->state, &expected, LOCK_HELD,
                                                 memory_order_acquire, memory_order_relaxed))
        lock_wait(lock);
}

static inline void lock_release(struct lock *lock)
{
    if (atomic_exchange_explicit(&lock->state, LOCK_FREE, memory_order_release) == LOCK_AWAITED)
        lock_wake(lock);
}

#endif
