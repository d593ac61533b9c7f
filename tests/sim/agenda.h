/*
 * agenda: what will happen, in the order of simulated time.
 */
#ifndef SIM_AGENDA_H
#define SIM_AGENDA_H

#include <stdbool.h>
#include <stdint.h>

struct run;
struct event;

/* Where an event takes place. */
enum event_place {
    PLACE_OUTSIDE = -2, /* clients, networks, the server: at any time */
    PLACE_ALL = -1,     /* the proxy as a whole: no worker is in the middle of anything */
    PLACE_WORKER = 0,   /* and up: on that worker */
};

/* Embedded in something larger, which `happen` frees. */
struct event {
    uint64_t at;     /* simulated ns */
    uint64_t number; /* of two at the same time the one that was made first comes first */
    int place;
    void (*happen)(struct run *run, struct event *event);
    /* The run ends before it happened; NULL: as free. */
    void (*forget)(struct event *event);
};

struct agenda {
    struct event **heap;
    unsigned count, room;
    uint64_t numbers;
};

void agenda_add(struct agenda *agenda, struct event *event);
/* The next one, still in the agenda; NULL when nothing will happen any more. */
struct event *agenda_first(const struct agenda *agenda);
struct event *agenda_take(struct agenda *agenda);
/* Forgets all. */
void agenda_clear(struct agenda *agenda);

#endif
