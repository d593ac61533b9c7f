/*
 * tree_steps: random steps in a tree, each done to the files (or not) and to the model, and checked.
 */
#ifndef VM_TREE_STEPS_H
#define VM_TREE_STEPS_H

#include "vm/integrity.h"
#include "vm/model.h"

#define SPOTS_MAX 64u

struct tree {
    struct model model;
    struct draw draw;
    bool
        apply; /* to the files: who only follows what another one does goes through the model's part */
    unsigned changed_count;
    struct spot changed[SPOTS_MAX]; /* since somebody set the count to 0; the last ones only */
};

/* The working directory is the root. */
void tree_step(struct tree *t);

#endif
