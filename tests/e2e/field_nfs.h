/*
 * field_nfs: octets of NFS that the field's cases need beyond those of unit/stage_nfs.h, written out by hand like these.
 */
#ifndef E2E_FIELD_NFS_H
#define E2E_FIELD_NFS_H

#include "unit/stage_nfs.h"

/* SETATTR without a guard. */
struct body args_setattr_mode_size(const struct file *file, uint32_t mode, uint64_t size);
struct body args_setattr_mode_times(const struct file *file, uint32_t mode, uint64_t atime,
                                    uint64_t mtime);

/* Where to go on in a directory. */
struct position {
    uint64_t cookie, verf;
};
struct body args_readdir_from(const struct file *dir, struct position from, uint32_t count);
struct body args_readdirplus_from(const struct file *dir, struct position from, uint32_t dircount,
                                  uint32_t maxcount);

struct body args_path(const char *path); /* MNT */

struct body res_read(const struct attr *attr, const char *text);
/* One access list as of args_setacl, and an empty default list. */
struct body res_getacl(const struct attr *attr, uint32_t entries);

/* A page, begun with its status, attributes and verifier, one entry after the other, and its end. */
struct body page_begin(const struct attr *dir, uint64_t verf);
void page_entry(struct body *page, uint64_t fileid, const char *name, uint64_t cookie);
/* Of READDIRPLUS: what else an entry has. */
void page_plus(struct body *page, const struct file *file);
void page_end(struct body *page, bool eof);

#endif
