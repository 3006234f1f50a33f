/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls_takeback: a TLS connection of httpd's goes to the loop when the loop
 * could have answered its last request, and comes back with the next one that
 * it cannot answer. The worker that serves it.
 */
#ifndef CPUAFFINITY_TLS_TAKEBACK_H
#define CPUAFFINITY_TLS_TAKEBACK_H

#include "httpd.h"

#include "loop/loop.h"
#include "tls/keep.h"

/* process_connection of one that may be kept, with the others of this hook
 * inside. @a l may be NULL: it stays httpd's. @return OK, or what they said */
int tls_takeback_process_connection(keep *k, loop *l);

/* create_request, before learn's: looks at the request that httpd is going to
 * read, as far as it has arrived. */
int tls_takeback_create_request(request_rec *r);

/* log_transaction: the connection's Host is one that httpd answers. */
int tls_takeback_log_transaction(request_rec *r);

#endif
