/*
 * crew: all workers, as the daemon's thread deals with them.
 *
 * Connections are handed to them, and rounds are done by them: something that every worker does once, on its own
 * thread, and that the daemon's thread then hears of.
 */
#ifndef PROXY_CREW_H
#define PROXY_CREW_H

#include "proxy/worker.h"

struct crew;
struct round_job;

/* Embedded in what it is about. Stays in place until `done`. */
struct round {
    void (*each)(struct round *round, struct worker *worker); /* on each worker's thread */
    void (*done)(struct round *round);                        /* on the daemon's thread */
    struct crew *crew;
    struct list mail;
    _Atomic unsigned left;
    struct round_job *jobs; /* one per worker; freed before `done` */
};

struct crew {
    struct worker *workers;
    unsigned count;
    unsigned next;   /* who gets the next connection among equals */
    unsigned rounds; /* under way */
    struct mailbox home;
    bool stopping;
    /* After crew_stop: all workers have ended. */
    void (*stopped)(struct crew *crew);
};

struct crew_options {
    unsigned workers;
    struct cache *cache;
    struct order *order;
    struct log *log;
    void (*stopped)(struct crew *crew);
};

/* 0 or a negative error; crew_stop it in either case. `uv`: the daemon's loop. */
int crew_start(struct crew *crew, uv_loop_t *uv, const struct crew_options *options);
/* When no round is under way any more: has all workers answer what is in flight, and end. */
void crew_stop(struct crew *crew);

/* Client connections, also those on their way to a worker. */
unsigned crew_connections(const struct crew *crew);
/* An accepted socket goes to the worker that has the fewest. */
void crew_adopt(struct crew *crew, const char *service, int fd);
/* `each` and `done` are set. 0 or -ENOMEM: nothing was started. Not after crew_stop. */
int crew_round(struct crew *crew, struct round *round);

#endif
