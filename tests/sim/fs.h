/*
 * fs: a small correct file system, all in memory, as a server has one behind it.
 *
 * Files, directories, symbolic links and special files; hard links, renames over, directories moved, truncation,
 * exclusive creation, writes that are not stable yet. It checks permissions as a server does, from owner, group, groups,
 * mode and access list, and keeps times with the granularity that its options say. It has no clock and no chance: times
 * come with each call. It says nothing on the wire (nfsd.h does).
 *
 * Whoever watches is told of each thing that differs, after it does.
 */
#ifndef SIM_FS_H
#define SIM_FS_H

#include <stdbool.h>
#include <stdint.h>

#include "xdr/nfs3.h"

#define FS_ROOT       1u
#define FS_NAME_MAX   32u /* longer names are NAMETOOLONG */
#define FS_GROUPS_MAX 16u
#define FS_NODES_MAX  4096u /* in a run, with those that are gone; then NOSPC */

/* A file, directory, … of a run. Never used again; 0 is none. */
typedef uint32_t fs_node;

struct fs;

struct fs_options {
    uint64_t granularity; /* of all times, in ns: 1 … 1e9 */
    uint64_t fsid;
    /* A new node gets the fileid of the one that was removed last, if there is one. */
    bool reuse_fileids;
};

/* Who asks. uid 0 may do everything, as on an export without root_squash. */
struct fs_who {
    uint32_t uid, gid, group_count;
    uint32_t groups[FS_GROUPS_MAX];
};

/* What permissions are made of. Verdicts depend on nothing else. */
struct fs_rights {
    enum nfs3_ftype type;
    uint32_t mode, uid, gid;
    /* The access list: one more user, and what it is let do (as three bits of mode). */
    bool has_named;
    uint32_t named_uid, named_mode;
};

struct fs_attr {
    struct fs_rights rights;
    uint32_t nlink;
    uint64_t size, used;
    uint64_t fsid, fileid;
    uint64_t atime, mtime, ctime; /* ns since 1970 */
};

/* What SETATTR and the creating calls may set. */
struct fs_set {
    bool mode, uid, gid, size, atime, mtime; /* which */
    bool atime_now, mtime_now;               /* these to the server's time */
    uint32_t mode_value, uid_value, gid_value;
    uint64_t size_value, atime_value, mtime_value;
};

struct fs_watch {
    void *context;
    /* Its attributes, or the rights to it, differ; or it is gone for good (fs_attr says so). */
    void (*node)(void *context, fs_node node);
    /* What the name leads to differs. "." and ".." of a directory that is made or removed too, and ".." of one that is moved.
     * The text stands during the call only. */
    void (*name)(void *context, fs_node dir, const char *name);
};

/* Never NULL: without memory the run ends. The root is there, mode 0777, uid and gid 0, all times 0; nobody was told. */
struct fs *fs_create(const struct fs_options *options, const struct fs_watch *watch);
void fs_destroy(struct fs *fs);

/* False when there is no such node any more: removed, and not open (nothing is ever open). */
bool fs_attr(const struct fs *fs, fs_node node, struct fs_attr *attr);
/* What is behind a name, whoever asks; 0: nothing. "." and ".." too. */
fs_node fs_behind(const struct fs *fs, fs_node dir, const char *name);
/* The one that was made last: all others have lower numbers. */
fs_node fs_last(const struct fs *fs);
/* The bits of ACCESS3 that somebody is granted. */
uint32_t fs_access(const struct fs_rights *rights, const struct fs_who *who);
bool fs_same_rights(const struct fs_rights *a, const struct fs_rights *b);

/* ---- as the procedures of NFS; the status is RFC 1813's ---- */

enum nfs3_status fs_lookup(const struct fs *fs, const struct fs_who *who, fs_node dir,
                           const char *name, fs_node *node);
/* `guard`: the ctime that it must have; NULL: any. */
enum nfs3_status fs_setattr(struct fs *fs, const struct fs_who *who, fs_node node,
                            const struct fs_set *set, const uint64_t *guard, uint64_t now);
/* Reading changes atime (and nothing else). `count`: in, what is asked for; out, what there is. */
enum nfs3_status fs_read(struct fs *fs, const struct fs_who *who, fs_node node, uint64_t offset,
                         uint32_t *count, bool *eof, uint64_t now);
/* One that is not stable may be lost by fs_crash until fs_commit. */
enum nfs3_status fs_write(struct fs *fs, const struct fs_who *who, fs_node node, uint64_t offset,
                          uint32_t count, bool stable, uint64_t now);
enum nfs3_status fs_commit(struct fs *fs, const struct fs_who *who, fs_node node);
/* `set` counts for what is made now. What is there already is truncated by UNCHECKED with size 0; EXCLUSIVE takes `verf`, and
 * keeps it in mtime and atime. */
enum nfs3_status fs_create_file(struct fs *fs, const struct fs_who *who, fs_node dir,
                                const char *name, enum nfs3_create_mode mode,
                                const struct fs_set *set, const uint8_t verf[NFS3_VERF_LEN],
                                uint64_t now, fs_node *node);
/* MKDIR, SYMLINK (`size` is the text's) and MKNOD. */
enum nfs3_status fs_make(struct fs *fs, const struct fs_who *who, fs_node dir, const char *name,
                         enum nfs3_ftype type, const struct fs_set *set, uint64_t size,
                         uint64_t now, fs_node *node);
enum nfs3_status fs_remove(struct fs *fs, const struct fs_who *who, fs_node dir, const char *name,
                           uint64_t now);
enum nfs3_status fs_rmdir(struct fs *fs, const struct fs_who *who, fs_node dir, const char *name,
                          uint64_t now);
enum nfs3_status fs_rename(struct fs *fs, const struct fs_who *who, fs_node dir, const char *name,
                           fs_node to_dir, const char *to_name, uint64_t now);
enum nfs3_status fs_link(struct fs *fs, const struct fs_who *who, fs_node node, fs_node dir,
                         const char *name, uint64_t now);
enum nfs3_status fs_readdir_permitted(const struct fs *fs, const struct fs_who *who, fs_node dir);
/* Entry number `number`, from 0: ".", "..", and the others in the order of their making; false past the end. */
bool fs_entry(const struct fs *fs, fs_node dir, unsigned number, const char **name, fs_node *node);
/* The same for READDIR: the entry after the one that had this cookie (0: the first), and its cookie. Cookies stay what they
 * are when other entries go. */
bool fs_entry_after(const struct fs *fs, fs_node dir, uint64_t *cookie, const char **name,
                    fs_node *node);
enum nfs3_status fs_setacl(struct fs *fs, const struct fs_who *who, fs_node node, bool has_named,
                           uint32_t named_uid, uint32_t named_mode, uint64_t now);

/* ---- what happens to servers ---- */

/* What was written and is not stable is lost, of each file for which `lost` says so: size and times are those of the last
 * stable state. */
void fs_crash(struct fs *fs, bool (*lost)(void *context, fs_node node), void *context);
/* Blocks are given out, or compressed, later than they are written: `used` changes, and no time. False when it is the same
 * already. */
bool fs_settle(struct fs *fs, fs_node node);

#endif
