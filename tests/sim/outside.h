/*
 * outside: somebody else changes something, straight on the server, behind the proxy's back.
 */
#ifndef SIM_OUTSIDE_H
#define SIM_OUTSIDE_H

#include "sim/run.h"

/* After call number `number`: the same thing at each `time`, but in another way. */
void outside_change(struct run *run, uint32_t number, unsigned time);

#endif
