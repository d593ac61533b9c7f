/*
 * NFSv3 to the octet, and at its bounds. Whether all fields are read as other implementations write
 * them is tested against libnfs.
 */
#include "xdr/nfs3.h"

#include "wire.h"

static uint8_t buffer[2 * NFS3_STRING_MAX + 256];

static struct writer writing(void)
{
    return writer_over(buffer, sizeof buffer);
}

/* Decodes what was written, in memory of exactly its size. The views in `args` are not to be used
 * afterwards. */
static bool decode_args(nfs3_args_decoder *decode, const struct writer *w, struct nfs3_args *args)
{
    assert_true(writer_ok(w));
    uint8_t *copy = wire_exact(w->start, writer_len(w));
    struct cursor c = cursor_over(copy, writer_len(w));
    bool ok = decode(&c, args);
    free(copy);
    return ok;
}

static bool decode_res(nfs3_res_decoder *decode, const struct writer *w, struct nfs3_res *res)
{
    assert_true(writer_ok(w));
    uint8_t *copy = wire_exact(w->start, writer_len(w));
    struct cursor c = cursor_over(copy, writer_len(w));
    bool ok = decode(&c, res);
    free(copy);
    return ok;
}

static struct bytes handle(uint32_t len)
{
    static const uint8_t octets[NFS3_FH_MAX + 4] = {0xfe, 0xed};
    return wire_bytes(octets, len);
}

/* Protects: a LOOKUP call and its fields, octet by octet. */
static void test_lookup_call(void **state)
{
    (void)state;
    static const uint8_t expected[] = {0, 0, 0, 5, 1, 2, 3,   4,   5,   0,
                                       0, 0, 0, 0, 0, 3, 'f', 'o', 'o', 0};
    struct writer w = writing();
    nfs3_put_dirop(&w, wire_bytes("\1\2\3\4\5", 5), wire_text("foo"));
    assert_int_equal(writer_len(&w), sizeof expected);
    assert_memory_equal(buffer, expected, sizeof expected);

    struct cursor c = cursor_over(expected, sizeof expected);
    struct nfs3_args args;
    assert_true(nfs3_args_dirop(&c, &args));
    assert_ptr_equal(args.object.data, expected + 4);
    assert_int_equal(args.object.len, 5);
    assert_ptr_equal(args.name.data, expected + 16);
    assert_int_equal(args.name.len, 3);
}

typedef void put_rest(struct writer *w);

static void put_nothing(struct writer *w)
{
    (void)w;
}

static void put_name(struct writer *w)
{
    writer_opaque(w, wire_text("n"));
}

/* sattr3 that changes nothing. */
static void put_sattr(struct writer *w)
{
    for (int i = 0; i < 6; i++)
        writer_u32(w, 0);
}

static void put_sattr_and_guard(struct writer *w)
{
    put_sattr(w);
    writer_u32(w, 0);
}

static void put_name_and_sattr(struct writer *w)
{
    put_name(w);
    put_sattr(w);
}

static void put_create(struct writer *w)
{
    put_name(w);
    writer_u32(w, NFS3_UNCHECKED);
    put_sattr(w);
}

static void put_symlink(struct writer *w)
{
    put_name_and_sattr(w);
    writer_opaque(w, wire_text("target"));
}

static void put_mknod(struct writer *w)
{
    put_name(w);
    writer_u32(w, NF3FIFO);
    put_sattr(w);
}

static void put_words(struct writer *w)
{
    for (int i = 0; i < 8; i++)
        writer_u32(w, 0);
}

static void put_target(struct writer *w)
{
    put_name(w);
    nfs3_put_dirop(w, handle(8), wire_text("m"));
}

static void put_dirop(struct writer *w)
{
    nfs3_put_dirop(w, handle(8), wire_text("m"));
}

