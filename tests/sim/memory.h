/*
 * memory: for the simulation's own things, each to be freed with free. Without memory the process ends: that is no case to be
 * tested here.
 */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Ends the process where `had` is false. */
void memory_must(bool had);
/* Zeroed. */
void *memory_get(size_t size);
void *memory_copy(const void *data, size_t size);
/* As realloc: `old` may be NULL, and is no more afterwards. */
void *memory_resize(void *old, size_t size);
/* For arrays that grow: room for at least `count + 1` things of that size. What is new is not zeroed. */
void *memory_room(void *array, unsigned count, unsigned *room, size_t size);

#endif
