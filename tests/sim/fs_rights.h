/*
 * fs_rights: what somebody may do. Only fs*.c include this.
 */
#ifndef SIM_FS_RIGHTS_H
#define SIM_FS_RIGHTS_H

#include "sim/fs.h"

#define RIGHT_READ    4u
#define RIGHT_WRITE   2u
#define RIGHT_EXECUTE 1u /* of a directory: search */

/* All of these bits. */
bool rights_grant(const struct fs_rights *rights, const struct fs_who *who, uint32_t bits);
/* The owner, or root. */
bool rights_owns(const struct fs_rights *rights, const struct fs_who *who);
/* A server lets the owner read and write whatever the mode says: it can't know with what mode the file was opened. */
bool rights_grant_io(const struct fs_rights *rights, const struct fs_who *who, uint32_t bits);
bool rights_in_group(const struct fs_who *who, uint32_t gid);

#endif
