#include "config/settings_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESS_SUCH_AS "such as 127.0.0.1:2049 or [::1]:2049"
#define PREFIX_SUCH_AS  "such as 10.0.0.0/8 or fd00::/8"
#define MAPPED_BITS     96u
#define HOST_MAX        253u /* RFC 1035, less the length octets */

static const uint8_t mapped_start[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

/* Digits only, at most `max`; -1 if it is anything else. */
static long small_number(const char *text, long max)
{
    long number = 0;

    if (*text == '\0')
        return -1;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9')
            return -1;
        number = number * 10 + (*text - '0');
        if (number > max)
            return -1;
    }
    return number;
}

/* An address of either family into 16 octets; the family, or 0 if it is none. Mapped becomes IPv4. */
static int numeric(const char *text, uint8_t addr[16])
{
    memset(addr, 0, 16);
    if (inet_pton(AF_INET, text, addr) == 1)
        return AF_INET;
    if (inet_pton(AF_INET6, text, addr) != 1)
        return 0;
    return AF_INET6;
}

static bool is_mapped(const uint8_t addr[16])
{
    return memcmp(addr, mapped_start, sizeof(mapped_start)) == 0;
}

static void unmap(uint8_t addr[16])
{
    memmove(addr, addr + sizeof(mapped_start), 4);
    memset(addr + 4, 0, 12);
}

static void address_fill(struct settings_address *address, int family, const uint8_t addr[16],
                         in_port_t port)
{
    memset(address, 0, sizeof(*address));
    if (family == AF_INET) {
        struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = port};

        memcpy(&in.sin_addr, addr, sizeof(in.sin_addr));
        memcpy(&address->addr, &in, sizeof(in));
        address->len = sizeof(in);
    } else {
        struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = port};

        memcpy(&in6.sin6_addr, addr, sizeof(in6.sin6_addr));
        memcpy(&address->addr, &in6, sizeof(in6));
        address->len = sizeof(in6);
    }
}

/* Cuts "HOST:PORT" or "[HOST]:PORT" into its parts, in place. */
static int split_port(char *text, char **host, char **port, struct settings_cause *cause)
{
    struct settings_quote quote = settings_quote(text);
    uint8_t addr[16];

    if (text[0] == '[') {
        char *end = strchr(text, ']');

        if (!end || (end[1] != ':' && end[1] != '\0'))
            return SETTINGS_BAD(cause, "'%s' is not an address and port (" ADDRESS_SUCH_AS ")",
                                quote.text);
        *end = '\0';
        *host = text + 1;
        *port = end[1] == ':' ? end + 2 : NULL;
    } else {
        char *colon = strrchr(text, ':');

        if (colon && strchr(text, ':') != colon &&
            text[strspn(text, "0123456789abcdefABCDEF:.")] == '\0')
            return SETTINGS_BAD(
                cause, "'%s': an IPv6 address stands in brackets (such as [::1]:2049)", quote.text);
        if (colon)
            *colon = '\0';
        *host = text;
        *port = colon ? colon + 1 : NULL;
    }
    if (!*port || **port == '\0')
        return SETTINGS_BAD(cause, "'%s' has no port (" ADDRESS_SUCH_AS ")", quote.text);
    if (numeric(*host, addr) != (text[0] == '[' ? AF_INET6 : AF_INET))
        return SETTINGS_BAD(cause, "'%s' is not a numeric address and port (" ADDRESS_SUCH_AS ")",
                            quote.text);
    return 0;
}

int settings_address_parse(const char *text, struct settings_address *address,
                           struct settings_cause *cause)
{
    char copy[INET6_ADDRSTRLEN + sizeof("[]:65535")];
    struct settings_quote quote = settings_quote(text);
    char *host, *port_text;
    uint8_t addr[16];
    long port;
    int family, rc;

