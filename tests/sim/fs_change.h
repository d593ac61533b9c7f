/*
 * fs_change: who is told of what a procedure has changed. Only fs*.c include this.
 *
 * A procedure names all that it may touch before it does (change_node, change_name), makes its changes, and ends with
 * change_tell: what differs then is told, and nothing else.
 */
#ifndef SIM_FS_CHANGE_H
#define SIM_FS_CHANGE_H

#include "sim/fs.h"

/* The most that RENAME touches: both directories, what is moved and what it replaces; both names, the moved directory's
 * ".." and the replaced one's "." and "..". */
#define CHANGE_NODES 4u
#define CHANGE_NAMES 5u

struct change {
    struct fs *fs;
    unsigned node_count, name_count;
    struct {
        fs_node node;
        bool live;
        struct fs_attr attr;
    } nodes[CHANGE_NODES];
    struct {
        fs_node dir;
        const char *name; /* stands until change_tell */
        fs_node behind;
    } names[CHANGE_NAMES];
};

void change_begin(struct change *change, struct fs *fs);
void change_node(struct change *change, fs_node node); /* as often as one likes */
void change_name(struct change *change, fs_node dir, const char *name);
/* "." and "..", if it is a directory. */
void change_dots(struct change *change, fs_node node);
/* A node that was not there at change_begin. */
void change_new(struct change *change, fs_node node);
void change_tell(const struct change *change);

#endif
