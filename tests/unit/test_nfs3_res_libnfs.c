/*
 * The results of all 22 procedures, written by libnfs and read by us; and the results we write,
 * read by libnfs.
 */
#include "libnfs_values.h"

#define ROUNDS      300
#define ENTRIES_MAX 12

LIBNFS_CODEC(GETATTR3res)
LIBNFS_CODEC(SETATTR3res)
LIBNFS_CODEC(LOOKUP3res)
LIBNFS_CODEC(ACCESS3res)
LIBNFS_CODEC(READLINK3res)
LIBNFS_CODEC(READ3res)
LIBNFS_CODEC(WRITE3res)
LIBNFS_CODEC(CREATE3res)
LIBNFS_CODEC(MKDIR3res)
LIBNFS_CODEC(SYMLINK3res)
LIBNFS_CODEC(MKNOD3res)
LIBNFS_CODEC(REMOVE3res)
LIBNFS_CODEC(RMDIR3res)
LIBNFS_CODEC(RENAME3res)
LIBNFS_CODEC(LINK3res)
LIBNFS_CODEC(READDIR3res)
LIBNFS_CODEC(READDIRPLUS3res)
LIBNFS_CODEC(FSSTAT3res)
LIBNFS_CODEC(FSINFO3res)
LIBNFS_CODEC(PATHCONF3res)
LIBNFS_CODEC(COMMIT3res)

/* What we must read from v->wire. */
struct expected {
    struct nfs3_res res;
    uint32_t needed; /* octets that are decoded; those behind them are not */
    uint32_t entry_count;
    struct nfs3_entry entries[ENTRIES_MAX];
};

/* Writes results to v->wire, of success or of a failure. */
typedef void maker(struct values *v, bool ok, struct expected *e);

/* Statuses of the RFC, and numbers that no RFC has: they have the arm of a failure. */
static nfsstat3 some_failure(struct values *v)
{
    static const uint32_t statuses[] = {1,     2, 13,    70,          10001,
                                        10008, 3, 99999, 0x80000000u, 0xffffffffu};
    return (nfsstat3)statuses[wire_below(&v->random, sizeof statuses / sizeof statuses[0])];
}

static nfsstat3 status(struct values *v, bool ok, struct expected *e)
{
    nfsstat3 value = ok ? NFS3_OK : some_failure(v);
    e->res.status = value;
    return value;
}

static post_op_attr attr(struct values *v, const uint8_t **expected)
{
    post_op_attr a = values_post_op_attr(v);
    *expected = values_expect_attr(v, &a);
    return a;
}

static wcc_data wcc(struct values *v, struct nfs3_wcc *expected)
{
    wcc_data w = values_wcc(v);
    *expected = values_expect_wcc(v, &w);
    return w;
}

static void make_null(struct values *v, bool ok, struct expected *e)
{
    (void)ok;
    (void)e;
    v->len = 0;
}

static void make_getattr(struct values *v, bool ok, struct expected *e)
{
    GETATTR3res res = {.status = status(v, ok, e)};
    if (ok) {
        res.GETATTR3res_u.resok.obj_attributes = values_fattr(v);
        e->res.object = values_expect_fattr(v, &res.GETATTR3res_u.resok.obj_attributes);
    }
    encode_GETATTR3res(v, &res);
    e->needed = v->len;
}

static void make_lookup(struct values *v, bool ok, struct expected *e)
{
    LOOKUP3res res = {.status = status(v, ok, e)};
    if (ok) {
        LOOKUP3resok *r = &res.LOOKUP3res_u.resok;
        r->object = values_handle(v);
        e->res.handle = values_expect_handle(&r->object);
        r->obj_attributes = attr(v, &e->res.object);
        r->dir_attributes = attr(v, &e->res.dir);
    } else {
        res.LOOKUP3res_u.resfail.dir_attributes = attr(v, &e->res.dir);
    }
    encode_LOOKUP3res(v, &res);
    e->needed = v->len;
}

static void make_access(struct values *v, bool ok, struct expected *e)
{
    ACCESS3res res = {.status = status(v, ok, e)};
    if (ok) {
        res.ACCESS3res_u.resok.obj_attributes = attr(v, &e->res.object);
        res.ACCESS3res_u.resok.access = e->res.access = wire_u32(&v->random);
    } else {
        res.ACCESS3res_u.resfail.obj_attributes = attr(v, &e->res.object);
    }
    encode_ACCESS3res(v, &res);
    e->needed = v->len;
}

