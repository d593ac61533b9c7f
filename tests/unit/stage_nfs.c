#include "stage_nfs.h"

#include <string.h>

/* ---- pieces ---- */

void body_raw(struct body *body, const void *data, uint32_t len)
{
    assert_true(len <= BODY_MAX - body->len);
    memcpy(body->data + body->len, data, len);
    body->len += len;
}

void body_u32(struct body *body, uint32_t value)
{
    uint8_t octets[4] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8),
                         (uint8_t)value};
    body_raw(body, octets, sizeof octets);
}

void body_u64(struct body *body, uint64_t value)
{
    body_u32(body, (uint32_t)(value >> 32));
    body_u32(body, (uint32_t)value);
}

void body_opaque(struct body *body, const void *data, uint32_t len)
{
    static const uint8_t zero[3];
    body_u32(body, len);
    body_raw(body, data, len);
    body_raw(body, zero, -len & 3);
}

static void body_text(struct body *body, const char *text)
{
    body_opaque(body, text, (uint32_t)strlen(text));
}

static void body_file(struct body *body, const struct file *file)
{
    body_opaque(body, file->handle, file->handle_len);
}

/* ---- files ---- */

struct file file_make(const char *name, enum nfs3_ftype type, uint64_t fileid)
{
    struct file file = {0};
    file.handle_len = (uint32_t)strlen(name);
    assert_true(file.handle_len <= NFS3_FH_MAX);
    memcpy(file.handle, name, file.handle_len);
    uint32_t id = (uint32_t)fileid;
    file.attr = (struct attr){
        .type = type,
        .mode = type == NF3DIR ? 0755 : 0644,
        .nlink = type == NF3DIR ? 2 : 1,
        .uid = 1000 + id,
        .gid = 2000 + id,
        .size = 0x100000000ull + 100 * fileid,
        .used = 0x200000000ull + 4096 * fileid,
        .rdev = {3 + id, 4 + id},
        .fsid = 0xf51df51df51df51dull,
        .fileid = 0xf11e000000000000ull + fileid,
        .atime = TIME(1700000000 + id, 787086328),
        .mtime = TIME(1600000000 + id, 999999999),
        .ctime = TIME(1650000000 + id, 1),
    };
    return file;
}

void file_change(struct file *file)
{
    file->attr.ctime += TIME(1, 7);
}

void file_write(struct file *file)
{
    file->attr.size += 3;
    file->attr.mtime += TIME(1, 0);
    file_change(file);
}

struct bytes file_handle(const struct file *file)
{
    return (struct bytes){file->handle, file->handle_len};
}

void body_attr(struct body *body, const struct attr *attr)
{
    const uint32_t first[] = {attr->type, attr->mode, attr->nlink, attr->uid, attr->gid};
    for (unsigned i = 0; i < 5; i++)
        body_u32(body, first[i]);
    body_u64(body, attr->size);
    body_u64(body, attr->used);
    body_u32(body, attr->rdev[0]);
    body_u32(body, attr->rdev[1]);
    const uint64_t last[] = {attr->fsid, attr->fileid, attr->atime, attr->mtime, attr->ctime};
    for (unsigned i = 0; i < 5; i++)
        body_u64(body, last[i]);
}

void body_post_op(struct body *body, const struct attr *attr)
{
    body_u32(body, attr != NULL);
    if (attr != NULL)
        body_attr(body, attr);
}

void body_wcc(struct body *body, struct wcc wcc)
{
    body_u32(body, wcc.before != NULL);
    if (wcc.before != NULL) {
        body_u64(body, wcc.before->size);
        body_u64(body, wcc.before->mtime);
        body_u64(body, wcc.before->ctime);
    }
    body_post_op(body, wcc.after);
}

/* ---- calls ---- */

const struct who alice = {.flavor = RPC_AUTH_SYS, .uid = 1000, .gid = 100};
const struct who bob = {.flavor = RPC_AUTH_SYS, .uid = 2000, .gid = 100};
const struct who root = {.flavor = RPC_AUTH_SYS};
const struct who nobody = {.flavor = RPC_AUTH_NONE};

