/*
 * The arguments of all 22 procedures, written by libnfs and read by us; and the pieces we write,
 * read by libnfs.
 */
#include "libnfs_values.h"

#define ROUNDS 300

LIBNFS_CODEC(GETATTR3args)
LIBNFS_CODEC(SETATTR3args)
LIBNFS_CODEC(LOOKUP3args)
LIBNFS_CODEC(ACCESS3args)
LIBNFS_CODEC(READLINK3args)
LIBNFS_CODEC(READ3args)
LIBNFS_CODEC(WRITE3args)
LIBNFS_CODEC(CREATE3args)
LIBNFS_CODEC(MKDIR3args)
LIBNFS_CODEC(SYMLINK3args)
LIBNFS_CODEC(MKNOD3args)
LIBNFS_CODEC(REMOVE3args)
LIBNFS_CODEC(RMDIR3args)
LIBNFS_CODEC(RENAME3args)
LIBNFS_CODEC(LINK3args)
LIBNFS_CODEC(READDIR3args)
LIBNFS_CODEC(READDIRPLUS3args)
LIBNFS_CODEC(FSSTAT3args)
LIBNFS_CODEC(FSINFO3args)
LIBNFS_CODEC(PATHCONF3args)
LIBNFS_CODEC(COMMIT3args)

/* Writes random arguments to v->wire and returns what we must read from them. */
typedef struct nfs3_args maker(struct values *v);

static diropargs3 dirop(struct values *v, struct bytes *dir, struct bytes *text)
{
    diropargs3 d = {.dir = values_handle(v), .name = values_name(v, 255)};
    *dir = values_expect_handle(&d.dir);
    *text = wire_text(d.name);
    return d;
}

static struct nfs3_args make_null(struct values *v)
{
    v->len = 0;
    return (struct nfs3_args){0};
}

/* The procedures whose only argument is a handle. */
#define MAKE_OBJECT(function, type, field)                                      \
    static struct nfs3_args function(struct values *v)                          \
    {                                                                           \
        type args = {.field = values_handle(v)};                                \
        encode_##type(v, &args);                                                \
        return (struct nfs3_args){.object = values_expect_handle(&args.field)}; \
    }

MAKE_OBJECT(make_getattr, GETATTR3args, object)
MAKE_OBJECT(make_readlink, READLINK3args, symlink)
MAKE_OBJECT(make_fsstat, FSSTAT3args, fsroot)
MAKE_OBJECT(make_fsinfo, FSINFO3args, fsroot)
MAKE_OBJECT(make_pathconf, PATHCONF3args, object)

/* The procedures whose arguments are a directory and a name. */
#define MAKE_DIROP(function, type, field)                                  \
    static struct nfs3_args function(struct values *v)                     \
    {                                                                      \
        struct nfs3_args expected = {0};                                   \
        type args = {.field = dirop(v, &expected.object, &expected.name)}; \
        encode_##type(v, &args);                                           \
        return expected;                                                   \
    }

MAKE_DIROP(make_lookup, LOOKUP3args, what)
MAKE_DIROP(make_remove, REMOVE3args, object)
MAKE_DIROP(make_rmdir, RMDIR3args, object)

static struct nfs3_args make_setattr(struct values *v)
{
    SETATTR3args args = {.object = values_handle(v),
                         .new_attributes = values_sattr(v),
                         .guard.check = wire_below(&v->random, 2)};
    args.guard.sattrguard3_u.obj_ctime = (nfstime3){wire_u32(&v->random), wire_u32(&v->random)};
    encode_SETATTR3args(v, &args);
    return (struct nfs3_args){.object = values_expect_handle(&args.object)};
}

static struct nfs3_args make_access(struct values *v)
{
    ACCESS3args args = {.object = values_handle(v), .access = wire_u32(&v->random)};
    encode_ACCESS3args(v, &args);
    return (struct nfs3_args){.object = values_expect_handle(&args.object), .access = args.access};
}

static struct nfs3_args make_read(struct values *v)
{
    READ3args args = {
        .file = values_handle(v), .offset = values_u64(v), .count = wire_u32(&v->random)};
    encode_READ3args(v, &args);
    return (struct nfs3_args){
        .object = values_expect_handle(&args.file), .offset = args.offset, .count = args.count};
}

static struct nfs3_args make_write(struct values *v)
{
    WRITE3args args = {.file = values_handle(v),
                       .offset = values_u64(v),
                       .count = wire_u32(&v->random),
                       .stable = (stable_how)wire_below(&v->random, 3)};
    args.data.data_len = wire_len(&v->random, 70);
    args.data.data_val = values_octets(v, args.data.data_len);
    encode_WRITE3args(v, &args);
    return (struct nfs3_args){
        .object = values_expect_handle(&args.file), .offset = args.offset, .count = args.count};
}

