/*
 * portmap: the only file of the daemon that includes libtirpc.
 */
#include "proxy/portmap.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <netinet/in.h>

#include <netconfig.h>
#include <rpc/rpc.h>
#include <rpc/rpcb_clnt.h>

static int port_of(const struct sockaddr_storage *address)
{
    if (address->ss_family == AF_INET6)
        return ntohs(((const struct sockaddr_in6 *)address)->sin6_port);
    return ntohs(((const struct sockaddr_in *)address)->sin_port);
}

static socklen_t length_of(const struct sockaddr *address)
{
    return address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                          : sizeof(struct sockaddr_in);
}

int portmap_lookup(const struct sockaddr *host, uint32_t program, uint32_t version)
{
    char name[NI_MAXHOST];
    if (getnameinfo(host, length_of(host), name, sizeof(name), NULL, 0, NI_NUMERICHOST) != 0)
        return -EINVAL;
    struct netconfig *tcp = getnetconfigent(host->sa_family == AF_INET6 ? "tcp6" : "tcp");
    if (tcp == NULL)
        return -EPROTONOSUPPORT;
    struct sockaddr_storage found;
    struct netbuf where = {.maxlen = sizeof(found), .len = sizeof(found), .buf = &found};
    memset(&found, 0, sizeof(found));
    int port = -ENOENT;
    if (rpcb_getaddr(program, version, tcp, &where, name))
        port = port_of(&found);
    else if (rpc_createerr.cf_stat != RPC_PROGNOTREGISTERED)
        port = -EHOSTUNREACH;
    freenetconfigent(tcp);
    return port == 0 ? -ENOENT : port;
}

int portmap_bind_reserved(int fd, int family)
{
    struct sockaddr_storage any;
    memset(&any, 0, sizeof(any));
    any.ss_family = (sa_family_t)family;
    if (bindresvport_sa(fd, (struct sockaddr *)&any) != 0)
        return -errno;
    return 0;
}
