/*
 * silence: which servers do not answer, over all workers, so that the log says it once and not once per worker.
 */
#ifndef PROXY_SILENCE_H
#define PROXY_SILENCE_H

#include <pthread.h>
#include <stdbool.h>

#include "proxy/container.h"

struct silence {
    pthread_mutex_t lock;
    struct list servers; /* those that somebody waits for */
};

void silence_init(struct silence *silence);
/* Nobody waits any more. */
void silence_destroy(struct silence *silence);

/* Somebody begins to wait for the server of that name: true if nobody did so far. From any thread. */
bool silence_begin(struct silence *silence, const char *server);
/* One of those who began does not wait any more: true if it was the last. */
bool silence_end(struct silence *silence, const char *server);

#endif
