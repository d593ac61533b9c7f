/*
 * report: one shape, made once by the daemon as JSON; the table for people is made from that by
 * `nfsaccel stat`.
 */
#include "proxy/report.h"

#include <inttypes.h>
#include <string.h>

/* struct counters is an array of counters and nothing else. */
_Static_assert(sizeof(struct counters) % sizeof(counter) == 0, "only counters");

void report_add(struct counters *sum, const struct counters *counters)
{
    counter *to = (counter *)sum;
    const counter *from = (const counter *)counters;
    for (size_t i = 0; i < sizeof(*sum) / sizeof(counter); i++)
        counter_add(&to[i], counter_read(&from[i]));
}

static json_t *number(const counter *c)
{
    return json_integer((json_int_t)counter_read(c));
}

static json_t *procedure_json(const struct procedure_counters *counters)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "calls", number(&counters->calls), "hits",
                     number(&counters->hits), "forwarded", number(&counters->forwarded), "asked",
                     number(&counters->asked), "refused", number(&counters->refused));
}

static json_t *program_json(const struct counters *counters, unsigned program)
{
    json_t *object = json_object();
    for (uint32_t i = 0; object != NULL && i < programs[program].procedure_count; i++)
        json_object_set_new(object, programs[program].procedures[i].name,
                            procedure_json(&counters->procedures[program][i]));
    return object;
}

static json_t *verify_counters_json(const struct verify_counters *counters)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "verified", number(&counters->verified),
                     "equal", number(&counters->equal), "outdated", number(&counters->outdated),
                     "violations", number(&counters->violations), "unclear",
                     number(&counters->unclear), "skipped", number(&counters->skipped));
}

static json_t *verify_json(const struct report_service *service)
{
    const struct program *nfs = &programs[PROGRAM_NFS];
    json_t *object = json_object();
    json_t *ages = json_array();
    for (unsigned i = 0; ages != NULL && i < VERIFY_AGES; i++)
        json_array_append_new(ages, number(&service->sum.outdated_age[i]));
    for (uint32_t i = 0; object != NULL && i < nfs->procedure_count; i++) {
        if (nfs->procedures[i].answer != NULL)
            json_object_set_new(object, nfs->procedures[i].name,
                                verify_counters_json(&service->sum.verify[i]));
    }
    json_object_set_new(object, "share", json_real(service->verify));
    json_object_set_new(object, "outdated_age", ages);
    return object;
}

static json_t *service_json(const struct report_service *service)
{
    const struct counters *sum = &service->sum;
    return json_pack(
        "{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:{s:i, s:i, s:o, s:o, s:o, s:o}}",
        "name", service->name, "server", service->server, "procedures",
        program_json(sum, PROGRAM_NFS), "mount", program_json(sum, PROGRAM_MOUNT), "nfsacl",
        program_json(sum, PROGRAM_NFSACL), "verify", verify_json(service), "clients",
        number(&sum->connections), "refused", (json_int_t)service->refused, "bad_records",
        number(&sum->bad_records), "rpc_errors", number(&sum->rpc_errors), "upstream",
        "connections", (int)service->links, "connected", (int)service->links_up, "connects",
        number(&sum->upstream_connects), "losses", number(&sum->upstream_losses), "resends",
        number(&sum->resends), "strays", number(&sum->strays));
}

static json_t *cache_json(const struct cache_usage *usage)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "objects",
                     (json_int_t)usage->objects, "names", (json_int_t)usage->names, "verdicts",
                     (json_int_t)usage->verdicts, "credentials", (json_int_t)usage->credentials,
                     "bytes", (json_int_t)usage->bytes, "evictions", (json_int_t)usage->evictions,
                     "fence_rejects", (json_int_t)usage->fence_rejects, "overlaps",
                     (json_int_t)usage->overlaps, "outside", (json_int_t)usage->outside);
}

json_t *report_json(const struct report_service *services, unsigned count,
                    const struct cache_usage *usage)
{
    json_t *list = json_array();
    for (unsigned i = 0; list != NULL && i < count; i++)
        json_array_append_new(list, service_json(&services[i]));
    return json_pack("{s:o, s:o}", "services", list, "cache", cache_json(usage));
}

/* ---- the table ---- */

