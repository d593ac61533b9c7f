#include "upstream_port.h"

/* Protects: the count of resends is of calls that went before, and not of those that had to wait
 * for the connection. */
static void test_resends_are_counted_once(void **state)
{
    (void)state;
    struct port *port = port_new(1, 7);
    struct job went, waited;
    upstream_link_up(&port->upstream, 0);
    submit_ok(port, &went);
    upstream_link_down(&port->upstream, 0);
    submit_ok(port, &waited);
    upstream_link_up(&port->upstream, 0);
    assert_int_equal(counter_read(&port->counters.resends), 1);
    upstream_abandon(&port->upstream);
    port_free(port);
}

/* Protects: a call that the server took and never answered goes again after a minute, on a new
 * connection; not a moment earlier, and again a minute after that. */
static void test_silence(void **state)
{
    (void)state;
    struct port *port = port_new(2, 7);
    struct job job;
    const uint64_t second = 1000000000;
    upstream_link_up(&port->upstream, 0);
    upstream_link_up(&port->upstream, 1);
    assert_int_equal(submit(port, &job, 100 * second), 0);
    upstream_tick(&port->upstream, 160 * second - 1);
    assert_int_equal(port->resets, 0);
    upstream_tick(&port->upstream, 160 * second);
    assert_int_equal(port->resets, 1);
    assert_int_equal(port->reset_link, job.call.link);
    assert_int_equal(port->reset_why, UPSTREAM_SILENCE);
    upstream_link_down(&port->upstream, job.call.link);
    upstream_tick(&port->upstream, 161 * second); /* it is down: there is nothing to reset */
    assert_int_equal(port->resets, 1);
    upstream_link_up(&port->upstream, job.call.link);
    assert_int_equal(counter_read(&port->counters.resends), 1);
    upstream_tick(&port->upstream, 221 * second - 1);
    assert_int_equal(port->resets, 1);
    upstream_tick(&port->upstream, 221 * second);
    assert_int_equal(port->resets, 2);
    upstream_abandon(&port->upstream);
    port_free(port);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resends_are_counted_once),
        cmocka_unit_test(test_silence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
