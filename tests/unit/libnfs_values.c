#include "libnfs_values.h"

struct values *values_new(uint64_t seed)
{
    struct values *v = calloc(1, sizeof *v);
    assert_non_null(v);
    v->random.state = seed;
    return v;
}

void values_reset(struct values *v)
{
    v->used = 0;
}

static char *room(struct values *v, size_t len)
{
    assert_true(len <= sizeof v->pool - v->used);
    char *at = v->pool + v->used;
    v->used += len;
    return at;
}

char *values_octets(struct values *v, uint32_t len)
{
    char *at = room(v, len);
    wire_fill(&v->random, (uint8_t *)at, len);
    return at;
}

nfs_fh3 values_handle(struct values *v)
{
    nfs_fh3 handle;
    handle.data.data_len = wire_len(&v->random, NFS3_FH_MAX);
    handle.data.data_val = values_octets(v, handle.data.data_len);
    return handle;
}

char *values_name(struct values *v, uint32_t max)
{
    uint32_t len = wire_len(&v->random, max);
    char *text = room(v, (size_t)len + 1);
    for (uint32_t i = 0; i < len; i++)
        text[i] = (char)(1 + wire_below(&v->random, 255));
    text[len] = '\0';
    return text;
}

uint64_t values_u64(struct values *v)
{
    return (uint64_t)wire_u32(&v->random) << 32 | wire_u32(&v->random);
}

static nfstime3 some_time(struct values *v)
{
    return (nfstime3){.seconds = wire_u32(&v->random), .nseconds = wire_u32(&v->random)};
}

fattr3 values_fattr(struct values *v)
{
    fattr3 attr = {.type = (ftype3)(1 + wire_below(&v->random, 7)),
                   .mode = wire_u32(&v->random),
                   .nlink = wire_u32(&v->random),
                   .uid = wire_u32(&v->random),
                   .gid = wire_u32(&v->random),
                   .size = values_u64(v),
                   .used = values_u64(v),
                   .fsid = values_u64(v),
                   .fileid = values_u64(v)};
    attr.rdev = (specdata3){wire_u32(&v->random), wire_u32(&v->random)};
    attr.atime = some_time(v);
    attr.mtime = some_time(v);
    attr.ctime = some_time(v);
    return attr;
}

post_op_attr values_post_op_attr(struct values *v)
{
    post_op_attr attr = {.attributes_follow = wire_below(&v->random, 2)};
    if (attr.attributes_follow)
        attr.post_op_attr_u.attributes = values_fattr(v);
    return attr;
}

wcc_data values_wcc(struct values *v)
{
    wcc_data wcc = {.before.attributes_follow = wire_below(&v->random, 2)};
    if (wcc.before.attributes_follow)
        wcc.before.pre_op_attr_u.attributes =
            (wcc_attr){.size = values_u64(v), .mtime = some_time(v), .ctime = some_time(v)};
    wcc.after = values_post_op_attr(v);
    return wcc;
}

sattr3 values_sattr(struct values *v)
{
    struct wire_random *r = &v->random;
    sattr3 s = {.mode.set_it = wire_below(r, 2),
                .uid.set_it = wire_below(r, 2),
                .gid.set_it = wire_below(r, 2),
                .size.set_it = wire_below(r, 2),
                .atime.set_it = (time_how)wire_below(r, 3),
                .mtime.set_it = (time_how)wire_below(r, 3)};
    s.mode.set_mode3_u.mode = wire_u32(r);
    s.uid.set_uid3_u.uid = wire_u32(r);
    s.gid.set_gid3_u.gid = wire_u32(r);
    s.size.set_size3_u.size = values_u64(v);
    s.atime.set_atime_u.atime = some_time(v);
    s.mtime.set_mtime_u.mtime = some_time(v);
    return s;
}

struct bytes values_expect_handle(const nfs_fh3 *handle)
{
    return wire_bytes(handle->data.data_val, handle->data.data_len);
}

const uint8_t *values_expect_fattr(struct values *v, const fattr3 *attr)
{
    fattr3 copy = *attr;
    char *at = room(v, NFS3_FATTR_LEN);
    ZDR z;
    zdrmem_create(&z, at, NFS3_FATTR_LEN, ZDR_ENCODE);
    assert_true(zdr_fattr3(&z, &copy));
    assert_int_equal(zdr_getpos(&z), NFS3_FATTR_LEN);
    zdr_destroy(&z);
    return (const uint8_t *)at;
}

const uint8_t *values_expect_attr(struct values *v, const post_op_attr *attr)
{
    return attr->attributes_follow ? values_expect_fattr(v, &attr->post_op_attr_u.attributes)
                                   : NULL;
}

struct nfs3_wcc values_expect_wcc(struct values *v, const wcc_data *wcc)
{
    struct nfs3_wcc expected = {.after = values_expect_attr(v, &wcc->after)};
    if (wcc->before.attributes_follow) {
        wcc_attr copy = wcc->before.pre_op_attr_u.attributes;
        char *at = room(v, NFS3_WCC_ATTR_LEN);
        ZDR z;
        zdrmem_create(&z, at, NFS3_WCC_ATTR_LEN, ZDR_ENCODE);
        assert_true(zdr_wcc_attr(&z, &copy));
        assert_int_equal(zdr_getpos(&z), NFS3_WCC_ATTR_LEN);
        zdr_destroy(&z);
        expected.before = (const uint8_t *)at;
    }
    return expected;
}
