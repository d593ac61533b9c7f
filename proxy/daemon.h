/*
 * daemon: the whole proxy: workers, listeners, the control socket, signals.
 */
#ifndef PROXY_DAEMON_H
#define PROXY_DAEMON_H

#include "config/settings.h"

/* Serves until SIGTERM or SIGINT. Takes over `settings`. The process' exit status. */
int daemon_run(const char *file, struct settings *settings);

#endif
