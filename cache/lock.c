/*
 * lock: the slow ways. One who sleeps leaves the lock as "awaited" and, when it wakes, takes it as
 * "awaited", since it can't know whether others sleep too: the last of them wakes nobody, once.
 */
#include "cache/lock.h"

#include <linux/futex.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SPINS 100

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static bool try(struct lock *lock)
{
    uint32_t expected = LOCK_FREE;
    return atomic_load_explicit(&lock->state, memory_order_relaxed) == LOCK_FREE &&
           atomic_compare_exchange_weak_explicit(&lock->state, &expected, LOCK_HELD,
                                                 memory_order_acquire, memory_order_relaxed);
}

void lock_wait(struct lock *lock)
{
    for (int i = 0; i < SPINS; i++) {
        pause_briefly();
        if (try(lock))
            return;
    }
    while (atomic_exchange_explicit(&lock->state, LOCK_AWAITED, memory_order_acquire) != LOCK_FREE)
        syscall(SYS_futex, &lock->state, FUTEX_WAIT_PRIVATE, LOCK_AWAITED, NULL, NULL, 0);
}

void lock_wake(struct lock *lock)
{
    syscall(SYS_futex, &lock->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
