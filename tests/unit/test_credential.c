#include "proxy/credential.h"

#include "stage.h"

static struct settings_service settings_of(enum settings_squash squash)
{
    return (struct settings_service){.squash = squash, .anonuid = 65534, .anongid = 65533};
}

/* The body of AUTH_SYS credentials, by hand. */
static struct body sys_body(const char *machine, uint32_t uid, uint32_t gid, uint32_t count,
                            const uint32_t *gids)
{
    struct body body = {0};
    body_u32(&body, 0x01020304);
    body_opaque(&body, machine, (uint32_t)strlen(machine));
    body_u32(&body, uid);
    body_u32(&body, gid);
    body_u32(&body, count);
    for (uint32_t i = 0; i < count; i++)
        body_u32(&body, gids[i]);
    return body;
}

static enum rpc_auth_stat read_sys(struct credential *credential, const struct body *body,
                                   enum settings_squash squash)
{
    struct settings_service settings = settings_of(squash);
    struct rpc_call call = {.cred_flavor = RPC_AUTH_SYS, .cred = body_bytes(body)};
    memset(credential, 0xa5, sizeof(*credential));
    return credential_read(credential, &call, &settings);
}

static void assert_identity(const struct credential *credential, uint32_t uid, uint32_t gid,
                            uint32_t count, const uint32_t *gids)
{
    assert_true(credential->plain);
    assert_int_equal(credential->identity.flavor, RPC_AUTH_SYS);
    assert_int_equal(credential->identity.uid, uid);
    assert_int_equal(credential->identity.gid, gid);
    assert_int_equal(credential->identity.gid_count, count);
    if (count > 0)
        assert_memory_equal(credential->identity.gids, gids, count * sizeof(*gids));
}

static const uint32_t gids16[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0xfffffffe};

/* Protects: without squash the identity is what the client said, up to 16 gids and the largest
 * uid, and the credential goes as it came. */
static void test_as_it_came(void **state)
{
    (void)state;
    struct credential credential;
    const uint32_t counts[] = {0, 1, 16};
    for (unsigned i = 0; i < 3; i++) {
        struct body body = sys_body("host", 0xfffffffe, 7, counts[i], gids16);
        assert_int_equal(read_sys(&credential, &body, SETTINGS_SQUASH_NONE), RPC_AUTH_OK);
        assert_identity(&credential, 0xfffffffe, 7, counts[i], gids16);
        assert_false(credential.squashed);
        struct body zero = sys_body("", 0, 0, counts[i], gids16);
        assert_int_equal(read_sys(&credential, &zero, SETTINGS_SQUASH_NONE), RPC_AUTH_OK);
        assert_identity(&credential, 0, 0, counts[i], gids16);
        assert_false(credential.squashed);
    }
}

/* Protects: root squash makes uid 0 the anonymous user with no groups of root's; stamp and machine
 * stay. */
static void test_squash_root(void **state)
{
    (void)state;
    static const uint32_t gids[2] = {0, 10};
    struct credential credential;
    uint8_t encoded[RPC_AUTH_BODY_MAX];
    struct body body = sys_body("client", 0, 0, 2, gids);
    assert_int_equal(read_sys(&credential, &body, SETTINGS_SQUASH_ROOT), RPC_AUTH_OK);
    assert_identity(&credential, 65534, 65533, 0, NULL);
    assert_true(credential.squashed);
    struct body expected = sys_body("client", 65534, 65533, 0, NULL);
    wire_assert_bytes(credential_encode(&credential, encoded), body_bytes(&expected));
}

/* Protects: root squash leaves others alone, but for the group of root. */
static void test_squash_root_of_others(void **state)
{
    (void)state;
    static const uint32_t gids[3] = {5, 0, 6}, squashed[3] = {5, 65533, 6};
    struct credential credential;
    uint8_t encoded[RPC_AUTH_BODY_MAX];
    struct body body = sys_body("c", 1000, 100, 1, gids);
    assert_int_equal(read_sys(&credential, &body, SETTINGS_SQUASH_ROOT), RPC_AUTH_OK);
    assert_identity(&credential, 1000, 100, 1, gids);
    assert_false(credential.squashed);

    body = sys_body("c", 1000, 0, 1, gids);
    assert_int_equal(read_sys(&credential, &body, SETTINGS_SQUASH_ROOT), RPC_AUTH_OK);
    assert_identity(&credential, 1000, 65533, 1, gids);
    assert_true(credential.squashed);

    body = sys_body("c", 1000, 100, 3, gids);
    assert_int_equal(read_sys(&credential, &body, SETTINGS_SQUASH_ROOT), RPC_AUTH_OK);
    assert_identity(&credential, 1000, 100, 3, squashed);
    assert_true(credential.squashed);
    struct body expected = sys_body("c", 1000, 100, 3, squashed);
    wire_assert_bytes(credential_encode(&credential, encoded), body_bytes(&expected));
}