static json_int_t field(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static double percent(json_int_t part, json_int_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0.0;
}

static void print_row(const char *name, const json_t *counters, FILE *out)
{
    json_int_t calls = field(counters, "calls"), hits = field(counters, "hits");
    if (calls == 0 && field(counters, "asked") == 0)
        return;
    fprintf(out,
            "  %-12s %14" JSON_INTEGER_FORMAT " %14" JSON_INTEGER_FORMAT
            " %7.2f%% %14" JSON_INTEGER_FORMAT " %10" JSON_INTEGER_FORMAT " %10" JSON_INTEGER_FORMAT
            "\n",
            name, calls, hits, percent(hits, calls), field(counters, "forwarded"),
            field(counters, "asked"), field(counters, "refused"));
}

static void print_program(const json_t *procedures, const char *prefix, FILE *out)
{
    const char *name;
    json_t *counters;
    char text[32];
    json_object_foreach((json_t *)(uintptr_t)procedures, name, counters)
    {
        snprintf(text, sizeof(text), "%s%s", prefix, name);
        print_row(text, counters, out);
    }
}

static void print_total(const json_t *procedures, FILE *out)
{
    const char *name;
    json_t *counters;
    json_int_t calls = 0, hits = 0;
    json_object_foreach((json_t *)(uintptr_t)procedures, name, counters)
    {
        calls += field(counters, "calls");
        hits += field(counters, "hits");
    }
    fprintf(out, "  %.2f%% of %" JSON_INTEGER_FORMAT " NFS calls answered from cache\n",
            percent(hits, calls), calls);
}

static const char *const verify_keys[] = {"verified",   "equal",   "outdated",
                                          "violations", "unclear", "skipped"};
#define VERIFY_KEYS (sizeof(verify_keys) / sizeof(verify_keys[0]))

/* It is on, or was since the start. */
static bool verify_used(const json_t *verify)
{
    const char *name;
    json_t *counters;
    json_int_t sum = 0;
    json_object_foreach((json_t *)(uintptr_t)verify, name, counters)
    {
        for (unsigned i = 0; i < VERIFY_KEYS; i++)
            sum += field(counters, verify_keys[i]);
    }
    return sum > 0 || json_real_value(json_object_get(verify, "share")) > 0;
}

static void print_ages(const json_t *ages, FILE *out)
{
    static const char *const labels[VERIFY_AGES] = {"<0.1s", "<1s",  "<3s",   "<10s",
                                                    "<30s",  "<60s", "<300s", "older"};
    fprintf(out, "  outdated, by age:");
    for (unsigned i = 0; i < VERIFY_AGES; i++)
        fprintf(out, " %s %" JSON_INTEGER_FORMAT, labels[i],
                json_integer_value(json_array_get(ages, i)));
    fprintf(out, "\n");
}

static void print_verify(const json_t *verify, FILE *out)
{
    const char *name;
    json_t *counters;
    if (!verify_used(verify))
        return;
    fprintf(out, "\n  %-12s", "hits checked");
    for (unsigned i = 0; i < VERIFY_KEYS; i++)
        fprintf(out, " %12s", verify_keys[i]);
    fprintf(out, "\n");
    json_object_foreach((json_t *)(uintptr_t)verify, name, counters)
    {
        if (!json_is_object(counters))
            continue;
        fprintf(out, "  %-12s", name);
        for (unsigned i = 0; i < VERIFY_KEYS; i++)
            fprintf(out, " %12" JSON_INTEGER_FORMAT, field(counters, verify_keys[i]));
        fprintf(out, "\n");
    }
    print_ages(json_object_get(verify, "outdated_age"), out);
}

static void print_service(const json_t *service, FILE *out)
{
    const json_t *upstream = json_object_get(service, "upstream");
    fprintf(out, "service %s, server %s\n", json_string_value(json_object_get(service, "name")),
            json_string_value(json_object_get(service, "server")));
    print_total(json_object_get(service, "procedures"), out);
    fprintf(out,
            "  clients %" JSON_INTEGER_FORMAT ", refused %" JSON_INTEGER_FORMAT
            ", server connections %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT
            ", lost %" JSON_INTEGER_FORMAT ", calls sent again %" JSON_INTEGER_FORMAT "\n\n",
            field(service, "clients"), field(service, "refused"), field(upstream, "connected"),
            field(upstream, "connections"), field(upstream, "losses"), field(upstream, "resends"));
    fprintf(out, "  %-12s %14s %14s %8s %14s %10s %10s\n", "procedure", "calls", "hits", "",
            "forwarded", "asked", "refused");
    print_program(json_object_get(service, "procedures"), "", out);
    print_program(json_object_get(service, "mount"), "MOUNT ", out);
    print_program(json_object_get(service, "nfsacl"), "ACL ", out);
    print_verify(json_object_get(service, "verify"), out);
    fprintf(out, "\n");
}

void report_print(const json_t *report, FILE *out)
{
    size_t i;
    json_t *service;
    json_array_foreach(json_object_get(report, "services"), i, service)
    {
        print_service(service, out);
    }
    const json_t *cache = json_object_get(report, "cache");
    fprintf(out,
            "cache: %" JSON_INTEGER_FORMAT " objects, %" JSON_INTEGER_FORMAT
            " names, %" JSON_INTEGER_FORMAT " verdicts, %" JSON_INTEGER_FORMAT
            " bytes; %" JSON_INTEGER_FORMAT " evicted, %" JSON_INTEGER_FORMAT
            " fills refused, %" JSON_INTEGER_FORMAT " outside changes\n",
            field(cache, "objects"), field(cache, "names"), field(cache, "verdicts"),
            field(cache, "bytes"), field(cache, "evictions"), field(cache, "fence_rejects"),
            field(cache, "outside"));
}