static void body_credential(struct body *body, const struct who *who)
{
    struct body cred = {0};
    if (who->flavor == RPC_AUTH_SYS) {
        body_u32(&cred, 0x57a9e);
        body_opaque(&cred, "machine", 7);
        body_u32(&cred, who->uid);
        body_u32(&cred, who->gid);
        body_u32(&cred, who->gid_count);
        for (uint32_t i = 0; i < who->gid_count; i++)
            body_u32(&cred, who->gids[i]);
    }
    body_u32(body, who->flavor);
    body_opaque(body, cred.data, cred.len);
}

static uint32_t program_of(unsigned procedure)
{
    if (procedure >= STAGE_MOUNT)
        return RPC_PROGRAM_MOUNT;
    return procedure >= STAGE_NFSACL ? RPC_PROGRAM_NFSACL : RPC_PROGRAM_NFS;
}

struct body stage_record(uint32_t xid, unsigned procedure, const struct who *who,
                         const struct body *args)
{
    struct body body = {0};
    body_u32(&body, xid);
    body_u32(&body, RPC_CALL);
    body_u32(&body, 2);
    body_u32(&body, program_of(procedure));
    body_u32(&body, 3);
    body_u32(&body, procedure % 100);
    body_credential(&body, who);
    body_u32(&body, RPC_AUTH_NONE);
    body_u32(&body, 0);
    body_raw(&body, args->data, args->len);
    return body;
}

/* ---- arguments ---- */

struct body args_handle(const struct file *file)
{
    struct body body = {0};
    body_file(&body, file);
    return body;
}

struct body args_dirop(const struct file *dir, const char *name)
{
    struct body body = args_handle(dir);
    body_text(&body, name);
    return body;
}

struct body args_access(const struct file *file, uint32_t mask)
{
    struct body body = args_handle(file);
    body_u32(&body, mask);
    return body;
}

/* sattr3: mode, uid, gid, size, atime, mtime. */
static void body_sattr(struct body *body, const uint32_t *mode, const uint64_t *size)
{
    body_u32(body, mode != NULL);
    if (mode != NULL)
        body_u32(body, *mode);
    body_u32(body, 0);
    body_u32(body, 0);
    body_u32(body, size != NULL);
    if (size != NULL)
        body_u64(body, *size);
    body_u32(body, 0);
    body_u32(body, 0);
}

struct body args_setattr_size(const struct file *file, uint64_t size)
{
    struct body body = args_handle(file);
    body_sattr(&body, NULL, &size);
    body_u32(&body, 0);
    return body;
}

struct body args_setattr_guarded(const struct file *file, uint32_t mode, uint64_t guard)
{
    struct body body = args_handle(file);
    body_sattr(&body, &mode, NULL);
    body_u32(&body, 1);
    body_u64(&body, guard);
    return body;
}

struct body args_read(const struct file *file, uint64_t offset, uint32_t count)
{
    struct body body = args_handle(file);
    body_u64(&body, offset);
    body_u32(&body, count);
    return body;
}

struct body args_write(const struct file *file, uint64_t offset, const char *text)
{
    struct body body = args_read(file, offset, (uint32_t)strlen(text));
    body_u32(&body, 0); /* UNSTABLE */
    body_text(&body, text);
    return body;
}

struct body args_commit(const struct file *file)
{
    return args_read(file, 0, 0);
}

struct body args_create(const struct file *dir, const char *name, enum nfs3_create_mode mode,
                        const char verf[NFS3_VERF_LEN])
{
    uint32_t permissions = 0600;
    struct body body = args_dirop(dir, name);
    body_u32(&body, mode);
    if (mode == NFS3_EXCLUSIVE)
        body_raw(&body, verf, NFS3_VERF_LEN);
    else
        body_sattr(&body, &permissions, NULL);
    return body;
}

struct body args_mkdir(const struct file *dir, const char *name)
{
    uint32_t permissions = 0700;
    struct body body = args_dirop(dir, name);
    body_sattr(&body, &permissions, NULL);
    return body;
}

struct body args_symlink(const struct file *dir, const char *name, const char *text)
{
    struct body body = args_dirop(dir, name);
    body_sattr(&body, NULL, NULL);
    body_text(&body, text);
    return body;
}

struct body args_mknod(const struct file *dir, const char *name)
{
    struct body body = args_dirop(dir, name);
    body_u32(&body, NF3FIFO);
    body_sattr(&body, NULL, NULL);
    return body;
}

struct body args_rename(const struct file *from, const char *name, const struct file *to,
                        const char *name2)
{
    struct body body = args_dirop(from, name);
    body_file(&body, to);
    body_text(&body, name2);
    return body;
}

