#include "upstream_port.h"

#include <errno.h>

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

static bool no_memory;

void *__wrap_calloc(size_t count, size_t size)
{
    return no_memory ? NULL : __real_calloc(count, size);
}

/* Protects: xids go up by one, also over the end of the number range; nothing but the xid of the
 * record changes. */
static void test_xids_in_sequence(void **state)
{
    (void)state;
    struct port *port = port_new(1, 0xfffffffe);
    struct job jobs[4];
    upstream_link_up(&port->upstream, 0);
    for (unsigned i = 0; i < 4; i++) {
        submit_ok(port, &jobs[i]);
        assert_int_equal(port->sent[i].xid, 0xfffffffe + i);
        assert_int_equal(rpc_xid(jobs[i].head), 0xfffffffe + i);
        assert_memory_equal(jobs[i].head + 4, "\0\0\0\0body", 8);
    }
    assert_int_equal(port->sends, 4);
    for (unsigned i = 0; i < 4; i++)
        receive(port, 0, 0xfffffffe + i, i & 1);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(jobs[i].replied, 1);
        assert_int_equal(jobs[i].released, 1);
        assert_int_equal(jobs[i].reply_xid, 0xfffffffe + i);
        assert_int_equal(jobs[i].reply_len, 12);
        assert_int_equal(jobs[i].reply_owned, i & 1);
    }
    port_free(port);
}

/* Protects: an xid whose call is still outstanding is not given again after the numbers have gone
 * round; nor is one that shares its place in the ring. */
static void test_outstanding_xid_is_skipped(void **state)
{
    (void)state;
    struct port *port = port_new(1, 100);
    struct job old, next[2];
    upstream_link_up(&port->upstream, 0);
    submit_ok(port, &old);
    port->upstream.next_xid = 99; /* as after 2^32 - 1 further calls */
    submit_ok(port, &next[0]);
    submit_ok(port, &next[1]);
    assert_int_equal(next[0].call.xid, 99);
    assert_int_equal(next[1].call.xid, 101);
    receive(port, 0, 100, false);
    assert_int_equal(old.replied, 1);
    assert_int_equal(next[0].replied + next[1].replied, 0);
    receive(port, 0, 101, false);
    receive(port, 0, 99, false);
    assert_int_equal(next[0].replied, 1);
    assert_int_equal(next[1].replied, 1);
    port_free(port);
}

#define MANY 5000u

/* Protects: thousands outstanding at once, each with its own xid and its own reply, whatever the
 * order of the replies. */
static void test_thousands_outstanding(void **state)
{
    (void)state;
    struct port *port = port_new(2, 0xfffff000);
    struct job *jobs = calloc(MANY, sizeof(*jobs));
    assert_non_null(jobs);
    upstream_link_up(&port->upstream, 0);
    upstream_link_up(&port->upstream, 1);
    for (uint32_t i = 0; i < MANY; i++) {
        submit_ok(port, &jobs[i]);
        assert_int_equal(jobs[i].call.xid, 0xfffff000 + i);
    }
    assert_int_equal(port->upstream.outstanding, MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        struct job *job = &jobs[i * 2741 % MANY]; /* 2741 is prime: every job once */
        receive(port, job->call.link, job->call.xid, false);
        assert_int_equal(job->replied, 1);
        assert_int_equal(job->reply_xid, job->call.xid);
    }
    for (uint32_t i = 0; i < MANY; i++)
        assert_int_equal(jobs[i].released, 1);
    assert_int_equal(port->upstream.outstanding, 0);
    assert_int_equal(counter_read(&port->counters.strays), 0);
    free(jobs);
    port_free(port);
}

/* Protects: without memory to grow, calls are still taken while there are places, and refused
 * after that with nothing kept of them. */
static void test_no_memory(void **state)
{
    (void)state;
    struct port *port = port_new(1, 1);
    struct job jobs[256];
    unsigned taken = 0;
    upstream_link_up(&port->upstream, 0);
    no_memory = true;
    while (taken < 256 && submit(port, &jobs[taken], 0) == 0)
        taken++;
    assert_int_equal(taken, 255);
    assert_int_equal(submit(port, &jobs[255], 0), -ENOMEM);
    assert_int_equal(port->upstream.outstanding, 255);
    assert_int_equal(port->sends, 255);
    no_memory = false;
    submit_ok(port, &jobs[255]);
    for (unsigned i = 0; i < 256; i++)
        receive(port, 0, jobs[i].call.xid, false);
    assert_int_equal(port->upstream.outstanding, 0);
    upstream_destroy(&port->upstream);
    no_memory = true;
    assert_int_equal(upstream_init(&port->upstream, &port_ops, 1, 1, &port->counters), -ENOMEM);
    no_memory = false;
    free(port);
}

/* Protects: a reply that answers nothing, one that comes twice, and one from another link are
 * counted and dropped, owned or not; they disturb nobody. */
