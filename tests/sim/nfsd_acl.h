/*
 * nfsd_acl: the numbers of access lists in NFSACL (Solaris' nfs_acl.x; Linux' linux/nfsacl.h). Only nfsd*.c include this.
 */
#ifndef SIM_NFSD_ACL_H
#define SIM_NFSD_ACL_H

/* An entry's tag. */
#define ACL_USER_OBJ  0x01u
#define ACL_USER      0x02u
#define ACL_GROUP_OBJ 0x04u
#define ACL_MASK      0x10u
#define ACL_OTHER     0x20u

/* What a GETACL asks for, and a SETACL brings. */
#define ACL_WANTS_LIST 0x1u
#define ACL_WANTS_ALL  0xfu

#endif
