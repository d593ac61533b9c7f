/*
 * commands: what `nfsaccel stat` and `nfsaccel flush` do. Each returns the process' exit status.
 */
#ifndef PROXY_COMMANDS_H
#define PROXY_COMMANDS_H

#include <stdbool.h>

#define COMMANDS_DEFAULT_FILE "/etc/nfsaccel.conf"

/* `interval` in seconds: again and again; 0: once. */
int command_stat(const char *file, bool json, unsigned interval);
/* `service` NULL: all of them. */
int command_flush(const char *file, const char *service);

#endif
