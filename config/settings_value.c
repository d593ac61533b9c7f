#include "config/settings_value.h"
#include "config/settings_address.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct unit {
    const char *suffix;
    uint64_t factor;
};

static const struct unit no_units[] = {{"", 1}, {NULL, 0}};
static const struct unit time_units[] = {
    {"", 1000000000},  {"ns", 1},          {"us", 1000},         {"ms", 1000000},
    {"s", 1000000000}, {"m", 60000000000}, {"h", 3600000000000}, {NULL, 0},
};
static const struct unit size_units[] = {
    {"", 1}, {"K", 1ull << 10}, {"M", 1ull << 20}, {"G", 1ull << 30}, {"T", 1ull << 40}, {NULL, 0},
};

static const struct {
    const char *kind;
    size_t size;              /* of the member, if it holds the whole value; else 0 */
    const struct unit *units; /* of the types that are scaled whole numbers; else NULL */
} types[] = {
    [SETTINGS_TYPE_NUMBER] = {"a whole number", sizeof(unsigned), no_units},
    [SETTINGS_TYPE_PORT] = {"a port number", sizeof(unsigned), no_units},
    [SETTINGS_TYPE_ID] = {"a numeric id", sizeof(uint32_t), no_units},
    [SETTINGS_TYPE_DURATION] = {"a duration (such as 500ms, 3s, 1m)", sizeof(uint64_t), time_units},
    [SETTINGS_TYPE_SIZE] = {"a size (such as 512M, 1G)", sizeof(uint64_t), size_units},
    [SETTINGS_TYPE_SHARE] = {"a share (such as 0, 0.01, 1)", sizeof(double), NULL},
    [SETTINGS_TYPE_BOOL] = {"yes or no", sizeof(bool), NULL},
    [SETTINGS_TYPE_CHOICE] = {"one of its words", sizeof(int), NULL},
    [SETTINGS_TYPE_PATH] = {"an absolute path", 0, NULL},
    [SETTINGS_TYPE_HOST] = {"a host name or address", 0, NULL},
    [SETTINGS_TYPE_ENDPOINT] = {"an address and port", 0, NULL},
    [SETTINGS_TYPE_ADDRESSES] = {"addresses and ports", 0, NULL},
    [SETTINGS_TYPE_PREFIXES] = {"addresses and networks", 0, NULL},
};

const char *settings_value_kind(const struct settings_row *row)
{
    return types[row->type].kind;
}

static void *member(const struct settings_row *row, void *base)
{
    return (char *)base + row->offset;
}

static const void *const_member(const struct settings_row *row, const void *base)
{
    return (const char *)base + row->offset;
}

static void *also(const struct settings_row *row, void *base)
{
    return (char *)base + row->also;
}

static int not_such(const struct settings_row *row, const char *text, struct settings_cause *cause)
{
    struct settings_quote quote = settings_quote(text);

    return SETTINGS_BAD(cause, "'%s' is not %s", quote.text, types[row->type].kind);
}

static int out_of_range(const struct settings_row *row, const char *text,
                        struct settings_cause *cause)
{
    struct settings_quote quote = settings_quote(text);

    return SETTINGS_BAD(cause, "'%s' is out of range: %s to %s", quote.text, row->min, row->max);
}

/* Digits and a unit. -EINVAL if it is anything else, -ERANGE if 64 bits can't hold it. */
static int scaled(const char *text, const struct unit *units, uint64_t *result)
{
    size_t digits = strspn(text, "0123456789");
    uint64_t value = 0;

    while (units->suffix && strcmp(text + digits, units->suffix) != 0)
        units++;
    if (digits == 0 || !units->suffix)
        return -EINVAL;
    for (size_t i = 0; i < digits; i++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value))
            return -ERANGE;
    return __builtin_mul_overflow(value, units->factor, result) ? -ERANGE : 0;
}

/* The row's own limits are text of ours. */
static uint64_t limit(const struct settings_row *row, const char *text)
{
    uint64_t value = 0;
    int rc = scaled(text, types[row->type].units, &value);

    assert(rc == 0);
    return value;
}

static int set_scaled(const struct settings_row *row, const char *text, void *base,
                      struct settings_cause *cause)
{
    uint64_t value;
    uint32_t value32;
    int rc = scaled(text, types[row->type].units, &value);

