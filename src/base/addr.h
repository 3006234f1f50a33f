/* SPDX-License-Identifier: Apache-2.0 */
/*
 * addr: Internet addresses. Plain data; any thread.
 */
#ifndef CPUAFFINITY_ADDR_H
#define CPUAFFINITY_ADDR_H

#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>

/* An Internet address; any.sa_family is AF_UNSPEC when it is not known. */
typedef union addr {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
} addr;

/* Whether a connection can have this address: it is known, and not a wildcard
 * address that a socket listens on. */
int addr_is_known(const addr *a);

/* Size in bytes of the address's own structure; 0 when it is not known. */
socklen_t addr_len(const addr *a);

/* Copies an address from the kernel or from APR (apr_sockaddr_t.sa).
 * @return 0, or -1: another family; @a to is then unknown */
int addr_of(addr *to, const struct sockaddr *from);

/* Port in host byte order; 0 when it is not known. */
unsigned addr_port(const addr *a);

/* Whether family and address are the same; ports are not compared. */
int addr_is_same_host(const addr *a, const addr *b);

typedef enum addr_match {
    ADDR_ELSEWHERE,
    ADDR_WILDCARD, /* it listens on all addresses of the family */
    ADDR_EXACT
} addr_match;

/* Whether a connection to @a local arrives at a socket listening on @a at. */
addr_match addr_comes_in(const addr *local, const addr *at);

/* The bytes that identify a local address: port, address, and the interface
 * of a link-local one. @a a must be known. @return how many bytes */
#define ADDR_BYTES 22
size_t addr_bytes(const addr *a, unsigned char out[ADDR_BYTES]);

#endif
