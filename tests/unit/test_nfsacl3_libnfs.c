/*
 * NFSACL version 3 as libnfs writes it, read by us. libnfs knows no attributes in a failure;
 * test_nfsacl3 has those.
 */
#include "xdr/nfsacl3.h"

#include "libnfs_values.h"

#define ROUNDS  300
#define ENTRIES 20

LIBNFS_CODEC(GETACL3args)
LIBNFS_CODEC(GETACL3res)
LIBNFS_CODEC(SETACL3args)
LIBNFS_CODEC(SETACL3res)

static uint32_t make_entries(struct values *v, nfsacl_ace entries[ENTRIES])
{
    for (int i = 0; i < ENTRIES; i++)
        entries[i] = (nfsacl_ace){.type = (nfsacl_type)wire_u32(&v->random),
                                  .id = wire_u32(&v->random),
                                  .perm = wire_u32(&v->random)};
    return wire_len(&v->random, ENTRIES);
}

/* Decodes every prefix; only the whole passes, and has this handle. */
static void expect_args(struct values *v, nfs3_args_decoder *decode, const nfs_fh3 *handle)
{
    for (uint32_t len = 0; len <= v->len; len++) {
        uint8_t *copy = wire_exact(v->wire, len);
        struct cursor c = cursor_over(copy, len);
        struct nfs3_args args;
        memset(&args, 0xff, sizeof args);
        assert_int_equal(decode(&c, &args), len == v->len);
        if (len == v->len) {
            wire_assert_bytes(args.object, values_expect_handle(handle));
            assert_int_equal(args.name.len, 0);
            assert_int_equal(args.access, 0);
            assert_int_equal(cursor_left(&c), 0);
        }
        free(copy);
    }
}

/* Protects: the handles of GETACL and SETACL, and that both lists of SETACL are gone through to
 * their end. */
static void test_args(void **state)
{
    (void)state;
    struct values *v = values_new(100227);
    for (int round = 0; round < ROUNDS; round++) {
        values_reset(v);
        GETACL3args get = {.dir = values_handle(v), .mask = wire_u32(&v->random)};
        encode_GETACL3args(v, &get);
        expect_args(v, nfsacl3_args_getacl, &get.dir);

        nfsacl_ace access[ENTRIES];
        nfsacl_ace defaults[ENTRIES];
        SETACL3args set = {.dir = values_handle(v), .mask = wire_u32(&v->random)};
        set.ace_count = set.ace.ace_len = make_entries(v, access);
        set.ace.ace_val = access;
        set.default_ace_count = set.default_ace.default_ace_len = make_entries(v, defaults);
        set.default_ace.default_ace_val = defaults;
        encode_SETACL3args(v, &set);
        expect_args(v, nfsacl3_args_setacl, &set.dir);
        for (int i = 0; i < 20; i++) {
            uint8_t *copy = wire_damaged(&v->random, v->wire, v->len);
            struct cursor c = cursor_over(copy, v->len);
            struct nfs3_args args;
            if (nfsacl3_args_setacl(&c, &args))
                wire_assert_inside(args.object, copy, v->len);
            free(copy);
        }
    }
    free(v);
}

/* Decodes every prefix; those that have the attributes in front pass. */
static void expect_res(struct values *v, nfs3_res_decoder *decode, uint32_t status,
                       const uint8_t *attributes)
{
    uint32_t needed = status != NFS3_OK ? 4 : attributes ? 8 + NFS3_FATTR_LEN : 8;
    for (uint32_t len = 0; len <= v->len; len++) {
        uint8_t *copy = wire_exact(v->wire, len);
        struct cursor c = cursor_over(copy, len);
        struct nfs3_res res;
        memset(&res, 0xff, sizeof res);
        assert_int_equal(decode(&c, &res), len >= needed);
        if (len >= needed) {
            assert_int_equal(res.status, status);
            assert_int_equal(res.object != NULL, attributes != NULL);
            if (attributes)
                assert_memory_equal(res.object, attributes, NFS3_FATTR_LEN);
            assert_int_equal(res.handle.len, 0);
        }
        free(copy);
    }
}

/* Protects: the attributes that GETACL and SETACL return, and a failure that is a status and
 * nothing else. */
static void test_results(void **state)
{
    (void)state;
    struct values *v = values_new(227);
    for (int round = 0; round < ROUNDS; round++) {
        values_reset(v);
        uint32_t status = round % 4 == 0 ? NFS3ERR_STALE : NFS3_OK;
        post_op_attr attr = values_post_op_attr(v);
        const uint8_t *expected = status == NFS3_OK ? values_expect_attr(v, &attr) : NULL;
        nfsacl_ace entries[ENTRIES];
        GETACL3res get = {.status = (nfsstat3)status};
        get.GETACL3res_u.resok.attr = attr;
        get.GETACL3res_u.resok.ace.ace_len = make_entries(v, entries);
        get.GETACL3res_u.resok.ace.ace_val = entries;
        encode_GETACL3res(v, &get);
        expect_res(v, nfsacl3_res_getacl, status, expected);

        SETACL3res set = {.status = (nfsstat3)status, .SETACL3res_u.resok.attr = attr};
        encode_SETACL3res(v, &set);
        expect_res(v, nfsacl3_res_setacl, status, expected);
    }
    free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_args),
        cmocka_unit_test(test_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