    if (rc == -EINVAL)
        return not_such(row, text, cause);
    if (rc < 0 || value < limit(row, row->min) || value > limit(row, row->max))
        return out_of_range(row, text, cause);
    if (types[row->type].size == sizeof(value)) {
        memcpy(member(row, base), &value, sizeof(value));
        return 0;
    }
    /* A row whose maximum its member can't hold would be a mistake in the table. */
    assert(value <= UINT32_MAX && types[row->type].size == sizeof(value32));
    value32 = (uint32_t)value;
    memcpy(member(row, base), &value32, sizeof(value32));
    return 0;
}

#define SHARE_DECIMALS 9u

/* Digits with a point, whatever the locale says; no sign, exponent, "inf" or "nan" as strtod would
 * take. */
static int set_share(const struct settings_row *row, const char *text, void *base,
                     struct settings_cause *cause)
{
    size_t whole = strspn(text, "0123456789");
    size_t decimals = text[whole] == '.' ? strspn(text + whole + 1, "0123456789") : 0;
    size_t end = text[whole] == '.' ? whole + 1 + decimals : whole;
    uint64_t value = 0, scale = 1;
    double share;

    if (whole == 0 || text[end] != '\0' || (text[whole] == '.' && decimals == 0))
        return not_such(row, text, cause);
    if (decimals > SHARE_DECIMALS)
        return SETTINGS_BAD(cause, "more than %u decimals", SHARE_DECIMALS);
    for (size_t i = 0; i < end; i++) {
        if (i == whole)
            continue;
        /* Above 1 whatever follows, and still far from an overflow. */
        if (value <= UINT32_MAX)
            value = value * 10 + (uint64_t)(text[i] - '0');
        if (i > whole)
            scale *= 10;
    }
    if (value > scale)
        return out_of_range(row, text, cause);
    share = (double)value / (double)scale;
    memcpy(member(row, base), &share, sizeof(share));
    return 0;
}

static int set_bool(const struct settings_row *row, const char *text, void *base,
                    struct settings_cause *cause)
{
    static const char *const words[] = {"no", "yes", "false", "true", "off", "on"};

    for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcasecmp(words[i], text) == 0) {
            *(bool *)member(row, base) = i % 2 == 1;
            return 0;
        }
    }
    return not_such(row, text, cause);
}

static int set_choice(const struct settings_row *row, const char *text, void *base,
                      struct settings_cause *cause)
{
    char list[128] = "";
    struct settings_quote quote = settings_quote(text);
    size_t used = 0;

    for (int i = 0; row->words[i]; i++) {
        if (strcasecmp(row->words[i], text) == 0) {
            memcpy(member(row, base), &i, sizeof(i));
            return 0;
        }
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i > 0 ? ", " : "",
                                 row->words[i]);
        assert(used < sizeof(list));
    }
    return SETTINGS_BAD(cause, "'%s' is not one of %s", quote.text, list);
}

/* Puts a copy of the text, or NULL if it is NULL, in the member's place. */
static int set_string(const struct settings_row *row, const char *text, void *base)
{
    char *copy = NULL;

    if (text) {
        copy = strdup(text);
        if (!copy)
            return -ENOMEM;
    }
    settings_value_clear(row, base);
    *(char **)member(row, base) = copy;
    return 0;
}

static int set_path(const struct settings_row *row, const char *text, void *base,
                    struct settings_cause *cause)
{
    if (text[0] != '/')
        return not_such(row, text, cause);
    if (strlen(text) > strtoul(row->max, NULL, 10))
        return SETTINGS_BAD(cause, "longer than %s characters", row->max);
    return set_string(row, text, base);
}

static int set_host(const struct settings_row *row, const char *text, void *base,
                    struct settings_cause *cause)
{
    int rc = settings_host_check(text, cause);

    return rc < 0 ? rc : set_string(row, text, base);
}

static int set_endpoint(const struct settings_row *row, const char *text, void *base,
                        struct settings_cause *cause)
{
    struct settings_address address = {.len = 0};
    int rc = *text == '\0' ? 0 : settings_address_parse(text, &address, cause);

    if (rc == 0)
        rc = set_string(row, *text == '\0' ? NULL : text, base);
    if (rc == 0)
        memcpy(also(row, base), &address, sizeof(address));
    return rc;
}

