/*
 * lock: what guards one shard. Held for some tens of nanoseconds, so it spins before it sleeps.
 */
#ifndef CACHE_LOCK_H
#define CACHE_LOCK_H

#include <pthread.h>

struct lock {
    pthread_mutex_t mutex;
};

static inline int lock_init(struct lock *lock)
{
    pthread_mutexattr_t attr;
    int error = pthread_mutexattr_init(&attr);
    if (error)
        return -error;
    error = pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ADAPTIVE_NP);
    if (!error)
        error = pthread_mutex_init(&lock->mutex, &attr);
    pthread_mutexattr_destroy(&attr);
    return -error;
}

static inline void lock_destroy(struct lock *lock)
{
    pthread_mutex_destroy(&lock->mutex);
}

static inline void lock_acquire(struct lock *lock)
{
    pthread_mutex_lock(&lock->mutex);
}

static inline void lock_release(struct lock *lock)
{
    pthread_mutex_unlock(&lock->mutex);
}

#endif