/* What may stand behind the handle, of each decoder that has one. */
static const struct {
    nfs3_args_decoder *decode;
    put_rest *rest;
} with_handle[] = {
    {nfs3_args_object, put_nothing},  {nfs3_args_setattr, put_sattr_and_guard},
    {nfs3_args_dirop, put_name},      {nfs3_args_access, put_words},
    {nfs3_args_read, put_words},      {nfs3_args_write, put_words},
    {nfs3_args_create, put_create},   {nfs3_args_mkdir, put_name_and_sattr},
    {nfs3_args_symlink, put_symlink}, {nfs3_args_mknod, put_mknod},
    {nfs3_args_rename, put_target},   {nfs3_args_link, put_dirop},
    {nfs3_args_readdir, put_words},   {nfs3_args_readdirplus, put_words},
    {nfs3_args_commit, put_words},
};

/* Protects: a handle of 64 octets passes through every decoder, one of 65 through none. An empty
 * one passes. */
static void test_handle_bound(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof with_handle / sizeof with_handle[0]; i++) {
        for (uint32_t len = 0; len <= NFS3_FH_MAX + 1; len++) {
            struct writer w = writing();
            writer_opaque(&w, handle(len));
            with_handle[i].rest(&w);
            struct nfs3_args args;
            assert_int_equal(decode_args(with_handle[i].decode, &w, &args), len <= NFS3_FH_MAX);
        }
    }
}

/* Protects: the second handle of RENAME and LINK has the same bound. */
static void test_second_handle_bound(void **state)
{
    (void)state;
    for (uint32_t len = NFS3_FH_MAX; len <= NFS3_FH_MAX + 1; len++) {
        struct nfs3_args args;
        struct writer w = writing();
        nfs3_put_dirop(&w, handle(16), wire_text("a"));
        nfs3_put_dirop(&w, handle(len), wire_text("b"));
        assert_int_equal(decode_args(nfs3_args_rename, &w, &args), len <= NFS3_FH_MAX);
        w = writing();
        writer_opaque(&w, handle(16));
        nfs3_put_dirop(&w, handle(len), wire_text("b"));
        assert_int_equal(decode_args(nfs3_args_link, &w, &args), len <= NFS3_FH_MAX);
    }
}

/* Protects: names are bounded by NFS3_STRING_MAX, exactly; NAMETOOLONG is the server's to say below
 * that. */
static void test_name_bound(void **state)
{
    (void)state;
    static uint8_t text[NFS3_STRING_MAX + 4];
    for (uint32_t len = NFS3_STRING_MAX - 1; len <= NFS3_STRING_MAX + 1; len++) {
        bool ok = len <= NFS3_STRING_MAX;
        struct nfs3_args args;
        struct writer w = writing();
        nfs3_put_dirop(&w, handle(4), wire_bytes(text, len));
        assert_int_equal(decode_args(nfs3_args_dirop, &w, &args), ok);
        if (ok)
            assert_int_equal(args.name.len, len);
        w = writing();
        writer_opaque(&w, handle(4));
        put_name_and_sattr(&w);
        writer_opaque(&w, wire_bytes(text, len));
        assert_int_equal(decode_args(nfs3_args_symlink, &w, &args), ok);
    }
}

/* Protects: a length near 2^32 in front of a name is an error and no small number. */
static void test_name_length_wraps(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {0x7fffffff, 0xfffffffc, 0xfffffffd, 0xffffffff, 5};
    for (int i = 0; i < 5; i++) {
        struct nfs3_args args;
        struct writer w = writing();
        writer_opaque(&w, handle(4));
        writer_u32(&w, lengths[i]);
        writer_u32(&w, 0);
        assert_false(decode_args(nfs3_args_dirop, &w, &args));
    }
}

/* SETATTR with one word of its sattr3 (0 to 5) or guard (6) set, and `extra` octets behind that
 * word. */
