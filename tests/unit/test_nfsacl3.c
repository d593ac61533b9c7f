#include "xdr/nfsacl3.h"

#include "wire.h"

static uint8_t buffer[65536];

static bool decode_args(nfs3_args_decoder *decode, const struct writer *w, struct nfs3_args *args)
{
    assert_true(writer_ok(w));
    uint8_t *copy = wire_exact(w->start, writer_len(w));
    struct cursor c = cursor_over(copy, writer_len(w));
    bool ok = decode(&c, args);
    free(copy);
    return ok;
}

static void put_list(struct writer *w, uint32_t counted, uint32_t claimed, uint32_t entries)
{
    writer_u32(w, counted);
    writer_u32(w, claimed);
    for (uint32_t i = 0; i < 3 * entries; i++)
        writer_u32(w, i);
}

/* Protects: SETACL with four entries and an empty default list, as setfacl sends it. */
static void test_setacl(void **state)
{
    (void)state;
    struct writer w = writer_over(buffer, sizeof buffer);
    writer_opaque(&w, wire_text("handle"));
    writer_u32(&w, 1);
    put_list(&w, 4, 4, 4);
    put_list(&w, 0, 0, 0);
    struct cursor c = cursor_over(buffer, writer_len(&w));
    struct nfs3_args args;
    assert_true(nfsacl3_args_setacl(&c, &args));
    wire_assert_text(args.object, "handle");
    assert_int_equal(cursor_left(&c), 0);
}

/* Protects: both lists have 1,024 entries at most, all of them in the record; sizes that wrap
   around 32 bits are errors (0x55555556 entries of 12 octets would be 8). The count in front of a
   list may be of what is not in it. */
static void test_setacl_bounds(void **state)
{
    (void)state;
    static const struct {
        uint32_t counted, claimed, entries;
        bool ok;
    } lists[] = {{0, 0, 0, true},           {1024, 1024, 1024, true}, {7, 0, 0, true},
                 {1025, 1025, 1025, false}, {2, 2, 1, false},         {1, 0x55555556, 1, false},
                 {0, 0xffffffff, 8, false}};
    for (size_t a = 0; a < 7; a++) {
        for (size_t d = 0; d < 7; d++) {
            struct writer w = writer_over(buffer, sizeof buffer);
            writer_opaque(&w, wire_text("handle"));
            writer_u32(&w, 5);
            put_list(&w, lists[a].counted, lists[a].claimed, lists[a].entries);
            /* What a short first list lacks must not be made up by the second one. */
            if (lists[a].ok)
                put_list(&w, lists[d].counted, lists[d].claimed, lists[d].entries);
            struct nfs3_args args;
            assert_int_equal(decode_args(nfsacl3_args_setacl, &w, &args),
                             lists[a].ok && lists[d].ok);
        }
    }
}

/* Protects: handles above 64 octets are refused. */
static void test_handle_bound(void **state)
{
    (void)state;
    static const uint8_t handle[68];
    for (uint32_t len = 64; len <= 65; len++) {
        struct nfs3_args args;
        struct writer w = writer_over(buffer, sizeof buffer);
        writer_opaque(&w, wire_bytes(handle, len));
        writer_u32(&w, 0xf);
        assert_int_equal(decode_args(nfsacl3_args_getacl, &w, &args), len <= 64);
        put_list(&w, 0, 0, 0);
        put_list(&w, 0, 0, 0);
        assert_int_equal(decode_args(nfsacl3_args_setacl, &w, &args), len <= 64);
    }
}

/* Protects: a failure has attributes, as Linux sends it, or ends at its status, as other servers
   do; success does not. Attributes that are cut off are an error in either. */
static void test_results(void **state)
{
    (void)state;
    static nfs3_res_decoder *const decoders[] = {nfsacl3_res_getacl, nfsacl3_res_setacl};
    uint8_t fattr[NFS3_FATTR_LEN];
    memset(fattr, 0x5a, sizeof fattr);
    for (int d = 0; d < 2; d++) {
        for (uint32_t status = 0; status <= NFS3ERR_STALE; status += NFS3ERR_STALE) {
            struct writer w = writer_over(buffer, sizeof buffer);
            writer_u32(&w, status);
            nfs3_put_post_op_attr(&w, fattr);
            for (uint32_t len = 0; len <= writer_len(&w); len++) {
                uint8_t *copy = wire_exact(buffer, len);
                struct cursor c = cursor_over(copy, len);
                struct nfs3_res res;
                bool ends_early = status != NFS3_OK && len == 4;
                assert_int_equal(decoders[d](&c, &res), ends_early || len == 8 + NFS3_FATTR_LEN);
                if (len == 8 + NFS3_FATTR_LEN)
                    assert_memory_equal(res.object, fattr, sizeof fattr);
                if (ends_early)
                    assert_null(res.object);
                if (len >= 4)
                    assert_int_equal(res.status, status);
                free(copy);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_setacl),
        cmocka_unit_test(test_setacl_bounds),
        cmocka_unit_test(test_handle_bound),
        cmocka_unit_test(test_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
