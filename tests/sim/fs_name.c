/*
 * Names: looked up, made, removed, moved. Each procedure first says why it can't, in the order of Linux's, then names what
 * it touches, changes it, and tells.
 */
#include "sim/fs_attr.h"
#include "sim/fs_change.h"
#include "sim/fs_rights.h"
#include "sim/fs_tree.h"

#define NANOSECONDS 1000000000u

static bool is_dots(const char *name)
{
    return tree_is_dot(name) || tree_is_dotdot(name);
}

/* Whether a name may be looked for there at all. */
static enum nfs3_status search_permitted(const struct fs *fs, const struct fs_who *who, fs_node dir,
                                         const char *name)
{
    const struct node *of = tree_node(fs, dir);
    if (!of)
        return NFS3ERR_STALE;
    if (of->attr.rights.type != NF3DIR)
        return NFS3ERR_NOTDIR;
    if (*name == '\0' || strchr(name, '/'))
        return NFS3ERR_INVAL;
    if (strlen(name) > FS_NAME_MAX)
        return NFS3ERR_NAMETOOLONG;
    return rights_grant(&of->attr.rights, who, RIGHT_EXECUTE) ? NFS3_OK : NFS3ERR_ACCES;
}

static bool may_change(const struct fs *fs, const struct fs_who *who, fs_node dir)
{
    return rights_grant(&tree_node(fs, dir)->attr.rights, who, RIGHT_WRITE | RIGHT_EXECUTE);
}

static void touch_dir(const struct fs *fs, fs_node dir, uint64_t now)
{
    struct node *of = tree_node(fs, dir);
    of->attr.mtime = of->attr.ctime = tree_time(fs, now);
}

enum nfs3_status fs_lookup(const struct fs *fs, const struct fs_who *who, fs_node dir,
                           const char *name, fs_node *node)
{
    enum nfs3_status status = search_permitted(fs, who, dir, name);
    if (status != NFS3_OK)
        return status;
    *node = fs_behind(fs, dir, name);
    return *node ? NFS3_OK : NFS3ERR_NOENT;
}

enum nfs3_status fs_readdir_permitted(const struct fs *fs, const struct fs_who *who, fs_node dir)
{
    const struct node *of = tree_node(fs, dir);
    if (!of)
        return NFS3ERR_STALE;
    if (of->attr.rights.type != NF3DIR)
        return NFS3ERR_NOTDIR;
    return rights_grant(&of->attr.rights, who, RIGHT_READ) ? NFS3_OK : NFS3ERR_ACCES;
}

/* ---- making ---- */

/* Whether a new entry of that name may be made; EXIST when there is one. */
static enum nfs3_status make_permitted(const struct fs *fs, const struct fs_who *who, fs_node dir,
                                       const char *name)
{
    enum nfs3_status status = search_permitted(fs, who, dir, name);
    if (status != NFS3_OK)
        return status;
    if (fs_behind(fs, dir, name))
        return NFS3ERR_EXIST;
    return may_change(fs, who, dir) ? NFS3_OK : NFS3ERR_ACCES;
}

/* What is to be made. */
struct making {
    fs_node dir;
    const char *name;
    enum nfs3_ftype type;
    const struct fs_set *set;
    const uint8_t *verf; /* or NULL */
    uint64_t text_len;   /* of a symbolic link */
    uint64_t now;
};

/* What the maker may not choose is left as it is, without an error. */
static void set_new(const struct fs *fs, const struct fs_who *who, struct node *node,
                    const struct making *making)
{
    const struct fs_set *set = making->set;
    struct fs_rights *rights = &node->attr.rights;
    rights->mode = set->mode ? set->mode_value & ATTR_MODE_BITS : 0;
    rights->uid = set->uid && who->uid == 0 ? set->uid_value : who->uid;
    rights->gid = set->gid && who->uid == 0 ? set->gid_value : who->gid;
    if (making->type == NF3LNK)
        node->attr.size = making->text_len;
    if (set->size && making->type == NF3REG)
        attr_resize(fs, node, set->size_value, making->now);
    attr_set_times(fs, node, set, making->now);
}

