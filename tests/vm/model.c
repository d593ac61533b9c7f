#include "vm/model.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TEN "0123456789"

const char *const model_names[MODEL_NAMES] = {
    "a",
    "b",
    "c",
    "d",
    "e",
    "f",
    "A",
    "with space",
    "caf\xc3\xa9",
    "\xff\xfe",
    "-f",
    ".hidden",
    "new\nline",
    "a.c",
    TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN,
    TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
        TEN "01234",
};

void model_init(struct model *m)
{
    memset(m, 0, sizeof *m);
    m->nodes[0].kind = FOLDER;
    m->nodes[0].links = 1;
}

static struct entry *entry_at(struct model *m, struct spot at)
{
    for (size_t i = 0; i < MODEL_ENTRIES; i++) {
        struct entry *e = &m->entries[i];
        if (e->node != NULL && e->at.folder == at.folder && e->at.name == at.name)
            return e;
    }
    return NULL;
}

struct node *model_find(struct model *m, struct spot at)
{
    const struct entry *e = entry_at(m, at);
    return e == NULL ? NULL : e->node;
}

/* Of a folder that is not the root: it has one. */
static const struct entry *folder_entry(const struct model *m, const struct node *folder)
{
    size_t i = 0;
    while (m->entries[i].node != folder)
        i++;
    return &m->entries[i];
}

void model_path(const struct model *m, const struct node *folder, char *path, size_t size)
{
    const struct entry *way[MODEL_NODES] = {NULL};
    size_t n = 0, at = 0;
    snprintf(path, size, ".");
    for (; folder != m->nodes; folder = way[n - 1]->at.folder)
        way[n++] = folder_entry(m, folder);
    while (n-- > 0)
        at += (size_t)snprintf(path + at, size - at, "%s%s", at == 0 ? "" : "/",
                               model_names[way[n]->at.name]);
}

void spot_path(const struct model *m, struct spot at, char *path, size_t size)
{
    model_path(m, at.folder, path, size);
    size_t n = strlen(path);
    snprintf(path + n, size - n, "/%s", model_names[at.name]);
}

unsigned model_depth(const struct model *m, const struct node *folder)
{
    unsigned depth = 0;
    for (; folder != m->nodes; folder = folder_entry(m, folder)->at.folder)
        depth++;
    return depth;
}

bool model_empty(const struct model *m, const struct node *folder)
{
    for (size_t i = 0; i < MODEL_ENTRIES; i++)
        if (m->entries[i].node != NULL && m->entries[i].at.folder == folder)
            return false;
    return true;
}

bool model_full(const struct model *m)
{
    bool node = false, entry = false;
    for (size_t i = 0; i < MODEL_NODES; i++)
        node |= m->nodes[i].kind == FREE;
    for (size_t i = 0; i < MODEL_ENTRIES; i++)
        entry |= m->entries[i].node == NULL;
    return !node || !entry;
}

/* ---- What is refused: in the order in which Linux finds it out */

int model_create_error(struct model *m, struct spot at, bool exclusive)
{
    const struct node *node = model_find(m, at);
    if (node == NULL || (node->kind == FILE_ && !exclusive))
        return 0;
    return exclusive ? EEXIST : node->kind == FOLDER ? EISDIR : ELOOP;
}

int model_make_error(struct model *m, struct spot at)
{
    return model_find(m, at) == NULL ? 0 : EEXIST;
}

int model_unlink_error(struct model *m, struct spot at)
{
    const struct node *node = model_find(m, at);
    return node == NULL ? ENOENT : node->kind == FOLDER ? EISDIR : 0;
}

int model_rmdir_error(struct model *m, struct spot at)
{
    const struct node *node = model_find(m, at);
    if (node == NULL)
        return ENOENT;
    return node->kind != FOLDER ? ENOTDIR : model_empty(m, node) ? 0 : ENOTEMPTY;
}

int model_link_error(struct model *m, struct spot from, struct spot to)
{
    const struct node *node = model_find(m, from);
    if (node == NULL)
        return ENOENT;
    return model_find(m, to) != NULL ? EEXIST : node->kind == FOLDER ? EPERM : 0;
}

/* The folder is the node or somewhere below it. */
static bool is_below(const struct model *m, const struct node *folder, const struct node *node)
{
    while (folder != node && folder != m->nodes)
        folder = folder_entry(m, folder)->at.folder;
    return folder == node;
}

int model_rename_error(struct model *m, struct spot from, struct spot to)
{
    const struct node *node = model_find(m, from), *over = model_find(m, to);
    if (node == NULL)
        return ENOENT;
    if (node->kind == FOLDER && is_below(m, to.folder, node))
        return EINVAL;
    if (over != NULL && over->kind == FOLDER && is_below(m, from.folder, over))
        return ENOTEMPTY;
    if (over == NULL || over == node)
        return 0;
    if (node->kind == FOLDER)
        return over->kind != FOLDER ? ENOTDIR : model_empty(m, over) ? 0 : ENOTEMPTY;
    return over->kind == FOLDER ? EISDIR : 0;
}

/* ---- What is done */

void model_link(struct model *m, struct node *node, struct spot at)
{
    struct entry *e = m->entries;
    while (e->node != NULL)
        e++;
    assert(e < m->entries + MODEL_ENTRIES);
    *e = (struct entry){at, node};
    node->links++;
    at.folder->timed = false;
}

struct node *model_make(struct model *m, struct spot at, enum kind kind, mode_t mode)
{
    struct node *node = m->nodes;
    while (node->kind != FREE)
        node++;
    assert(node < m->nodes + MODEL_NODES);
    memset(node, 0, sizeof *node);
    node->kind = kind;
    node->mode = mode;
    model_link(m, node, at);
    return node;
}

void model_remove(struct model *m, struct spot at)
{
    struct entry *e = entry_at(m, at);
    if (--e->node->links == 0)
        e->node->kind = FREE;
    e->node = NULL;
    at.folder->timed = false;
}

void model_rename(struct model *m, struct spot from, struct spot to)
{
    struct node *node = model_find(m, from), *over = model_find(m, to);
    if (node == over)
        return;
    if (over != NULL)
        model_remove(m, to);
    entry_at(m, from)->at = to;
    from.folder->timed = to.folder->timed = false;
    if (node->kind == FOLDER)
        node->timed = false; /* its .. may have been written */
}

void model_resize(struct node *file, size_t size)
{
    if (size > file->size)
        memset(file->octets + file->size, 0, size - file->size);
    file->size = size;
    file->timed = false;
}
