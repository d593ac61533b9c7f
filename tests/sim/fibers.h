/*
 * fibers: the workers of the simulated proxy, each on a stack of its own in one thread.
 *
 * A job runs until it is done, or until it comes to a point where another worker could get in between: before each lock of
 * the product (override/cache/lock.h), and where it hands something over. Whether it is left there is decided by whoever
 * set `should_switch`. The others, and whoever started the job, may then go on before it is resumed.
 */
#ifndef SIM_FIBERS_H
#define SIM_FIBERS_H

#include <stdbool.h>

struct fiber;

/* Never NULL: without memory the run ends. */
struct fiber *fiber_create(void);
/* Must not be in the middle of a job. */
void fiber_destroy(struct fiber *fiber);

/* `should_switch` is asked at each point; NULL: never switch. Applies to all fibers of the process. */
void fibers_set_switch(bool (*should_switch)(void *context), void *context);

/* Starts a job on a fiber that has none. Returns when it is done or left at a point. */
void fiber_start(struct fiber *fiber, void (*job)(void *argument), void *argument);
/* Goes on with one that was left. */
void fiber_resume(struct fiber *fiber);
/* In the middle of a job. */
bool fiber_busy(const struct fiber *fiber);

/* From within a job, or from no job at all, where they do nothing. */
void fibers_may_switch(void);
/* From within a job: it can't go on now. */
void fibers_wait(void);

#endif
