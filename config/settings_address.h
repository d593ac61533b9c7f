/*
 * settings_address: numeric addresses with a port, networks, and lists of both.
 *
 * An IPv4-mapped IPv6 address or network is kept as the IPv4 one that it means.
 */
#ifndef CONFIG_SETTINGS_ADDRESS_H
#define CONFIG_SETTINGS_ADDRESS_H

#include "config/settings_error.h"

/* "192.0.2.1:2049" or "[2001:db8::1]:2049", port 1 to 65535. 0, or -EINVAL with the cause. */
int settings_address_parse(const char *text, struct settings_address *address,
                           struct settings_cause *cause);

/* "10.0.0.0/8", "fd00::/8", or one address. 0, or -EINVAL with the cause. */
int settings_prefix_parse(const char *text, struct settings_prefix *prefix,
                          struct settings_cause *cause);

/* Comma-separated lists of 1 to `max` items. The caller frees the array. 0, -ENOMEM, or -EINVAL
 * with the cause. */
int settings_addresses_parse(const char *text, unsigned max, struct settings_address **addresses,
                             unsigned *count, struct settings_cause *cause);
int settings_prefixes_parse(const char *text, unsigned max, struct settings_prefix **prefixes,
                            unsigned *count, struct settings_cause *cause);

/* A host name or a numeric address without a port. 0, or -EINVAL with the cause. */
int settings_host_check(const char *text, struct settings_cause *cause);

#endif
