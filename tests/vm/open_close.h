/*
 * open_close: two clients that take turns, each on its own machine. In its turn one of them changes things; the other then
 * says whether it sees them.
 */
#ifndef VM_OPEN_CLOSE_H
#define VM_OPEN_CLOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct change {
    const char *what;
    void (*prepare)(void);        /* once, by the first one; may be NULL */
    void (*make)(unsigned round); /* in one's turn */
    void (*look)(unsigned round); /* by the other one, at once afterwards */
};

/* Data and attributes of a file, to be seen at the next open. Names, to be seen at the next lookup. Each list ends with an
 * entry without a name. The working directory is the one to work in. */
extern const struct change data_changes[], name_changes[];

#endif