/* Results of which only the attributes in front are read. `fill` completes the successful arm. */
#define MAKE_LEADING(function, type, field, expect, fill)               \
    static void function(struct values *v, bool ok, struct expected *e) \
    {                                                                   \
        type res = {.status = status(v, ok, e)};                        \
        if (ok) {                                                       \
            type##ok *r = &res.type##_u.resok;                          \
            r->field = attr(v, &e->res.expect);                         \
            fill;                                                       \
        } else {                                                        \
            res.type##_u.resfail.field = attr(v, &e->res.expect);       \
        }                                                               \
        encode_##type(v, &res);                                         \
        e->needed = 8 + (e->res.expect ? NFS3_FATTR_LEN : 0);           \
    }

MAKE_LEADING(make_readlink, READLINK3res, symlink_attributes, object,
             r->data = values_name(v, 1024))
MAKE_LEADING(make_read, READ3res, file_attributes, object, {
    r->count = r->data.data_len = wire_len(&v->random, 300);
    r->data.data_val = values_octets(v, r->data.data_len);
})
MAKE_LEADING(make_fsstat, FSSTAT3res, obj_attributes, object, r->tbytes = values_u64(v))
MAKE_LEADING(make_fsinfo, FSINFO3res, obj_attributes, object, r->wtmax = wire_u32(&v->random))
MAKE_LEADING(make_pathconf, PATHCONF3res, obj_attributes, object, r->no_trunc = 1)
MAKE_LEADING(make_readdir, READDIR3res, dir_attributes, dir, r->reply.eof = 1)

/* Results that are wcc_data in either arm. */
#define MAKE_WCC(function, type, field)                                 \
    static void function(struct values *v, bool ok, struct expected *e) \
    {                                                                   \
        type res = {.status = status(v, ok, e)};                        \
        if (ok)                                                         \
            res.type##_u.resok.field = wcc(v, &e->res.wcc);             \
        else                                                            \
            res.type##_u.resfail.field = wcc(v, &e->res.wcc);           \
        encode_##type(v, &res);                                         \
        e->needed = v->len;                                             \
    }

MAKE_WCC(make_setattr, SETATTR3res, obj_wcc)
MAKE_WCC(make_remove, REMOVE3res, dir_wcc)
MAKE_WCC(make_rmdir, RMDIR3res, dir_wcc)

static const uint8_t *verifier(struct values *v, char *verf)
{
    const char *octets = values_octets(v, NFS3_VERF_LEN);
    memcpy(verf, octets, NFS3_VERF_LEN);
    return (const uint8_t *)octets;
}

static void make_write(struct values *v, bool ok, struct expected *e)
{
    WRITE3res res = {.status = status(v, ok, e)};
    if (ok) {
        WRITE3resok *r = &res.WRITE3res_u.resok;
        r->file_wcc = wcc(v, &e->res.wcc);
        r->count = wire_u32(&v->random);
        r->committed = (stable_how)wire_below(&v->random, 3);
        e->res.verf = verifier(v, r->verf);
    } else {
        res.WRITE3res_u.resfail.file_wcc = wcc(v, &e->res.wcc);
    }
    encode_WRITE3res(v, &res);
    e->needed = v->len;
}

static void make_commit(struct values *v, bool ok, struct expected *e)
{
    COMMIT3res res = {.status = status(v, ok, e)};
    if (ok) {
        res.COMMIT3res_u.resok.file_wcc = wcc(v, &e->res.wcc);
        e->res.verf = verifier(v, res.COMMIT3res_u.resok.verf);
    } else {
        res.COMMIT3res_u.resfail.file_wcc = wcc(v, &e->res.wcc);
    }
    encode_COMMIT3res(v, &res);
    e->needed = v->len;
}

static post_op_fh3 optional_handle(struct values *v, struct bytes *expected)
{
    post_op_fh3 h = {.handle_follows = wire_below(&v->random, 2)};
    *expected = (struct bytes){0};
    if (h.handle_follows) {
        h.post_op_fh3_u.handle = values_handle(v);
        *expected = values_expect_handle(&h.post_op_fh3_u.handle);
    }
    return h;
}

