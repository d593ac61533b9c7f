/*
 * fs_tree: nodes in blocks, entries in a hash table with chains.
 */
#include "sim/fs_tree.h"

#include "sim/draw.h"
#include "sim/memory.h"

#include <assert.h>
#include <stdlib.h>

#define BUCKETS_AT_FIRST 64u
#define FIRST_FILEID     1000u

void tree_init(struct fs *fs)
{
    fs->next_fileid = FIRST_FILEID;
    fs->next_cookie = FS_COOKIE_DOTDOT + 1;
    fs->bucket_count = BUCKETS_AT_FIRST;
    fs->buckets = memory_get(fs->bucket_count * sizeof(struct fs_dirent *));
}

static struct node *node_at(const struct fs *fs, fs_node node)
{
    return &fs->blocks[node / FS_NODES_PER_BLOCK][node % FS_NODES_PER_BLOCK];
}

void tree_free(struct fs *fs)
{
    for (fs_node id = 1; id <= fs->last; id++) {
        struct node *node = node_at(fs, id);
        for (unsigned i = 0; i < node->entry_count; i++)
            free(node->entries[i]);
        free(node->entries);
    }
    for (unsigned i = 0; i < FS_BLOCKS; i++)
        free(fs->blocks[i]);
    free(fs->buckets);
}

/* ---- nodes ---- */

struct node *tree_node(const struct fs *fs, fs_node node)
{
    if (node == 0 || node > fs->last)
        return NULL;
    struct node *found = node_at(fs, node);
    return found->live ? found : NULL;
}

static uint64_t new_fileid(struct fs *fs)
{
    if (!fs->options.reuse_fileids || fs->removed == 0)
        return fs->next_fileid++;
    const struct node *removed = node_at(fs, fs->removed);
    fs->removed = removed->removed_before;
    return removed->attr.fileid;
}

fs_node tree_make(struct fs *fs, enum nfs3_ftype type, uint64_t at)
{
    if (fs->last == FS_NODES_MAX - 1)
        return 0;
    fs_node id = ++fs->last;
    struct node **block = &fs->blocks[id / FS_NODES_PER_BLOCK];
    if (!*block)
        *block = memory_get(FS_NODES_PER_BLOCK * sizeof **block);
    bool is_dir = type == NF3DIR;
    *node_at(fs, id) = (struct node){
        .live = true,
        .attr =
            {
                .rights.type = type,
                .nlink = is_dir ? 2 : 1,
                .size = is_dir ? FS_DIR_SIZE : 0,
                .used = is_dir ? FS_DIR_SIZE : 0,
                .fsid = fs->options.fsid,
                .fileid = new_fileid(fs),
                .atime = at,
                .mtime = at,
                .ctime = at,
            },
    };
    return id;
}

void tree_unmake(struct fs *fs, fs_node node)
{
    struct node *gone = node_at(fs, node);
    assert(gone->live && gone->entry_count == 0);
    gone->live = false;
    gone->unstable = false;
    gone->removed_before = fs->removed;
    fs->removed = node;
}

bool tree_is_below(const struct fs *fs, fs_node node, fs_node above)
{
    while (node != above && node != FS_ROOT)
        node = node_at(fs, node)->parent;
    return node == above;
}

/* ---- entries ---- */

bool tree_is_dot(const char *name)
{
    return strcmp(name, ".") == 0;
}

bool tree_is_dotdot(const char *name)
{
    return strcmp(name, "..") == 0;
}

static struct fs_dirent **bucket_of(const struct fs *fs, fs_node dir, const char *name)
{
    uint64_t hash = dir;
    for (const char *at = name; *at; at++)
        hash = hash * 0x100000001b3u ^ (uint8_t)*at;
    return &fs->buckets[draw_mix(hash) & (fs->bucket_count - 1)];
}

struct fs_dirent *tree_entry(const struct fs *fs, fs_node dir, const char *name)
{
    struct fs_dirent *entry = *bucket_of(fs, dir, name);
    while (entry && (entry->dir != dir || strcmp(entry->name, name) != 0))
        entry = entry->next;
    return entry;
}

