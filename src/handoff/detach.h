/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detach: takes an idle keep-alive connection away from httpd. Any worker
 * thread, for the connection that it serves.
 */
#ifndef CPUAFFINITY_DETACH_H
#define CPUAFFINITY_DETACH_H

#include "httpd.h"

#include "handoff/handoff.h"

/* Finds the modules whose state is checked; once, in child_init. */
void detach_init(void);

/*
 * Whether this connection may leave httpd: only if it is a plain HTTP/1.x
 * client connection between two requests, has only known filters, none of
 * them holds data of it, and its client is the socket's peer.
 */
int detach_may(conn_rec *c);

/* The same, but the core input filter may hold bytes of the next requests. */
int detach_may_with_input(conn_rec *c);

/* The same of a TLS connection that is to be kept as it is, which has none of
 * the next requests' bytes in a filter. */
int detach_may_keep(conn_rec *c);

/*
 * Whether httpd has looked up a name for this connection: the client's, its
 * user's, or the server's own. Such names are logged, which only httpd can do.
 */
int detach_is_named(const conn_rec *c);

/*
 * Copies what httpd would read next from the core input filter; it stays
 * there.
 * @return bytes in @a buf; if as many as @a size, there may be more
 */
apr_size_t detach_input(conn_rec *c, char *buf, apr_size_t size);

/* Does the core input filter hold a byte? Told without reading from the
 * socket; the gate is open afterwards. */
int detach_holds_input(conn_rec *c);

/* Milliseconds since something was last sent on it, give or take a kernel
 * tick; 0 when unknown. */
int64_t detach_idled(conn_rec *c);

/*
 * Makes an idle handoff of it, with a duplicate of its descriptor. Its
 * deadline is now plus the KeepAliveTimeout of its last request's virtual
 * host. Once the handoff has been taken the caller sets c->aborted, so that
 * the MPM closes its copy without shutting the connection down.
 * @param host that virtual host; NULL: there was no request yet
 * @return 0, or -1 with errno
 */
int detach_take(conn_rec *c, const server_rec *host, handoff *p);

#endif
