/*
 * settings: the configuration as one value.
 *
 * config/ turns an INI file into a `struct settings` or into one clear error, and nothing else: it
 * opens no socket and resolves no name. One table (settings_table.c) has one row per key: section,
 * name, type, range, default, one line of help, and what a reload can do with it. The parser, the
 * defaults, the validation, the example file, the README's reference and the reload all come from
 * that table.
 *
 * A value is immutable once parsed: a reload parses a new one.
 */
#ifndef CONFIG_SETTINGS_H
#define CONFIG_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>

#define SETTINGS_SERVICES_MAX 256u
#define SETTINGS_ERROR_MAX    512u
#define SETTINGS_NAME_MAX     63u

enum settings_log_level {
    SETTINGS_LOG_ERROR,
    SETTINGS_LOG_WARNING,
    SETTINGS_LOG_INFO,
    SETTINGS_LOG_DEBUG,
};

enum settings_source_ports {
    SETTINGS_PORTS_AUTO,
    SETTINGS_PORTS_RESERVED,
    SETTINGS_PORTS_ANY,
};

enum settings_coherence {
    SETTINGS_SHARED,
    SETTINGS_EXCLUSIVE,
};

enum settings_squash {
    SETTINGS_SQUASH_NONE,
    SETTINGS_SQUASH_ROOT,
    SETTINGS_SQUASH_ALL,
};

/* A numeric address and a port, IPv4 or IPv6. */
struct settings_address {
    struct sockaddr_storage addr;
    socklen_t len;
};

/* A network: IPv4 or IPv6 address and prefix length. */
struct settings_prefix {
    int family; /* AF_INET or AF_INET6 */
    uint8_t addr[16];
    unsigned bits;
};

struct settings_service {
    char *name;
    struct settings_address *listen;
    unsigned listen_count; /* at least 1 */
    char *server;          /* a host name or a numeric address */
    unsigned nfs_port;     /* 0: ask the server's rpcbind */
    unsigned mount_port;   /* 0: ask the server's rpcbind */
    enum settings_source_ports source_ports;
    unsigned connections; /* per worker */
    enum settings_coherence coherence;
    uint64_t age_min, age_max, negative_age, access_age, settle, doubt; /* nanoseconds */
    double verify;                                                      /* 0 to 1 */
    struct settings_prefix *allow;
    unsigned allow_count;
    bool read_only;
    enum settings_squash squash;
    uint32_t anonuid, anongid;
};

struct settings {
    unsigned workers; /* 0: one per CPU */
    enum settings_log_level log_level;
    char *control;
    char *http; /* NULL: off */
    struct settings_address http_address;
    bool rpcbind;
    uint64_t memory; /* octets */
    struct settings_service *services;
    unsigned service_count; /* at least 1 */
};

/* What went wrong: "FILE:LINE: KEY: cause", without a newline. */
struct settings_error {
    char text[SETTINGS_ERROR_MAX];
};

/* NULL with `error` filled in. The caller frees the result with settings_free. */
struct settings *settings_load(const char *file, struct settings_error *error);
/* The same from text in memory; `file` is only for messages. */
struct settings *settings_parse(const char *text, size_t len, const char *file,
                                struct settings_error *error);
void settings_free(struct settings *settings);

/* Whether an address may connect. IPv4-mapped IPv6 addresses match IPv4 prefixes. */
bool settings_allowed(const struct settings_service *service, const struct sockaddr *peer);

/* "host:port" or "[v6]:port" of an address. */
void settings_address_text(const struct settings_address *address, char *text, size_t size);
bool settings_address_equal(const struct settings_address *a, const struct settings_address *b);

/* The table as an example file: every key with its default and help. And as the README's reference
 * (Markdown). */
void settings_print_example(FILE *out);
void settings_print_reference(FILE *out);

/* Names the first key that a running daemon can't change (the table says which) and that differs;
 * NULL if none does. */
const char *settings_needs_restart(const struct settings *running, const struct settings *next);

#endif
