/* SPDX-License-Identifier: Apache-2.0 */
/*
 * takeback: a keep-alive connection of httpd's, whose next request the loop
 * can answer, goes back to the loop; one whose request may be learned gets a
 * note. Between two requests it idles at the loop if its last request was
 * learned, or if httpd's threads have many connections already; and always
 * instead of being closed for want of an idle thread. On the worker that
 * serves it.
 */
#ifndef CPUAFFINITY_TAKEBACK_H
#define CPUAFFINITY_TAKEBACK_H

#include "httpd.h"

/* process_connection, before every other module, which it may call itself.
 * @return DECLINED, or OK: it is the loop's now and the MPM closes its copy;
 * or what the others returned */
int takeback_process_connection(conn_rec *c);

/* post_read_request: remembers whose KeepAliveTimeout is to follow. */
int takeback_post_read_request(request_rec *r);

/* pre_close_connection, for a connection that child_pre_close() has left: the
 * loop takes it if its time is not over, or a request is there. */
int takeback_pre_close(conn_rec *c);

/* insert_network_bucket, ahead of the door's: names, at debug, why the loop
 * handed the request over. The worker serving c. */
apr_status_t takeback_network_bucket(conn_rec *c, apr_bucket_brigade *bb,
                                     apr_socket_t *socket);

#endif
