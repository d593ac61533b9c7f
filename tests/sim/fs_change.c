/*
 * fs_change: what stood before is kept, and compared with what stands at the end.
 */
#include "sim/fs_change.h"

#include "sim/fs_tree.h"

#include <assert.h>

void change_begin(struct change *change, struct fs *fs)
{
    change->fs = fs;
    change->node_count = change->name_count = 0;
}

void change_node(struct change *change, fs_node node)
{
    for (unsigned i = 0; i < change->node_count; i++)
        if (change->nodes[i].node == node)
            return;
    assert(change->node_count < CHANGE_NODES);
    unsigned i = change->node_count++;
    change->nodes[i].node = node;
    change->nodes[i].live = fs_attr(change->fs, node, &change->nodes[i].attr);
}

static void add_name(struct change *change, fs_node dir, const char *name, fs_node behind)
{
    assert(change->name_count < CHANGE_NAMES);
    unsigned i = change->name_count++;
    change->names[i].dir = dir;
    change->names[i].name = name;
    change->names[i].behind = behind;
}

void change_name(struct change *change, fs_node dir, const char *name)
{
    add_name(change, dir, name, fs_behind(change->fs, dir, name));
}

void change_dots(struct change *change, fs_node node)
{
    if (fs_behind(change->fs, node, ".") == 0)
        return;
    change_name(change, node, ".");
    change_name(change, node, "..");
}

void change_new(struct change *change, fs_node node)
{
    assert(change->node_count < CHANGE_NODES);
    unsigned i = change->node_count++;
    change->nodes[i].node = node;
    change->nodes[i].live = false;
    if (fs_behind(change->fs, node, ".") != 0) {
        add_name(change, node, ".", 0);
        add_name(change, node, "..", 0);
    }
}

static bool same_attr(const struct fs_attr *a, const struct fs_attr *b)
{
    return fs_same_rights(&a->rights, &b->rights) && a->nlink == b->nlink && a->size == b->size &&
           a->used == b->used && a->fsid == b->fsid && a->fileid == b->fileid &&
           a->atime == b->atime && a->mtime == b->mtime && a->ctime == b->ctime;
}

void change_tell(const struct change *change)
{
    const struct fs_watch *watch = &change->fs->watch;
    for (unsigned i = 0; i < change->node_count; i++) {
        struct fs_attr attr;
        bool live = fs_attr(change->fs, change->nodes[i].node, &attr);
        if (live != change->nodes[i].live || (live && !same_attr(&attr, &change->nodes[i].attr)))
            watch->node(watch->context, change->nodes[i].node);
    }
    for (unsigned i = 0; i < change->name_count; i++)
        if (fs_behind(change->fs, change->names[i].dir, change->names[i].name) !=
            change->names[i].behind)
            watch->name(watch->context, change->names[i].dir, change->names[i].name);
}
