/*
 * fs_attr: changes of a node's attributes that more than one procedure makes. Only fs*.c include this.
 */
#ifndef SIM_FS_ATTR_H
#define SIM_FS_ATTR_H

#include "sim/fs_tree.h"

#define ATTR_MODE_BITS 07777u
#define ATTR_SIZE_MAX  (uint64_t) INT64_MAX

/* Something but what was written has changed: a crash does not take that back. */
void attr_changed(const struct fs *fs, struct node *node, uint64_t now);
/* To another size, at once and stable. */
void attr_resize(const struct fs *fs, struct node *node, uint64_t size, uint64_t now);
enum nfs3_status attr_resize_permitted(const struct fs_rights *rights, const struct fs_who *who,
                                       uint64_t size);
/* atime and mtime as `set` says. */
void attr_set_times(const struct fs *fs, struct node *node, const struct fs_set *set, uint64_t now);

#endif
