/*
 * integrity: random operations on files, each checked against a model in memory. A seed decides them all, so that whoever
 * knows the seed knows what must be there at the end, on whatever machine.
 */
#ifndef VM_INTEGRITY_H
#define VM_INTEGRITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct draw {
    uint64_t state;
};

/* What a run is asked to do. */
struct plan {
    const char *folder; /* that is its own */
    uint64_t seed;
    unsigned steps;
    bool
        apply; /* false: only the model goes through the steps, and then the folder is compared with it */
    bool replays; /* see replay.h */
};

struct draw draw_from(uint64_t seed);
uint32_t draw(struct draw *d, uint32_t below); /* 0 to below - 1 */

/* The last operations, for whoever has to find out why one went wrong. */
__attribute__((format(printf, 1, 2))) void note(const char *format, ...);
/* If it is not good: says why, prints what was noted, and ends the process with status 1. */
__attribute__((format(printf, 2, 3))) void hold(bool good, const char *format, ...);

/* All that is kept of files by this machine, gone; what is dirty stays. Needs root. */
void drop_caches(void);

void integrity_file(const struct plan *plan); /* one file: octets */
void integrity_tree(const struct plan *plan); /* many files: names and attributes */
/* As integrity_tree; `me` (0 or 1) makes every second round of steps, the other one the others, and each checks what the other
 * one did. `steps` are counted over both. */
void integrity_shared(const struct plan *plan, unsigned me);

#endif
