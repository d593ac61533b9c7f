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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resends_are_counted_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