static bool setattr_with(int word, uint32_t value, uint32_t extra)
{
    struct writer w = writing();
    writer_opaque(&w, handle(32));
    for (int i = 0; i < 7; i++) {
        writer_u32(&w, i == word ? value : 0);
        for (uint32_t n = 0; i == word && n < extra; n += 4)
            writer_u32(&w,
                       0x55555555); /* no bool and no time_how: a wrong length does not go unseen */
    }
    struct nfs3_args args;
    return decode_args(nfs3_args_setattr, &w, &args);
}

/* Protects: each arm of sattr3 and the guard takes exactly its octets, and discriminants out of
 * range are errors. */
static void test_sattr(void **state)
{
    (void)state;
    static const uint32_t extra[7] = {4, 4, 4, 8, 8, 8, 8};
    for (int word = 0; word < 7; word++) {
        bool is_time = word == 4 || word == 5;
        assert_true(setattr_with(word, 0, 0));
        assert_true(setattr_with(word, is_time ? 2 : 1, extra[word]));
        assert_false(setattr_with(word, is_time ? 2 : 1, extra[word] - 4));
        assert_false(setattr_with(word, is_time ? 2 : 1, 0));
        if (is_time)
            assert_true(setattr_with(word, 1, 0));
        else
            assert_false(setattr_with(word, 2, extra[word]));
        assert_false(setattr_with(word, 3, 0));
        assert_false(setattr_with(word, 3, extra[word]));
        assert_false(setattr_with(word, 0xffffffff, extra[word]));
    }
}

/* Protects: CREATE's three modes, each with its own arm, and no fourth. */
static void test_create_mode(void **state)
{
    (void)state;
    for (uint32_t mode = 0; mode <= 4; mode++) {
        for (uint32_t words = 0; words <= 6; words++) {
            struct writer w = writing();
            nfs3_put_dirop(&w, handle(16), wire_text("new"));
            writer_u32(&w, mode);
            for (uint32_t i = 0; i < words; i++)
                writer_u32(&w, 0);
            uint32_t needed = mode == NFS3_EXCLUSIVE ? 2 : 6;
            struct nfs3_args args;
            bool ok = decode_args(nfs3_args_create, &w, &args);
            assert_int_equal(ok, mode <= NFS3_EXCLUSIVE && words >= needed);
            if (ok)
                assert_int_equal(args.create_mode, mode);
        }
    }
}

/* Protects: MKNOD needs attributes for the types that have them, and a device number for devices;
   other types, which the server answers with BADTYPE, need nothing. */
static void test_mknod_type(void **state)
{
    (void)state;
    static const struct {
        uint32_t type, words;
    } cases[] = {{NF3CHR, 8}, {NF3BLK, 8}, {NF3SOCK, 6}, {NF3FIFO, 6}, {NF3REG, 0},
                 {NF3DIR, 0}, {NF3LNK, 0}, {0, 0},       {8, 0},       {0xffffffff, 0}};
    for (int i = 0; i < 10; i++) {
        for (uint32_t words = 0; words <= 8; words++) {
            struct writer w = writing();
            nfs3_put_dirop(&w, handle(16), wire_text("dev"));
            writer_u32(&w, cases[i].type);
            for (uint32_t n = 0; n < words; n++)
                writer_u32(&w, 0);
            struct nfs3_args args;
            assert_int_equal(decode_args(nfs3_args_mknod, &w, &args), words >= cases[i].words);
        }
    }
}

/* Protects: WRITE's data must be whole in the record with its padding, whatever count says; a
   mismatch of the two, and an unknown stable_how, are the server's business. */
