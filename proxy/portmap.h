/*
 * portmap: what libtirpc does for us: asking a server's rpcbind for a port, and binding to a
 * reserved one.
 */
#ifndef PROXY_PORTMAP_H
#define PROXY_PORTMAP_H

#include <stdint.h>
#include <sys/socket.h>

/*
 * The TCP port at which the host serves that program, as its rpcbind has it (RFC 1833). Blocks for
 * eight seconds at most: not for a loop's thread. The port; -ENOENT when it is not registered;
 * -EHOSTUNREACH when the rpcbind does not answer; or what kept from connecting to it.
 */
int portmap_lookup(const struct sockaddr *host, uint32_t program, uint32_t version);

/* Binds to some free port below 1024. 0, or -EACCES without permission, -EADDRINUSE when none is
 * free. */
int portmap_bind_reserved(int fd, int family);

#endif
