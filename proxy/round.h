/*
 * round: something that every worker does once, on its own thread, and that the daemon's thread
 * then hears of.
 */
#ifndef PROXY_ROUND_H
#define PROXY_ROUND_H

#include "proxy/worker.h"

struct round;

struct round_job {
    struct worker_job job;
    struct round *round;
};

/* Embedded in what the round is about. Stays in place until `done`. */
struct round {
    void (*each)(struct round *round, struct worker *worker); /* on each worker's thread */
    void (*done)(struct round *round);                        /* on the thread of `home` */
    struct mailbox *home;                                     /* delivers to round_deliver */
    struct list mail;
    _Atomic unsigned left;
    struct round_job *jobs; /* one per worker; freed before `done` */
};

/* each, done and home are set. 0 or -ENOMEM: nothing was started. */
int round_start(struct round *round, struct worker *workers, unsigned count);
void round_deliver(struct mailbox *mailbox, struct list *mail);

#endif
