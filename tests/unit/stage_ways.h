/*
 * stage_ways: all replies of calls that change nothing, by which a server can show what an object is
 * now.
 */
#ifndef UNIT_STAGE_WAYS_H
#define UNIT_STAGE_WAYS_H

#include "stage_scene.h"

enum stage_way {
    BY_GETATTR, /* the cache must have nothing to say */
    BY_ACCESS,  /* of a client that has not asked before */
    BY_FAILED_ACCESS,
    BY_READ,
    BY_FAILED_READ,
    BY_READLINK,
    BY_FSSTAT,
    BY_FSINFO,
    BY_PATHCONF,
    BY_LOOKUP_CHILD,
    BY_READDIRPLUS_ENTRY,
    WAYS_OF_ANY,
    /* of directories alone */
    BY_LOOKUP_DIR = WAYS_OF_ANY,
    BY_NOENT_DIR,
    BY_FAILED_LOOKUP_DIR,
    BY_READDIR,
    BY_READDIRPLUS_DIR,
    WAYS_OF_DIRECTORY,
};

/* The client calls, and the server's reply has the file's attributes as they are now; by its name in
 * `parent`, where the way is by name. */
void stage_shows(struct stage_client *client, enum stage_way way, const struct file *file,
                 const struct file *parent, const char *name);

#endif
