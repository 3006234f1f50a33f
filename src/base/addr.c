/* SPDX-License-Identifier: Apache-2.0 */
#include "base/addr.h"

#include <stdint.h>
#include <string.h>

int addr_is_known(const addr *a)
{
    switch (a->any.sa_family) {
    case AF_INET:
        return a->in.sin_addr.s_addr != htonl(INADDR_ANY);
    case AF_INET6:
        return !IN6_IS_ADDR_UNSPECIFIED(&a->in6.sin6_addr);
    default:
        return 0;
    }
}

socklen_t addr_len(const addr *a)
{
    switch (a->any.sa_family) {
    case AF_INET:
        return sizeof(a->in);
    case AF_INET6:
        return sizeof(a->in6);
    default:
        return 0;
    }
}

int addr_of(addr *to, const struct sockaddr *from)
{
    memset(to, 0, sizeof(*to));
    switch (from->sa_family) {
    case AF_INET:
        memcpy(&to->in, from, sizeof(to->in));
        return 0;
    case AF_INET6:
        memcpy(&to->in6, from, sizeof(to->in6));
        return 0;
    default:
        return -1;
    }
}

/* The port is at the same offset in both families. */
unsigned addr_port(const addr *a)
{
    return addr_len(a) ? ntohs(a->in.sin_port) : 0;
}

int addr_is_same_host(const addr *a, const addr *b)
{
    if (a->any.sa_family != b->any.sa_family) {
        return 0;
    }
    return a->any.sa_family == AF_INET6
               ? !memcmp(&a->in6.sin6_addr, &b->in6.sin6_addr,
                         sizeof(a->in6.sin6_addr))
                     && a->in6.sin6_scope_id == b->in6.sin6_scope_id
               : a->in.sin_addr.s_addr == b->in.sin_addr.s_addr;
}

addr_match addr_comes_in(const addr *local, const addr *at)
{
    if (addr_port(local) != addr_port(at)
        || local->any.sa_family != at->any.sa_family) {
        return ADDR_ELSEWHERE;
    }
    if (addr_is_same_host(local, at)) {
        return ADDR_EXACT;
    }
    return addr_is_known(at) ? ADDR_ELSEWHERE : ADDR_WILDCARD;
}

size_t addr_bytes(const addr *a, unsigned char out[ADDR_BYTES])
{
    size_t len = sizeof(a->in.sin_port);

    memcpy(out, &a->in.sin_port, len);
    if (a->any.sa_family == AF_INET6) {
        memcpy(out + len, &a->in6.sin6_addr, sizeof(a->in6.sin6_addr));
        len += sizeof(a->in6.sin6_addr);
        memcpy(out + len, &a->in6.sin6_scope_id, sizeof(uint32_t));
        return len + sizeof(uint32_t);
    }
    memcpy(out + len, &a->in.sin_addr, sizeof(a->in.sin_addr));
    return len + sizeof(a->in.sin_addr);
}
