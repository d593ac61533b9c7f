#include "upstream_port.h"

#define SECOND 1000000000ull

/* Protects: the sequence runs on over all links together. */
static void test_one_sequence_over_links(void **state)
{
    (void)state;
    struct port *port = port_new(3, 10);
    struct job jobs[6];
    for (unsigned link = 0; link < 3; link++)
        upstream_link_up(&port->upstream, link);
    unsigned on_link[3] = {0};
    for (unsigned i = 0; i < 6; i++) {
        submit_ok(port, &jobs[i]);
        assert_int_equal(port->sent[i].xid, 10 + i);
        on_link[port->sent[i].link]++;
    }
    for (unsigned link = 0; link < 3; link++)
        assert_int_equal(on_link[link], 2); /* the least loaded one is taken */
    for (unsigned i = 0; i < 6; i++)
        receive(port, port->sent[i].link, 10 + i, false);
    port_free(port);
}

/* Protects: after a loss every call goes again, in the order of sending, with its xid, on its link;
 * one that was answered does not. What is submitted meanwhile waits its turn behind them. */
static void test_resend_in_order(void **state)
{
    (void)state;
    struct port *port = port_new(1, 7);
    struct job jobs[4];
    submit_ok(port, &jobs[0]);
    assert_int_equal(port->sends, 0); /* nothing is connected yet */
    upstream_link_up(&port->upstream, 0);
    assert_int_equal(port->sends, 1);
    assert_int_equal(counter_read(&port->counters.resends), 0); /* it went for the first time */
    assert_int_equal(port->doubts, 0);
    submit_ok(port, &jobs[1]);
    submit_ok(port, &jobs[2]);
    receive(port, 0, 8, false);
    upstream_link_down(&port->upstream, 0);
    assert_int_equal(port->doubts, 1);
    assert_int_equal(counter_read(&port->counters.upstream_losses), 1);
    upstream_link_down(&port->upstream, 0); /* it is down already */
    assert_int_equal(counter_read(&port->counters.upstream_losses), 1);
    submit_ok(port, &jobs[3]);
    assert_int_equal(port->sends, 3);

    upstream_link_up(&port->upstream, 0);
    assert_int_equal(port->doubts, 2);
    assert_int_equal(port->sends, 6);
    const unsigned again[3] = {0, 2, 3};
    for (unsigned i = 0; i < 3; i++) {
        assert_ptr_equal(port->sent[3 + i].call, &jobs[again[i]].call);
        assert_int_equal(port->sent[3 + i].xid, 7 + again[i]);
    }
    assert_int_equal(counter_read(&port->counters.upstream_connects), 2);
    for (unsigned i = 0; i < 3; i++)
        receive(port, 0, 7 + again[i], false);
    assert_int_equal(port->upstream.outstanding, 0);
    port_free(port);
}

/* Protects: a new call avoids links that are down; an old one stays on its own, since the server
 * knows it by xid and source port. */
static void test_links_that_are_down(void **state)
{
    (void)state;
    struct port *port = port_new(2, 1);
    struct job stays, jobs[3];
    upstream_link_up(&port->upstream, 0);
    upstream_link_up(&port->upstream, 1);
    submit_ok(port, &stays);
    unsigned link = stays.call.link;
    upstream_link_down(&port->upstream, link);
    for (unsigned i = 0; i < 3; i++) {
        submit_ok(port, &jobs[i]);
        assert_int_equal(jobs[i].call.link, !link);
    }
    assert_int_equal(stays.call.link, link);
    assert_int_equal(port->sends, 4);
    upstream_link_up(&port->upstream, link);
    assert_int_equal(port->sends, 5);
    assert_ptr_equal(port->sent[4].call, &stays.call);
    assert_int_equal(port->sent[4].link, link);
    upstream_abandon(&port->upstream);
    port_free(port);
}

/* Protects: release also counts the second sending's octets, and not those of the first. */
static void test_release_after_resend(void **state)
{
    (void)state;
    struct port *port = port_new(1, 1);
    struct job job;
    port->keep_in_socket = true;
    upstream_link_up(&port->upstream, 0);
    submit_ok(port, &job);
    upstream_link_down(&port->upstream, 0);
    upstream_sent(&port->upstream, &job.call); /* the closed socket gives it back */
    assert_int_equal(job.released, 0);
    upstream_link_up(&port->upstream, 0);
    receive(port, 0, 1, false);
    assert_int_equal(job.replied, 1);
    assert_int_equal(job.released, 0);
    upstream_sent(&port->upstream, &job.call);
    assert_int_equal(job.released, 1);
    port_free(port);
}

/* Protects: "not responding" after 15 seconds and "OK" with the next reply, once each; a stray is
 * no answer. */
static void test_not_responding(void **state)
{
    (void)state;
    struct port *port = port_new(2, 1);
    struct job jobs[2];
    upstream_link_up(&port->upstream, 0);
    upstream_link_up(&port->upstream, 1);
    upstream_tick(&port->upstream, 1000 * SECOND); /* nothing is outstanding */
    assert_int_equal(submit(port, &jobs[0], 100 * SECOND), 0);
    assert_int_equal(submit(port, &jobs[1], 105 * SECOND), 0);
    upstream_tick(&port->upstream, 115 * SECOND - 1);
    assert_int_equal(port->said, 0);
    upstream_tick(&port->upstream, 115 * SECOND);
    upstream_tick(&port->upstream, 116 * SECOND);
    upstream_tick(&port->upstream, 200 * SECOND);
    assert_int_equal(port->said, 1);
    assert_false(port->responding[0]);
    receive(port, 0, 999, false);
    assert_int_equal(port->said, 1);
    receive(port, jobs[1].call.link, jobs[1].call.xid, false);
    assert_int_equal(port->said, 2);
    assert_true(port->responding[1]);
    receive(port, jobs[0].call.link, jobs[0].call.xid, false);
    assert_int_equal(port->said, 2);
    upstream_tick(&port->upstream, 1000 * SECOND);
    assert_int_equal(port->said, 2);
    port_free(port);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_sequence_over_links), cmocka_unit_test(test_resend_in_order),
        cmocka_unit_test(test_links_that_are_down),     cmocka_unit_test(test_release_after_resend),
        cmocka_unit_test(test_not_responding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
