/*
 * judge: holds what clients are told against what was true.
 */
#ifndef SIM_JUDGE_H
#define SIM_JUDGE_H

#include "sim/run.h"

/* The proxy is about to send it: it may change what it names. */
void judge_touches(struct run *run, const struct call_made *call);
/* The server has executed it just now: fills in what it shows. */
void judge_executed(struct run *run, const struct sending *sending, struct execution *executed);
/* Its reply has come to the proxy, which has not seen it yet. */
void judge_received(struct run *run, const struct sending *sending, struct execution *executed);
/* A client is told. `local`: while its call was being taken in, so that it is the proxy's own answer. */
void judge_told(struct run *run, struct call_made *call, struct bytes reply, bool local);
/* Has somebody unknown changed what one of its names leads to, since that moment? */
bool judge_stolen(struct run *run, const struct call_read *read, uint64_t since);
/* No directory has several handles; names are known by the handle under which they were asked for. */
bool judge_names_shared(const struct run *run);
/* Nothing will happen any more. */
void judge_end(struct run *run);

#endif
