/*
 * judge_hit: may the proxy have answered that?
 *
 * Each fact of an answer is checked twice: against the history, whether it may be said at all (C1 C2 C3 C5), and against
 * the evidence, whether the proxy could know it (C3 C4 C7 C8).
 */
#ifndef SIM_JUDGE_HIT_H
#define SIM_JUDGE_HIT_H

#include "sim/run.h"

void judge_hit(struct run *run, struct call_made *call, struct bytes reply);

#endif
