/*
 * site: the server behind its network: when a call is executed, what becomes of the reply, and who is told of what changed.
 */
#ifndef SIM_SITE_H
#define SIM_SITE_H

#include "sim/run.h"

/* With a small tree, whose handles all clients may know. */
void site_open(struct run *run);
void site_close(struct run *run);

/* A call leaves the proxy. */
void site_take(struct run *run, struct sending *sending, unsigned epoch);

/* What is done in between is done behind the proxy's back. */
void site_begin_outside(struct run *run);
void site_end_outside(struct run *run);
void site_restart(struct run *run, struct draw draw, bool connections);

/* The clock on the wall there. */
uint64_t site_now(const struct run *run);

#endif
