/*
 * MOUNT version 3 as libnfs writes it, read by us.
 */
#include "libnfs_values.h"

#define ROUNDS 300
#define NODES  6

LIBNFS_CODEC(dirpath)
LIBNFS_CODEC(mountres3)
LIBNFS_CODEC(mountlist)
LIBNFS_CODEC(exports)

/* Protects: the path of MNT and UMNT, and that no prefix of it passes. */
static void test_path(void **state)
{
    (void)state;
    struct values *v = values_new(1094);
    for (int round = 0; round < ROUNDS; round++) {
        values_reset(v);
        char *text = values_name(v, MOUNT3_PATH_MAX);
        encode_dirpath(v, &text);
        struct bytes path;
        for (uint32_t len = 0; len <= v->len; len++) {
            uint8_t *copy = wire_exact(v->wire, len);
            struct cursor c = cursor_over(copy, len);
            assert_int_equal(mount3_path_args(&c, &path), len == v->len);
            if (len == v->len)
                wire_assert_text(path, text);
            free(copy);
        }
    }
    free(v);
}

static void make_mnt(struct values *v, mountres3 *res)
{
    static const uint32_t failures[] = {1, 2, 13, 10006, 12345};
    struct mountres3_ok *ok = &res->mountres3_u.mountinfo;
    nfs_fh3 handle = values_handle(v);
    ok->fhandle = (fhandle3){handle.data.data_len, handle.data.data_val};
    ok->auth_flavors.auth_flavors_len = wire_len(&v->random, MOUNT3_FLAVORS_MAX);
    for (uint32_t i = 0; i < ok->auth_flavors.auth_flavors_len; i++)
        ok->auth_flavors.auth_flavors_val[i] = (int)wire_u32(&v->random);
    res->fhs_status = MNT3_OK;
    if (wire_below(&v->random, 4) == 0)
        res->fhs_status = (mountstat3)failures[wire_below(&v->random, 5)];
    encode_mountres3(v, res);
}

static void assert_mnt(const struct mount3_mnt_res *res, const mountres3 *expected)
{
    const struct mountres3_ok *ok = &expected->mountres3_u.mountinfo;
    assert_int_equal(res->status, expected->fhs_status);
    if (res->status != MNT3_OK) {
        assert_int_equal(res->handle.len, 0);
        assert_int_equal(res->flavor_count, 0);
        return;
    }
    wire_assert_bytes(res->handle, wire_bytes(ok->fhandle.fhandle3_val, ok->fhandle.fhandle3_len));
    assert_int_equal(res->flavor_count, ok->auth_flavors.auth_flavors_len);
    for (uint32_t i = 0; i < res->flavor_count; i++)
        assert_int_equal(res->flavors[i], (uint32_t)ok->auth_flavors.auth_flavors_val[i]);
}

/* Protects: handle and flavors of MNT, in the server's order, and the failures that have neither. */
static void test_mnt(void **state)
{
    (void)state;
    struct values *v = values_new(390003);
    for (int round = 0; round < ROUNDS; round++) {
        values_reset(v);
        int flavors[MOUNT3_FLAVORS_MAX];
        mountres3 expected = {0};
        expected.mountres3_u.mountinfo.auth_flavors.auth_flavors_val = flavors;
        make_mnt(v, &expected);
        struct mount3_mnt_res res;
        for (uint32_t len = 0; len <= v->len; len++) {
            uint8_t *copy = wire_exact(v->wire, len);
            struct cursor c = cursor_over(copy, len);
            assert_int_equal(mount3_mnt_res(&c, &res), len == v->len);
            if (len == v->len)
                assert_mnt(&res, &expected);
            free(copy);
        }
        for (int i = 0; i < 20; i++) {
            uint8_t *copy = wire_damaged(&v->random, v->wire, v->len);
            struct cursor c = cursor_over(copy, v->len);
            if (mount3_mnt_res(&c, &res)) {
                wire_assert_inside(res.handle, copy, v->len);
                assert_in_range(res.flavor_count, 0, MOUNT3_FLAVORS_MAX);
            }
            free(copy);
        }
    }
    free(v);
}

