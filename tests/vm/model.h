/*
 * model: what a tree of files must be, in memory: names, what they lead to, attributes, contents. It knows what each operation
 * does, and with which error it is refused; it does nothing to any file.
 */
#ifndef VM_MODEL_H
#define VM_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define MODEL_NODES   120
#define MODEL_ENTRIES 160
#define MODEL_NAMES   16
#define MODEL_DEPTH   5
#define MODEL_OCTETS  (24u * 1024)

enum kind {
    FREE, /* stands for nothing */
    FILE_,
    FOLDER,
    LINK,
};

struct node {
    enum kind kind;
    mode_t mode; /* not of a link */
    uid_t uid;
    gid_t gid;
    unsigned links; /* names that lead to it */
    bool timed;     /* its mtime was set, and nothing has changed it since */
    struct timespec mtime;
    size_t size;
    char target[32];
    ino_t ino; /* as seen by the last check, or 0 */
    uint8_t octets[MODEL_OCTETS];
};

/* Where a name may be. */
struct spot {
    struct node *folder;
    unsigned name; /* of model_names */
};

struct entry {
    struct spot at;
    struct node *node; /* NULL: the entry is free */
};

struct model {
    struct node nodes[MODEL_NODES]; /* the first one is the root */
    struct entry entries[MODEL_ENTRIES];
};

extern const char *const model_names[MODEL_NAMES];

void model_init(struct model *m);
struct node *model_find(struct model *m, struct spot at); /* NULL: there is nothing */
/* The path below the root, "." for the root itself. */
void model_path(const struct model *m, const struct node *folder, char *path, size_t size);
void spot_path(const struct model *m, struct spot at, char *path, size_t size);
unsigned model_depth(const struct model *m, const struct node *folder);
bool model_empty(const struct model *m, const struct node *folder);
bool model_full(const struct model *m);

/* What an operation is refused with; 0: it is done. */
int model_create_error(struct model *m, struct spot at, bool exclusive);
int model_make_error(struct model *m, struct spot at); /* MKDIR, SYMLINK */
int model_unlink_error(struct model *m, struct spot at);
int model_rmdir_error(struct model *m, struct spot at);
int model_link_error(struct model *m, struct spot from, struct spot to);
int model_rename_error(struct model *m, struct spot from, struct spot to);

/* What it does. The caller knows that it is not refused. */
struct node *model_make(struct model *m, struct spot at, enum kind kind, mode_t mode);
void model_link(struct model *m, struct node *node, struct spot at);
void model_remove(struct model *m, struct spot at);
void model_rename(struct model *m, struct spot from, struct spot to);
void model_resize(struct node *file, size_t size); /* zeros in what is new */

#endif
