/*
 * fs_tree: what fs is made of: nodes, and the entries of directories. Only fs*.c include this.
 *
 * Nodes stay where they are until the end, in blocks that are made as they are needed, so that a file system of ten files
 * costs little to make. Entries are found by a hash of (directory, name), and stand in their directory in the order of
 * their making.
 */
#ifndef SIM_FS_TREE_H
#define SIM_FS_TREE_H

#include "sim/fs.h"

#define FS_NODES_PER_BLOCK 64u
#define FS_BLOCKS          (FS_NODES_MAX / FS_NODES_PER_BLOCK)
#define FS_DIR_SIZE        4096u /* of a directory, however many entries it has */
#define FS_COOKIE_DOT      1u
#define FS_COOKIE_DOTDOT   2u /* cookies of others are above */

struct fs_dirent {
    struct fs_dirent *next; /* of the same bucket */
    uint64_t cookie;        /* grows in the order of their making */
    fs_node dir, node;
    char name[FS_NAME_MAX + 1];
};

struct node {
    struct fs_attr attr;
    bool live;
    /* A file that was written and not committed: what a crash may bring back. */
    bool unstable;
    struct {
        uint64_t size, used, mtime, ctime;
    } stable;
    /* Of directories. */
    fs_node parent;
    struct fs_dirent **entries;
    unsigned entry_count, entry_room;
    /* Of one that is gone: the one that went before it and whose fileid has not been used again. */
    fs_node removed_before;
};

struct fs {
    struct fs_options options;
    struct fs_watch watch;
    struct node *blocks[FS_BLOCKS];
    fs_node last;    /* that was made */
    fs_node removed; /* last, of those whose fileid has not been used again */
    uint64_t next_fileid, next_cookie;
    struct fs_dirent **buckets;
    unsigned bucket_count; /* a power of two */
    unsigned entry_count;
};

void tree_init(struct fs *fs);
void tree_free(struct fs *fs);

/* NULL: there is none, or it is gone. */
struct node *tree_node(const struct fs *fs, fs_node node);
/* A new node without a name, its times `at`; 0: there were too many already. */
fs_node tree_make(struct fs *fs, enum nfs3_ftype type, uint64_t at);
/* It has no name any more. */
void tree_unmake(struct fs *fs, fs_node node);

/* NULL: there is none. Not for "." and "..". */
struct fs_dirent *tree_entry(const struct fs *fs, fs_node dir, const char *name);
void tree_add(struct fs *fs, fs_node dir, const char *name, fs_node node);
void tree_remove(struct fs *fs, struct fs_dirent *entry);
/* Whether `node` is `above`, or somewhere below it. */
bool tree_is_below(const struct fs *fs, fs_node node, fs_node above);

bool tree_is_dot(const char *name);
bool tree_is_dotdot(const char *name);

/* A time as the file system keeps it. */
static inline uint64_t tree_time(const struct fs *fs, uint64_t time)
{
    return time - time % fs->options.granularity;
}

#endif
