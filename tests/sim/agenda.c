/*
 * agenda: a binary heap.
 */
#include "sim/agenda.h"

#include <stdlib.h>

#include "sim/memory.h"

static bool before(const struct event *a, const struct event *b)
{
    return a->at != b->at ? a->at < b->at : a->number < b->number;
}

void agenda_add(struct agenda *agenda, struct event *event)
{
    event->number = agenda->numbers++;
    agenda->heap = memory_room(agenda->heap, agenda->count, &agenda->room, sizeof(struct event *));
    unsigned i = agenda->count++;
    while (i > 0 && before(event, agenda->heap[(i - 1) / 2])) {
        agenda->heap[i] = agenda->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    agenda->heap[i] = event;
}

struct event *agenda_first(const struct agenda *agenda)
{
    return agenda->count > 0 ? agenda->heap[0] : NULL;
}

struct event *agenda_take(struct agenda *agenda)
{
    if (agenda->count == 0)
        return NULL;
    struct event *first = agenda->heap[0];
    struct event *last = agenda->heap[--agenda->count];
    unsigned i = 0;
    for (;;) {
        unsigned child = 2 * i + 1;
        if (child >= agenda->count)
            break;
        if (child + 1 < agenda->count && before(agenda->heap[child + 1], agenda->heap[child]))
            child++;
        if (!before(agenda->heap[child], last))
            break;
        agenda->heap[i] = agenda->heap[child];
        i = child;
    }
    if (agenda->count > 0)
        agenda->heap[i] = last;
    return first;
}

void agenda_clear(struct agenda *agenda)
{
    for (unsigned i = 0; i < agenda->count; i++) {
        struct event *event = agenda->heap[i];
        if (event->forget != NULL)
            event->forget(event);
        else
            free(event);
    }
    free(agenda->heap);
    *agenda = (struct agenda){.heap = NULL};
}
