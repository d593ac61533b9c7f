/*
 * The procedures of RFC 1813 section 3.3, and their table at the end.
 */
#include "sim/nfsd_procedure.h"

#include "xdr/nfsacl3.h"

#define TEXT_MAX 1024u /* of a symbolic link */

/* ---- attributes ---- */

static enum nfs3_status run_getattr(struct nfsd_call *x)
{
    (void)x;
    return NFS3_OK;
}

static void put_getattr(struct nfsd_call *x)
{
    nfsd_put_fattr(&x->put, &x->before); /* nothing has changed since */
}

static enum nfs3_status run_setattr(struct nfsd_call *x)
{
    return fs_setattr(x->nfsd->fs, &x->who, x->object, &x->args.set,
                      x->args.guarded ? &x->args.guard : NULL, x->now);
}

static enum nfs3_status run_access(struct nfsd_call *x)
{
    if (x->who.uid != x->nfsd->grudge)
        x->count = fs_access(&x->before.rights, &x->who) & x->args.access;
    return NFS3_OK;
}

static void put_count(struct nfsd_call *x)
{
    put_u32(&x->put, x->count);
}

/* ---- octets ---- */

static enum nfs3_status run_readlink(struct nfsd_call *x)
{
    return x->before.rights.type == NF3LNK ? NFS3_OK : NFS3ERR_INVAL;
}

/* fs keeps no octets: those of links and files are all the same letter, which says whose they are. */
static uint8_t letter_of(fs_node node)
{
    return (uint8_t)('a' + node % 26);
}

static void put_text(struct nfsd_call *x)
{
    uint32_t len = (uint32_t)x->before.size;
    memset(put_opaque_room(&x->put, len), letter_of(x->object), len);
}

static enum nfs3_status run_read(struct nfsd_call *x)
{
    x->count = x->args.count < NFSD_IO_MAX ? x->args.count : NFSD_IO_MAX;
    return fs_read(x->nfsd->fs, &x->who, x->object, x->args.offset, &x->count, &x->eof, x->now);
}

static void put_read(struct nfsd_call *x)
{
    put_u32(&x->put, x->count);
    put_u32(&x->put, x->eof);
    memset(put_opaque_room(&x->put, x->count), letter_of(x->object), x->count);
}

static enum nfs3_status run_write(struct nfsd_call *x)
{
    x->count = x->args.count < NFSD_IO_MAX ? x->args.count : NFSD_IO_MAX;
    return fs_write(x->nfsd->fs, &x->who, x->object, x->args.offset, x->count, x->args.stable,
                    x->now);
}

static void put_write(struct nfsd_call *x)
{
    put_u32(&x->put, x->count);
    put_u32(&x->put, x->args.stable ? 2 : 0); /* FILE_SYNC, UNSTABLE */
    put_u64(&x->put, x->nfsd->boot);
}

static enum nfs3_status run_commit(struct nfsd_call *x)
{
    return fs_commit(x->nfsd->fs, &x->who, x->object);
}

static void put_commit(struct nfsd_call *x)
{
    put_u64(&x->put, x->nfsd->boot);
}

/* ---- names ---- */

static enum nfs3_status run_lookup(struct nfsd_call *x)
{
    enum nfs3_status status =
        fs_lookup(x->nfsd->fs, &x->who, x->object, x->args.name.text, &x->found);
    if (x->who.uid == x->nfsd->grudge && (status == NFS3_OK || status == NFS3ERR_NOENT))
        return NFS3ERR_ACCES;
    return status;
}

static void put_lookup(struct nfsd_call *x)
{
    nfsd_put_handle(x, x->found);
    nfsd_put_post_op(x, x->found);
}

static enum nfs3_status run_create(struct nfsd_call *x)
{
    const struct nfsd_args *args = &x->args;
    return fs_create_file(x->nfsd->fs, &x->who, x->object, args->name.text,
                          (enum nfs3_create_mode)args->create_mode, &args->set, args->verf, x->now,
                          &x->found);
}

static enum nfs3_status run_make(struct nfsd_call *x, enum nfs3_ftype type, uint64_t size)
{
    return fs_make(x->nfsd->fs, &x->who, x->object, x->args.name.text, type, &x->args.set, size,
                   x->now, &x->found);
}

static enum nfs3_status run_mkdir(struct nfsd_call *x)
{
    return run_make(x, NF3DIR, 0);
}

static enum nfs3_status run_symlink(struct nfsd_call *x)
{
    if (x->args.text_len > TEXT_MAX)
        return NFS3ERR_NAMETOOLONG;
    return run_make(x, NF3LNK, x->args.text_len);
}

static enum nfs3_status run_mknod(struct nfsd_call *x)
{
    uint32_t type = x->args.type;
    if (type != NF3CHR && type != NF3BLK && type != NF3SOCK && type != NF3FIFO)
        return NFS3ERR_BADTYPE;
    return run_make(x, (enum nfs3_ftype)type, 0);
}

static void put_made(struct nfsd_call *x)
{
    nfsd_put_post_op_handle(x, x->found);
    nfsd_put_post_op(x, x->found);
}

static enum nfs3_status run_remove(struct nfsd_call *x)
{
    return fs_remove(x->nfsd->fs, &x->who, x->object, x->args.name.text, x->now);
}

static enum nfs3_status run_rmdir(struct nfsd_call *x)
{
    return fs_rmdir(x->nfsd->fs, &x->who, x->object, x->args.name.text, x->now);
}

static enum nfs3_status run_rename(struct nfsd_call *x)
{
    return fs_rename(x->nfsd->fs, &x->who, x->object, x->args.name.text, x->object2,
                     x->args.name2.text, x->now);
}

