/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detach: takes an idle keep-alive connection out of httpd's hands. Any
 * worker thread, for the connection that it serves.
 */
#ifndef CPUAFFINITY_DETACH_H
#define CPUAFFINITY_DETACH_H

#include "httpd.h"

#include "handoff/handoff.h"

/* Finds the modules that have to be asked; once, in child_init. */
void detach_init(void);

/*
 * May this connection leave httpd? Only if it is a plain HTTP/1.x client
 * connection between two requests, no filter holds data of it, only filters
 * that are known stand on it, and its client is the socket's peer.
 */
int detach_may(conn_rec *c);

/* The same, but the socket's filter may hold bytes of the next requests. */
int detach_may_with_input(conn_rec *c);

/*
 * Has httpd looked a name up for this connection: the client's, its user's,
 * its own? It goes on to log them, which only httpd can.
 */
int detach_is_named(const conn_rec *c);

/*
 * Copies what the socket's filter holds, which stays there: what httpd reads
 * next.
 * @return bytes in @a buf; as many as @a size: there may be more
 */
apr_size_t detach_input(conn_rec *c, char *buf, apr_size_t size);

/* For how many milliseconds nothing has been sent on it, a tick of the kernel
 * more or less; 0 when that cannot be told. */
int64_t detach_idled(conn_rec *c);

/*
 * Makes an idle handoff of it with a duplicate of its descriptor, whose
 * deadline is the KeepAliveTimeout of its last request's virtual host from
 * now on. When the handoff has found its place the caller sets c->aborted, so
 * that the MPM closes its copy without shutting the connection down.
 * @param host that virtual host; NULL: there was no request yet
 * @return 0, or -1 with errno
 */
int detach_take(conn_rec *c, const server_rec *host, handoff *p);

#endif
