/*
 * portmap: the only file of the daemon that includes libtirpc.
 */
#include "proxy/portmap.h"

#include "proxy/address.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rpc/rpc.h>
/* It needs the one above. */
#include <rpc/pmap_prot.h>

#define RPCBIND_PORT    111
#define CONNECT_TIMEOUT 3000 /* ms */
#define CALL_TIMEOUT    5    /* s */

/* rpcb_getaddr of the library connects for minutes where nobody answers; this one does not. */
static int connect_in_time(int fd, const struct sockaddr *address)
{
    int err = 0;
    socklen_t len = sizeof(err);
    struct pollfd writable = {.fd = fd, .events = POLLOUT};
    if (connect(fd, address, address_len(address->sa_family)) == 0)
        return 0;
    if (errno != EINPROGRESS)
        return -errno;
    if (poll(&writable, 1, CONNECT_TIMEOUT) != 1)
        return -ETIMEDOUT;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) != 0)
        return -errno;
    return -err;
}

static int connect_rpcbind(const struct sockaddr *host)
{
    struct sockaddr_storage address;
    memset(&address, 0, sizeof(address));
    memcpy(&address, host, address_len(host->sa_family));
    address_set_port(&address, RPCBIND_PORT);
    int fd = socket(host->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    int err = connect_in_time(fd, (const struct sockaddr *)&address);
    if (err == 0 && fcntl(fd, F_SETFL, 0) != 0)
        err = -errno;
    if (err != 0) {
        close(fd);
        return err;
    }
    return fd;
}

static CLIENT *client_over(int fd, const struct sockaddr *host, rpcprog_t program,
                           rpcvers_t version)
{
    socklen_t len = address_len(host->sa_family);
    struct netbuf at = {.maxlen = len, .len = len, .buf = (void *)(uintptr_t)host};
    return clnt_vc_create(fd, &at, program, version, 0, 0);
}

static int port_or_error(enum clnt_stat stat, unsigned port)
{
    if (stat != RPC_SUCCESS)
        return -EHOSTUNREACH;
    return port > 0 && port <= UINT16_MAX ? (int)port : -ENOENT;
}

/* Version 2 of the protocol, which every rpcbind and portmapper speaks, knows IPv4 only. */
static int ask_v4(CLIENT *client, uint32_t program, uint32_t version)
{
    struct timeval patience = {.tv_sec = CALL_TIMEOUT};
    struct pmap about = {.pm_prog = program, .pm_vers = version, .pm_prot = IPPROTO_TCP};
    u_short port = 0;
    enum clnt_stat stat = clnt_call(client, PMAPPROC_GETPORT, (xdrproc_t)xdr_pmap, &about,
                                    (xdrproc_t)xdr_u_short, &port, patience);
    return port_or_error(stat, port);
}

/* "ADDRESS.HIGH.LOW" (RFC 5665); 0: not one. */
static unsigned port_of_universal(char *text)
{
    unsigned part[2];
    for (int i = 0; i < 2; i++) {
        char *end, *dot = strrchr(text, '.');
        if (dot == NULL)
            return 0;
        unsigned long value = strtoul(dot + 1, &end, 10);
        if (end == dot + 1 || *end != '\0' || value > 255)
            return 0;
        part[i] = (unsigned)value;
        *dot = '\0';
    }
    return part[1] << 8 | part[0];
}

static int ask_v6(CLIENT *client, uint32_t program, uint32_t version)
{
    char netid[] = "tcp6", none[] = "";
    struct timeval patience = {.tv_sec = CALL_TIMEOUT};
    RPCB about = {
        .r_prog = program, .r_vers = version, .r_netid = netid, .r_addr = none, .r_owner = none};
    char *found = NULL;
    enum clnt_stat stat = clnt_call(client, RPCBPROC_GETADDR, (xdrproc_t)xdr_rpcb, &about,
                                    (xdrproc_t)xdr_wrapstring, &found, patience);
    int port = port_or_error(stat, found != NULL ? port_of_universal(found) : 0);
    free(found);
    return port;
}

int portmap_lookup(const struct sockaddr *host, uint32_t program, uint32_t version)
{
    bool v6 = host->sa_family == AF_INET6;
    int fd = connect_rpcbind(host);
    if (fd < 0)
        return fd;
    CLIENT *client = client_over(fd, host, v6 ? RPCBPROG : PMAPPROG, v6 ? RPCBVERS : PMAPVERS);
    if (client == NULL) {
        close(fd);
        return -ENOMEM;
    }
    int port = v6 ? ask_v6(client, program, version) : ask_v4(client, program, version);
    clnt_destroy(client);
    close(fd);
    return port;
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
