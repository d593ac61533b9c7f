/*
 * stage: the deciding part of the proxy between clients and a server that the test plays, in one
 * thread and on a clock that the test moves.
 *
 * One or more workers, each with its engine, service and upstreams, share a cache and an order.
 * What the proxy sends to the server is kept, in order, until the test takes it and answers; what
 * it replies to a client is kept until the test looks. Records stand in memory of exactly their
 * size, by turns owned and not, that is gone as soon as the proxy may no longer use it.
 */
#ifndef UNIT_STAGE_H
#define UNIT_STAGE_H

/* Before cmocka.h, whose macro `fail` would take the place of client_ops.fail. */
#include "proxy/client.h"
#include "proxy/order.h"
#include "proxy/service.h"
#include "proxy/upstream.h"

#include "stage_nfs.h"

#define STAGE_WORKERS_MAX 4u
#define STAGE_REPLIES     64u
#define STAGE_SECOND      1000000000ull

struct stage;

struct stage_worker {
    struct stage *stage;
    struct engine engine;
    struct service service;
    struct upstream nfs, mount;
    struct list mail; /* calls that the proxy woke */
};

/* A call as the server got it. */
struct stage_sent {
    struct stage_worker *worker;
    struct upstream *upstream;
    unsigned link;
    struct upstream_call *call; /* NULL once it was answered, or its link was lost */
    bool taken;
    struct bytes record; /* a copy */
    struct rpc_call rpc; /* views in it */
    struct bytes args;
    uint32_t for_xid; /* stage_asks: the client's */
};

struct stage {
    struct settings *settings;
    struct cache *cache;
    struct order *order;
    unsigned workers;
    struct stage_worker worker[STAGE_WORKERS_MAX];
    struct stage_sent **sent; /* in order of sending */
    unsigned sent_count, sent_room;
    bool socket_full; /* octets stay in the socket until stage_socket_drain */
    bool hold_mail;   /* woken calls wait for stage_deliver */
    unsigned turn;    /* owned and not, by turns */
    unsigned resets, doubts, silences, recoveries;
};

/* `keys`: lines of the [service] section. Everything is connected. */
struct stage *stage_create(const char *keys, unsigned workers);
/* With another size of the cache. */
struct stage *stage_create_sized(const char *keys, unsigned workers, uint64_t memory);
/* The worker's service is closed, and what is outstanding ends without a reply. */
void stage_abandon(struct stage *stage, unsigned worker_number);
/* Does so for all, and asserts that no call is left. */
void stage_destroy(struct stage *stage);
void stage_advance(struct stage *stage, uint64_t nsec);
void stage_deliver(struct stage *stage);
void stage_socket_drain(struct stage *stage);
void stage_link_down(struct stage *stage, unsigned worker);
void stage_link_up(struct stage *stage, unsigned worker);

/* ---- clients ---- */

struct stage_reply {
    uint32_t xid;
    uint8_t *data;
    uint32_t len;
};

struct stage_client {
    struct client client;
    struct stage_worker *worker;
    struct who who;
    uint32_t xid; /* of its last call; every client counts from the same number */
    uint8_t *room;
    uint32_t room_size;
    bool no_memory;                          /* `reserve` fails */
    struct stage_reply reply[STAGE_REPLIES]; /* the last ones */
    unsigned replies;                        /* ever */
    unsigned failures;                       /* its connection had to be closed */
    bool gone;
};

void stage_client_init(struct stage_client *client, struct stage *stage, unsigned worker,
                       struct who who);
/* Goes away, if it has not, and frees its replies. */
void stage_client_done(struct stage_client *client);
void stage_client_leave(struct stage_client *client);
/* The reply to a call, or NULL. */
const struct stage_reply *stage_reply_find(const struct stage_client *client, uint32_t xid);
/* Hands in a record; what call_receive says. */
int stage_receive(struct stage_client *client, struct bytes octets);
/* Calls, and returns the xid. */
uint32_t stage_call(struct stage_client *client, unsigned procedure, struct body args);

/* ---- the server ---- */

/* The next call that was not yet taken; NULL when there is none. */
struct stage_sent *stage_next(struct stage *stage);
unsigned stage_waiting(const struct stage *stage); /* how many */
void stage_answer(struct stage_sent *sent, struct body results);
/* A reply of another kind: its xid is set here. */
void stage_answer_rpc(struct stage_sent *sent, struct rpc_reply reply);
/* Octets after the xid, as they are. */
void stage_answer_raw(struct stage_sent *sent, struct bytes octets);

/* ---- what tests say, with the line that said it where it is not so ---- */

/* The server gets one call, of this procedure and with these arguments. */
#define stage_takes(stage, procedure, args) \
    stage_takes_at((stage), (procedure), (args), __FILE__, __LINE__)
/* The server gets nothing. */
#define stage_quiet(stage) stage_quiet_at((stage), __FILE__, __LINE__)
/* The client has this reply; NULL results: none yet. */
#define stage_told(client, xid, results) \
    stage_told_at((client), (xid), (results), __FILE__, __LINE__)
#define stage_untold(client, xid) stage_untold_at((client), (xid), __FILE__, __LINE__)
/* The cache answers, with these octets. */
#define stage_serves(client, procedure, args, results) \
    stage_serves_at((client), (procedure), (args), (results), __FILE__, __LINE__)
/* The server is asked, this one thing. */
#define stage_asks(client, procedure, args) \
    stage_asks_at((client), (procedure), (args), __FILE__, __LINE__)
/* The server answers what `stage_asks` asked, and the client gets that. */
#define stage_tells(client, sent, results) \
    stage_tells_at((client), (sent), (results), __FILE__, __LINE__)
/* Both of these. */
#define stage_fetches(client, procedure, args, results) \
    stage_fetches_at((client), (procedure), (args), (results), __FILE__, __LINE__)

struct stage_sent *stage_takes_at(struct stage *stage, unsigned procedure, struct body args,
                                  const char *file, int line);
void stage_quiet_at(const struct stage *stage, const char *file, int line);
void stage_told_at(const struct stage_client *client, uint32_t xid, struct body results,
                   const char *file, int line);
void stage_untold_at(const struct stage_client *client, uint32_t xid, const char *file, int line);
void stage_serves_at(struct stage_client *client, unsigned procedure, struct body args,
                     struct body results, const char *file, int line);
struct stage_sent *stage_asks_at(struct stage_client *client, unsigned procedure, struct body args,
                                 const char *file, int line);
void stage_tells_at(struct stage_client *client, struct stage_sent *sent, struct body results,
                    const char *file, int line);
void stage_fetches_at(struct stage_client *client, unsigned procedure, struct body args,
                      struct body results, const char *file, int line);

#endif