static void test_write_data(void **state)
{
    (void)state;
    static const uint8_t data[8];
    static const struct {
        uint32_t count, stable, len, octets;
        bool ok;
    } cases[] = {{5, 2, 5, 8, true},  {9, 0, 5, 8, true},           {5, 3, 5, 8, true},
                 {5, 2, 5, 5, false}, {5, 2, 9, 8, false},          {0, 2, 0, 0, true},
                 {5, 2, 5, 7, false}, {5, 2, 0xffffffff, 8, false}, {5, 2, 0xfffffffd, 8, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct writer w = writing();
        writer_opaque(&w, handle(16));
        writer_u64(&w, 0x123456789abcdef0);
        writer_u32(&w, cases[i].count);
        writer_u32(&w, cases[i].stable);
        writer_u32(&w, cases[i].len);
        writer_raw(&w, data, cases[i].octets);
        struct nfs3_args args;
        bool ok = decode_args(nfs3_args_write, &w, &args);
        assert_int_equal(ok, cases[i].ok);
        if (ok) {
            assert_true(args.offset == 0x123456789abcdef0);
            assert_int_equal(args.count, cases[i].count);
        }
    }
}

/* Protects: NULL has no arguments and results, and ignores what came instead. */
static void test_void(void **state)
{
    (void)state;
    struct cursor c = cursor_over((const uint8_t *)"abcd", 4);
    struct nfs3_args args;
    memset(&args, 0xff, sizeof args);
    assert_true(nfs3_args_void(&c, &args));
    assert_int_equal(args.object.len, 0);
    c = cursor_over(NULL, 0);
    struct nfs3_res res;
    memset(&res, 0xff, sizeof res);
    assert_true(nfs3_res_void(&c, &res));
    assert_int_equal(res.status, 0);
    assert_null(res.object);
}

static void fill_fattr(uint8_t fattr[NFS3_FATTR_LEN])
{
    for (uint32_t i = 0; i < NFS3_FATTR_LEN; i++)
        fattr[i] = (uint8_t)(i + 1);
}

/* Protects: where each field of a fattr3 stands (RFC 1813 2.6). */
static void test_fattr_fields(void **state)
{
    (void)state;
    uint8_t fattr[NFS3_FATTR_LEN];
    fill_fattr(fattr);
    assert_int_equal(nfs3_fattr_type(fattr), 0x01020304);
    assert_int_equal(nfs3_fattr_mode(fattr), 0x05060708);
    assert_int_equal(nfs3_fattr_nlink(fattr), 0x090a0b0c);
    assert_int_equal(nfs3_fattr_uid(fattr), 0x0d0e0f10);
    assert_int_equal(nfs3_fattr_gid(fattr), 0x11121314);
    assert_true(nfs3_fattr_size(fattr) == 0x15161718191a1b1c);
    assert_true(nfs3_fattr_fsid(fattr) == 0x2d2e2f3031323334);
    assert_true(nfs3_fattr_fileid(fattr) == 0x35363738393a3b3c);
    assert_true(nfs3_fattr_atime(fattr) == 0x3d3e3f4041424344);
    assert_true(nfs3_fattr_mtime(fattr) == 0x45464748494a4b4c);
    assert_true(nfs3_fattr_ctime(fattr) == 0x4d4e4f5051525354);
}

/* Protects: optional attributes as we write them, and that they come back as the very same octets. */
static void test_post_op_attr(void **state)
{
    (void)state;
    uint8_t fattr[NFS3_FATTR_LEN];
    fill_fattr(fattr);
    struct writer w = writing();
    nfs3_put_post_op_attr(&w, NULL);
    assert_int_equal(writer_len(&w), 4);
    assert_memory_equal(buffer, "\0\0\0\0", 4);
    nfs3_put_post_op_attr(&w, fattr);
    assert_int_equal(writer_len(&w), 4 + 4 + 84);
    assert_memory_equal(buffer + 4, "\0\0\0\1", 4);
    assert_memory_equal(buffer + 8, fattr, sizeof fattr);

    struct cursor c = cursor_over(buffer, writer_len(&w));
    assert_null(nfs3_post_op_attr(&c));
    assert_ptr_equal(nfs3_post_op_attr(&c), buffer + 8);
    assert_true(cursor_ok(&c));
    assert_null(nfs3_post_op_attr(&c));
    assert_false(cursor_ok(&c));
}

/* Protects: a failure as we write it. */
static void test_put_failure(void **state)
{
    (void)state;
    struct writer w = writing();
    memset(buffer, 0xff, 16);
    nfs3_put_failure(&w, NFS3ERR_ROFS, 2);
    assert_int_equal(writer_len(&w), 12);
    assert_memory_equal(buffer, "\0\0\0\x1e\0\0\0\0\0\0\0\0\xff", 13);
    w = writing();
    nfs3_put_failure(&w, NFS3ERR_JUKEBOX, 0);
    assert_int_equal(writer_len(&w), 4);
    assert_memory_equal(buffer, "\0\0\x27\x18", 4);
}

/* Protects: what results claim of themselves is bounded: handles, and bools that are neither 0
 * nor 1. */
static void test_result_bounds(void **state)
{
    (void)state;
    struct nfs3_res res;
    for (uint32_t len = NFS3_FH_MAX; len <= NFS3_FH_MAX + 1; len++) {
        struct writer w = writing();
        writer_u32(&w, NFS3_OK);
        writer_opaque(&w, handle(len));
        put_words(&w);
        assert_int_equal(decode_res(nfs3_res_lookup, &w, &res), len <= NFS3_FH_MAX);
        w = writing();
        writer_u32(&w, NFS3_OK);
        writer_u32(&w, 1);
        writer_opaque(&w, handle(len));
        put_words(&w);
        assert_int_equal(decode_res(nfs3_res_create, &w, &res), len <= NFS3_FH_MAX);
    }
    static nfs3_res_decoder *const leading_bool[] = {
        nfs3_res_wcc,    nfs3_res_access, nfs3_res_object,  nfs3_res_write,       nfs3_res_create,
        nfs3_res_rename, nfs3_res_link,   nfs3_res_readdir, nfs3_res_readdirplus, nfs3_res_commit};
    for (size_t i = 0; i < sizeof leading_bool / sizeof leading_bool[0]; i++) {
        for (uint32_t follows = 0; follows <= 2; follows += 2) {
            struct writer w = writing();
            writer_u32(&w, NFS3_OK);
            writer_u32(&w, follows);
            for (int n = 0; n < 50; n++)
                writer_u32(&w, 0);
            assert_int_equal(decode_res(leading_bool[i], &w, &res), follows == 0);
        }
    }
}

/* Protects: a status that RFC 1813 does not have is kept as it is, and takes the arm of a failure. */
static void test_unknown_status(void **state)
{
    (void)state;
    static const uint32_t statuses[] = {3, 10009, 0x80000000, 0xffffffff};
    for (int i = 0; i < 4; i++) {
        struct nfs3_res res;
        struct writer w = writing();
        writer_u32(&w, statuses[i]);
        assert_true(decode_res(nfs3_res_getattr, &w, &res));
        assert_int_equal(res.status, statuses[i]);
        assert_null(res.object);
        assert_false(decode_res(nfs3_res_lookup, &w, &res));
        writer_u32(&w, 0);
        assert_true(decode_res(nfs3_res_lookup, &w, &res));
        assert_true(decode_res(nfs3_res_access, &w, &res));
        assert_true(decode_res(nfs3_res_readdirplus, &w, &res));
        assert_int_equal(res.status, statuses[i]);
    }
}

static void put_entry(struct writer *w, uint64_t fileid, const char *text, uint32_t handle_len)
{
    writer_u32(w, 1);
    writer_u64(w, fileid);
    writer_opaque(w, wire_text(text));
    writer_u64(w, fileid + 100);
    nfs3_put_post_op_attr(w, NULL);
    writer_u32(w, handle_len > 0);
    if (handle_len > 0)
        writer_opaque(w, handle(handle_len));
}

/* A page up to the end of its last entry. */
static struct writer page(uint32_t handle_len)
{
    struct writer w = writing();
    writer_u32(&w, NFS3_OK);
    nfs3_put_post_op_attr(&w, NULL);
    writer_u64(&w, 7); /* cookie verifier */
    put_entry(&w, 1, ".", 0);
    put_entry(&w, 2, "file", handle_len);
    return w;
}

/*
 * Protects: a page is taken whole or not at all: an entry that is cut off or out of bounds at its end
 * leaves none. It is iterated no further than its end.
 */
static void test_readdirplus_page(void **state)
{
    (void)state;
    struct nfs3_res res;
    struct writer w = page(64);
    assert_false(decode_res(nfs3_res_readdirplus, &w, &res));
    writer_u32(&w, 0);
    assert_false(decode_res(nfs3_res_readdirplus, &w, &res)); /* eof is missing */
    writer_u32(&w, 2);
    assert_false(decode_res(nfs3_res_readdirplus, &w, &res)); /* eof is no bool */
    w = page(65);
    writer_u64(&w, 0);
    assert_false(decode_res(nfs3_res_readdirplus, &w, &res));

    w = page(64);
    writer_u32(&w, 0);
    uint32_t end = writer_len(&w) + 4;
    put_entry(&w, 3, "behind", 0); /* its first word is eof */
    struct cursor c = cursor_over(buffer, writer_len(&w));
    assert_true(nfs3_res_readdirplus(&c, &res));
    assert_ptr_equal(c.at, buffer + end);
    struct nfs3_entry entry;
    assert_true(nfs3_entry_next(&res.entries, &entry));
    assert_true(entry.fileid == 1 && entry.cookie == 101);
    wire_assert_text(entry.name, ".");
    assert_int_equal(entry.handle.len, 0);
    assert_null(entry.attributes);
    assert_true(nfs3_entry_next(&res.entries, &entry));
    assert_true(entry.fileid == 2 && entry.cookie == 102);
    wire_assert_text(entry.name, "file");
    assert_int_equal(entry.handle.len, 64);
    assert_false(nfs3_entry_next(&res.entries, &entry));
    assert_true(cursor_ok(&res.entries));
    assert_false(nfs3_entry_next(&res.entries, &entry)); /* neither eof nor what is behind it */
}

/* Protects: every status of the RFC has its name, and other numbers none. */
static void test_status_names(void **state)
{
    (void)state;
    static const uint32_t known[] = {0,  1,     2,     5,     6,     13,    17,    18,    19,   20,
                                     21, 22,    27,    28,    30,    31,    63,    66,    69,   70,
                                     71, 10001, 10002, 10003, 10004, 10005, 10006, 10007, 10008};
    uint32_t count = 0;
    for (uint32_t status = 0; status <= 10100; status++) {
        const char *text = nfs3_status_name(status);
        if (!text)
            continue;
        assert_in_range(count, 0, sizeof known / sizeof known[0] - 1);
        assert_int_equal(status, known[count++]);
        assert_int_equal(strncmp(text, "NFS3", 4), 0);
    }
    assert_int_equal(count, sizeof known / sizeof known[0]);
    assert_string_equal(nfs3_status_name(0), "NFS3_OK");
    assert_string_equal(nfs3_status_name(70), "NFS3ERR_STALE");
    assert_string_equal(nfs3_status_name(10008), "NFS3ERR_JUKEBOX");
    assert_null(nfs3_status_name(0xffffffff));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lookup_call),         cmocka_unit_test(test_handle_bound),
        cmocka_unit_test(test_second_handle_bound), cmocka_unit_test(test_name_bound),
        cmocka_unit_test(test_name_length_wraps),   cmocka_unit_test(test_sattr),
        cmocka_unit_test(test_create_mode),         cmocka_unit_test(test_mknod_type),
        cmocka_unit_test(test_write_data),          cmocka_unit_test(test_void),
        cmocka_unit_test(test_fattr_fields),        cmocka_unit_test(test_post_op_attr),
        cmocka_unit_test(test_put_failure),         cmocka_unit_test(test_result_bounds),
        cmocka_unit_test(test_unknown_status),      cmocka_unit_test(test_readdirplus_page),
        cmocka_unit_test(test_status_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
