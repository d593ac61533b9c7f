/*
 * The log says once that a server does not answer, and once that it does again, however many workers notice.
 */
#include "proxy/silence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Protects: the first one who waits says so, and the last one who does not wait any more; then it begins anew. */
static void test_first_and_last(void **state)
{
    (void)state;
    struct silence silence;
    silence_init(&silence);
    for (unsigned again = 0; again < 2; again++) {
        assert_true(silence_begin(&silence, "a"));
        assert_false(silence_begin(&silence, "a"));
        assert_false(silence_begin(&silence, "a"));
        assert_false(silence_end(&silence, "a"));
        assert_false(silence_begin(&silence, "a"));
        assert_false(silence_end(&silence, "a"));
        assert_false(silence_end(&silence, "a"));
        assert_true(silence_end(&silence, "a"));
    }
    silence_destroy(&silence);
}

/* Protects: servers have nothing to do with each other. */
static void test_servers(void **state)
{
    (void)state;
    struct silence silence;
    silence_init(&silence);
    assert_true(silence_begin(&silence, "a"));
    assert_true(silence_begin(&silence, "aa"));
    assert_false(silence_begin(&silence, "aa"));
    assert_true(silence_end(&silence, "a"));
    assert_true(silence_begin(&silence, "a"));
    assert_false(silence_end(&silence, "aa"));
    assert_true(silence_end(&silence, "aa"));
    assert_true(silence_end(&silence, "a"));
    silence_destroy(&silence);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_and_last),
        cmocka_unit_test(test_servers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