/* In the two times that a client sets right after it, as servers do. Not rounded: it must come back as it is. */
static void set_verifier(struct node *node, const uint8_t verf[NFS3_VERF_LEN])
{
    node->attr.mtime = (uint64_t)bytes_load_u32(verf) * NANOSECONDS;
    node->attr.atime = (uint64_t)bytes_load_u32(verf + 4) * NANOSECONDS;
}

static bool has_verifier(const struct node *node, const uint8_t verf[NFS3_VERF_LEN])
{
    return node->attr.rights.type == NF3REG &&
           node->attr.mtime == (uint64_t)bytes_load_u32(verf) * NANOSECONDS &&
           node->attr.atime == (uint64_t)bytes_load_u32(verf + 4) * NANOSECONDS;
}

static enum nfs3_status make(struct fs *fs, const struct fs_who *who, const struct making *making,
                             fs_node *node)
{
    fs_node dir = making->dir;
    struct change change;
    change_begin(&change, fs);
    change_node(&change, dir);
    change_name(&change, dir, making->name);
    *node = tree_make(fs, making->type, tree_time(fs, making->now));
    if (*node == 0)
        return NFS3ERR_NOSPC;
    struct node *new = tree_node(fs, *node);
    set_new(fs, who, new, making);
    if (making->verf)
        set_verifier(new, making->verf);
    if (making->type == NF3DIR) {
        new->parent = dir;
        tree_node(fs, dir)->attr.nlink++;
    }
    tree_add(fs, dir, making->name, *node);
    touch_dir(fs, dir, making->now);
    change_new(&change, *node);
    change_tell(&change);
    return NFS3_OK;
}

/* CREATE UNCHECKED of what is there: truncated where size 0 is asked for, and nothing else. */
static enum nfs3_status create_again(struct fs *fs, const struct fs_who *who, fs_node node,
                                     const struct fs_set *set, uint64_t now)
{
    struct node *of = tree_node(fs, node);
    if (of->attr.rights.type != NF3REG)
        return of->attr.rights.type == NF3DIR ? NFS3ERR_ISDIR : NFS3ERR_EXIST;
    if (!set->size || set->size_value != 0)
        return NFS3_OK;
    enum nfs3_status status = attr_resize_permitted(&of->attr.rights, who, 0);
    if (status != NFS3_OK)
        return status;
    struct change change;
    change_begin(&change, fs);
    change_node(&change, node);
    attr_resize(fs, of, 0, now);
    change_tell(&change);
    return NFS3_OK;
}

enum nfs3_status fs_create_file(struct fs *fs, const struct fs_who *who, fs_node dir,
                                const char *name, enum nfs3_create_mode mode,
                                const struct fs_set *set, const uint8_t verf[NFS3_VERF_LEN],
                                uint64_t now, fs_node *node)
{
    enum nfs3_status status = make_permitted(fs, who, dir, name);
    bool exclusive = mode == NFS3_EXCLUSIVE;
    if (status == NFS3_OK && !exclusive && set->size && set->size_value > ATTR_SIZE_MAX)
        return NFS3ERR_FBIG;
    if (status == NFS3_OK) {
        static const struct fs_set nothing;
        struct making making = {.dir = dir, .name = name, .type = NF3REG, .now = now};
        making.set = exclusive ? &nothing : set;
        making.verf = exclusive ? verf : NULL;
        return make(fs, who, &making, node);
    }
    if (status != NFS3ERR_EXIST || mode == NFS3_GUARDED || is_dots(name))
        return status;
    *node = fs_behind(fs, dir, name);
    if (exclusive)
        return has_verifier(tree_node(fs, *node), verf) ? NFS3_OK : NFS3ERR_EXIST;
    return create_again(fs, who, *node, set, now);
}

