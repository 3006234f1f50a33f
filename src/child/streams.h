/* SPDX-License-Identifier: Apache-2.0 */
/*
 * streams: HTTP/2 connections of a process that stops gracefully. Once
 * mod_http2 sees that the MPM stops it refuses every new stream, also those
 * whose requests have come and are unread: many, where the client and all of
 * its connections share a CPU. Here it sees so only when a connection's socket
 * is empty, so that what has come is answered first. The worker that serves
 * the connection.
 */
#ifndef CPUAFFINITY_STREAMS_H
#define CPUAFFINITY_STREAMS_H

#include <httpd.h>

/* From now on this thread serves @a c; NULL: none. Any connection. */
void streams_serve(const conn_rec *c);

/* Hook mpm_query, before the MPM's. @return DECLINED, or OK with the answer
 * for the connection that this thread serves */
int streams_mpm_query(int query, int *result, apr_status_t *rv);

/* pre_close_connection: if requests have come on an idle HTTP/2 connection,
 * has mod_http2 read and answer them before it says goodbye. */
void streams_pre_close(conn_rec *c);

#endif
