/*
 * Verdicts: only what the server said to exactly that credential, for exactly these bits (K09 K10
 * K11 K12), and never one that contradicts a newer one.
 */
#include "cache_fixture.h"

#include "xdr/rpc.h"

static void as(struct fixture *fx, uint32_t flavor, uint32_t uid, uint32_t gid,
               const uint32_t *gids, uint32_t gid_count)
{
    fx->credential = (struct cache_credential){flavor, uid, gid, gid_count, gids};
}

/* K09: the owner, another uid, uid 0, AUTH_NONE, another gid, another gid list, a shorter one. */
static void test_credentials(void **state)
{
    struct fixture *fx = *state;
    static const uint32_t gids[3] = {5, 6, 7}, others[3] = {5, 6, 8};
    struct file f = regular(1);
    struct {
        uint32_t flavor, uid, gid;
        const uint32_t *gids;
        uint32_t count;
    } who[] = {
        {RPC_AUTH_SYS, 1000, 100, gids, 3}, {RPC_AUTH_SYS, 1001, 100, gids, 3},
        {RPC_AUTH_SYS, 0, 100, gids, 3},    {RPC_AUTH_NONE, 1000, 100, gids, 3},
        {RPC_AUTH_SYS, 1000, 101, gids, 3}, {RPC_AUTH_SYS, 1000, 100, others, 3},
        {RPC_AUTH_SYS, 1000, 100, gids, 2}, {RPC_AUTH_SYS, 1000, 100, NULL, 0},
    };
    for (unsigned i = 0; i < 8; i++) {
        as(fx, who[i].flavor, who[i].uid, who[i].gid, who[i].gids, who[i].count);
        fill(fx, "f", &f);
        for (unsigned k = i; k < 8; k++) {
            as(fx, who[k].flavor, who[k].uid, who[k].gid, who[k].gids, who[k].count);
            assert_not_granted(fx, "f", 0x3f);
        }
        as(fx, who[i].flavor, who[i].uid, who[i].gid, who[i].gids, who[i].count);
        verdict(fx, "f", 0x3f, 0x30 | i);
    }
    for (unsigned i = 0; i < 8; i++) {
        as(fx, who[i].flavor, who[i].uid, who[i].gid, who[i].gids, who[i].count);
        assert_granted(fx, "f", 0x3f, 0x30 | i);
    }
    assert_int_equal(usage(fx).verdicts, 8);
    assert_int_equal(usage(fx).credentials, 8);
}

/* K10: whatever the mode and the owner say. */
static void test_not_from_mode(void **state)
{
    struct fixture *fx = *state;
    struct file d = directory(1);
    d.mode = 0700;
    d.uid = 65534;
    fill(fx, "d", &d);
    verdict(fx, "d", 0x1f, 0x1f);
    assert_granted(fx, "d", 0x1f, 0x1f);
    as(fx, RPC_AUTH_SYS, 0, 0, NULL, 0);
    assert_not_granted(fx, "d", 0x1f);
    verdict(fx, "d", 0x1f, 0x00);
    assert_granted(fx, "d", 0x1f, 0x00);
}

/* K11: what is answered is within the mask; a bit that was never asked for is asked for. */
static void test_masks(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1);
    fill(fx, "f", &f);
    verdict(fx, "f", 0x01, 0x01);
    assert_granted(fx, "f", 0x01, 0x01);
    assert_not_granted(fx, "f", 0x3f);
    assert_not_granted(fx, "f", 0x02);
    verdict(fx, "f", 0x3f, 0x2d);
    assert_granted(fx, "f", 0x3f, 0x2d);
    assert_granted(fx, "f", 0x02, 0x00);
    assert_granted(fx, "f", 0x05, 0x05);
    assert_int_equal(usage(fx).verdicts, 1); /* the wider one takes the other's place */
    assert_not_granted(fx, "f", 0x40);       /* no such bit: the server may say what it means */
    /* Granted without having been asked: not an answer. */
    verdict(fx, "f", 0x3f, 0xff);
    assert_granted(fx, "f", 0x3f, 0x3f);
}

