/*
 * track_rows: every mutation, and what it changes in the tree of stage_world.
 *
 * Written down once more from the table in the design, and not taken from the procedure table: the
 * tests compare the two.
 */
#ifndef UNIT_TRACK_ROWS_H
#define UNIT_TRACK_ROWS_H

#include "stage_world.h"

#define F_(file) (1u << FILE_##file)
#define N_(name) (1u << NAME_##name)

enum shape {
    SHAPE_WCC,    /* SETATTR REMOVE RMDIR */
    SHAPE_WRITE,  /* WRITE */
    SHAPE_COMMIT, /* COMMIT */
    SHAPE_ACL,    /* SETACL: attributes of the object, no wcc_data */
    SHAPE_CREATE, /* CREATE MKDIR SYMLINK MKNOD */
    SHAPE_RENAME, /* wcc_data of two directories */
    SHAPE_LINK,   /* attributes of the object, wcc_data of the directory */
};

struct row {
    const char *title;
    unsigned procedure;
    struct body (*args)(const struct file *file);
    enum shape shape;
    enum world_file object, object2; /* of the arguments */
    enum world_file made;            /* SHAPE_CREATE: what the reply's handle is of */
    unsigned objects;                /* whose attributes and verdicts it changes */
    unsigned names;                  /* … and which names */
    unsigned emptied;                /* directories whose names all go */
    unsigned stale;                  /* handles that a success makes stale */
    enum world_name old, new;        /* a success takes the child of `old` … */
    bool moves;                      /* … to `new`; or only takes it away */
};

#define NO_NAME WORLD_NAMES

extern const struct row track_rows[];
extern const unsigned track_rows_count;

#endif