#define MAKE_CREATE(function, type)                                     \
    static void function(struct values *v, bool ok, struct expected *e) \
    {                                                                   \
        type res = {.status = status(v, ok, e)};                        \
        if (ok) {                                                       \
            type##ok *r = &res.type##_u.resok;                          \
            r->obj = optional_handle(v, &e->res.handle);                \
            r->obj_attributes = attr(v, &e->res.object);                \
            r->dir_wcc = wcc(v, &e->res.wcc);                           \
        } else {                                                        \
            res.type##_u.resfail.dir_wcc = wcc(v, &e->res.wcc);         \
        }                                                               \
        encode_##type(v, &res);                                         \
        e->needed = v->len;                                             \
    }

MAKE_CREATE(make_create, CREATE3res)
MAKE_CREATE(make_mkdir, MKDIR3res)
MAKE_CREATE(make_symlink, SYMLINK3res)
MAKE_CREATE(make_mknod, MKNOD3res)

static void make_rename(struct values *v, bool ok, struct expected *e)
{
    RENAME3res res = {.status = status(v, ok, e)};
    RENAME3resok both = {.fromdir_wcc = wcc(v, &e->res.wcc), .todir_wcc = wcc(v, &e->res.wcc2)};
    if (ok)
        res.RENAME3res_u.resok = both;
    else
        res.RENAME3res_u.resfail = (RENAME3resfail){both.fromdir_wcc, both.todir_wcc};
    encode_RENAME3res(v, &res);
    e->needed = v->len;
}

static void make_link(struct values *v, bool ok, struct expected *e)
{
    LINK3res res = {.status = status(v, ok, e)};
    LINK3resok both = {.file_attributes = attr(v, &e->res.object),
                       .linkdir_wcc = wcc(v, &e->res.wcc)};
    if (ok)
        res.LINK3res_u.resok = both;
    else
        res.LINK3res_u.resfail = (LINK3resfail){both.file_attributes, both.linkdir_wcc};
    encode_LINK3res(v, &res);
    e->needed = v->len;
}

static void make_entry(struct values *v, entryplus3 *entry, struct nfs3_entry *expected)
{
    entry->fileid = expected->fileid = values_u64(v);
    entry->name = values_name(v, 255);
    expected->name = wire_text(entry->name);
    entry->cookie = expected->cookie = values_u64(v);
    entry->name_attributes = attr(v, &expected->attributes);
    entry->name_handle = optional_handle(v, &expected->handle);
}

static void make_readdirplus(struct values *v, bool ok, struct expected *e)
{
    READDIRPLUS3res res = {.status = status(v, ok, e)};
    entryplus3 entries[ENTRIES_MAX] = {0};
    if (ok) {
        READDIRPLUS3resok *r = &res.READDIRPLUS3res_u.resok;
        r->dir_attributes = attr(v, &e->res.dir);
        verifier(v, r->cookieverf);
        e->entry_count = wire_len(&v->random, ENTRIES_MAX);
        for (uint32_t i = 0; i < e->entry_count; i++) {
            make_entry(v, &entries[i], &e->entries[i]);
            entries[i].nextentry = i + 1 < e->entry_count ? &entries[i + 1] : NULL;
        }
        r->reply.entries = e->entry_count > 0 ? entries : NULL;
        r->reply.eof = wire_below(&v->random, 2);
    } else {
        res.READDIRPLUS3res_u.resfail.dir_attributes = attr(v, &e->res.dir);
    }
    encode_READDIRPLUS3res(v, &res);
    e->needed = v->len;
}

static const struct procedure {
    maker *make;
    nfs3_res_decoder *decode;
} procedures[NFS3_PROCEDURES] = {
    {make_null, nfs3_res_void},       {make_getattr, nfs3_res_getattr},
    {make_setattr, nfs3_res_wcc},     {make_lookup, nfs3_res_lookup},
    {make_access, nfs3_res_access},   {make_readlink, nfs3_res_object},
    {make_read, nfs3_res_object},     {make_write, nfs3_res_write},
    {make_create, nfs3_res_create},   {make_mkdir, nfs3_res_create},
    {make_symlink, nfs3_res_create},  {make_mknod, nfs3_res_create},
    {make_remove, nfs3_res_wcc},      {make_rmdir, nfs3_res_wcc},
    {make_rename, nfs3_res_rename},   {make_link, nfs3_res_link},
    {make_readdir, nfs3_res_readdir}, {make_readdirplus, nfs3_res_readdirplus},
    {make_fsstat, nfs3_res_object},   {make_fsinfo, nfs3_res_object},
    {make_pathconf, nfs3_res_object}, {make_commit, nfs3_res_commit},
};

