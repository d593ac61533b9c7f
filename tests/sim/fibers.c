/*
 * fibers: with ucontext. The product's locks know no context, so which fiber runs stands in one variable here: this is a
 * test program with one thread.
 */
#include "sim/fibers.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "sim/memory.h"

#define STACK (256u << 10)

struct fiber {
    ucontext_t context, starter;
    void (*job)(void *argument);
    void *argument;
    bool busy;
    void *stack;
};

static struct fiber *running;
static bool (*should_switch)(void *context);
static void *switch_context;

/* Fibers live as long as the process: each job starts where the last one ended. */
static void fiber_main(void)
{
    for (;;) {
        struct fiber *fiber = running;
        fiber->job(fiber->argument);
        fiber->busy = false;
        swapcontext(&fiber->context, &fiber->starter);
    }
}

struct fiber *fiber_create(void)
{
    struct fiber *fiber = memory_get(sizeof(*fiber));
    fiber->stack =
        mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    memory_must(fiber->stack != MAP_FAILED);
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = fiber->stack;
    fiber->context.uc_stack.ss_size = STACK;
    fiber->context.uc_link = NULL;
    makecontext(&fiber->context, fiber_main, 0);
    return fiber;
}

void fiber_destroy(struct fiber *fiber)
{
    assert(!fiber->busy);
    munmap(fiber->stack, STACK);
    free(fiber);
}

void fibers_set_switch(bool (*should)(void *context), void *context)
{
    should_switch = should;
    switch_context = context;
}

void fiber_resume(struct fiber *fiber)
{
    assert(fiber->busy && running == NULL);
    running = fiber;
    swapcontext(&fiber->starter, &fiber->context);
    running = NULL;
}

void fiber_start(struct fiber *fiber, void (*job)(void *argument), void *argument)
{
    assert(!fiber->busy);
    fiber->job = job;
    fiber->argument = argument;
    fiber->busy = true;
    fiber_resume(fiber);
}

bool fiber_busy(const struct fiber *fiber)
{
    return fiber->busy;
}

static void leave(void)
{
    struct fiber *fiber = running;
    swapcontext(&fiber->context, &fiber->starter);
}

void fibers_may_switch(void)
{
    if (running != NULL && should_switch != NULL && should_switch(switch_context))
        leave();
}

void fibers_wait(void)
{
    assert(running != NULL);
    leave();
}
