/*
 * run: one simulated world, from its seed to its end.
 *
 *   crowd     clients: what they call, and what they are told
 *   house     the proxy: the product's deciding part, with its workers, links and timers
 *   site      the server: nfsd behind a network
 *   incidents what happens beside
 *   judge     compares every reply with the history
 *   story     what happened, for people
 *
 * All of it is one thread. Time goes from event to event of the agenda; where a worker of the proxy is in the middle of
 * something (fibers.h), what comes soon after may come first.
 */
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include "sim/agenda.h"
#include "sim/facts.h"
#include "sim/plan.h"

#define RUN_WALL_START \
    1700000000000000000ull /* the server's clock when a run starts, ns since 1970 */
#define RUN_RECENT 16u

struct crowd;
struct house;
struct fiber;

/* One version of one register. */
enum ref_kind {
    REF_NODE,
    REF_NAME,
    REF_HANDLE
};

struct ref {
    enum ref_kind kind;
    uint32_t a, b; /* node; directory and name; handle */
    uint32_t version;
};

/* A version that was made: what somebody did to a register. */
struct effect {
    struct ref ref;
    bool tracked; /* the proxy could know that it would be made */
    bool named;   /* the call names it: a name, or what a handle leads to */
};

/* One reply of the server, made at one moment. */
struct execution {
    uint8_t *reply;
    uint32_t len;
    struct ref *shown; /* what its facts say of attributes, names and handles */
    unsigned shown_count;
    bool received;
};

/* One call that the proxy makes of the server, however often it sends it: a client's, or a question of its own. */
struct sending {
    struct sending *next;         /* of the run's */
    struct sending *next_of_call; /* of the client's call */
    unsigned incarnation, worker, link;
    uint32_t xid;
    uint8_t *octets;
    uint32_t len;
    unsigned times;         /* it was sent */
    bool concluded;         /* its reply has come */
    struct call_made *call; /* NULL: the proxy asks for itself */
    uint32_t who;
    struct call_read read; /* stands in `octets` */
    uint64_t sent;         /* the moment at which it was sent first */
    uint64_t name;    /* what is decided about it is drawn under: the same whatever came before */
    uint64_t arrived; /* … at which the client's call had come to the proxy */
    struct execution *execution;
    unsigned executions, execution_room;
};

/* One call of a client, however often it is sent. */
struct call_made {
    uint32_t number, client, who;
    uint8_t *octets; /* a whole record; ends with its tag */
    uint32_t len;
    struct bytes args;     /* stands in `octets` */
    struct call_read read; /* likewise */
    unsigned attempts;     /* how often it was sent to the proxy */
    uint64_t arrived;      /* the moment at which the last attempt did */
    bool waits;            /* for its reply */
    unsigned answers;      /* to the last attempt */
    bool probe;            /* of the end: see crowd.h */
    struct sending *sendings;
    struct effect *effect; /* of all its executions */
    unsigned effects, effect_room;
};

struct grudge {
    uint32_t uid;
    uint64_t from, until; /* simulated ns */
};

struct run {
    const struct plan *plan;
    const struct omissions *omissions;
    bool telling; /* the story goes to stdout */
    uint64_t now; /* simulated ns */
    struct agenda agenda;
    struct ledger ledger;
    struct nfsd *nfsd;
    unsigned boot; /* how often the server has lost its connections */
    struct crowd *crowd;
    struct house *house;
    struct fiber *fiber[PLAN_WORKERS_MAX];
    uint64_t fiber_since[PLAN_WORKERS_MAX];
    uint64_t events;
    uint64_t ops;            /* what the server did, counted */
    uint64_t turns;          /* decisions which worker goes on, since the last event */
    struct call_made **call; /* call[number]; number 0 is none */
    unsigned calls, call_room;
    struct sending *sendings;
    uint64_t confused_until; /* a handle leads elsewhere, and nobody can know yet */
    struct {                 /* of what the server is changing now */
        enum cause kind;
        struct call_made *call;
        uint64_t sent;
        bool stolen; /* what the call does beyond what it names is CAUSE_OUTSIDE */
    } cause;
    uint64_t age_max, negative_age, access_age; /* the longest that were in force in this run */
    struct grudge *grudge;
    unsigned grudges, grudge_room;
    struct effect recent[RUN_RECENT]; /* what was done last: a ring */
    unsigned recents;
    struct ref outsider; /* the name that was changed last behind the proxy's back */
    uint64_t hits, forwarded;
    struct breach breach;
};

struct outcome {
    struct breach breach;
    uint64_t calls, hits, forwarded, events;
};

/* `omissions` may be NULL. */
void run_seed(const struct plan *plan, const struct omissions *omissions, bool telling,
              struct outcome *outcome);

/* ---- for the parts of a run ---- */

/* `event` stands in memory of its own. */
void run_at(struct run *run, uint64_t at, int place, struct event *event,
            void (*happen)(struct run *run, struct event *event));
/* The first breach is kept; the run ends soon after. */
void run_breach(struct run *run, enum clause clause, uint32_t call, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
struct draw run_draw(const struct run *run, enum decision decision, uint64_t a, uint64_t b);
struct reg *run_reg(struct run *run, const struct ref *ref);

#endif