static void assert_octets(const uint8_t *actual, const uint8_t *expected, size_t len)
{
    assert_int_equal(actual != NULL, expected != NULL);
    if (expected)
        assert_memory_equal(actual, expected, len);
}

static void assert_wcc(struct nfs3_wcc actual, struct nfs3_wcc expected)
{
    assert_octets(actual.before, expected.before, NFS3_WCC_ATTR_LEN);
    assert_octets(actual.after, expected.after, NFS3_FATTR_LEN);
}

static void assert_entries(struct cursor cursor, const struct expected *e)
{
    struct nfs3_entry entry;
    for (uint32_t i = 0; i < e->entry_count; i++) {
        assert_true(nfs3_entry_next(&cursor, &entry));
        assert_true(entry.fileid == e->entries[i].fileid);
        assert_true(entry.cookie == e->entries[i].cookie);
        wire_assert_bytes(entry.name, e->entries[i].name);
        wire_assert_bytes(entry.handle, e->entries[i].handle);
        assert_octets(entry.attributes, e->entries[i].attributes, NFS3_FATTR_LEN);
    }
    assert_false(nfs3_entry_next(&cursor, &entry));
    assert_int_equal(entry.name.len, 0);
}

static void assert_res(const struct nfs3_res *res, const struct expected *e)
{
    assert_int_equal(res->status, e->res.status);
    wire_assert_bytes(res->handle, e->res.handle);
    assert_octets(res->object, e->res.object, NFS3_FATTR_LEN);
    assert_octets(res->dir, e->res.dir, NFS3_FATTR_LEN);
    assert_wcc(res->wcc, e->res.wcc);
    assert_wcc(res->wcc2, e->res.wcc2);
    assert_int_equal(res->access, e->res.access);
    assert_octets(res->verf, e->res.verf, NFS3_VERF_LEN);
    assert_entries(res->entries, e);
}

static bool decode_exact(nfs3_res_decoder *decode, const uint8_t *data, uint32_t len,
                         const struct expected *expected)
{
    uint8_t *copy = wire_exact(data, len);
    struct cursor c = cursor_over(copy, len);
    struct nfs3_res res;
    memset(&res, 0xff, sizeof res);
    bool ok = decode(&c, &res);
    if (ok) {
        assert_res(&res, expected);
        assert_int_equal(cursor_left(&c), len - expected->needed);
    }
    free(copy);
    return ok;
}

static void assert_attr_inside(const uint8_t *octets, uint32_t size, const uint8_t *data,
                               uint32_t len)
{
    if (octets)
        wire_assert_inside(wire_bytes(octets, size), data, len);
}

/* Damaged results are read or refused; what is read stands inside the record. */
static void decode_damaged(nfs3_res_decoder *decode, struct values *v)
{
    uint8_t *copy = wire_damaged(&v->random, v->wire, v->len);
    struct cursor c = cursor_over(copy, v->len);
    struct nfs3_res res;
    if (decode(&c, &res)) {
        assert_in_range(res.handle.len, 0, NFS3_FH_MAX);
        wire_assert_inside(res.handle, copy, v->len);
        assert_attr_inside(res.object, NFS3_FATTR_LEN, copy, v->len);
        assert_attr_inside(res.dir, NFS3_FATTR_LEN, copy, v->len);
        assert_attr_inside(res.wcc.before, NFS3_WCC_ATTR_LEN, copy, v->len);
        assert_attr_inside(res.wcc.after, NFS3_FATTR_LEN, copy, v->len);
        assert_attr_inside(res.wcc2.before, NFS3_WCC_ATTR_LEN, copy, v->len);
        assert_attr_inside(res.wcc2.after, NFS3_FATTR_LEN, copy, v->len);
        assert_attr_inside(res.verf, NFS3_VERF_LEN, copy, v->len);
        bool page = res.entries.at != NULL;
        struct nfs3_entry entry;
        while (nfs3_entry_next(&res.entries, &entry)) {
            wire_assert_inside(entry.name, copy, v->len);
            wire_assert_inside(entry.handle, copy, v->len);
            assert_in_range(entry.handle.len, 0, NFS3_FH_MAX);
            assert_attr_inside(entry.attributes, NFS3_FATTR_LEN, copy, v->len);
        }
        assert_int_equal(cursor_ok(&res.entries), page); /* a page that passed is well-formed */
    }
    free(copy);
}

