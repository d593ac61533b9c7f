/* What the tests of the settings share: a parse that must succeed, and one that must fail with an
 * exact text. */
#ifndef TESTS_SETTINGS_FIXTURE_H
#define TESTS_SETTINGS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "config/settings.h"

/* The least that a file must hold. */
#define MINIMAL "[service home]\nserver = nas\n"

/* The caller frees it. */
static inline struct settings *fixture_parse(const char *text)
{
    struct settings_error error = {""};
    struct settings *settings = settings_parse(text, strlen(text), "f", &error);

    if (!settings)
        fail_msg("'%s': %s", text, error.text);
    assert_string_equal(error.text, "");
    return settings;
}

static inline void fixture_fails(const char *text, const char *expected)
{
    struct settings_error error = {""};
    struct settings *settings = settings_parse(text, strlen(text), "f", &error);

    if (settings)
        fail_msg("'%s' is accepted", text);
    assert_string_equal(error.text, expected);
}

#endif