static struct nfs3_args make_create(struct values *v)
{
    struct nfs3_args expected = {0};
    CREATE3args args = {.where = dirop(v, &expected.object, &expected.name)};
    args.how.mode = (createmode3)wire_below(&v->random, 3);
    expected.create_mode = args.how.mode;
    if (args.how.mode == EXCLUSIVE)
        wire_fill(&v->random, (uint8_t *)args.how.createhow3_u.verf, NFS3_VERF_LEN);
    else if (args.how.mode == GUARDED)
        args.how.createhow3_u.g_obj_attributes = values_sattr(v);
    else
        args.how.createhow3_u.obj_attributes = values_sattr(v);
    encode_CREATE3args(v, &args);
    return expected;
}

static struct nfs3_args make_mkdir(struct values *v)
{
    struct nfs3_args expected = {0};
    MKDIR3args args = {.where = dirop(v, &expected.object, &expected.name),
                       .attributes = values_sattr(v)};
    encode_MKDIR3args(v, &args);
    return expected;
}

static struct nfs3_args make_symlink(struct values *v)
{
    struct nfs3_args expected = {0};
    SYMLINK3args args = {.where = dirop(v, &expected.object, &expected.name)};
    args.symlink.symlink_attributes = values_sattr(v);
    args.symlink.symlink_data = values_name(v, 1024);
    encode_SYMLINK3args(v, &args);
    return expected;
}

static struct nfs3_args make_mknod(struct values *v)
{
    struct nfs3_args expected = {0};
    MKNOD3args args = {.where = dirop(v, &expected.object, &expected.name)};
    args.what.type = (ftype3)wire_below(&v->random, 9);
    devicedata3 device = {.dev_attributes = values_sattr(v),
                          .spec = {wire_u32(&v->random), wire_u32(&v->random)}};
    if (args.what.type == NF3CHR)
        args.what.mknoddata3_u.chr_device = device;
    else if (args.what.type == NF3BLK)
        args.what.mknoddata3_u.blk_device = device;
    else if (args.what.type == NF3SOCK)
        args.what.mknoddata3_u.sock_attributes = device.dev_attributes;
    else
        args.what.mknoddata3_u.pipe_attributes = device.dev_attributes;
    encode_MKNOD3args(v, &args);
    return expected;
}

static struct nfs3_args make_rename(struct values *v)
{
    struct nfs3_args expected = {0};
    RENAME3args args = {.from = dirop(v, &expected.object, &expected.name),
                        .to = dirop(v, &expected.object2, &expected.name2)};
    encode_RENAME3args(v, &args);
    return expected;
}

static struct nfs3_args make_link(struct values *v)
{
    struct nfs3_args expected = {0};
    LINK3args args = {.file = values_handle(v),
                      .link = dirop(v, &expected.object2, &expected.name2)};
    expected.object = values_expect_handle(&args.file);
    encode_LINK3args(v, &args);
    return expected;
}

static struct nfs3_args make_readdir(struct values *v)
{
    READDIR3args args = {
        .dir = values_handle(v), .cookie = values_u64(v), .count = wire_u32(&v->random)};
    wire_fill(&v->random, (uint8_t *)args.cookieverf, NFS3_VERF_LEN);
    encode_READDIR3args(v, &args);
    return (struct nfs3_args){
        .object = values_expect_handle(&args.dir), .cookie = args.cookie, .count = args.count};
}

static struct nfs3_args make_readdirplus(struct values *v)
{
    READDIRPLUS3args args = {.dir = values_handle(v),
                             .cookie = values_u64(v),
                             .dircount = wire_u32(&v->random),
                             .maxcount = wire_u32(&v->random)};
    wire_fill(&v->random, (uint8_t *)args.cookieverf, NFS3_VERF_LEN);
    encode_READDIRPLUS3args(v, &args);
    return (struct nfs3_args){
        .object = values_expect_handle(&args.dir), .cookie = args.cookie, .count = args.maxcount};
}

static struct nfs3_args make_commit(struct values *v)
{
    COMMIT3args args = {
        .file = values_handle(v), .offset = values_u64(v), .count = wire_u32(&v->random)};
    encode_COMMIT3args(v, &args);
    return (struct nfs3_args){
        .object = values_expect_handle(&args.file), .offset = args.offset, .count = args.count};
}

static const struct procedure {
    maker *make;
    nfs3_args_decoder *decode;
} procedures[NFS3_PROCEDURES] = {
    {make_null, nfs3_args_void},       {make_getattr, nfs3_args_object},
    {make_setattr, nfs3_args_setattr}, {make_lookup, nfs3_args_dirop},
    {make_access, nfs3_args_access},   {make_readlink, nfs3_args_object},
    {make_read, nfs3_args_read},       {make_write, nfs3_args_write},
    {make_create, nfs3_args_create},   {make_mkdir, nfs3_args_mkdir},
    {make_symlink, nfs3_args_symlink}, {make_mknod, nfs3_args_mknod},
    {make_remove, nfs3_args_dirop},    {make_rmdir, nfs3_args_dirop},
    {make_rename, nfs3_args_rename},   {make_link, nfs3_args_link},
    {make_readdir, nfs3_args_readdir}, {make_readdirplus, nfs3_args_readdirplus},
    {make_fsstat, nfs3_args_object},   {make_fsinfo, nfs3_args_object},
    {make_pathconf, nfs3_args_object}, {make_commit, nfs3_args_commit},
};