/* Protects: every field of every procedure's results, of success and of failure, fields they do not
   have being zero; that no prefix passes that lacks what is read; and that damage is never read
   past the end of the record. */
static void test_results(void **state)
{
    (void)state;
    struct values *v = values_new(3530);
    for (int proc = 0; proc < NFS3_PROCEDURES; proc++) {
        for (int round = 0; round < ROUNDS; round++) {
            values_reset(v);
            struct expected e = {0};
            procedures[proc].make(v, round % 4 != 0, &e);
            if (!decode_exact(procedures[proc].decode, v->wire, v->len, &e))
                fail_msg("procedure %d, round %d: refused", proc, round);
            for (uint32_t cut = 0; cut < v->len; cut++)
                if (decode_exact(procedures[proc].decode, v->wire, cut, &e) != (cut >= e.needed))
                    fail_msg("procedure %d, round %d: %u of %u octets", proc, round, cut, v->len);
            for (int i = 0; i < 20 && v->len > 0; i++)
                decode_damaged(procedures[proc].decode, v);
        }
    }
    free(v);
}

static void assert_fattr(const uint8_t *octets, const fattr3 *a)
{
    assert_int_equal(nfs3_fattr_type(octets), a->type);
    assert_int_equal(nfs3_fattr_mode(octets), a->mode);
    assert_int_equal(nfs3_fattr_nlink(octets), a->nlink);
    assert_int_equal(nfs3_fattr_uid(octets), a->uid);
    assert_int_equal(nfs3_fattr_gid(octets), a->gid);
    assert_true(nfs3_fattr_size(octets) == a->size);
    assert_true(nfs3_fattr_fsid(octets) == a->fsid);
    assert_true(nfs3_fattr_fileid(octets) == a->fileid);
    assert_true(nfs3_fattr_atime(octets) == ((uint64_t)a->atime.seconds << 32 | a->atime.nseconds));
    assert_true(nfs3_fattr_mtime(octets) == ((uint64_t)a->mtime.seconds << 32 | a->mtime.nseconds));
    assert_true(nfs3_fattr_ctime(octets) == ((uint64_t)a->ctime.seconds << 32 | a->ctime.nseconds));
}

/* Protects: each accessor reads its own field of a fattr3. */
static void test_fattr_fields(void **state)
{
    (void)state;
    struct values *v = values_new(84);
    for (int round = 0; round < ROUNDS; round++) {
        values_reset(v);
        fattr3 a = values_fattr(v);
        assert_fattr(values_expect_fattr(v, &a), &a);
    }
    free(v);
}

static void they_read_attr(struct values *v, const post_op_attr *a, const uint8_t *expected)
{
    assert_octets(values_expect_attr(v, a), expected, NFS3_FATTR_LEN);
}

/* Protects: the hits we answer, LOOKUP with and without attributes, are what libnfs reads as such. */
static void test_our_lookup(void **state)
{
    (void)state;
    struct values *v = values_new(7);
    for (int round = 0; round < ROUNDS; round++) {
        values_reset(v);
        const uint8_t *object;
        const uint8_t *dir;
        attr(v, &object);
        attr(v, &dir);
        nfs_fh3 handle = values_handle(v);
        bool found = round % 2 == 0;
        struct writer w = writer_over(v->wire, sizeof v->wire);
        writer_u32(&w, found ? NFS3_OK : NFS3ERR_NOENT);
        if (found) {
            writer_opaque(&w, values_expect_handle(&handle));
            nfs3_put_post_op_attr(&w, object);
        }
        nfs3_put_post_op_attr(&w, dir);
        assert_true(writer_ok(&w));
        v->len = writer_len(&w);

        ZDR z;
        LOOKUP3res res;
        decode_LOOKUP3res(v, &z, &res);
        if (found) {
            LOOKUP3resok *r = &res.LOOKUP3res_u.resok;
            assert_int_equal(res.status, NFS3_OK);
            wire_assert_bytes(values_expect_handle(&r->object), values_expect_handle(&handle));
            they_read_attr(v, &r->obj_attributes, object);
            they_read_attr(v, &r->dir_attributes, dir);
        } else {
            assert_int_equal(res.status, NFS3ERR_NOENT);
            they_read_attr(v, &res.LOOKUP3res_u.resfail.dir_attributes, dir);
        }
        zdr_destroy(&z);
    }
    free(v);
}