/* Two answers for different bits stay two: neither is put together from both. */
static void test_never_mixed(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1);
    fill(fx, "f", &f);
    verdict(fx, "f", 0x07, 0x01);
    verdict(fx, "f", 0x38, 0x20);
    assert_granted(fx, "f", 0x07, 0x01);
    assert_granted(fx, "f", 0x38, 0x20);
    assert_not_granted(fx, "f", 0x3f);
    assert_int_equal(usage(fx).verdicts, 2);
}

/* K12: a verdict is asked again at access_age, in both modes, although its object is fresh. */
static void test_age(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1);
    fx->ages.exclusive = true;
    fill(fx, "f", &f);
    verdict(fx, "f", 0x3f, 0x00);
    advance(fx, 59999);
    assert_granted(fx, "f", 0x3f, 0x00);
    advance(fx, 1);
    assert_served(fx, "f", &f);
    assert_not_granted(fx, "f", 0x3f);
    fill(fx, "f", &f);
    verdict(fx, "f", 0x3f, 0x3f);
    assert_granted(fx, "f", 0x3f, 0x3f);
    fx->ages.exclusive = false; /* attributes must be fresh too */
    advance(fx, 59999);
    assert_granted(fx, "f", 0x3f, 0x3f);
    fx->ages.age_max = 30 * CACHE_NSEC_PER_SEC;
    assert_not_granted(fx, "f", 0x3f);
}

static void verdict_sent(struct fixture *fx, cache_stamp sent, const char *handle, uint32_t asked,
                         uint32_t granted)
{
    struct cache_filler from = filler(fx, sent);
    cache_fill_verdict(&from, text(handle), asked, granted);
}

/* Of two that overlap and differ neither is kept, nor is a third that is as old; of two in order
 * the second. */
static void test_order(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1);
    fill(fx, "f", &f);
    verdict(fx, "f", 0x3f, 0x3f);
    verdict(fx, "f", 0x3f, 0x0f);
    assert_granted(fx, "f", 0x3f, 0x0f);
    cache_stamp sent = tick(fx), third = tick(fx);
    verdict_sent(fx, sent, "f", 0x3f, 0x0f);
    assert_granted(fx, "f", 0x3f, 0x0f);
    verdict_sent(fx, sent, "f", 0x01, 0x00);
    assert_not_granted(fx, "f", 0x3f);
    assert_int_equal(usage(fx).overlaps, 1);
    verdict_sent(fx, third, "f", 0x3f, 0x0f);
    assert_not_granted(fx, "f", 0x3f);
    assert_served(fx, "f", &f); /* nothing is wrong with the attributes */
    verdict(fx, "f", 0x3f, 0x0f);
    assert_granted(fx, "f", 0x3f, 0x0f);
}

/* The same of replies that show attributes, which are the kept ones. */
static void test_order_with_attributes(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1);
    uint8_t fattr[NFS3_FATTR_LEN];
    file_fattr(&f, fattr);
    fill(fx, "f", &f);
    cache_stamp sent = tick(fx);
    verdict(fx, "f", 0x3f, 0x3f);
    cache_stamp third = tick(fx);
    const struct {
        cache_stamp sent;
        bool kept;
    } rows[] = {{sent, false}, {third, false}, {0, true}};
    for (unsigned i = 0; i < 3; i++) {
        struct cache_filler from = filler(fx, rows[i].sent);
        from.fattr = fattr;
        cache_fill_verdict(&from, text("f"), 0x3f, 0x0f);
        if (rows[i].kept)
            assert_granted(fx, "f", 0x3f, 0x0f);
        else
            assert_not_granted(fx, "f", 0x3f);
    }
    assert_int_equal(usage(fx).overlaps, 1);
    assert_int_equal(usage(fx).fence_rejects, 1);
}

/* Of two that say the same the later one counts, whichever is brought first: what was sent before that, and says otherwise, may
 * be older. */
static void test_brought_sooner(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1);
    fill(fx, "f", &f);
    struct cache_filler from = filler(fx, 0);
    from.received += 100;
    cache_fill_verdict(&from, text("f"), 0x3f, 0x3f);
    verdict(fx, "f", 0x3f, 0x3f);
    assert_granted(fx, "f", 0x3f, 0x3f);
    cache_stamp sent = tick(fx);
    assert_true(sent < from.received);
    verdict_sent(fx, sent, "f", 0x3f, 0x0f);
    assert_not_granted(fx, "f", 0x3f);
    assert_int_equal(usage(fx).overlaps, 1);
    verdict_sent(fx, from.received, "f", 0x3f, 0x0f);
    assert_granted(fx, "f", 0x3f, 0x0f);
}