static void link_entry(struct fs *fs, struct fs_dirent *entry)
{
    struct fs_dirent **bucket = bucket_of(fs, entry->dir, entry->name);
    entry->next = *bucket;
    *bucket = entry;
}

static void grow_buckets(struct fs *fs)
{
    struct fs_dirent **old = fs->buckets;
    unsigned old_count = fs->bucket_count;
    fs->bucket_count *= 2;
    fs->buckets = memory_get(fs->bucket_count * sizeof(struct fs_dirent *));
    for (unsigned i = 0; i < old_count; i++)
        for (struct fs_dirent *entry = old[i], *next; entry; entry = next) {
            next = entry->next;
            link_entry(fs, entry);
        }
    free(old);
}

void tree_add(struct fs *fs, fs_node dir, const char *name, fs_node node)
{
    if (fs->entry_count++ == fs->bucket_count)
        grow_buckets(fs);
    struct fs_dirent *entry = memory_get(sizeof *entry);
    *entry = (struct fs_dirent){.cookie = fs->next_cookie++, .dir = dir, .node = node};
    assert(strlen(name) <= FS_NAME_MAX);
    memcpy(entry->name, name, strlen(name) + 1);
    link_entry(fs, entry);
    struct node *of = node_at(fs, dir);
    if (of->entry_count == of->entry_room) {
        of->entry_room = of->entry_room ? 2 * of->entry_room : 8;
        of->entries = memory_resize(of->entries, of->entry_room * sizeof(struct fs_dirent *));
    }
    of->entries[of->entry_count++] = entry;
}

/* The first entry whose cookie is above this one: its place among the directory's. */
static unsigned place_after(const struct node *dir, uint64_t cookie)
{
    unsigned low = 0, high = dir->entry_count;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (dir->entries[middle]->cookie > cookie)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

void tree_remove(struct fs *fs, struct fs_dirent *entry)
{
    struct fs_dirent **link = bucket_of(fs, entry->dir, entry->name);
    while (*link != entry)
        link = &(*link)->next;
    *link = entry->next;
    fs->entry_count--;
    struct node *dir = node_at(fs, entry->dir);
    unsigned place = place_after(dir, entry->cookie) - 1;
    assert(dir->entries[place] == entry);
    dir->entry_count--;
    memmove(&dir->entries[place], &dir->entries[place + 1],
            (dir->entry_count - place) * sizeof(struct fs_dirent *));
    free(entry);
}

/* ---- looking, whoever asks ---- */

fs_node fs_last(const struct fs *fs)
{
    return fs->last;
}

fs_node fs_behind(const struct fs *fs, fs_node dir, const char *name)
{
    const struct node *of = tree_node(fs, dir);
    if (!of || of->attr.rights.type != NF3DIR)
        return 0;
    if (tree_is_dot(name))
        return dir;
    if (tree_is_dotdot(name))
        return of->parent;
    const struct fs_dirent *entry = tree_entry(fs, dir, name);
    return entry ? entry->node : 0;
}

bool fs_entry(const struct fs *fs, fs_node dir, unsigned number, const char **name, fs_node *node)
{
    const struct node *of = tree_node(fs, dir);
    if (!of || of->attr.rights.type != NF3DIR)
        return false;
    if (number < 2) {
        *name = number == 0 ? "." : "..";
        *node = number == 0 ? dir : of->parent;
        return true;
    }
    if (number - 2 >= of->entry_count)
        return false;
    *name = of->entries[number - 2]->name;
    *node = of->entries[number - 2]->node;
    return true;
}

bool fs_entry_after(const struct fs *fs, fs_node dir, uint64_t *cookie, const char **name,
                    fs_node *node)
{
    const struct node *of = tree_node(fs, dir);
    if (!of || of->attr.rights.type != NF3DIR)
        return false;
    unsigned number = 0;
    if (*cookie >= FS_COOKIE_DOT)
        number = *cookie >= FS_COOKIE_DOTDOT ? 2 + place_after(of, *cookie) : 1;
    if (!fs_entry(fs, dir, number, name, node))
        return false;
    *cookie = number < 2 ? FS_COOKIE_DOT + number : of->entries[number - 2]->cookie;
    return true;
}
