/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_gate: where httpd's filters get a connection's bytes from. It can be
 * shut after an answer: httpd then looks for a further request without
 * reading it. What a client sends on sight of the answer stays in the socket,
 * and the connection can go to the loop; were it in a filter, it could not
 * (docs/security.md, Adoption). What a filter holds already is found as ever.
 */
#ifndef CPUAFFINITY_INPUT_GATE_H
#define CPUAFFINITY_INPUT_GATE_H

#include "httpd.h"

/* Connections of this process may go to a loop: from now on they have a gate.
 * Main thread, before others exist. */
void input_gate_use(void);

/* Lets nobody on this thread read from the socket of @a c without waiting:
 * "nothing there yet", which the MPM's poll will see better. For when its
 * request is read and answered. The worker serving c. */
void input_gate_shut(conn_rec *c);

/* The end of that. The worker that shut it. */
void input_gate_open(void);

/*
 * The next request is in the socket, left there, and is to be gone on with at
 * once: says to the MPM that a filter holds it. The next thing that happens to
 * the connection is input_gate_begin(). The worker serving c.
 */
void input_gate_promise(conn_rec *c);

/* First thing in process_connection: the gate is open, and a promise is taken
 * back. The worker serving c. */
void input_gate_begin(conn_rec *c);

/* Runs the hook process_connection within itself, for the other modules.
 * @return what it returned. The worker serving c. */
int input_gate_run(conn_rec *c);

/* Are we within input_gate_run() for this connection? Its worker. */
int input_gate_is_running(const conn_rec *c);

/* insert_network_bucket, behind all others and before core, which it
 * replaces for connections that the loop may have. */
apr_status_t input_gate_network_bucket(conn_rec *c, apr_bucket_brigade *bb,
                                       apr_socket_t *socket);

#endif
