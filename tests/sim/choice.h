/*
 * choice: what a client calls next.
 */
#ifndef SIM_CHOICE_H
#define SIM_CHOICE_H

#include "sim/run.h"
#include "xdr/writer.h"

/* The arguments of call number `number`, and which procedure that is (facts.h). `who` may become somebody else. */
uint32_t choice_make(struct run *run, uint32_t number, struct writer *w, uint32_t *who);
/* One of the calls of the end: everything once. False when there are no more. */
bool choice_probe(struct run *run, uint32_t number, struct writer *w, uint32_t *procedure);

#endif