enum nfs3_status fs_make(struct fs *fs, const struct fs_who *who, fs_node dir, const char *name,
                         enum nfs3_ftype type, const struct fs_set *set, uint64_t size,
                         uint64_t now, fs_node *node)
{
    enum nfs3_status status = make_permitted(fs, who, dir, name);
    if (status != NFS3_OK)
        return status;
    if (type < NF3DIR || type > NF3FIFO)
        return NFS3ERR_BADTYPE;
    if ((type == NF3BLK || type == NF3CHR) && who->uid != 0)
        return NFS3ERR_PERM;
    struct making making = {
        .dir = dir, .name = name, .type = type, .set = set, .text_len = size, .now = now};
    return make(fs, who, &making, node);
}

enum nfs3_status fs_link(struct fs *fs, const struct fs_who *who, fs_node node, fs_node dir,
                         const char *name, uint64_t now)
{
    struct node *of = tree_node(fs, node);
    if (!of)
        return NFS3ERR_STALE;
    enum nfs3_status status = make_permitted(fs, who, dir, name);
    if (status != NFS3_OK)
        return status;
    if (of->attr.rights.type == NF3DIR)
        return NFS3ERR_ISDIR;
    struct change change;
    change_begin(&change, fs);
    change_node(&change, node);
    change_node(&change, dir);
    change_name(&change, dir, name);
    of->attr.nlink++;
    attr_changed(fs, of, now);
    tree_add(fs, dir, name, node);
    touch_dir(fs, dir, now);
    change_tell(&change);
    return NFS3_OK;
}

/* ---- removing ---- */

/* The entry that may be taken out of its directory. */
static enum nfs3_status remove_permitted(const struct fs *fs, const struct fs_who *who, fs_node dir,
                                         const char *name, struct fs_dirent **entry)
{
    enum nfs3_status status = search_permitted(fs, who, dir, name);
    if (status != NFS3_OK)
        return status;
    if (is_dots(name))
        return NFS3ERR_INVAL;
    *entry = tree_entry(fs, dir, name);
    if (!*entry)
        return NFS3ERR_NOENT;
    return may_change(fs, who, dir) ? NFS3_OK : NFS3ERR_ACCES;
}

/* One name less. Its directory entry is another's business. */
static void unlink_node(struct fs *fs, fs_node dir, fs_node node, uint64_t now)
{
    struct node *of = tree_node(fs, node);
    if (of->attr.rights.type == NF3DIR) {
        tree_node(fs, dir)->attr.nlink--;
        tree_unmake(fs, node);
        return;
    }
    of->attr.nlink--;
    attr_changed(fs, of, now);
    if (of->attr.nlink == 0)
        tree_unmake(fs, node);
}

static void remove_entry(struct fs *fs, struct fs_dirent *entry, const char *name, uint64_t now)
{
    fs_node dir = entry->dir, node = entry->node;
    struct change change;
    change_begin(&change, fs);
    change_node(&change, dir);
    change_node(&change, node);
    change_name(&change, dir, name);
    change_dots(&change, node);
    tree_remove(fs, entry);
    unlink_node(fs, dir, node, now);
    touch_dir(fs, dir, now);
    change_tell(&change);
}

enum nfs3_status fs_remove(struct fs *fs, const struct fs_who *who, fs_node dir, const char *name,
                           uint64_t now)
{
    struct fs_dirent *entry;
    enum nfs3_status status = remove_permitted(fs, who, dir, name, &entry);
    if (status != NFS3_OK)
        return status;
    if (tree_node(fs, entry->node)->attr.rights.type == NF3DIR)
        return NFS3ERR_ISDIR;
    remove_entry(fs, entry, name, now);
    return NFS3_OK;
}

enum nfs3_status fs_rmdir(struct fs *fs, const struct fs_who *who, fs_node dir, const char *name,
                          uint64_t now)
{
    struct fs_dirent *entry;
    enum nfs3_status status = remove_permitted(fs, who, dir, name, &entry);
    if (status == NFS3ERR_INVAL && tree_is_dotdot(name))
        return NFS3ERR_EXIST; /* RFC 1813 3.3.13 */
    if (status != NFS3_OK)
        return status;
    const struct node *of = tree_node(fs, entry->node);
    if (of->attr.rights.type != NF3DIR)
        return NFS3ERR_NOTDIR;
    if (of->entry_count > 0)
        return NFS3ERR_NOTEMPTY;
    remove_entry(fs, entry, name, now);
    return NFS3_OK;
}

