/*
 * worker: one thread, one loop; client connections, and connections to the servers of its own.
 *
 * The daemon's thread talks to its workers through their mailboxes only: jobs that are
 * run on the worker's thread. What workers share is the cache, the order of mutations, and the
 * settings, which nobody changes.
 */
#ifndef PROXY_WORKER_H
#define PROXY_WORKER_H

#include "proxy/connection.h"
#include "proxy/log.h"
#include "proxy/mailbox.h"
#include "proxy/port.h"
#include "proxy/service.h"
#include "proxy/snapshot.h"
#include "proxy/stream.h"

struct worker;

/* Something to be done on the worker's thread. Whoever posts it owns it again when `run` is called.
 */
struct worker_job {
    struct list mail;
    void (*run)(struct worker *worker, struct worker_job *job);
};

/* A [section] on this worker. */
struct worker_service {
    struct list node;
    struct worker *worker;
    char name[SETTINGS_NAME_MAX + 1];
    struct snapshot *snapshot; /* its settings are part of it */
    struct engine engine;      /* its own, so that its calls are counted for themselves */
    struct service service;
    struct port *nfs,
        *mount;        /* those that calls are sent to; NULL without memory, and at the end */
    struct list ports; /* all that are not closed yet, also earlier ones */
    struct list connections;
    struct connection_owner owner;
    unsigned connected; /* connections that are not closed yet */
    bool removed;       /* is not configured any more: goes when nothing uses it */
};

struct worker {
    unsigned number;
    uv_thread_t thread;
    uv_loop_t uv;
    struct stream_loop streams;
    struct mailbox jobs;
    struct mailbox granted; /* calls whose turn has come */
    struct cache *cache;
    struct order *order;
    struct log *log;
    struct log_limit bad_records;
    struct log_limit violations; /* of the contract, that `verify` found */
    struct list services;
    uv_timer_t deadline; /* for draining */
    uv_timer_t poll;     /* while draining */
    bool draining;
    bool mailboxes_closed;
    _Atomic unsigned load; /* connections, also on their way here; whoever posts one adds it */
};

struct worker_options {
    unsigned number;
    struct cache *cache;
    struct order *order;
    struct log *log;
};

/* Starts the thread. 0 or a negative error. */
int worker_start(struct worker *worker, const struct worker_options *options);
/* Waits until the thread has ended; it does after worker_drain. */
void worker_join(struct worker *worker);

/* From any thread. */
void worker_post(struct worker *worker, struct worker_job *job);

/* ---- on the worker's own thread ---- */

/* Takes a configuration into force. Never fails half-way: what there is no memory for is logged and
 * left out. */
void worker_apply(struct worker *worker, struct snapshot *snapshot);
/* Takes over an accepted socket. */
void worker_adopt(struct worker *worker, const char *service, int fd);
/* Takes no more calls, answers those in flight for so many ms at most, closes all, and ends the
 * thread. */
void worker_drain(struct worker *worker, uint64_t patience);

#endif