/* A verdict is kept only with attributes, and not with ones that came after it was asked for in
 * another reply: it may be from before a change that they show. */
static void test_needs_attributes(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1);
    verdict(fx, "f", 0x3f, 0x3f);
    fill(fx, "f", &f);
    assert_not_granted(fx, "f", 0x3f);
    cache_stamp sent = tick(fx);
    fill(fx, "f", &f);
    verdict_sent(fx, sent, "f", 0x3f, 0x3f);
    assert_not_granted(fx, "f", 0x3f);
    /* With attributes in the same reply, which are those that are kept. */
    sent = tick(fx);
    fill(fx, "f", &f);
    uint8_t fattr[NFS3_FATTR_LEN];
    struct cache_filler from = filler(fx, sent);
    file_fattr(&f, fattr);
    cache_fill_attributes(&from, text("f"), fattr);
    cache_fill_verdict(&from, text("f"), 0x3f, 0x3f);
    assert_granted(fx, "f", 0x3f, 0x3f);
}

/* Unknown flavors get no verdict. */
static void test_flavor(void **state)
{
    struct fixture *fx = *state;
    static const uint32_t gids[17];
    struct file f = regular(1);
    fill(fx, "f", &f);
    as(fx, RPC_AUTH_GSS, 1000, 100, NULL, 0);
    verdict(fx, "f", 0x3f, 0x3f);
    assert_not_granted(fx, "f", 0x3f);
    as(fx, RPC_AUTH_SYS, 1000, 100, gids, 17);
    verdict(fx, "f", 0x3f, 0x3f);
    assert_not_granted(fx, "f", 0x3f);
    as(fx, RPC_AUTH_SYS, 1000, 100, gids, 16);
    verdict(fx, "f", 0x3f, 0x3f);
    assert_granted(fx, "f", 0x3f, 0x3f);
    assert_int_equal(usage(fx).verdicts, 1);
}

/* An object keeps 64 verdicts; the oldest goes. */
static void test_limit(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1);
    fill(fx, "f", &f);
    for (uint32_t uid = 0; uid < 100; uid++) {
        as(fx, RPC_AUTH_SYS, uid, 0, NULL, 0);
        verdict(fx, "f", 0x3f, uid & 0x3f);
    }
    assert_int_equal(usage(fx).verdicts, 64);
    assert_int_equal(usage(fx).credentials, 64);
    for (uint32_t uid = 0; uid < 100; uid++) {
        as(fx, RPC_AUTH_SYS, uid, 0, NULL, 0);
        if (uid < 36)
            assert_not_granted(fx, "f", 0x3f);
        else
            assert_granted(fx, "f", 0x3f, uid & 0x3f);
    }
}

/* LOOKUP is answered to whom the server let search: by a verdict with that bit, or by a LOOKUP that
 * it answered; READDIRPLUS proves nothing (C4). */
static void test_search(void **state)
{
    struct fixture *fx = *state;
    struct file d = directory(1), f = regular(2);
    fill(fx, "d", &d);
    fill(fx, "f", &f);
    struct cache_filler from = filler(fx, 0);
    cache_fill_name(&from, text("d"), text("f"), text("f"), false);
    assert_lookup(fx, "d", "f", NULL);
    verdict(fx, "d", 0x3f, 0x3d); /* all but LOOKUP */
    assert_lookup(fx, "d", "f", NULL);
    verdict(fx, "d", 0x02, 0x02);
    assert_lookup(fx, "d", "f", "f");

    as(fx, RPC_AUTH_SYS, 1, 1, NULL, 0);
    assert_lookup(fx, "d", "f", NULL);
    name(fx, "d", "f", "f");
    assert_lookup(fx, "d", "f", "f");
    assert_not_granted(fx, "d", 0x02); /* that was no ACCESS */

    as(fx, RPC_AUTH_SYS, 2, 1, NULL, 0);
    absent(fx, "d", "g"); /* it searched, and found nothing */
    assert_lookup(fx, "d", "f", "f");
    assert_lookup(fx, "d", "g", "");

    as(fx, RPC_AUTH_GSS, 2, 1, NULL, 0);
    assert_lookup(fx, "d", "f", NULL);
}

