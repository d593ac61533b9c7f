/*
 * container: from a member back to the struct that holds it, with its type checked; and an
 * intrusive list.
 */
#ifndef PROXY_CONTAINER_H
#define PROXY_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The comparison is never evaluated: it makes the compiler check that `pointer` points to such a member. */
#define container_of(pointer, type, member)                                 \
    ((type *)(void *)((char *)(uintptr_t)(pointer)-offsetof(type, member) + \
                      0 * sizeof((pointer) == &((type *)(void *)(pointer))->member)))

/* A node; also the head of a ring. A node that is on no list points at itself. */
struct list {
    struct list *prev, *next;
};

static inline void list_init(struct list *node)
{
    node->prev = node;
    node->next = node;
}

static inline bool list_empty(const struct list *head)
{
    return head->next == head;
}

static inline void list_append(struct list *head, struct list *node)
{
    node->prev = head->prev;
    node->next = head;
    head->prev->next = node;
    head->prev = node;
}

/* Moves all that is on `from` to the end of `head`. */
static inline void list_splice(struct list *head, struct list *from)
{
    if (list_empty(from))
        return;
    from->next->prev = head->prev;
    head->prev->next = from->next;
    from->prev->next = head;
    head->prev = from->prev;
    list_init(from);
}

/* Off its list, if it is on one. */
static inline void list_remove(struct list *node)
{
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): it takes nodes that were taken off to be on still */
    node->prev->next = node->next;
    node->next->prev = node->prev;
    list_init(node);
}

#endif
