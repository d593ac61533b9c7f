/*
 * integrity_tree: a tree in which one process does random things; or two on different machines, in turns, so that each sees
 * what the other one has done.
 */
#include "vm/integrity.h"

#include "vm/model_check.h"
#include "vm/tree_steps.h"
#include "vm/turns.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHECK_EVERY 500u
#define TURN_STEPS  8u

static struct tree *tree_new(const struct plan *plan)
{
    struct tree *t = calloc(1, sizeof *t);
    hold(t != NULL, "memory");
    model_init(&t->model);
    t->model.nodes[0].mode = 0755;
    t->draw = draw_from(plan->seed);
    t->apply = plan->apply;
    hold(chdir(plan->folder) == 0, "%s", plan->folder);
    return t;
}

void integrity_tree(const struct plan *plan)
{
    struct tree *t = tree_new(plan);
    for (unsigned i = 1; i <= plan->steps; i++) {
        tree_step(t);
        if (t->apply && i % CHECK_EVERY == 0)
            check_all(&t->model);
    }
    check_all(&t->model);
    free(t);
}

/* What the other one did in its turn. A folder that is gone by now is not looked into. */
static void check_changed(struct tree *t)
{
    unsigned n = t->changed_count < SPOTS_MAX ? t->changed_count : SPOTS_MAX;
    for (unsigned i = 0; i < n; i++) {
        if (t->changed[i].folder->kind != FOLDER)
            continue;
        check_folder(&t->model, t->changed[i].folder);
        check_spot(&t->model, t->changed[i], true);
    }
}

static void turn_steps(struct tree *t, unsigned turn, unsigned steps)
{
    for (unsigned i = turn * TURN_STEPS; i < (turn + 1) * TURN_STEPS && i < steps; i++)
        tree_step(t);
}

void integrity_shared(const struct plan *plan, unsigned me)
{
    unsigned turns = (plan->steps + TURN_STEPS - 1) / TURN_STEPS;
    struct tree *t = tree_new(plan);
    hold(me != 0 || mkdir("tree", 0755) == 0, "mkdir");
    turns_begin("turn", (int)me);
    hold(chdir("tree") == 0, "tree");
    for (unsigned turn = 0; turn < turns; turn++) {
        t->apply = turn % 2 == me;
        if (t->apply) {
            turns_wait(turn);
            check_changed(t);
        }
        t->changed_count = 0;
        note("turn %u", turn);
        turn_steps(t, turn, plan->steps);
        if (t->apply)
            turns_done(turn);
    }
    turns_wait(turns);
    check_all(&t->model);
    free(t);
}
