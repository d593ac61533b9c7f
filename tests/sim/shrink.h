/*
 * shrink: makes a failing run smaller.
 */
#ifndef SIM_SHRINK_H
#define SIM_SHRINK_H

#include "sim/run.h"

/*
 * Leaves out calls, incidents and features of the plan as long as the run still breaks the same clause. On return
 * `plan` is the plainer one, and `omissions` (to be freed with shrink_free) what is left out of it.
 */
void shrink(struct plan *plan, struct omissions *omissions);
void shrink_free(struct omissions *omissions);

#endif
