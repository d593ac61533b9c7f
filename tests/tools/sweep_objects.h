/*
 * sweep_objects: what one client of the sweep has seen of the tree, octet by octet.
 *
 * The first handle, fattr3 and verdict seen of an object are kept; whatever is seen of it later
 * must be the same, since nobody changes the tree. What differs is told on stderr and counted.
 */
#ifndef TOOLS_SWEEP_OBJECTS_H
#define TOOLS_SWEEP_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define OBJECT_HANDLE_MAX 64u
#define OBJECT_FATTR_LEN  84u

struct object {
    uint32_t parent; /* its index; of the root its own */
    char *name;
    bool directory;
    bool has_fattr;
    bool has_access;
    uint8_t handle_len; /* 0: not known yet */
    uint8_t handle[OBJECT_HANDLE_MAX];
    uint8_t fattr[OBJECT_FATTR_LEN];
    uint32_t access;
};

struct objects {
    struct object *all; /* the root first, a parent always before its children */
    uint32_t count;
    uint32_t capacity;
    uint64_t differences;
};

/* The new object's index; exits when memory is out, as all of these do. */
uint32_t objects_add(struct objects *o, uint32_t parent, const char *name);
void objects_free(struct objects *o);

void objects_saw_handle(struct objects *o, uint32_t index, const char *data, uint32_t len);
/* `fattr` has OBJECT_FATTR_LEN octets. */
void objects_saw_fattr(struct objects *o, uint32_t index, const uint8_t *fattr);
void objects_saw_access(struct objects *o, uint32_t index, uint32_t access);

/*
 * One line per object, sorted: path, handle, fattr3 and verdict ("-" where there is none) with
 * spaces between; the path with %XX for octets that are not plain. `o->count` lines; the caller
 * frees each and the array.
 */
char **objects_lines(const struct objects *o);

#endif