/* ---- moving ---- */

struct move {
    fs_node dir, to_dir, node, over; /* over: what has the new name now, or 0 */
    struct fs_dirent *from, *to;
    const char *name, *to_name;
    bool is_dir;
};

/* What is moved may take that place. */
static enum nfs3_status replace_permitted(const struct fs *fs, const struct move *move)
{
    if (move->is_dir && tree_is_below(fs, move->to_dir, move->node))
        return NFS3ERR_INVAL;
    if (move->over == 0 || move->over == move->node)
        return NFS3_OK;
    const struct node *over = tree_node(fs, move->over);
    bool over_dir = over->attr.rights.type == NF3DIR;
    if (move->is_dir != over_dir)
        return over_dir ? NFS3ERR_ISDIR : NFS3ERR_NOTDIR;
    return over->entry_count > 0 ? NFS3ERR_NOTEMPTY : NFS3_OK;
}

static enum nfs3_status move_permitted(const struct fs *fs, const struct fs_who *who,
                                       struct move *move)
{
    enum nfs3_status status = search_permitted(fs, who, move->dir, move->name);
    if (status == NFS3_OK)
        status = search_permitted(fs, who, move->to_dir, move->to_name);
    if (status != NFS3_OK)
        return status;
    if (is_dots(move->name) || is_dots(move->to_name))
        return NFS3ERR_INVAL;
    move->from = tree_entry(fs, move->dir, move->name);
    if (!move->from)
        return NFS3ERR_NOENT;
    move->to = tree_entry(fs, move->to_dir, move->to_name);
    move->node = move->from->node;
    move->over = move->to ? move->to->node : 0;
    const struct node *of = tree_node(fs, move->node);
    move->is_dir = of->attr.rights.type == NF3DIR;
    if (!may_change(fs, who, move->dir) || !may_change(fs, who, move->to_dir))
        return NFS3ERR_ACCES;
    /* Its ".." is written. */
    if (move->is_dir && move->dir != move->to_dir &&
        !rights_grant(&of->attr.rights, who, RIGHT_WRITE))
        return NFS3ERR_ACCES;
    return replace_permitted(fs, move);
}

static void move_entry(struct fs *fs, const struct move *move, uint64_t now)
{
    if (move->over) {
        move->to->node = move->node;
        unlink_node(fs, move->to_dir, move->over, now);
    } else {
        tree_add(fs, move->to_dir, move->to_name, move->node);
    }
    tree_remove(fs, move->from);
    struct node *of = tree_node(fs, move->node);
    if (move->is_dir) {
        of->parent = move->to_dir;
        tree_node(fs, move->dir)->attr.nlink--;
        tree_node(fs, move->to_dir)->attr.nlink++;
    }
    attr_changed(fs, of, now);
    touch_dir(fs, move->dir, now);
    touch_dir(fs, move->to_dir, now);
}

enum nfs3_status fs_rename(struct fs *fs, const struct fs_who *who, fs_node dir, const char *name,
                           fs_node to_dir, const char *to_name, uint64_t now)
{
    struct move move = {.dir = dir, .to_dir = to_dir, .name = name, .to_name = to_name};
    enum nfs3_status status = move_permitted(fs, who, &move);
    if (status != NFS3_OK)
        return status;
    if (move.over == move.node)
        return NFS3_OK; /* POSIX: two names of one file stay as they are */
    struct change change;
    change_begin(&change, fs);
    change_node(&change, dir);
    change_node(&change, to_dir);
    change_node(&change, move.node);
    change_name(&change, dir, name);
    change_name(&change, to_dir, to_name);
    if (move.is_dir)
        change_name(&change, move.node, "..");
    if (move.over) {
        change_node(&change, move.over);
        change_dots(&change, move.over);
    }
    move_entry(fs, &move, now);
    change_tell(&change);
    return NFS3_OK;
}
