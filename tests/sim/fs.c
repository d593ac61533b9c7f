/*
 * The file system as a whole, and what is done to one node: its attributes, what is read and written, what a crash loses.
 * Names are in fs_name.c.
 */
#include "sim/fs.h"

#include "sim/fs_attr.h"
#include "sim/fs_change.h"
#include "sim/fs_rights.h"
#include "sim/fs_tree.h"
#include "sim/memory.h"

#include <assert.h>
#include <stdlib.h>

#define BLOCK 4096u

struct fs *fs_create(const struct fs_options *options, const struct fs_watch *watch)
{
    assert(options->granularity >= 1);
    struct fs *fs = memory_get(sizeof *fs);
    *fs = (struct fs){.options = *options, .watch = *watch};
    tree_init(fs);
    fs_node root = tree_make(fs, NF3DIR, 0);
    assert(root == FS_ROOT);
    tree_node(fs, root)->parent = FS_ROOT;
    tree_node(fs, root)->attr.rights.mode = 0777;
    return fs;
}

void fs_destroy(struct fs *fs)
{
    tree_free(fs);
    free(fs);
}

bool fs_attr(const struct fs *fs, fs_node node, struct fs_attr *attr)
{
    const struct node *found = tree_node(fs, node);
    if (found)
        *attr = found->attr;
    return found != NULL;
}

/* ---- attributes ---- */

static uint64_t blocks_of(uint64_t size)
{
    return (size + BLOCK - 1) / BLOCK * BLOCK;
}

void attr_changed(const struct fs *fs, struct node *node, uint64_t now)
{
    node->attr.ctime = tree_time(fs, now);
    node->stable.ctime = node->attr.ctime;
}

void attr_resize(const struct fs *fs, struct node *node, uint64_t size, uint64_t now)
{
    node->attr.size = size;
    node->attr.used = blocks_of(size);
    node->attr.mtime = tree_time(fs, now);
    node->unstable = false;
    attr_changed(fs, node, now);
}

void attr_set_times(const struct fs *fs, struct node *node, const struct fs_set *set, uint64_t now)
{
    if (set->atime)
        node->attr.atime = tree_time(fs, set->atime_now ? now : set->atime_value);
    if (set->mtime) {
        node->attr.mtime = tree_time(fs, set->mtime_now ? now : set->mtime_value);
        node->stable.mtime = node->attr.mtime;
    }
}

static void set_rights(struct fs_rights *rights, const struct fs_set *set)
{
    if (set->mode)
        rights->mode = set->mode_value & ATTR_MODE_BITS;
    if (set->uid)
        rights->uid = set->uid_value;
    if (set->gid)
        rights->gid = set->gid_value;
}

static enum nfs3_status chown_permitted(const struct fs_rights *rights, const struct fs_who *who,
                                        const struct fs_set *set)
{
    if (who->uid == 0)
        return NFS3_OK;
    bool owns = who->uid == rights->uid;
    if (set->uid && !(owns && set->uid_value == rights->uid))
        return NFS3ERR_PERM;
    if (set->gid &&
        !(owns && (set->gid_value == rights->gid || rights_in_group(who, set->gid_value))))
        return NFS3ERR_PERM;
    return NFS3_OK;
}

static enum nfs3_status times_permitted(const struct fs_rights *rights, const struct fs_who *who,
                                        const struct fs_set *set)
{
    if (rights_owns(rights, who))
        return NFS3_OK;
    if ((set->atime && !set->atime_now) || (set->mtime && !set->mtime_now))
        return NFS3ERR_PERM;
    if ((set->atime || set->mtime) && !rights_grant(rights, who, RIGHT_WRITE))
        return NFS3ERR_ACCES;
    return NFS3_OK;
}

/* Whether its octets may be read or written at all. */
static enum nfs3_status io_permitted(const struct fs_rights *rights, const struct fs_who *who,
                                     uint32_t bits)
{
    if (rights->type == NF3DIR)
        return NFS3ERR_ISDIR;
    if (rights->type != NF3REG)
        return NFS3ERR_INVAL;
    return rights_grant_io(rights, who, bits) ? NFS3_OK : NFS3ERR_ACCES;
}

enum nfs3_status attr_resize_permitted(const struct fs_rights *rights, const struct fs_who *who,
                                       uint64_t size)
{
    enum nfs3_status status = io_permitted(rights, who, RIGHT_WRITE);
    if (status == NFS3_OK && size > ATTR_SIZE_MAX)
        return NFS3ERR_FBIG;
    return status;
}

static enum nfs3_status set_permitted(const struct fs_rights *rights, const struct fs_who *who,
                                      const struct fs_set *set)
{
    if (set->mode && !rights_owns(rights, who))
        return NFS3ERR_PERM;
    enum nfs3_status status = chown_permitted(rights, who, set);
    if (status == NFS3_OK)
        status = times_permitted(rights, who, set);
    if (status == NFS3_OK && set->size)
        status = attr_resize_permitted(rights, who, set->size_value);
    return status;
}

