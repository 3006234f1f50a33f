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

/* Is it an address that a connection can have: known, and not the wildcard
 * that a socket listens on? */
int addr_is_known(const addr *a);

/* Bytes of the address's own structure; 0 when it is not known. */
socklen_t addr_len(const addr *a);

/* Takes over an address of the kernel or of APR (apr_sockaddr_t.sa).
 * @return 0, or -1: of another family; @a to is not known then */
int addr_of(addr *to, const struct sockaddr *from);

/* Port in host order; 0 when it is not known. */
unsigned addr_port(const addr *a);

/* Of the same family, and the same address; the port aside. */
int addr_is_same_host(const addr *a, const addr *b);

typedef enum addr_match {
    ADDR_ELSEWHERE,
    ADDR_WILDCARD, /* it listens on all addresses of the family */
    ADDR_EXACT
} addr_match;

/* Does a connection to @a local come in at a socket that listens on @a at? */
addr_match addr_comes_in(const addr *local, const addr *at);

/* What tells one local address from all others, as bytes: port, address,
 * interface of a link-local one. @a a is known. @return how many */
#define ADDR_BYTES 22
size_t addr_bytes(const addr *a, unsigned char out[ADDR_BYTES]);

#endif
