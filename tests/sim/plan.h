/*
 * plan: what kind of run a seed makes: how many of everything, how far apart, what goes wrong how often.
 */
#ifndef SIM_PLAN_H
#define SIM_PLAN_H

#include "sim/draw.h"
#include "sim/nfsd.h"

#define PLAN_CLIENTS_MAX 6u
#define PLAN_WORKERS_MAX 2u
#define PLAN_LINKS_MAX   2u
#define PLAN_NAMES_MAX   10u
#define PLAN_WHOS_MAX    6u
#define PLAN_USEC        1000ull
#define PLAN_MSEC        1000000ull
#define PLAN_SEC         1000000000ull

/* What each of them decides is drawn under its number (draw_of). */
enum decision {
    DECIDE_PLAN,
    DECIDE_CALL,      /* a client's next call */
    DECIDE_PAUSE,     /* how long until the next one, and whose it is */
    DECIDE_WAY_IN,    /* how long a call takes to the proxy */
    DECIDE_RECORD,    /* whether its octets are handed over or only shown */
    DECIDE_WAY_UP,    /* from the proxy to the server, and until it is executed */
    DECIDE_WAY_DOWN,  /* and back */
    DECIDE_SOCKET,    /* how long octets stay in a socket */
    DECIDE_LATE,      /* what becomes of a call whose connection is lost */
    DECIDE_EXECUTION, /* what the server says */
    DECIDE_SETTLING,  /* whether and when blocks are given out */
    DECIDE_SWITCH,    /* whether another worker gets in between */
    DECIDE_NEXT,      /* which of those that could go on does */
    DECIDE_MAIL,      /* how long it takes from one worker to the other */
    DECIDE_INCIDENT,  /* what happens beside the calls */
    DECIDE_OUTSIDE,   /* what somebody does behind the proxy's back */
    DECIDE_HANDLE,
    DECIDE_SECRET,
};

/* Things that happen, after so many of a thousand calls. */
enum incident {
    INCIDENT_OUTSIDE,       /* somebody changes something behind the proxy's back (`shared` only) */
    INCIDENT_LINK_LOST,     /* a connection between proxy and server */
    INCIDENT_NFSD_RESTART,  /* the server loses its connections and what was not stable */
    INCIDENT_PROXY_RESTART, /* the proxy is killed and started again */
    INCIDENT_RELOAD,        /* with other ages */
    INCIDENT_FLUSH,
    INCIDENT_CLIENT_LOST, /* a client's connection */
    INCIDENT_GRUDGE,      /* the server refuses somebody everything for a while */
    INCIDENT_CONFUSION,   /* a handle leads to another node */
    INCIDENT_BOOT,        /* the server loses what was not stable, without a lost connection */
    INCIDENTS,
};

struct plan {
    uint64_t seed;
    unsigned calls; /* all clients together */
    unsigned clients, workers, links, names, whos;
    unsigned hot;   /* so many handles are used more than others: */
    unsigned heat;  /* by so many of a thousand calls */
    unsigned reads; /* so many times as many calls that change nothing */
    bool exclusive;
    uint64_t age_min, age_max, negative_age, access_age, doubt; /* ns */
    uint64_t memory;
    unsigned fences;
    struct nfsd_options nfsd;       /* its errors: those of the clients' calls; */
    struct nfsd_errors asked;       /* … and of the proxy's own questions */
    uint64_t pause_low, pause_high; /* between two calls, of all clients together */
    uint64_t way_low, way_high;     /* one way to the server */
    unsigned held;                  /* of a thousand replies: that are held for long */
    unsigned settles;               /* of a thousand changes: `used` differs later */
    unsigned switches; /* of a thousand locks: at which another worker gets in between */
    unsigned probes;   /* of a thousand calls: that look at what has just changed */
    unsigned repeats;  /* of a thousand calls: that ask once more what was asked a little before */
    unsigned incident[INCIDENTS]; /* of a thousand calls */
};

/* What may be left out of a run to make it smaller. */
struct omissions {
    unsigned size;     /* of both arrays */
    uint8_t *call;     /* by number: not made */
    uint8_t *incident; /* by the number of the call after which it would happen */
    uint32_t features; /* as in plan_omit */
};

#define PLAN_FEATURES 15u

/* `calls` 0: as many as the contract's runs have. */
void plan_make(struct plan *plan, uint64_t seed, unsigned calls);
/* Makes it a plainer one. Bits of `features`: numbers below PLAN_FEATURES, in the order of plan.c's table. */
void plan_omit(struct plan *plan, uint32_t features);
/* One line. */
void plan_print(const struct plan *plan, char *text, unsigned size);

#endif
