#include "e2e/field_nfs.h"

#define SET_TO_CLIENT_TIME 2u

/* ---- arguments ---- */

static void body_time(struct body *body, uint64_t time)
{
    body_u32(body, SET_TO_CLIENT_TIME);
    body_u64(body, time);
}

static struct body setattr_mode(const struct file *file, uint32_t mode)
{
    struct body body = args_handle(file);
    body_u32(&body, 1);
    body_u32(&body, mode);
    body_u32(&body, 0); /* uid */
    body_u32(&body, 0); /* gid */
    return body;
}

struct body args_setattr_mode_size(const struct file *file, uint32_t mode, uint64_t size)
{
    struct body body = setattr_mode(file, mode);
    body_u32(&body, 1);
    body_u64(&body, size);
    body_u32(&body, 0); /* atime */
    body_u32(&body, 0); /* mtime */
    body_u32(&body, 0); /* guard */
    return body;
}

struct body args_setattr_mode_times(const struct file *file, uint32_t mode, uint64_t atime,
                                    uint64_t mtime)
{
    struct body body = setattr_mode(file, mode);
    body_u32(&body, 0); /* size */
    body_time(&body, atime);
    body_time(&body, mtime);
    body_u32(&body, 0); /* guard */
    return body;
}

struct body args_readdir_from(const struct file *dir, struct position from, uint32_t count)
{
    struct body body = args_handle(dir);
    body_u64(&body, from.cookie);
    body_u64(&body, from.verf);
    body_u32(&body, count);
    return body;
}

struct body args_readdirplus_from(const struct file *dir, struct position from, uint32_t dircount,
                                  uint32_t maxcount)
{
    struct body body = args_readdir_from(dir, from, dircount);
    body_u32(&body, maxcount);
    return body;
}

struct body args_path(const char *path)
{
    struct body body = {0};
    body_opaque(&body, path, (uint32_t)strlen(path));
    return body;
}

/* ---- results ---- */

struct body res_read(const struct attr *attr, const char *text)
{
    struct body body = res_post_op(NFS3_OK, attr);
    uint32_t len = (uint32_t)strlen(text);
    body_u32(&body, len);
    body_u32(&body, 1); /* eof */
    body_opaque(&body, text, len);
    return body;
}

struct body res_getacl(const struct attr *attr, uint32_t entries)
{
    struct body body = res_post_op(NFS3_OK, attr);
    struct file nobodys = {.handle_len = 0};
    struct body lists = args_setacl(&nobodys, entries); /* the same, behind an empty handle */
    body_raw(&body, lists.data + 4, lists.len - 4);
    return body;
}

struct body page_begin(const struct attr *dir, uint64_t verf)
{
    struct body page = res_post_op(NFS3_OK, dir);
    body_u64(&page, verf);
    return page;
}

void page_entry(struct body *page, uint64_t fileid, const char *name, uint64_t cookie)
{
    body_u32(page, 1);
    body_u64(page, fileid);
    body_opaque(page, name, (uint32_t)strlen(name));
    body_u64(page, cookie);
}

void page_plus(struct body *page, const struct file *file)
{
    body_post_op(page, &file->attr);
    body_u32(page, 1);
    body_opaque(page, file->handle, file->handle_len);
}

void page_end(struct body *page, bool eof)
{
    body_u32(page, 0);
    body_u32(page, eof);
}
