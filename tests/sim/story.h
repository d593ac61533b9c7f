/*
 * story: what happened in a run, for people: printed where the run is told, else nothing.
 *
 * A line stands under its time. What clients do stands at the margin, what the proxy does two steps in, the server four.
 */
#ifndef SIM_STORY_H
#define SIM_STORY_H

#include "sim/run.h"

#define story(run, ...)                   \
    do {                                  \
        if ((run)->telling)               \
            story_line(run, __VA_ARGS__); \
    } while (0)

void story_line(const struct run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void story_told(struct run *run, const struct call_made *call, struct bytes reply, bool local);

/* In memory that stands until many more of them are made. */
const char *story_call(const struct run *run, const struct call_read *call); /* "LOOKUP h3 a" */
const char *story_handle(const struct run *run, uint32_t handle);            /* "h3=file5" */
const char *story_fattr(const uint8_t *fattr);
const char *story_facts(const struct run *run, const struct facts *facts);

#endif