/* Protects: with all squashed, everybody is one and the same. */
static void test_squash_all(void **state)
{
    (void)state;
    char machine[256];
    memset(machine, 'm', 255);
    machine[255] = '\0';
    struct credential credential;
    uint8_t encoded[RPC_AUTH_BODY_MAX];
    struct body body = sys_body(machine, 1000, 100, 16, gids16);
    assert_int_equal(read_sys(&credential, &body, SETTINGS_SQUASH_ALL), RPC_AUTH_OK);
    assert_identity(&credential, 65534, 65533, 0, NULL);
    assert_true(credential.squashed);
    struct body expected = sys_body(machine, 65534, 65533, 0, NULL);
    wire_assert_bytes(credential_encode(&credential, encoded), body_bytes(&expected));
}

/* Protects: AUTH_NONE is nobody already, whatever the squash. */
static void test_auth_none(void **state)
{
    (void)state;
    for (int squash = SETTINGS_SQUASH_NONE; squash <= SETTINGS_SQUASH_ALL; squash++) {
        struct settings_service settings = settings_of((enum settings_squash)squash);
        struct rpc_call call = {.cred_flavor = RPC_AUTH_NONE};
        struct credential credential;
        assert_int_equal(credential_read(&credential, &call, &settings), RPC_AUTH_OK);
        assert_true(credential.plain);
        assert_false(credential.squashed);
        assert_int_equal(credential.identity.flavor, RPC_AUTH_NONE);
        assert_int_equal(credential.identity.gid_count, 0);
    }
}

/* Protects: RPCSEC_GSS is refused cleanly, since its checksum covers the xid. */
static void test_gss_is_too_weak(void **state)
{
    (void)state;
    for (int squash = SETTINGS_SQUASH_NONE; squash <= SETTINGS_SQUASH_ALL; squash++) {
        struct settings_service settings = settings_of((enum settings_squash)squash);
        struct body body = {.len = 20};
        struct rpc_call call = {.cred_flavor = RPC_AUTH_GSS, .cred = body_bytes(&body)};
        struct credential credential;
        assert_int_equal(credential_read(&credential, &call, &settings), RPC_AUTH_TOOWEAK);
        assert_false(credential.plain);
    }
}

/* What can't be read, or is of a flavor that is not known: passed on and never cached; refused where
 * it would have to be squashed. */
static void expect_opaque(uint32_t flavor, const struct body *body)
{
    for (int squash = SETTINGS_SQUASH_NONE; squash <= SETTINGS_SQUASH_ALL; squash++) {
        struct settings_service settings = settings_of((enum settings_squash)squash);
        struct rpc_call call = {.cred_flavor = flavor, .cred = body_bytes(body)};
        struct credential credential;
        assert_int_equal(credential_read(&credential, &call, &settings),
                         squash == SETTINGS_SQUASH_NONE ? RPC_AUTH_OK : RPC_AUTH_BADCRED);
        assert_false(credential.plain);
        assert_false(credential.squashed);
        /* No verdict is kept under these: not even under "uid 0, gid 0". */
        assert_int_not_equal(credential.identity.flavor, RPC_AUTH_NONE);
        assert_int_not_equal(credential.identity.flavor, RPC_AUTH_SYS);
    }
}

/* Protects: nothing is cut off a credential that is too large, and nothing is guessed from one that
 * is cut off, or has octets after its end. */
static void test_unreadable(void **state)
{
    (void)state;
    uint32_t gids17[17] = {0};
    struct body too_many = sys_body("host", 1000, 100, 17, gids17);
    expect_opaque(RPC_AUTH_SYS, &too_many);
    struct body whole = sys_body("host", 1000, 100, 2, gids17);
    for (uint32_t len = 0; len < whole.len; len++) {
        struct body cut = whole;
        cut.len = len;
        expect_opaque(RPC_AUTH_SYS, &cut);
    }
    body_u32(&whole, 0);
    expect_opaque(RPC_AUTH_SYS, &whole);
}

/* Protects: flavors that are not known. */
static void test_other_flavors(void **state)
{
    (void)state;
    struct body body = {.len = 12};
    expect_opaque(RPC_AUTH_SHORT, &body);
    expect_opaque(RPC_AUTH_DH, &body);
    expect_opaque(0xffffffff, &body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_it_came),
        cmocka_unit_test(test_squash_root),
        cmocka_unit_test(test_squash_root_of_others),
        cmocka_unit_test(test_squash_all),
        cmocka_unit_test(test_auth_none),
        cmocka_unit_test(test_gss_is_too_weak),
        cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_other_flavors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