struct body args_link(const struct file *file, const struct file *dir, const char *name)
{
    struct body body = args_handle(file);
    body_file(&body, dir);
    body_text(&body, name);
    return body;
}

struct body args_readdir(const struct file *dir)
{
    struct body body = args_handle(dir);
    body_u64(&body, 0); /* cookie */
    body_u64(&body, 0); /* verifier */
    body_u32(&body, 4096);
    return body;
}

struct body args_readdirplus(const struct file *dir)
{
    struct body body = args_readdir(dir);
    body_u32(&body, 8192);
    return body;
}

struct body args_getacl(const struct file *file)
{
    struct body body = args_handle(file);
    body_u32(&body, 0xf);
    return body;
}

struct body args_setacl(const struct file *file, uint32_t entries)
{
    struct body body = args_getacl(file);
    body_u32(&body, entries);
    body_u32(&body, entries);
    for (uint32_t i = 0; i < entries; i++) {
        body_u32(&body, 1u << i);
        body_u32(&body, 1000 + i);
        body_u32(&body, 7 - i);
    }
    body_u32(&body, 0); /* no default list */
    body_u32(&body, 0);
    return body;
}

/* ---- results ---- */

struct body res_status(uint32_t status)
{
    struct body body = {0};
    body_u32(&body, status);
    return body;
}

struct body res_getattr(const struct attr *attr)
{
    struct body body = res_status(NFS3_OK);
    body_attr(&body, attr);
    return body;
}

struct body res_lookup(const struct file *child, const struct attr *child_attr,
                       const struct attr *dir)
{
    struct body body = res_status(NFS3_OK);
    body_file(&body, child);
    body_post_op(&body, child_attr);
    body_post_op(&body, dir);
    return body;
}

struct body res_access(const struct attr *attr, uint32_t granted)
{
    struct body body = res_post_op(NFS3_OK, attr);
    body_u32(&body, granted);
    return body;
}

struct body res_post_op(uint32_t status, const struct attr *attr)
{
    struct body body = res_status(status);
    body_post_op(&body, attr);
    return body;
}

struct body res_wcc(uint32_t status, struct wcc wcc)
{
    struct body body = res_status(status);
    body_wcc(&body, wcc);
    return body;
}

struct body res_write(struct wcc wcc, uint32_t count, const char verf[NFS3_VERF_LEN])
{
    struct body body = res_wcc(NFS3_OK, wcc);
    body_u32(&body, count);
    body_u32(&body, 0); /* UNSTABLE */
    body_raw(&body, verf, NFS3_VERF_LEN);
    return body;
}

struct body res_commit(struct wcc wcc, const char verf[NFS3_VERF_LEN])
{
    struct body body = res_wcc(NFS3_OK, wcc);
    body_raw(&body, verf, NFS3_VERF_LEN);
    return body;
}

struct body res_create(const struct file *child, const struct attr *child_attr, struct wcc dir)
{
    struct body body = res_status(NFS3_OK);
    body_u32(&body, child != NULL);
    if (child != NULL)
        body_file(&body, child);
    body_post_op(&body, child_attr);
    body_wcc(&body, dir);
    return body;
}

struct body res_rename(uint32_t status, struct wcc from, struct wcc to)
{
    struct body body = res_wcc(status, from);
    body_wcc(&body, to);
    return body;
}

struct body res_link(uint32_t status, const struct attr *file, struct wcc dir)
{
    struct body body = res_post_op(status, file);
    body_wcc(&body, dir);
    return body;
}

struct body res_readdirplus(const struct attr *dir, const struct dirent3 *entries, unsigned count)
{
    struct body body = res_post_op(NFS3_OK, dir);
    body_u64(&body, 0x1122334455667788ull); /* cookie verifier */
    for (unsigned i = 0; i < count; i++) {
        const struct dirent3 *entry = &entries[i];
        body_u32(&body, 1);
        body_u64(&body, entry->file->attr.fileid);
        body_text(&body, entry->name);
        body_u64(&body, 100 + i);
        body_post_op(&body, entry->attributes ? &entry->file->attr : NULL);
        body_u32(&body, entry->handle);
        if (entry->handle)
            body_file(&body, entry->file);
    }
    body_u32(&body, 0);
    body_u32(&body, 1); /* eof */
    return body;
}
