/*
 * nfs3: arguments and results of NFS version 3 (RFC 1813), as far as a cache needs them.
 *
 * One decoder per shape of arguments and of results; which procedure has which is said by the
 * procedure table of the proxy and nowhere else. Every view stands in the record that was decoded.
 */
#ifndef XDR_NFS3_H
#define XDR_NFS3_H

#include "xdr/cursor.h"
#include "xdr/writer.h"

#define NFS3_VERSION      3u
#define NFS3_FH_MAX       64u
#define NFS3_VERF_LEN     8u
#define NFS3_FATTR_LEN    84u /* fattr3 on the wire */
#define NFS3_WCC_ATTR_LEN 24u /* wcc_attr: size, mtime, ctime */

/*
 * filename3, nfspath3: RFC 1813 sets no maximum and leaves it to the server to say NAMETOOLONG.
 * This only bounds what is decoded.
 */
#define NFS3_STRING_MAX 65536u

enum nfs3_procedure {
    NFS3_NULL = 0,
    NFS3_GETATTR = 1,
    NFS3_SETATTR = 2,
    NFS3_LOOKUP = 3,
    NFS3_ACCESS = 4,
    NFS3_READLINK = 5,
    NFS3_READ = 6,
    NFS3_WRITE = 7,
    NFS3_CREATE = 8,
    NFS3_MKDIR = 9,
    NFS3_SYMLINK = 10,
    NFS3_MKNOD = 11,
    NFS3_REMOVE = 12,
    NFS3_RMDIR = 13,
    NFS3_RENAME = 14,
    NFS3_LINK = 15,
    NFS3_READDIR = 16,
    NFS3_READDIRPLUS = 17,
    NFS3_FSSTAT = 18,
    NFS3_FSINFO = 19,
    NFS3_PATHCONF = 20,
    NFS3_COMMIT = 21,
    NFS3_PROCEDURES = 22,
};

enum nfs3_status {
    NFS3_OK = 0,
    NFS3ERR_PERM = 1,
    NFS3ERR_NOENT = 2,
    NFS3ERR_IO = 5,
    NFS3ERR_NXIO = 6,
    NFS3ERR_ACCES = 13,
    NFS3ERR_EXIST = 17,
    NFS3ERR_XDEV = 18,
    NFS3ERR_NODEV = 19,
    NFS3ERR_NOTDIR = 20,
    NFS3ERR_ISDIR = 21,
    NFS3ERR_INVAL = 22,
    NFS3ERR_FBIG = 27,
    NFS3ERR_NOSPC = 28,
    NFS3ERR_ROFS = 30,
    NFS3ERR_MLINK = 31,
    NFS3ERR_NAMETOOLONG = 63,
    NFS3ERR_NOTEMPTY = 66,
    NFS3ERR_DQUOT = 69,
    NFS3ERR_STALE = 70,
    NFS3ERR_REMOTE = 71,
    NFS3ERR_BADHANDLE = 10001,
    NFS3ERR_NOT_SYNC = 10002,
    NFS3ERR_BAD_COOKIE = 10003,
    NFS3ERR_NOTSUPP = 10004,
    NFS3ERR_TOOSMALL = 10005,
    NFS3ERR_SERVERFAULT = 10006,
    NFS3ERR_BADTYPE = 10007,
    NFS3ERR_JUKEBOX = 10008,
};

enum nfs3_ftype {
    NF3REG = 1,
    NF3DIR = 2,
    NF3BLK = 3,
    NF3CHR = 4,
    NF3LNK = 5,
    NF3SOCK = 6,
    NF3FIFO = 7,
};

enum nfs3_create_mode {
    NFS3_UNCHECKED = 0,
    NFS3_GUARDED = 1,
    NFS3_EXCLUSIVE = 2,
};