enum nfs3_status fs_setattr(struct fs *fs, const struct fs_who *who, fs_node node,
                            const struct fs_set *set, const uint64_t *guard, uint64_t now)
{
    struct node *of = tree_node(fs, node);
    if (!of)
        return NFS3ERR_STALE;
    if (guard && *guard != of->attr.ctime)
        return NFS3ERR_NOT_SYNC;
    enum nfs3_status status = set_permitted(&of->attr.rights, who, set);
    if (status != NFS3_OK)
        return status;
    struct change change;
    change_begin(&change, fs);
    change_node(&change, node);
    set_rights(&of->attr.rights, set);
    if (set->size)
        attr_resize(fs, of, set->size_value, now);
    attr_set_times(fs, of, set, now);
    if (set->mode || set->uid || set->gid || set->atime || set->mtime)
        attr_changed(fs, of, now);
    change_tell(&change);
    return NFS3_OK;
}

enum nfs3_status fs_setacl(struct fs *fs, const struct fs_who *who, fs_node node, bool has_named,
                           uint32_t named_uid, uint32_t named_mode, uint64_t now)
{
    struct node *of = tree_node(fs, node);
    if (!of)
        return NFS3ERR_STALE;
    struct fs_rights *rights = &of->attr.rights;
    if (!rights_owns(rights, who))
        return NFS3ERR_PERM;
    struct change change;
    change_begin(&change, fs);
    change_node(&change, node);
    rights->has_named = has_named;
    rights->named_uid = has_named ? named_uid : 0;
    rights->named_mode = has_named ? named_mode & 7 : 0;
    attr_changed(fs, of, now);
    change_tell(&change);
    return NFS3_OK;
}

/* ---- octets ---- */

enum nfs3_status fs_read(struct fs *fs, const struct fs_who *who, fs_node node, uint64_t offset,
                         uint32_t *count, bool *eof, uint64_t now)
{
    struct node *of = tree_node(fs, node);
    if (!of)
        return NFS3ERR_STALE;
    enum nfs3_status status = io_permitted(&of->attr.rights, who, RIGHT_READ);
    /* What may be executed has to be read for that. */
    if (status == NFS3ERR_ACCES && rights_grant(&of->attr.rights, who, RIGHT_EXECUTE))
        status = NFS3_OK;
    if (status != NFS3_OK)
        return status;
    uint64_t left = offset < of->attr.size ? of->attr.size - offset : 0;
    if (*count > left)
        *count = (uint32_t)left;
    *eof = *count == left;
    struct change change;
    change_begin(&change, fs);
    change_node(&change, node);
    of->attr.atime = tree_time(fs, now);
    change_tell(&change);
    return NFS3_OK;
}

static void keep_stable(struct node *node)
{
    if (node->unstable)
        return;
    node->unstable = true;
    node->stable.size = node->attr.size;
    node->stable.used = node->attr.used;
    node->stable.mtime = node->attr.mtime;
    node->stable.ctime = node->attr.ctime;
}

enum nfs3_status fs_write(struct fs *fs, const struct fs_who *who, fs_node node, uint64_t offset,
                          uint32_t count, bool stable, uint64_t now)
{
    struct node *of = tree_node(fs, node);
    if (!of)
        return NFS3ERR_STALE;
    enum nfs3_status status = io_permitted(&of->attr.rights, who, RIGHT_WRITE);
    if (status != NFS3_OK)
        return status;
    if (offset > ATTR_SIZE_MAX || count > ATTR_SIZE_MAX - offset)
        return NFS3ERR_FBIG;
    if (count == 0)
        return NFS3_OK;
    struct change change;
    change_begin(&change, fs);
    change_node(&change, node);
    if (!stable)
        keep_stable(of);
    if (offset + count > of->attr.size)
        of->attr.size = offset + count;
    /* One block more than it needs, until fs_settle. */
    of->attr.used = blocks_of(of->attr.size) + BLOCK;
    of->attr.mtime = of->attr.ctime = tree_time(fs, now);
    if (stable)
        of->unstable = false;
    change_tell(&change);
    return NFS3_OK;
}

enum nfs3_status fs_commit(struct fs *fs, const struct fs_who *who, fs_node node)
{
    struct node *of = tree_node(fs, node);
    if (!of)
        return NFS3ERR_STALE;
    enum nfs3_status status = io_permitted(&of->attr.rights, who, RIGHT_WRITE);
    if (status == NFS3_OK)
        of->unstable = false;
    return status;
}

/* ---- what happens to servers ---- */

static void lose(struct fs *fs, fs_node node)
{
    struct node *of = tree_node(fs, node);
    struct change change;
    change_begin(&change, fs);
    change_node(&change, node);
    of->attr.size = of->stable.size;
    of->attr.used = of->stable.used;
    of->attr.mtime = of->stable.mtime;
    of->attr.ctime = of->stable.ctime;
    change_tell(&change);
}

void fs_crash(struct fs *fs, bool (*lost)(void *context, fs_node node), void *context)
{
    for (fs_node node = FS_ROOT; node <= fs->last; node++) {
        struct node *of = tree_node(fs, node);
        if (!of || !of->unstable)
            continue;
        of->unstable = false;
        if (lost(context, node))
            lose(fs, node);
    }
}

bool fs_settle(struct fs *fs, fs_node node)
{
    struct node *of = tree_node(fs, node);
    if (!of || of->attr.rights.type != NF3REG || of->attr.used == blocks_of(of->attr.size))
        return false;
    of->attr.used = blocks_of(of->attr.size);
    fs->watch.node(fs->watch.context, node);
    return true;
}