/* Reads all of a mount list and says how many elements it had; the cursor says whether it ended well. */
static uint32_t read_mounts(struct cursor *c, const mountbody *expected, uint32_t made)
{
    struct bytes host;
    struct bytes dir;
    uint32_t count = 0;
    while (count < made && mount3_mount_next(c, &host, &dir)) {
        wire_assert_text(host, expected[count].ml_hostname);
        wire_assert_text(dir, expected[count].ml_directory);
        count++;
    }
    assert_false(mount3_mount_next(c, &host, &dir));
    return count;
}

/* Protects: DUMP's list, element by element; a list that is cut off ends with a failed cursor and
 * not as if complete. */
static void test_dump(void **state)
{
    (void)state;
    struct values *v = values_new(100005);
    for (int round = 0; round < ROUNDS; round++) {
        values_reset(v);
        mountbody nodes[NODES] = {0};
        uint32_t count = wire_below(&v->random, NODES + 1);
        for (uint32_t i = 0; i < count; i++)
            nodes[i] = (mountbody){.ml_hostname = values_name(v, MOUNT3_NAME_MAX),
                                   .ml_directory = values_name(v, 300),
                                   .ml_next = i + 1 < count ? &nodes[i + 1] : NULL};
        mountlist list = count > 0 ? nodes : NULL;
        encode_mountlist(v, &list);
        for (uint32_t len = 0; len <= v->len; len++) {
            uint8_t *copy = wire_exact(v->wire, len);
            struct cursor c = cursor_over(copy, len);
            uint32_t seen = read_mounts(&c, nodes, count);
            assert_int_equal(cursor_ok(&c), len == v->len);
            if (len == v->len)
                assert_int_equal(seen, count);
            free(copy);
        }
    }
    free(v);
}

struct export_nodes {
    struct exportnode dirs[NODES];
    struct groupnode members[NODES][NODES];
    uint32_t member_count[NODES];
    uint32_t count;
};

static void make_exports(struct values *v, struct export_nodes *n)
{
    n->count = wire_below(&v->random, NODES + 1);
    for (uint32_t i = 0; i < n->count; i++) {
        n->member_count[i] = wire_below(&v->random, NODES + 1);
        for (uint32_t g = 0; g < n->member_count[i]; g++)
            n->members[i][g] = (struct groupnode){
                .gr_name = values_name(v, MOUNT3_NAME_MAX),
                .gr_next = g + 1 < n->member_count[i] ? &n->members[i][g + 1] : NULL};
        n->dirs[i] = (struct exportnode){.ex_dir = values_name(v, 300),
                                         .ex_groups = n->member_count[i] > 0 ? n->members[i] : NULL,
                                         .ex_next = i + 1 < n->count ? &n->dirs[i + 1] : NULL};
    }
    struct exportnode *list = n->count > 0 ? n->dirs : NULL;
    encode_exports(v, &list);
}

static uint32_t read_exports(struct cursor *c, const struct export_nodes *n)
{
    struct mount3_export export_;
    uint32_t count = 0;
    while (count < n->count && mount3_export_next(c, &export_)) {
        wire_assert_text(export_.dir, n->dirs[count].ex_dir);
        struct bytes member;
        uint32_t members = 0;
        while (mount3_group_next(&export_.groups, &member)) {
            wire_assert_text(member, n->members[count][members].gr_name);
            members++;
        }
        assert_true(cursor_ok(&export_.groups));
        assert_int_equal(members, n->member_count[count]);
        assert_false(mount3_group_next(&export_.groups, &member)); /* the next export is no group */
        count++;
    }
    assert_false(mount3_export_next(c, &export_));
    return count;
}

/* Protects: the same for EXPORT's list of lists; an element that was yielded has all of its groups. */
static void test_export(void **state)
{
    (void)state;
    struct values *v = values_new(3);
    for (int round = 0; round < ROUNDS / 3; round++) {
        values_reset(v);
        struct export_nodes nodes = {0};
        make_exports(v, &nodes);
        for (uint32_t len = 0; len <= v->len; len++) {
            uint8_t *copy = wire_exact(v->wire, len);
            struct cursor c = cursor_over(copy, len);
            uint32_t seen = read_exports(&c, &nodes);
            assert_int_equal(cursor_ok(&c), len == v->len);
            if (len == v->len)
                assert_int_equal(seen, nodes.count);
            free(copy);
        }
    }
    free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_path),
        cmocka_unit_test(test_mnt),
        cmocka_unit_test(test_dump),
        cmocka_unit_test(test_export),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
