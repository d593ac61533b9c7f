/*
 * house: the proxy in the simulation: the product's deciding part as it is, with simulated sockets, clock and threads
 * around it.
 */
#ifndef SIM_HOUSE_H
#define SIM_HOUSE_H

#include "proxy/client.h"
#include "proxy/service.h"
#include "proxy/upstream.h"
#include "sim/run.h"

#define HOUSE_SETTINGS_MAX 16u /* no reload after that many */

struct house_link {
    unsigned epoch;        /* changes when it goes down */
    struct list in_socket; /* struct leaving */
};

struct house_worker {
    struct house *house;
    unsigned number;
    struct engine engine;
    struct service service;
    struct upstream nfs;
    struct house_link link[PLAN_LINKS_MAX];
    struct list mail;
    uint32_t first_xid;
    struct sending **sending; /* by xid - first_xid */
    unsigned sendings, sending_room;
    bool verf_known;
    uint8_t verf[NFS3_VERF_LEN];
    struct call_made *receiving; /* whose record is being taken in */
};

struct house {
    struct run *run;
    unsigned incarnation;
    uint64_t opened;                               /* simulated ns */
    struct settings *settings[HOUSE_SETTINGS_MAX]; /* all that were in force; the last one is */
    unsigned reloads;
    struct cache *cache;
    struct cache_server *server;
    struct order *order;
    struct house_worker worker[PLAN_WORKERS_MAX];
};

/* The links are up. */
void house_open(struct run *run, unsigned incarnation);
/* As by kill -9. All clients' connections must have been ended. No worker is in the middle of anything. */
void house_close(struct run *run);

/* As a worker does at the beginning of each event. */
void house_set_clock(struct run *run, unsigned worker);

/* What stands on a worker's own thread, as an event of it. */
void house_link_down(struct run *run, unsigned worker, unsigned link, uint64_t at);
void house_link_up(struct run *run, unsigned worker, unsigned link, uint64_t at);
void house_reload(struct run *run);
void house_flush(struct run *run);

/* A reply from the server; taken by the worker when the event happens. Copies the octets. */
void house_reply(struct run *run, uint64_t at, struct sending *sending, unsigned epoch,
                 unsigned execution);
/* The connection over which it was sent is still the same. */
bool house_connected(const struct run *run, const struct sending *sending, unsigned epoch);
/* The house that sent it has not been answered yet. */
bool house_awaits(const struct run *run, const struct sending *sending);

#endif