/* The proof ages like a verdict, and a verdict that says otherwise takes it away. */
static void test_search_ages(void **state)
{
    struct fixture *fx = *state;
    struct file d = directory(1), f = regular(2);
    fx->ages.exclusive = true;
    fill(fx, "d", &d);
    fill(fx, "f", &f);
    name(fx, "d", "f", "f");
    advance(fx, 59999);
    assert_lookup(fx, "d", "f", "f");
    advance(fx, 1);
    assert_lookup(fx, "d", "f", NULL);
    name(fx, "d", "f", "f");
    assert_lookup(fx, "d", "f", "f");
    verdict(fx, "d", 0x03, 0x01);
    assert_lookup(fx, "d", "f", NULL);
    name(fx, "d", "f", "f"); /* and the other way round */
    assert_lookup(fx, "d", "f", "f");
    assert_not_granted(fx, "d", 0x03);
}

/* A verdict, and the proof that a directory may be searched, stand side by side. */
static void test_search_beside_verdict(void **state)
{
    struct fixture *fx = *state;
    struct file d = directory(1), f = regular(2);
    fill(fx, "d", &d);
    fill(fx, "f", &f);
    name(fx, "d", "f", "f");
    verdict(fx, "d", 0x01, 0x01); /* says nothing of LOOKUP */
    assert_lookup(fx, "d", "f", "f");
    assert_granted(fx, "d", 0x01, 0x01);
    name(fx, "d", "g", "f");
    assert_granted(fx, "d", 0x01, 0x01);
    assert_int_equal(usage(fx).verdicts, 2);
}

/* A verdict with attributes in its reply that are the kept ones is kept, also where those came in
 * another reply, which was received later. */
static void test_same_attributes(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1), g = f;
    uint8_t fattr[NFS3_FATTR_LEN];
    g.ctime++;
    struct cache_filler from = filler(fx, 0);
    fill(fx, "f", &f);
    file_fattr(&g, fattr);
    from.fattr = fattr;
    cache_fill_verdict(&from, text("f"), 0x3f, 0x3f);
    assert_not_granted(fx, "f", 0x3f);
    file_fattr(&f, fattr);
    cache_fill_verdict(&from, text("f"), 0x3f, 0x3f);
    assert_granted(fx, "f", 0x3f, 0x3f);
}

/* A verdict without attributes shows nothing that would tell an older one from it later on: what was
 * sent before it came is not kept, be it refused, evicted, or of an object that is not kept. */
static void test_bare(void **state)
{
    struct fixture *fx = *state;
    struct file f = regular(1);
    uint8_t fattr[NFS3_FATTR_LEN];
    file_fattr(&f, fattr);
    for (unsigned i = 0; i < 3; i++) {
        cache_flush(fx->cache, NULL);
        cache_stamp bare = tick(fx), held = tick(fx);
        if (i > 0)
            fill(fx, "f", &f);
        if (i == 1)
            verdict_sent(fx, bare, "f", 0x3f, 0x00);
        else
            verdict(fx, "f", 0x3f, 0x00);
        for (uint32_t uid = 1; i == 2 && uid <= 64; uid++) {
            as(fx, RPC_AUTH_SYS, uid, 0, NULL, 0);
            verdict(fx, "f", 0x3f, 0x00);
        }
        as(fx, RPC_AUTH_SYS, 1000, 100, NULL, 0);
        struct cache_filler from = filler(fx, held);
        from.fattr = fattr;
        cache_fill_attributes(&from, text("f"), fattr);
        cache_fill_verdict(&from, text("f"), 0x3f, 0x3f);
        fill(fx, "f", &f);
        assert_not_granted(fx, "f", 0x3f);
        verdict(fx, "f", 0x3f, 0x3f);
        assert_granted(fx, "f", 0x3f, 0x3f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_credentials),
        TEST(test_not_from_mode),
        TEST(test_masks),
        TEST(test_never_mixed),
        TEST(test_age),
        TEST(test_order),
        TEST(test_needs_attributes),
        TEST(test_flavor),
        TEST(test_limit),
        TEST(test_search),
        TEST(test_search_ages),
        TEST(test_search_beside_verdict),
        TEST(test_brought_sooner),
        TEST(test_order_with_attributes),
        TEST(test_same_attributes),
        TEST(test_bare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
