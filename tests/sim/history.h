/*
 * history: everything that was ever true on the server, and what may no longer be said.
 *
 * A register is one thing that can be asked for: the attributes of a node, what a name leads to, which node a handle is.
 * It has versions, one after the other. All that happens has a moment; moments are counted, so that no two things happen
 * at the same one.
 *
 * Two things push old versions out of what may be said:
 *   a floor    from a moment on, no call that comes in may be told anything older than that version: a client was sent the
 *              reply to the mutation that made it (C1), or was shown it (C2);
 *   an age     a change that the proxy could not know of makes older versions unsayable some time after it (C5).
 */
#ifndef SIM_HISTORY_H
#define SIM_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/contract.h"
#include "sim/fs.h"

enum cause {
    CAUSE_START,
    CAUSE_TRACKED, /* a call that is in flight through the proxy as it now runs */
    CAUSE_OUTSIDE, /* anything that the proxy can't know of */
    CAUSE_SETTLE,  /* likewise, and the proxy counts on it soon after a mutation */
};

/* `moment` counts what happens; `time` is simulated ns. */
struct version {
    uint64_t moment, time;
    uint64_t op; /* number of what the server did: it may have made versions of several registers */
    uint64_t value; /* digest of the attributes without atime; node; 0: gone, none */
    enum cause cause;
    struct fs_rights rights; /* registers of nodes */
};

struct floor {
    uint64_t moment;
    uint32_t version;
    enum clause clause;
};

/* A mutation that made a version, from when it was sent until its reply had come to the proxy. */
struct window {
    uint64_t sent, ended; /* moments; ended 0: not yet */
    uint32_t call;
};

struct reg {
    struct version *version;
    struct floor *floor;
    struct window *window;
    struct window *touch; /* of all mutations that may have changed it, whether they did or not */
    unsigned versions, floors, windows, touches;
    unsigned version_room, floor_room, window_room, touch_room;
};

void reg_free(struct reg *reg);
/* Nothing where the value is what it was, and the rights are. True when there is a new version. */
bool reg_change(struct reg *reg, const struct version *version);
/* True when it is higher than all before. */
bool reg_raise(struct reg *reg, uint64_t moment, uint32_t version, enum clause clause);
void reg_begin(struct reg *reg, uint32_t call, uint64_t sent);
void reg_end(struct reg *reg, uint32_t call, uint64_t moment);
/* Did what was sent and came at these moments overlap with a mutation, other than the call's own? */
bool reg_overlaps(const struct reg *reg, uint64_t sent, uint64_t received, uint32_t call);

void reg_touch(struct reg *reg, uint32_t call, uint64_t sent);
void reg_untouch(struct reg *reg, uint32_t call, uint64_t moment);
/* Of another call than that one, at any time between those moments? */
bool reg_touched_during(const struct reg *reg, uint64_t sent, uint64_t received, uint32_t call);
/* How many mutations may have changed it since that moment. */
unsigned reg_touched(const struct reg *reg, uint64_t since);

/* What a reply is asked to be. */
struct claim {
    uint64_t arrived; /* the moment at which the call came to the proxy */
    uint64_t now;     /* simulated ns */
    uint64_t age;     /* how long after a change that nobody saw an older version may be told */
    uint64_t settle_age;
    bool (*is)(const struct version *version, const void *what);
    const void *what;
};

struct finding {
    enum clause clause; /* CLAUSE_NONE: it may be said */
    uint32_t low, high; /* the oldest and the newest version that it may be, or that it is */
};

struct finding reg_check(const struct reg *reg, const struct claim *claim);
bool version_is_value(const struct version *version, const void *value); /* a uint64_t */

#endif