static void test_strays(void **state)
{
    (void)state;
    struct port *port = port_new(2, 50);
    struct job job, other;
    upstream_link_up(&port->upstream, 0);
    upstream_link_up(&port->upstream, 1);
    submit_ok(port, &job);
    submit_ok(port, &other);
    unsigned link = job.call.link;
    receive(port, link, 49, true);       /* before the first */
    receive(port, link, 52, false);      /* after the last */
    receive(port, link, 50 + 256, true); /* the same place in the ring */
    receive(port, !link, 50, true);      /* the other link */
    assert_int_equal(job.replied, 0);
    assert_int_equal(counter_read(&port->counters.strays), 4);
    receive(port, link, 50, false);
    receive(port, link, 50, true); /* twice */
    assert_int_equal(job.replied, 1);
    assert_int_equal(other.replied, 0);
    assert_int_equal(counter_read(&port->counters.strays), 5);
    assert_int_equal(port->resets, 0);
    receive(port, other.call.link, 51, false);
    port_free(port);
}

/* Protects: a call is released exactly once, after its reply and after the socket is through with
 * its octets, in whichever order these come. */
static void test_release(void **state)
{
    (void)state;
    struct port *port = port_new(1, 1);
    struct job sent_first, answered_first;
    port->keep_in_socket = true;
    upstream_link_up(&port->upstream, 0);
    submit_ok(port, &sent_first);
    submit_ok(port, &answered_first);

    upstream_sent(&port->upstream, &sent_first.call);
    assert_int_equal(sent_first.released, 0);
    receive(port, 0, 1, false);
    assert_int_equal(sent_first.replied, 1);
    assert_int_equal(sent_first.released, 1);

    receive(port, 0, 2, false);
    assert_int_equal(answered_first.replied, 1);
    assert_int_equal(answered_first.released, 0);
    assert_int_equal(port->upstream.outstanding, 0); /* an answered call is not sent again */
    upstream_sent(&port->upstream, &answered_first.call);
    assert_int_equal(answered_first.released, 1);
    port_free(port);
}

/* Protects: what is no reply resets its link and ends no call: too short, or a call. */
static void test_garbage_resets(void **state)
{
    (void)state;
    static const uint8_t no_reply[3][8] = {
        {0, 0, 0, 1, 0, 0, 0, 0}, {0, 0, 0, 1, 0, 0, 0, 2}, {0, 0, 0, 1, 1, 0, 0, 1}};
    struct port *port = port_new(2, 1);
    struct job job;
    upstream_link_up(&port->upstream, 1);
    submit_ok(port, &job);
    unsigned expected = 0;
    for (unsigned i = 0; i < 3; i++) {
        struct record record = {wire_exact(no_reply[i], 8), 8, true};
        upstream_receive(&port->upstream, 1, &record);
        assert_int_equal(port->resets, ++expected);
    }
    for (uint32_t len = 0; len < 8; len++) {
        uint8_t cut[8] = {0, 0, 0, 1, 0, 0, 0, 1};
        struct record record = {wire_exact(cut, len), len, true};
        upstream_receive(&port->upstream, 1, &record);
        assert_int_equal(port->resets, ++expected);
    }
    assert_int_equal(port->reset_link, 1);
    assert_int_equal(job.replied, 0);
    assert_int_equal(counter_read(&port->counters.strays), 0);
    receive(port, 1, 1, false);
    assert_int_equal(job.replied, 1);
    port_free(port);
}

/* Protects: abandoning ends every call once, without a reply; octets still in a socket keep their
 * call until they are given back. */
static void test_abandon(void **state)
{
    (void)state;
    struct port *port = port_new(2, 1);
    struct job up, in_socket, down;
    upstream_link_up(&port->upstream, 0);
    submit_ok(port, &up);
    port->keep_in_socket = true;
    submit_ok(port, &in_socket);
    upstream_link_down(&port->upstream, 0);
    submit_ok(port, &down);
    upstream_abandon(&port->upstream);
    assert_int_equal(port->upstream.outstanding, 0);
    assert_int_equal(up.abandoned + in_socket.abandoned + down.abandoned, 3);
    assert_int_equal(up.released, 1);
    assert_int_equal(down.released, 1);
    assert_int_equal(in_socket.released, 0);
    upstream_sent(&port->upstream, &in_socket.call);
    assert_int_equal(in_socket.released, 1);
    receive(port, 0, 1, false);
    assert_int_equal(counter_read(&port->counters.strays), 1);
    port_free(port);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_xids_in_sequence),
        cmocka_unit_test(test_outstanding_xid_is_skipped),
        cmocka_unit_test(test_thousands_outstanding),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_strays),
        cmocka_unit_test(test_release),
        cmocka_unit_test(test_garbage_resets),
        cmocka_unit_test(test_abandon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
