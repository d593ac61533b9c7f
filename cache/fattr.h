/*
 * fattr: comparing what a server said of a file at two times. A fattr3 stays as it came; the layout
 * is RFC 1813 section 2.5.
 */
#ifndef CACHE_FATTR_H
#define CACHE_FATTR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "xdr/nfs3.h"

enum fattr_offset {
    FATTR_TYPE = 0, /* then mode, nlink, uid, gid */
    FATTR_SIZE = 20,
    FATTR_FSID = 44, /* then fileid */
    FATTR_ATIME = 60,
    FATTR_MTIME = 68,
    FATTR_CTIME = 76,
};

/* The same state: equal in everything but atime. */
static inline bool fattr_equal(const uint8_t *a, const uint8_t *b)
{
    return memcmp(a, b, FATTR_ATIME) == 0 &&
           memcmp(a + FATTR_MTIME, b + FATTR_MTIME, NFS3_FATTR_LEN - FATTR_MTIME) == 0;
}

/* The same file: type, fsid and fileid. */
static inline bool fattr_same_file(const uint8_t *a, const uint8_t *b)
{
    return memcmp(a, b, 4) == 0 && memcmp(a + FATTR_FSID, b + FATTR_FSID, 16) == 0;
}

/*
 * Nobody has changed it. A server whose times are coarse may show a second change within the same tick by nlink, mode or
 * owner alone. `used` is no sign: it may change while the server flushes.
 */
static inline bool fattr_unchanged(const uint8_t *a, const uint8_t *b)
{
    return memcmp(a, b, FATTR_SIZE + 8) == 0 &&
           memcmp(a + FATTR_MTIME, b + FATTR_MTIME, NFS3_FATTR_LEN - FATTR_MTIME) == 0;
}

/* What permissions depend on: type, mode, nlink, uid, gid. */
static inline bool fattr_same_owner(const uint8_t *a, const uint8_t *b)
{
    return memcmp(a, b, FATTR_SIZE) == 0;
}

/* The wcc_attr (size, mtime, ctime) of these attributes. */
static inline void fattr_wcc(const uint8_t *fattr, uint8_t wcc[NFS3_WCC_ATTR_LEN])
{
    memcpy(wcc, fattr + FATTR_SIZE, 8);
    memcpy(wcc + 8, fattr + FATTR_MTIME, 16);
}

#endif
