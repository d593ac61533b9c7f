/*
 * address: the length of a socket address and the port in it, of IPv4 and of IPv6 alike. Ports are in
 * the host's order of octets.
 */
#ifndef PROXY_ADDRESS_H
#define PROXY_ADDRESS_H

#include <netinet/in.h>
#include <stdint.h>

static inline socklen_t address_len(int family)
{
    return family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

static inline uint16_t address_port(const struct sockaddr_storage *address)
{
    return ntohs(address->ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)address)->sin6_port
                                                : ((const struct sockaddr_in *)address)->sin_port);
}

static inline void address_set_port(struct sockaddr_storage *address, uint16_t port)
{
    if (address->ss_family == AF_INET6)
        ((struct sockaddr_in6 *)address)->sin6_port = htons(port);
    else
        ((struct sockaddr_in *)address)->sin_port = htons(port);
}

#endif