#define NFS3_ACCESS_READ    0x01u
#define NFS3_ACCESS_LOOKUP  0x02u
#define NFS3_ACCESS_MODIFY  0x04u
#define NFS3_ACCESS_EXTEND  0x08u
#define NFS3_ACCESS_DELETE  0x10u
#define NFS3_ACCESS_EXECUTE 0x20u
#define NFS3_ACCESS_ALL     0x3fu

/*
 * The pieces that arguments and results are made of. Views and pointers are empty or NULL where the
 * piece says that it does not follow, and after an error.
 */
static inline struct bytes nfs3_handle(struct cursor *c)
{
    return cursor_opaque(c, NFS3_FH_MAX);
}

const uint8_t *nfs3_post_op_attr(struct cursor *c); /* NFS3_FATTR_LEN octets */

/* A fattr3 stays as the server sent it; these read single fields of its NFS3_FATTR_LEN octets. */
static inline enum nfs3_ftype nfs3_fattr_type(const uint8_t *fattr)
{
    return (enum nfs3_ftype)bytes_load_u32(fattr);
}

static inline uint32_t nfs3_fattr_mode(const uint8_t *fattr)
{
    return bytes_load_u32(fattr + 4);
}

static inline uint32_t nfs3_fattr_nlink(const uint8_t *fattr)
{
    return bytes_load_u32(fattr + 8);
}

static inline uint32_t nfs3_fattr_uid(const uint8_t *fattr)
{
    return bytes_load_u32(fattr + 12);
}

static inline uint32_t nfs3_fattr_gid(const uint8_t *fattr)
{
    return bytes_load_u32(fattr + 16);
}

static inline uint64_t nfs3_fattr_size(const uint8_t *fattr)
{
    return bytes_load_u64(fattr + 20);
}

static inline uint64_t nfs3_fattr_fsid(const uint8_t *fattr)
{
    return bytes_load_u64(fattr + 44);
}

static inline uint64_t nfs3_fattr_fileid(const uint8_t *fattr)
{
    return bytes_load_u64(fattr + 52);
}

/* nfstime3 as one number, seconds in the upper half: compare it for equality only. */
static inline uint64_t nfs3_fattr_atime(const uint8_t *fattr)
{
    return bytes_load_u64(fattr + 60);
}

static inline uint64_t nfs3_fattr_mtime(const uint8_t *fattr)
{
    return bytes_load_u64(fattr + 68);
}

static inline uint64_t nfs3_fattr_ctime(const uint8_t *fattr)
{
    return bytes_load_u64(fattr + 76);
}

/*
 * The arguments. Fields that a procedure does not have are zero. `data` of WRITE, and symlink
 * texts, are not looked at beyond their length.
 */
struct nfs3_args {
    struct bytes object; /* the handle; the directory of `name`, of RENAME the source */
    struct bytes name;
    struct bytes object2; /* RENAME, LINK: the directory of name2; LINK's object is the file */
    struct bytes name2;   /* RENAME and LINK: the name in object2 */
    uint32_t access;      /* ACCESS: the bits asked for */
    uint32_t create_mode; /* CREATE: enum nfs3_create_mode */
    uint64_t offset;      /* READ, WRITE, COMMIT */
    uint32_t count;       /* READ, WRITE, COMMIT; READDIR count; READDIRPLUS maxcount */
    uint64_t cookie;      /* READDIR, READDIRPLUS */
};

/*
 * Each is true when the arguments are whole and within bounds, and only then are views in `args` to
 * be used. Octets after the arguments are ignored, as servers do.
 */
typedef bool nfs3_args_decoder(struct cursor *c, struct nfs3_args *args);
nfs3_args_decoder nfs3_args_void;
nfs3_args_decoder nfs3_args_object; /* GETATTR READLINK FSSTAT FSINFO PATHCONF */
nfs3_args_decoder nfs3_args_setattr;
nfs3_args_decoder nfs3_args_dirop; /* LOOKUP REMOVE RMDIR */
nfs3_args_decoder nfs3_args_access;
nfs3_args_decoder nfs3_args_read;
nfs3_args_decoder nfs3_args_write;
nfs3_args_decoder nfs3_args_create;
nfs3_args_decoder nfs3_args_mkdir;
nfs3_args_decoder nfs3_args_symlink;
nfs3_args_decoder nfs3_args_mknod;
nfs3_args_decoder nfs3_args_rename;
nfs3_args_decoder nfs3_args_link;
nfs3_args_decoder nfs3_args_readdir;
nfs3_args_decoder nfs3_args_readdirplus;
nfs3_args_decoder nfs3_args_commit;