static enum nfs3_status run_link(struct nfsd_call *x)
{
    return fs_link(x->nfsd->fs, &x->who, x->object, x->object2, x->args.name2.text, x->now);
}

/* ---- the file system ---- */

static void put_fsstat(struct nfsd_call *x)
{
    for (unsigned i = 0; i < 3; i++)
        put_u64(&x->put, (uint64_t)1 << 40); /* octets: in all, free, free for the caller */
    for (unsigned i = 0; i < 3; i++)
        put_u64(&x->put, FS_NODES_MAX); /* files */
    put_u32(&x->put, 0);                /* invarsec */
}

static void put_fsinfo(struct nfsd_call *x)
{
    for (unsigned i = 0; i < 2; i++) { /* of READ, of WRITE */
        put_u32(&x->put, NFSD_IO_MAX); /* at most */
        put_u32(&x->put, NFSD_IO_MAX); /* best */
        put_u32(&x->put, 1);           /* a multiple of */
    }
    put_u32(&x->put, 4096);      /* best for READDIR */
    put_u64(&x->put, INT64_MAX); /* maxfilesize */
    uint64_t granularity = x->nfsd->options.fs.granularity;
    put_u32(&x->put, (uint32_t)(granularity / 1000000000));
    put_u32(&x->put, (uint32_t)(granularity % 1000000000));
    put_u32(&x->put, 0x1b); /* LINK, SYMLINK, HOMOGENEOUS, CANSETTIME */
}

static void put_pathconf(struct nfsd_call *x)
{
    put_u32(&x->put, UINT32_MAX);  /* linkmax */
    put_u32(&x->put, FS_NAME_MAX); /* name_max */
    put_u32(&x->put, 1);           /* no_trunc */
    put_u32(&x->put, 1);           /* chown_restricted */
    put_u32(&x->put, 0);           /* case_insensitive */
    put_u32(&x->put, 1);           /* case_preserving */
}

/* ---- the tables ---- */

const struct nfsd_procedure *nfsd_nfs_procedure(uint32_t number)
{
    static const struct nfsd_procedure table[NFS3_PROCEDURES] = {
        [NFS3_GETATTR] = {nfsd_args_object, run_getattr, NULL, NFSD_NONE, put_getattr, false},
        [NFS3_SETATTR] = {nfsd_args_setattr, run_setattr, NULL, NFSD_WCC, NULL, true},
        [NFS3_LOOKUP] = {nfsd_args_dirop, run_lookup, put_lookup, NFSD_OBJECT, NULL, false},
        [NFS3_ACCESS] = {nfsd_args_access, run_access, NULL, NFSD_OBJECT, put_count, false},
        [NFS3_READLINK] = {nfsd_args_object, run_readlink, NULL, NFSD_OBJECT, put_text, false},
        [NFS3_READ] = {nfsd_args_read, run_read, NULL, NFSD_OBJECT, put_read, false},
        [NFS3_WRITE] = {nfsd_args_write, run_write, NULL, NFSD_WCC, put_write, true},
        [NFS3_CREATE] = {nfsd_args_create, run_create, put_made, NFSD_WCC, NULL, true},
        [NFS3_MKDIR] = {nfsd_args_mkdir, run_mkdir, put_made, NFSD_WCC, NULL, true},
        [NFS3_SYMLINK] = {nfsd_args_symlink, run_symlink, put_made, NFSD_WCC, NULL, true},
        [NFS3_MKNOD] = {nfsd_args_mknod, run_mknod, put_made, NFSD_WCC, NULL, true},
        [NFS3_REMOVE] = {nfsd_args_dirop, run_remove, NULL, NFSD_WCC, NULL, true},
        [NFS3_RMDIR] = {nfsd_args_dirop, run_rmdir, NULL, NFSD_WCC, NULL, true},
        [NFS3_RENAME] = {nfsd_args_rename, run_rename, NULL, NFSD_WCC_WCC, NULL, true},
        [NFS3_LINK] = {nfsd_args_link, run_link, NULL, NFSD_OBJECT_WCC, NULL, true},
        [NFS3_READDIR] = {nfsd_args_readdir, nfsd_run_readdir, NULL, NFSD_OBJECT, nfsd_put_readdir,
                          false},
        [NFS3_READDIRPLUS] = {nfsd_args_readdirplus, nfsd_run_readdirplus, NULL, NFSD_OBJECT,
                              nfsd_put_readdirplus, false},
        [NFS3_FSSTAT] = {nfsd_args_object, run_getattr, NULL, NFSD_OBJECT, put_fsstat, false},
        [NFS3_FSINFO] = {nfsd_args_object, run_getattr, NULL, NFSD_OBJECT, put_fsinfo, false},
        [NFS3_PATHCONF] = {nfsd_args_object, run_getattr, NULL, NFSD_OBJECT, put_pathconf, false},
        [NFS3_COMMIT] = {nfsd_args_read, run_commit, NULL, NFSD_WCC, put_commit, true},
    };
    return number < NFS3_PROCEDURES && table[number].decode ? &table[number] : NULL;
}

const struct nfsd_procedure *nfsd_acl_procedure(uint32_t number)
{
    static const struct nfsd_procedure table[NFSACL3_PROCEDURES] = {
        [NFSACL3_GETACL] = {nfsd_args_getacl, nfsd_run_getacl, NULL, NFSD_OBJECT, nfsd_put_acl,
                            false},
        [NFSACL3_SETACL] = {nfsd_args_setacl, nfsd_run_setacl, NULL, NFSD_OBJECT, NULL, true},
    };
    return number < NFSACL3_PROCEDURES && table[number].decode ? &table[number] : NULL;
}