static void assert_args(const struct nfs3_args *args, const struct nfs3_args *expected)
{
    wire_assert_bytes(args->object, expected->object);
    wire_assert_bytes(args->name, expected->name);
    wire_assert_bytes(args->object2, expected->object2);
    wire_assert_bytes(args->name2, expected->name2);
    assert_int_equal(args->access, expected->access);
    assert_int_equal(args->create_mode, expected->create_mode);
    assert_true(args->offset == expected->offset);
    assert_int_equal(args->count, expected->count);
    assert_true(args->cookie == expected->cookie);
}

static bool decode_exact(nfs3_args_decoder *decode, const uint8_t *data, uint32_t len,
                         const struct nfs3_args *expected)
{
    uint8_t *copy = wire_exact(data, len);
    struct cursor c = cursor_over(copy, len);
    struct nfs3_args args;
    memset(&args, 0xff, sizeof args);
    bool ok = decode(&c, &args);
    if (ok && expected) {
        assert_args(&args, expected);
        assert_int_equal(cursor_left(&c), 0);
    }
    free(copy);
    return ok;
}

/* Damaged arguments are read or refused; what is read stands inside the record. */
static void decode_damaged(nfs3_args_decoder *decode, struct values *v)
{
    uint8_t *copy = wire_damaged(&v->random, v->wire, v->len);
    struct cursor c = cursor_over(copy, v->len);
    struct nfs3_args args;
    if (decode(&c, &args)) {
        const struct bytes views[] = {args.object, args.name, args.object2, args.name2};
        for (int i = 0; i < 4; i++)
            wire_assert_inside(views[i], copy, v->len);
        assert_in_range(args.object.len, 0, NFS3_FH_MAX);
        assert_in_range(args.object2.len, 0, NFS3_FH_MAX);
        assert_in_range(args.create_mode, 0, NFS3_EXCLUSIVE);
    }
    free(copy);
}

/* Protects: every field of every procedure's arguments, fields it does not have being zero; that
   the decoder ends where libnfs ended; that no prefix passes; and that damage is never read past
   the end of the record. */
static void test_args(void **state)
{
    (void)state;
    struct values *v = values_new(1813);
    for (int proc = 0; proc < NFS3_PROCEDURES; proc++) {
        for (int round = 0; round < ROUNDS; round++) {
            values_reset(v);
            struct nfs3_args expected = procedures[proc].make(v);
            if (!decode_exact(procedures[proc].decode, v->wire, v->len, &expected))
                fail_msg("procedure %d, round %d: refused", proc, round);
            for (uint32_t cut = 0; cut < v->len; cut++)
                if (decode_exact(procedures[proc].decode, v->wire, cut, NULL))
                    fail_msg("procedure %d, round %d: %u of %u octets passed", proc, round, cut,
                             v->len);
            for (int i = 0; i < 20 && v->len > 0; i++)
                decode_damaged(procedures[proc].decode, v);
        }
    }
    free(v);
}

/* Protects: octets behind the arguments change nothing. */
static void test_trailing_octets(void **state)
{
    (void)state;
    struct values *v = values_new(1094);
    for (int proc = 0; proc < NFS3_PROCEDURES; proc++) {
        values_reset(v);
        struct nfs3_args expected = procedures[proc].make(v);
        struct cursor c = cursor_over(v->wire, v->len + 12);
        struct nfs3_args args;
        assert_true(procedures[proc].decode(&c, &args));
        assert_args(&args, &expected);
        assert_int_equal(cursor_left(&c), 12);
    }
    free(v);
}

/* Protects: the LOOKUP, REMOVE and other calls we make ourselves are what libnfs reads as such. */
static void test_our_dirop(void **state)
{
    (void)state;
    struct values *v = values_new(42);
    for (int round = 0; round < ROUNDS; round++) {
        values_reset(v);
        nfs_fh3 handle = values_handle(v);
        const char *text = values_name(v, 255);
        struct writer w = writer_over(v->wire, sizeof v->wire);
        nfs3_put_dirop(&w, values_expect_handle(&handle), wire_text(text));
        assert_true(writer_ok(&w));
        v->len = writer_len(&w);
        ZDR z;
        LOOKUP3args args;
        decode_LOOKUP3args(v, &z, &args);
        wire_assert_bytes(values_expect_handle(&args.what.dir), values_expect_handle(&handle));
        assert_string_equal(args.what.name, text);
        zdr_destroy(&z);
    }
    free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_args),
        cmocka_unit_test(test_trailing_octets),
        cmocka_unit_test(test_our_dirop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