    if (strlen(text) >= sizeof(copy))
        return SETTINGS_BAD(cause, "'%s' is not a numeric address and port (" ADDRESS_SUCH_AS ")",
                            quote.text);
    memcpy(copy, text, strlen(text) + 1);
    rc = split_port(copy, &host, &port_text, cause);
    if (rc != 0)
        return rc;
    port = small_number(port_text, UINT16_MAX);
    if (port < 1)
        return SETTINGS_BAD(cause, "'%s': the port must be 1 to 65535", quote.text);
    family = numeric(host, addr);
    if (family == AF_INET6 && is_mapped(addr)) {
        family = AF_INET;
        unmap(addr);
    }
    address_fill(address, family, addr, htons((uint16_t)port));
    return 0;
}

/* Zeroes the bits behind the prefix; whether any was set. */
static bool mask(uint8_t addr[16], unsigned bits)
{
    bool any = false;

    for (unsigned i = 0; i < 16; i++) {
        unsigned kept = bits >= 8 * (i + 1) ? 8 : bits > 8 * i ? bits - 8 * i : 0;
        uint8_t masked = (uint8_t)(addr[i] & (0xff00u >> kept));

        any = any || masked != addr[i];
        addr[i] = masked;
    }
    return any;
}

int settings_prefix_parse(const char *text, struct settings_prefix *prefix,
                          struct settings_cause *cause)
{
    char copy[INET6_ADDRSTRLEN + sizeof("/128")];
    struct settings_quote quote = settings_quote(text);
    char *slash;
    long bits, most;
    int family = 0;

    memset(prefix, 0, sizeof(*prefix));
    if (strlen(text) < sizeof(copy)) {
        memcpy(copy, text, strlen(text) + 1);
        slash = strchr(copy, '/');
        if (slash)
            *slash = '\0';
        family = numeric(copy, prefix->addr);
    }
    if (family == 0)
        return SETTINGS_BAD(cause, "'%s' is not an address or network (" PREFIX_SUCH_AS ")",
                            quote.text);
    most = family == AF_INET ? 32 : 128;
    bits = slash ? small_number(slash + 1, most) : most;
    if (bits < 0)
        return SETTINGS_BAD(cause, "'%s': the prefix length must be 0 to %ld", quote.text, most);
    if (mask(prefix->addr, (unsigned)bits)) {
        char meant[INET6_ADDRSTRLEN];

        return SETTINGS_BAD(cause, "'%s' has bits beyond its prefix length; did you mean %s/%ld?",
                            quote.text, inet_ntop(family, prefix->addr, meant, sizeof(meant)),
                            bits);
    }
    prefix->family = family;
    prefix->bits = (unsigned)bits;
    if (family == AF_INET6 && prefix->bits >= MAPPED_BITS && is_mapped(prefix->addr)) {
        prefix->family = AF_INET;
        prefix->bits -= MAPPED_BITS;
        unmap(prefix->addr);
    }
    return 0;
}

typedef int (*item_parse)(const char *text, void *item, struct settings_cause *cause);

static int address_item(const char *text, void *item, struct settings_cause *cause)
{
    return settings_address_parse(text, item, cause);
}

static int prefix_item(const char *text, void *item, struct settings_cause *cause)
{
    return settings_prefix_parse(text, item, cause);
}

/* Takes the next item off a list that it cuts up; NULL after the last one. */
static char *next_item(char **rest)
{
    char *item = strsep(rest, ",");
    size_t len;

    if (!item)
        return NULL;
    item += strspn(item, " \t");
    len = strlen(item);
    while (len > 0 && (item[len - 1] == ' ' || item[len - 1] == '\t'))
        item[--len] = '\0';
    return item;
}

static int items_parse(char *copy, item_parse parse, char *items, size_t size,
                       struct settings_cause *cause)
{
    char *rest = copy;
    unsigned i = 0;
    int rc = 0;

    for (char *item = next_item(&rest); item && rc == 0; item = next_item(&rest)) {
        if (*item == '\0')
            rc = SETTINGS_BAD(cause, "item %u of the list is empty", i + 1);
        else
            rc = parse(item, items + i * size, cause);
        i++;
    }
    return rc;
}

