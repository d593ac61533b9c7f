/*
 * memory: malloc and the others, which here never fail.
 */
#include "sim/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 8u

void memory_must(bool had)
{
    if (had)
        return;
    fputs("sim: out of memory\n", stderr);
    abort();
}

void *memory_get(size_t size)
{
    void *memory = calloc(1, size > 0 ? size : 1);
    memory_must(memory != NULL);
    return memory;
}

void *memory_copy(const void *data, size_t size)
{
    void *memory = malloc(size > 0 ? size : 1);
    memory_must(memory != NULL);
    if (size > 0)
        memcpy(memory, data, size);
    return memory;
}

void *memory_resize(void *old, size_t size)
{
    void *memory = realloc(old, size > 0 ? size : 1);
    memory_must(memory != NULL);
    return memory;
}

void *memory_room(void *array, unsigned count, unsigned *room, size_t size)
{
    if (count < *room)
        return array;
    *room = *room > 0 ? 2 * *room : ROOM_FIRST;
    array = reallocarray(array, *room, size);
    memory_must(array != NULL);
    return array;
}
