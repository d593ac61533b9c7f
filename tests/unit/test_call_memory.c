/*
 * Each allocation fails once: whatever the proxy was doing, every call ends exactly once, with a
 * reply or with a client that is told to come back; nothing leaks, and nothing old is served.
 */
#include "stage_scene.h"

#include <errno.h>

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

static struct {
    bool armed, failed;
    unsigned left; /* allocations until the one that fails */
} fault;

static bool fails(void)
{
    if (!fault.armed || fault.failed)
        return false;
    fault.failed = fault.left-- == 0;
    return fault.failed;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

/* The server does whatever it is told, and says as little as it can. */
static void serve(struct scene *s)
{
    struct stage_sent *sent;
    while ((sent = stage_next(s->stage)) != NULL) {
        switch (sent->rpc.procedure) {
        case NFS3_LOOKUP:
            stage_answer(sent, full_lookup(&s->f, &s->d));
            break;
        case NFS3_GETATTR:
            stage_answer(sent, res_getattr(&s->g.attr));
            break;
        case NFS3_SETATTR:
            file_write(&s->g);
            stage_answer(sent, res_wcc(NFS3_OK, no_wcc));
            break;
        default:
            stage_answer(sent, res_wcc(NFS3_OK, no_wcc));
            break;
        }
    }
}

/* Answered, or sent away: one of the two, once. */
static void call(struct scene *s, unsigned procedure, struct body args)
{
    struct stage_client *client = &s->c1;
    unsigned failures = client->failures;
    struct body record = stage_record(++client->xid, procedure, &client->who, &args);
    int err = stage_receive(client, body_bytes(&record));
    assert_true(err == 0 || err == -ENOMEM);
    serve(s);
    unsigned ends =
        client->failures - failures + (err != 0) + (stage_reply_find(client, client->xid) != NULL);
    assert_int_equal(ends, 1);
    assert_int_equal(client->client.inflight, 0);
    assert_int_equal(s->stage->worker[0].engine.calls, 0);
}

/* True when there was an allocation to fail. */
static bool run(unsigned nth, const char *keys, unsigned turn)
{
    struct scene s;
    struct file unknown = file_make("handle of unknown", NF3DIR, 9);
    scene_open(&s, keys);
    warm_attributes(&s, &s.g);
    s.stage->turn = turn; /* which records are owned */
    fault.left = nth;
    fault.failed = false;
    fault.armed = true;
    call(&s, NFS3_LOOKUP, args_dirop(&s.d, "f"));
    call(&s, NFS3_REMOVE, args_dirop(&s.d, "x"));
    call(&s, NFS3_SETATTR, args_setattr_size(&s.g, 0));
    call(&s, NFS3_RENAME, args_rename(&s.d, "a", &s.g, "b"));
    call(&s, NFS3_CREATE, args_create(&s.d, "n", NFS3_UNCHECKED, NULL));
    call(&s, NFS3_MKDIR, args_mkdir(&unknown, "n"));
    call(&s, NFS3_GETATTR, args_handle(&s.f));
    fault.armed = false;
    uint32_t xid = stage_call(&s.c2, NFS3_GETATTR, args_handle(&s.g));
    serve(&s);
    stage_told(&s.c2, xid, res_getattr(&s.g.attr));
    scene_close(&s);
    return fault.failed;
}

/* Protects: every allocation on a call's way, with records that the proxy owns and with others. */
static void test_each_allocation(void **state)
{
    (void)state;
    for (unsigned turn = 0; turn < 2; turn++) {
        unsigned nth = 0;
        while (run(nth, EXCLUSIVE, turn))
            nth++;
        assert_true(nth > 10);
    }
}

/* Protects: the same with calls whose credential is replaced. */
static void test_each_allocation_squashed(void **state)
{
    (void)state;
    unsigned nth = 0;
    while (run(nth, EXCLUSIVE "squash = all\n", 0))
        nth++;
    assert_true(nth > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_allocation),
        cmocka_unit_test(test_each_allocation_squashed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