/* Protects: the same for GETATTR and ACCESS. */
static void test_our_getattr_and_access(void **state)
{
    (void)state;
    struct values *v = values_new(8);
    for (int round = 0; round < ROUNDS; round++) {
        values_reset(v);
        fattr3 a = values_fattr(v);
        const uint8_t *octets = values_expect_fattr(v, &a);
        struct writer w = writer_over(v->wire, sizeof v->wire);
        writer_u32(&w, NFS3_OK);
        writer_raw(&w, octets, NFS3_FATTR_LEN);
        v->len = writer_len(&w);
        ZDR z;
        GETATTR3res getattr;
        decode_GETATTR3res(v, &z, &getattr);
        assert_int_equal(getattr.status, NFS3_OK);
        assert_fattr(octets, &getattr.GETATTR3res_u.resok.obj_attributes);
        zdr_destroy(&z);

        uint32_t bits = wire_u32(&v->random);
        w = writer_over(v->wire, sizeof v->wire);
        writer_u32(&w, NFS3_OK);
        nfs3_put_post_op_attr(&w, octets);
        writer_u32(&w, bits);
        v->len = writer_len(&w);
        ACCESS3res access;
        decode_ACCESS3res(v, &z, &access);
        assert_int_equal(access.status, NFS3_OK);
        they_read_attr(v, &access.ACCESS3res_u.resok.obj_attributes, octets);
        assert_int_equal(access.ACCESS3res_u.resok.access, bits);
        zdr_destroy(&z);
    }
    free(v);
}

/* Ours writes the failure, theirs must end where it ends. */
#define EXPECT_FAILURE(v, type, absent)                               \
    do {                                                              \
        struct writer w = writer_over((v)->wire, sizeof(v)->wire);    \
        nfs3_put_failure(&w, (enum nfs3_status)NFS3ERR_ROFS, absent); \
        (v)->len = writer_len(&w);                                    \
        assert_int_equal((v)->len, 4 + 4 * (absent));                 \
        ZDR z;                                                        \
        type res;                                                     \
        decode_##type(v, &z, &res);                                   \
        assert_int_equal(res.status, 30);                             \
        zdr_destroy(&z);                                              \
    } while (0)

/* Protects: a failure without attributes has as many "does not follow" as each procedure needs: one
   for a post_op_attr, two for wcc_data. */
static void test_our_failures(void **state)
{
    (void)state;
    struct values *v = values_new(9);
    EXPECT_FAILURE(v, GETATTR3res, 0);
    EXPECT_FAILURE(v, SETATTR3res, 2);
    EXPECT_FAILURE(v, LOOKUP3res, 1);
    EXPECT_FAILURE(v, ACCESS3res, 1);
    EXPECT_FAILURE(v, READLINK3res, 1);
    EXPECT_FAILURE(v, READ3res, 1);
    EXPECT_FAILURE(v, WRITE3res, 2);
    EXPECT_FAILURE(v, CREATE3res, 2);
    EXPECT_FAILURE(v, MKDIR3res, 2);
    EXPECT_FAILURE(v, SYMLINK3res, 2);
    EXPECT_FAILURE(v, MKNOD3res, 2);
    EXPECT_FAILURE(v, REMOVE3res, 2);
    EXPECT_FAILURE(v, RMDIR3res, 2);
    EXPECT_FAILURE(v, RENAME3res, 4);
    EXPECT_FAILURE(v, LINK3res, 3);
    EXPECT_FAILURE(v, READDIR3res, 1);
    EXPECT_FAILURE(v, READDIRPLUS3res, 1);
    EXPECT_FAILURE(v, FSSTAT3res, 1);
    EXPECT_FAILURE(v, FSINFO3res, 1);
    EXPECT_FAILURE(v, PATHCONF3res, 1);
    EXPECT_FAILURE(v, COMMIT3res, 2);
    free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results),      cmocka_unit_test(test_fattr_fields),
        cmocka_unit_test(test_our_lookup),   cmocka_unit_test(test_our_getattr_and_access),
        cmocka_unit_test(test_our_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
