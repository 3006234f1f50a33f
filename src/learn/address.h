/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address: what the loop needs to know of a local address, made of all vhosts
 * behind it. Made in child_init, read-only afterwards.
 */
#ifndef CPUAFFINITY_ADDRESS_H
#define CPUAFFINITY_ADDRESS_H

#include "httpd.h"

#include "http/request.h"

/* What the loop needs to know of a local address: read-only. Times are in
 * milliseconds, 0: none. */
typedef struct address {
    int reads;             /* 0: hand over at once, do not read */
    int keeps;             /* 1: TLS: may come once httpd has answered */
    const char *why;       /* neither: for people; else NULL */
    const char *advice;    /* what would change that */
    request_limits limits; /* the smallest of all vhosts behind it */
    int64_t timeout;       /* Timeout, of the address's default vhost */
    /* RequestReadTimeout header=FIRST-MAX,MinRate=RATE; when mod_reqtimeout
     * is not there, first is 0: only Timeout counts. */
    int64_t header_first;
    int64_t header_max;
    int header_rate; /* bytes per second that add a second each; 0: none */
} address;

/*
 * Is there a FixedStatic vhost behind this address, and is every vhost
 * behind it plain HTTP (no SSLEngine, no PROXY protocol, no other protocol)?
 * @param local as of getsockname; may be a wildcard
 * @param protocol of the Listen, or NULL
 * @return never NULL, allocated once from @a p
 */
const address *address_make(apr_pool_t *p, const struct sockaddr *local,
                            const char *protocol);

/* "127.0.0.1:80" of the n-th Listen, and what is made of it; NULL: there are no
 * more. In the configuration test and in children; any thread. From @a p. */
const char *address_listen(apr_pool_t *p, unsigned n, const address **made);

#endif
