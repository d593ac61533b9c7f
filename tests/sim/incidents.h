/*
 * incidents: what happens beside the calls.
 */
#ifndef SIM_INCIDENTS_H
#define SIM_INCIDENTS_H

#include "sim/run.h"

/* Call number `number` was made, or left out: some of them may follow. */
void incidents_after(struct run *run, uint32_t number);

#endif