struct nfs3_wcc {
    const uint8_t *before; /* NFS3_WCC_ATTR_LEN octets, or NULL */
    const uint8_t *after;  /* NFS3_FATTR_LEN octets, or NULL */
};

/* The results. Fields that a procedure, or a status, does not have are zero or NULL. */
struct nfs3_res {
    uint32_t status;     /* enum nfs3_status, or what the server sent */
    struct bytes handle; /* LOOKUP; CREATE MKDIR SYMLINK MKNOD where it follows */
    /* GETATTR LOOKUP ACCESS READLINK READ CREATE… LINK FSSTAT FSINFO PATHCONF: attributes of
       `handle` where the procedure has one, else of the handle that the call names. */
    const uint8_t *object;
    const uint8_t *dir;    /* LOOKUP READDIR READDIRPLUS: attributes of the directory */
    struct nfs3_wcc wcc;   /* of args.object; for LINK of args.object2 */
    struct nfs3_wcc wcc2;  /* RENAME: of args.object2 */
    uint32_t access;       /* ACCESS */
    const uint8_t *verf;   /* WRITE COMMIT: write verifier, NFS3_VERF_LEN octets */
    struct cursor entries; /* READDIRPLUS: see nfs3_entry_next */
};

/* True when the results are whole as far as they are decoded; only then are views to be used. */
typedef bool nfs3_res_decoder(struct cursor *c, struct nfs3_res *res);
nfs3_res_decoder nfs3_res_void;
nfs3_res_decoder nfs3_res_getattr;
nfs3_res_decoder nfs3_res_wcc; /* SETATTR REMOVE RMDIR */
nfs3_res_decoder nfs3_res_lookup;
nfs3_res_decoder nfs3_res_access;
nfs3_res_decoder nfs3_res_object; /* READLINK READ FSSTAT FSINFO PATHCONF: `object` only */
nfs3_res_decoder nfs3_res_write;
nfs3_res_decoder nfs3_res_create; /* CREATE MKDIR SYMLINK MKNOD */
nfs3_res_decoder nfs3_res_rename;
nfs3_res_decoder nfs3_res_link;
nfs3_res_decoder nfs3_res_readdir;     /* the directory's attributes only */
nfs3_res_decoder nfs3_res_readdirplus; /* true only when the whole page is well-formed */
nfs3_res_decoder nfs3_res_commit;

struct nfs3_entry {
    uint64_t fileid;
    struct bytes name;
    uint64_t cookie;
    const uint8_t *attributes; /* or NULL */
    struct bytes handle;       /* or empty */
};

/*
 * The next entry of a READDIRPLUS page; false at its end. It ends early only where the page is not
 * well-formed, which nfs3_res_readdirplus has ruled out, and then the cursor has failed.
 */
bool nfs3_entry_next(struct cursor *entries, struct nfs3_entry *entry);

/*
 * Encoders for what the proxy itself says: results of hits, the calls it asks with, and a failure
 * without attributes.
 */
void nfs3_put_post_op_attr(struct writer *w, const uint8_t *fattr); /* NULL: none follow */
void nfs3_put_dirop(struct writer *w, struct bytes dir, struct bytes name);

/* A failed result when nothing is known: the status, then `absent` times "does not follow". */
void nfs3_put_failure(struct writer *w, enum nfs3_status status, unsigned absent);

/* "NFS3ERR_STALE"; NULL for a number that RFC 1813 does not have. */
const char *nfs3_status_name(uint32_t status);

#endif
