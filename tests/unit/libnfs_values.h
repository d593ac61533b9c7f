/*
 * libnfs_values: random values of NFSv3 and MOUNT as libnfs has them, and what they look like on
 * the wire. The tests of our decoders compare with these.
 *
 * libnfs calls statuses, file types and procedures as RFC 1813 does, and so do we: its enumerators
 * go by another name here. Include this behind the headers of xdr/, and libtirpc's nowhere near.
 */
#ifndef UNIT_LIBNFS_VALUES_H
#define UNIT_LIBNFS_VALUES_H

#include "xdr/mount3.h"
#include "xdr/nfs3.h"
#include "xdr/rpc.h"

#include "wire.h"

#define RPC_MISMATCH        LIBNFS_RPC_MISMATCH
#define NFS3_OK             LIBNFS_OK
#define NFS3ERR_PERM        LIBNFS_PERM
#define NFS3ERR_NOENT       LIBNFS_NOENT
#define NFS3ERR_IO          LIBNFS_IO
#define NFS3ERR_NXIO        LIBNFS_NXIO
#define NFS3ERR_ACCES       LIBNFS_ACCES
#define NFS3ERR_EXIST       LIBNFS_EXIST
#define NFS3ERR_XDEV        LIBNFS_XDEV
#define NFS3ERR_NODEV       LIBNFS_NODEV
#define NFS3ERR_NOTDIR      LIBNFS_NOTDIR
#define NFS3ERR_ISDIR       LIBNFS_ISDIR
#define NFS3ERR_INVAL       LIBNFS_INVAL
#define NFS3ERR_FBIG        LIBNFS_FBIG
#define NFS3ERR_NOSPC       LIBNFS_NOSPC
#define NFS3ERR_ROFS        LIBNFS_ROFS
#define NFS3ERR_MLINK       LIBNFS_MLINK
#define NFS3ERR_NAMETOOLONG LIBNFS_NAMETOOLONG
#define NFS3ERR_NOTEMPTY    LIBNFS_NOTEMPTY
#define NFS3ERR_DQUOT       LIBNFS_DQUOT
#define NFS3ERR_STALE       LIBNFS_STALE
#define NFS3ERR_REMOTE      LIBNFS_REMOTE
#define NFS3ERR_BADHANDLE   LIBNFS_BADHANDLE
#define NFS3ERR_NOT_SYNC    LIBNFS_NOT_SYNC
#define NFS3ERR_BAD_COOKIE  LIBNFS_BAD_COOKIE
#define NFS3ERR_NOTSUPP     LIBNFS_NOTSUPP
#define NFS3ERR_TOOSMALL    LIBNFS_TOOSMALL
#define NFS3ERR_SERVERFAULT LIBNFS_SERVERFAULT
#define NFS3ERR_BADTYPE     LIBNFS_BADTYPE
#define NFS3ERR_JUKEBOX     LIBNFS_JUKEBOX
#define NF3REG              LIBNFS_REG
#define NF3DIR              LIBNFS_DIR
#define NF3BLK              LIBNFS_BLK
#define NF3CHR              LIBNFS_CHR
#define NF3LNK              LIBNFS_LNK
#define NF3SOCK             LIBNFS_SOCK
#define NF3FIFO             LIBNFS_FIFO
#define MNT3_OK             LIBNFS_MNT_OK
#define MNT3ERR_PERM        LIBNFS_MNT_PERM
#define MNT3ERR_NOENT       LIBNFS_MNT_NOENT
#define MNT3ERR_IO          LIBNFS_MNT_IO
#define MNT3ERR_ACCES       LIBNFS_MNT_ACCES
#define MNT3ERR_NOTDIR      LIBNFS_MNT_NOTDIR
#define MNT3ERR_INVAL       LIBNFS_MNT_INVAL
#define MNT3ERR_NAMETOOLONG LIBNFS_MNT_NAMETOOLONG
#define MNT3ERR_NOTSUPP     LIBNFS_MNT_NOTSUPP
#define MNT3ERR_SERVERFAULT LIBNFS_MNT_SERVERFAULT

#include <nfsc/libnfs-zdr.h>
#define name libnfs_name /* a type there */
#include <nfsc/libnfs-raw-mount.h>
#undef name
#include <nfsc/libnfs-raw-nfs.h>

/* Where values are made: their strings and octets stand in `pool`, what was encoded last in `wire`. */
struct values {
    struct wire_random random;
    uint8_t wire[262144];
    uint32_t len; /* of what stands in wire */
    size_t used;
    char pool[262144];
};

/* Makes encode_TYPE: writes a value of theirs to v->wire; and decode_TYPE: reads all of v->wire
   back, or fails. The decoded value is freed with the ZDR. */
#define LIBNFS_CODEC(type)                                                                   \
    __attribute__((unused)) static void encode_##type(struct values *v, type *value)         \
    {                                                                                        \
        ZDR z;                                                                               \
        memset(v->wire, 0, sizeof v->wire);                                                  \
        zdrmem_create(&z, (char *)v->wire, sizeof v->wire, ZDR_ENCODE);                      \
        assert_true(zdr_##type(&z, value));                                                  \
        v->len = zdr_getpos(&z);                                                             \
        zdr_destroy(&z);                                                                     \
    }                                                                                        \
    __attribute__((unused)) static void decode_##type(struct values *v, ZDR *z, type *value) \
    {                                                                                        \
        *value = (type){0};                                                                  \
        zdrmem_create(z, (char *)v->wire, v->len, ZDR_DECODE);                               \
        assert_true(zdr_##type(z, value));                                                   \
        assert_int_equal(zdr_getpos(z), v->len);                                             \
    }

/* A values for the whole test; the caller frees it. */
struct values *values_new(uint64_t seed);
/* Forgets what stands in the pool. */
void values_reset(struct values *v);
/* `len` random octets in the pool. */
char *values_octets(struct values *v, uint32_t len);

uint64_t values_u64(struct values *v);
nfs_fh3 values_handle(struct values *v);
/* A name without NUL, of 0 to `max` octets. */
char *values_name(struct values *v, uint32_t max);
fattr3 values_fattr(struct values *v);
post_op_attr values_post_op_attr(struct values *v);
wcc_data values_wcc(struct values *v);
sattr3 values_sattr(struct values *v);

/* What the parts of a value must be decoded to. The views and pointers stand in the pool. */
struct bytes values_expect_handle(const nfs_fh3 *handle);
const uint8_t *values_expect_attr(struct values *v, const post_op_attr *attr);
const uint8_t *values_expect_fattr(struct values *v, const fattr3 *attr);
struct nfs3_wcc values_expect_wcc(struct values *v, const wcc_data *wcc);

#endif