static int list_parse(const char *text, unsigned max, item_parse parse, size_t size, void **items,
                      unsigned *count, struct settings_cause *cause)
{
    unsigned n = 1;
    char *copy, *array;
    int rc = -ENOMEM;

    for (const char *p = text; *p != '\0'; p++)
        if (*p == ',' && ++n > max)
            return SETTINGS_BAD(cause, "the list has more than %u items", max);
    copy = strdup(text);
    array = calloc(n, size);
    if (copy && array)
        rc = items_parse(copy, parse, array, size, cause);
    free(copy);
    if (rc < 0) {
        free(array);
        return rc;
    }
    *items = array;
    *count = n;
    return 0;
}

int settings_addresses_parse(const char *text, unsigned max, struct settings_address **addresses,
                             unsigned *count, struct settings_cause *cause)
{
    void *items = NULL;
    int rc = list_parse(text, max, address_item, sizeof(**addresses), &items, count, cause);

    if (rc == 0)
        *addresses = items;
    return rc;
}

int settings_prefixes_parse(const char *text, unsigned max, struct settings_prefix **prefixes,
                            unsigned *count, struct settings_cause *cause)
{
    void *items = NULL;
    int rc = list_parse(text, max, prefix_item, sizeof(**prefixes), &items, count, cause);

    if (rc == 0)
        *prefixes = items;
    return rc;
}

int settings_host_check(const char *text, struct settings_cause *cause)
{
    static const char name_chars[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    struct settings_quote quote = settings_quote(text);
    const char *bad = text + strspn(text, name_chars);
    uint8_t addr[16];

    if (numeric(text, addr) != 0)
        return 0;
    if (bad != text && *bad == ':')
        return SETTINGS_BAD(
            cause, "'%s' is not a host name or address; its port is set with nfs-port", quote.text);
    /* What ends in a number would be an address (RFC 1123 section 2.1), and this is not a good one. */
    if (*bad != '\0' || text[0] == '-' || text[0] == '.' || strstr(text, "..") ||
        strlen(text) > HOST_MAX || text[strspn(text, "0123456789.")] == '\0')
        return SETTINGS_BAD(cause, "'%s' is not a host name or address", quote.text);
    return 0;
}

bool settings_address_equal(const struct settings_address *a, const struct settings_address *b)
{
    return a->len == b->len && memcmp(&a->addr, &b->addr, a->len) == 0;
}

static bool in_prefix(const uint8_t addr[16], const struct settings_prefix *prefix)
{
    uint8_t masked[16];

    memcpy(masked, addr, sizeof(masked));
    (void)mask(masked, prefix->bits);
    return memcmp(masked, prefix->addr, sizeof(masked)) == 0;
}

bool settings_allowed(const struct settings_service *service, const struct sockaddr *peer)
{
    uint8_t addr[16] = {0};
    int family = peer->sa_family;

    if (family == AF_INET) {
        memcpy(addr, (const char *)peer + offsetof(struct sockaddr_in, sin_addr), 4);
    } else if (family == AF_INET6) {
        memcpy(addr, (const char *)peer + offsetof(struct sockaddr_in6, sin6_addr), 16);
        if (is_mapped(addr)) {
            family = AF_INET;
            unmap(addr);
        }
    } else {
        return false;
    }
    for (unsigned i = 0; i < service->allow_count; i++)
        if (service->allow[i].family == family && in_prefix(addr, &service->allow[i]))
            return true;
    return false;
}

void settings_address_text(const struct settings_address *address, char *text, size_t size)
{
    char host[INET6_ADDRSTRLEN] = "?";
    struct sockaddr_in in;
    struct sockaddr_in6 in6;

    if (address->addr.ss_family == AF_INET) {
        memcpy(&in, &address->addr, sizeof(in));
        (void)inet_ntop(AF_INET, &in.sin_addr, host, sizeof(host));
        (void)snprintf(text, size, "%s:%u", host, (unsigned)ntohs(in.sin_port));
    } else if (address->addr.ss_family == AF_INET6) {
        memcpy(&in6, &address->addr, sizeof(in6));
        (void)inet_ntop(AF_INET6, &in6.sin6_addr, host, sizeof(host));
        (void)snprintf(text, size, "[%s]:%u", host, (unsigned)ntohs(in6.sin6_port));
    } else {
        (void)snprintf(text, size, "?");
    }
}