static int set_addresses(const struct settings_row *row, const char *text, void *base,
                         struct settings_cause *cause)
{
    struct settings_address *addresses;
    unsigned count;
    int rc = settings_addresses_parse(text, (unsigned)strtoul(row->max, NULL, 10), &addresses,
                                      &count, cause);

    if (rc < 0)
        return rc;
    settings_value_clear(row, base);
    *(struct settings_address **)member(row, base) = addresses;
    *(unsigned *)also(row, base) = count;
    return 0;
}

static int set_prefixes(const struct settings_row *row, const char *text, void *base,
                        struct settings_cause *cause)
{
    struct settings_prefix *prefixes;
    unsigned count;
    int rc = settings_prefixes_parse(text, (unsigned)strtoul(row->max, NULL, 10), &prefixes, &count,
                                     cause);

    if (rc < 0)
        return rc;
    settings_value_clear(row, base);
    *(struct settings_prefix **)member(row, base) = prefixes;
    *(unsigned *)also(row, base) = count;
    return 0;
}

int settings_value_set(const struct settings_row *row, const char *text, void *base,
                       struct settings_cause *cause)
{
    if (*text == '\0' && row->type != SETTINGS_TYPE_ENDPOINT)
        return row->required
                   ? SETTINGS_BAD(cause, "has no value")
                   : SETTINGS_BAD(cause, "has no value; without the key it is %s", row->standard);
    switch (row->type) {
    case SETTINGS_TYPE_NUMBER:
    case SETTINGS_TYPE_PORT:
    case SETTINGS_TYPE_ID:
    case SETTINGS_TYPE_DURATION:
    case SETTINGS_TYPE_SIZE:
        return set_scaled(row, text, base, cause);
    case SETTINGS_TYPE_SHARE:
        return set_share(row, text, base, cause);
    case SETTINGS_TYPE_BOOL:
        return set_bool(row, text, base, cause);
    case SETTINGS_TYPE_CHOICE:
        return set_choice(row, text, base, cause);
    case SETTINGS_TYPE_PATH:
        return set_path(row, text, base, cause);
    case SETTINGS_TYPE_HOST:
        return set_host(row, text, base, cause);
    case SETTINGS_TYPE_ENDPOINT:
        return set_endpoint(row, text, base, cause);
    case SETTINGS_TYPE_ADDRESSES:
        return set_addresses(row, text, base, cause);
    case SETTINGS_TYPE_PREFIXES:
        return set_prefixes(row, text, base, cause);
    }
    assert(!"a type without a parser");
    return -EINVAL;
}

void settings_value_clear(const struct settings_row *row, void *base)
{
    void *owned;

    if (types[row->type].size > 0)
        return;
    /* What a member of these types holds is one allocation, whatever it points to. */
    memcpy(&owned, member(row, base), sizeof(owned));
    free(owned);
    memset(member(row, base), 0, sizeof(owned));
}

static bool items_equal(const struct settings_row *row, const void *a, const void *b, size_t size)
{
    const void *a_items = *(void *const *)const_member(row, a),
               *b_items = *(void *const *)const_member(row, b);
    unsigned a_count, b_count;

    memcpy(&a_count, (const char *)a + row->also, sizeof(a_count));
    memcpy(&b_count, (const char *)b + row->also, sizeof(b_count));
    return a_count == b_count && memcmp(a_items, b_items, a_count * size) == 0;
}

bool settings_value_equal(const struct settings_row *row, const void *a, const void *b)
{
    const char *a_text, *b_text;

    if (types[row->type].size > 0)
        return memcmp(const_member(row, a), const_member(row, b), types[row->type].size) == 0;
    /* Parsed items are filled from zero on, so that octets compare. */
    if (row->type == SETTINGS_TYPE_ADDRESSES)
        return items_equal(row, a, b, sizeof(struct settings_address));
    if (row->type == SETTINGS_TYPE_PREFIXES)
        return items_equal(row, a, b, sizeof(struct settings_prefix));
    a_text = *(char *const *)const_member(row, a);
    b_text = *(char *const *)const_member(row, b);
    return a_text && b_text ? strcmp(a_text, b_text) == 0 : a_text == b_text;
}
