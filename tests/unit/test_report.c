/*
 * What `stat` shows of the hits that were checked, as JSON and as a table.
 */
#include "proxy/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static json_t *report_of(const struct report_service *service)
{
    struct cache_usage usage = {0};
    json_t *report = report_json(service, 1, &usage);
    assert_non_null(report);
    return report;
}

static struct report_service *service_new(double share)
{
    struct report_service *service = calloc(1, sizeof(*service));
    assert_non_null(service);
    snprintf(service->name, sizeof(service->name), "home");
    service->verify = share;
    return service;
}

static char *table_of(const json_t *report)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    report_print(report, out);
    fclose(out);
    return text;
}

/* Protects: the JSON has the counters of all three procedures and the ages, also where nothing was ever checked. */
static void test_json(void **state)
{
    (void)state;
    struct report_service *service = service_new(0.25);
    struct verify_counters *lookup = &service->sum.verify[NFS3_LOOKUP];
    lookup->verified = 60;
    lookup->equal = 50;
    lookup->outdated = 7;
    lookup->violations = 3;
    lookup->unclear = 2;
    lookup->skipped = 1;
    for (unsigned i = 0; i < VERIFY_AGES; i++)
        service->sum.outdated_age[i] = i;
    json_t *report = report_of(service);
    json_t *verify =
        json_object_get(json_array_get(json_object_get(report, "services"), 0), "verify");
    static const char expected[] =
        "{\"ACCESS\":{\"equal\":0,\"outdated\":0,\"skipped\":0,\"unclear\":0,\"verified\":0,"
        "\"violations\":0},"
        "\"GETATTR\":{\"equal\":0,\"outdated\":0,\"skipped\":0,\"unclear\":0,\"verified\":0,"
        "\"violations\":0},"
        "\"LOOKUP\":{\"equal\":50,\"outdated\":7,\"skipped\":1,\"unclear\":2,\"verified\":60,"
        "\"violations\":3},"
        "\"outdated_age\":[0,1,2,3,4,5,6,7],\"share\":0.25}";
    char *text = json_dumps(verify, JSON_COMPACT | JSON_SORT_KEYS);
    assert_string_equal(text, expected);
    free(text);
    json_decref(report);
    free(service);
}

/* Protects: the table has them where they are on, or were, and not else. */
static void test_table(void **state)
{
    (void)state;
    for (unsigned row = 0; row < 3; row++) {
        struct report_service *service = service_new(row == 1 ? 0.5 : 0);
        if (row == 2)
            service->sum.verify[NFS3_ACCESS].skipped = 12;
        json_t *report = report_of(service);
        char *table = table_of(report);
        assert_int_equal(strstr(table, "hits checked") != NULL, row > 0);
        assert_int_equal(strstr(table, "outdated, by age: <0.1s 0 <1s 0") != NULL, row > 0);
        if (row == 2)
            assert_non_null(strstr(table, "ACCESS                  0            0            0 "
                                          "           0            0           12\n"));
        free(table);
        json_decref(report);
        free(service);
    }
}

/* Protects: all counters of all workers are added up. */
static void test_add(void **state)
{
    (void)state;
    struct report_service *service = service_new(1);
    struct counters *one = calloc(1, sizeof(*one));
    assert_non_null(one);
    one->verify[NFS3_GETATTR].violations = 2;
    one->outdated_age[VERIFY_AGES - 1] = 3;
    report_add(&service->sum, one);
    report_add(&service->sum, one);
    assert_int_equal(service->sum.verify[NFS3_GETATTR].violations, 4);
    assert_int_equal(service->sum.outdated_age[VERIFY_AGES - 1], 6);
    free(one);
    free(service);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_add),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
