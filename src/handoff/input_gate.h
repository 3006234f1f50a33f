/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_gate: where httpd's filters get a connection's bytes from. It can be
 * shut after an answer: httpd then checks for a further request without
 * reading it. What a client sends on seeing the answer stays in the socket,
 * and the connection can go to the loop; with bytes in a filter it could not
 * (docs/security.md, Adoption). What a filter already holds is still found.
 */
#ifndef CPUAFFINITY_INPUT_GATE_H
#define CPUAFFINITY_INPUT_GATE_H

#include "httpd.h"

/* Gives every connection of this process a gate from now on, as it may go to
 * a loop. Main thread, before others exist. */
void input_gate_use(void);

/* From now on non-blocking reads of this thread from the socket of @a c return
 * EAGAIN; what is there will show in the MPM's poll. For when its request has
 * been read and answered. The worker serving c. */
void input_gate_shut(conn_rec *c);

/* Undoes input_gate_shut(). The worker that shut it. */
void input_gate_open(void);

/*
 * The next request was left in the socket and is to be processed at once:
 * tells the MPM that a filter holds it. The next thing that happens to the
 * connection is input_gate_begin(). The worker serving c.
 */
void input_gate_promise(conn_rec *c);

/* Does so if it is there, and nothing else was said of the connection. */
void input_gate_go_on(conn_rec *c);

/* First thing in process_connection: opens the gate and withdraws a promise.
 * The worker serving c. */
void input_gate_begin(conn_rec *c);

/* Runs the hook process_connection recursively, for the other modules.
 * @return what it returned. The worker serving c. */
int input_gate_run(conn_rec *c);

/* Whether this thread is within input_gate_run() for this connection. The
 * worker serving c. */
int input_gate_is_running(const conn_rec *c);

/* Hook insert_network_bucket: after all others and before core, which it
 * replaces for connections that may go to the loop. */
apr_status_t input_gate_network_bucket(conn_rec *c, apr_bucket_brigade *bb,
                                       apr_socket_t *socket);

#endif
