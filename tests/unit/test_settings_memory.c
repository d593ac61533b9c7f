/* No allocation of the parser is taken for granted: each one failing gives an error, no crash and
 * no leak. */
#include "settings_fixture.h"

#include <stdlib.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);

/* Allocations that still succeed; -1: all. */
static long left = -1;

static bool fails(void)
{
    if (left > 0)
        left--;
    else if (left == 0)
        return true;
    return false;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails() ? NULL : __real_realloc(old, size);
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}

/* Everything that allocates: texts, lists, two services, a continued value. */
static const char text[] =
    "[daemon]\ncontrol = /c\nhttp = 127.0.0.1:1\n[cache]\nmemory = 1\n"
    "[service a]\nserver = nas\nlisten = 127.0.0.1:2, 127.0.0.1:3\n"
    "[service b]\nserver = nas\nlisten = \\\n 127.0.0.1:4\nallow = ::1, \\\n ::2\n";

static void each_allocation_of_a_parse_fails(void **state)
{
    struct settings *settings = NULL;
    long count = 0;

    (void)state;
    for (; !settings; count++) {
        struct settings_error error = {""};

        left = count;
        settings = settings_parse(text, strlen(text), "f", &error);
        left = -1;
        assert_string_equal(error.text, settings ? "" : "f: out of memory");
    }
    settings_free(settings);
    /* The settings, their origin, and at least a text or list for each key above. */
    assert_in_range(count, 20, 200);
}

static void the_file_buffer_fails(void **state)
{
    struct settings_error error = {""};

    (void)state;
    left = 0;
    assert_null(settings_load("/nonexistent", &error));
    left = -1;
    assert_string_equal(error.text, "/nonexistent: out of memory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_of_a_parse_fails),
        cmocka_unit_test(the_file_buffer_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
