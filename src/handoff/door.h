/* SPDX-License-Identifier: Apache-2.0 */
/*
 * door: hands a connection to httpd's own threads. Every ap_listen_rec of
 * the child has an eventfd in place of its socket; the MPM's listener thread
 * waits on them and our accept function gives it the next handoff. From then
 * on it is an ordinary connection of mpm_event.
 *
 * Bytes that were already read come back below every filter, ahead of the
 * socket's own, and c->keepalives goes on counting. All this is attached to
 * the accepted apr_socket_t, so that a backend connection or a failed one can
 * never get another's.
 */
#ifndef CPUAFFINITY_DOOR_H
#define CPUAFFINITY_DOOR_H

#include "httpd.h"
#include "ap_listen.h"

#include "handoff/handoff.h"

typedef struct door door;

/*
 * Puts doors in place of the sockets of @a listeners. In child_init, before
 * the MPM builds its pollset. The door lives as long as the process.
 * @param listeners ap_listeners, without records of our own; or one of them
 * @param all 0: only that one record
 * @param bound how many handoffs may wait
 * @param drained called on the listener's thread when a handoff is taken
 *        after door_want(), once for each door_want(); must not block
 * @return APR_SUCCESS or why not (then the records are untouched)
 */
apr_status_t door_open(server_rec *s, ap_listen_rec *listeners, int all,
                       unsigned bound, void (*drained)(void *), void *ctx,
                       door **result);

/*
 * Wraps a descriptor as a socket of httpd's, to be put in @a lr.
 * @param fd owned by the socket on success, else closed; -1: of a failed
 *        call, whose errno becomes the result
 */
apr_status_t door_wrap(server_rec *s, ap_listen_rec *lr, int fd,
                       apr_socket_t **sd);

/* Whether the MPM has built its pollset. The first call that returns 1 puts
 * our accept function in place. Loop thread only, until it returns 1. */
int door_is_ready(door *d);

/*
 * Hands handoffs over: push any number, then ring once. Loop thread only.
 * @return 0; or -1: full or closed, @a p is still the caller's
 */
int door_push(door *d, handoff *p);
void door_ring(door *d);

/* Takes back the handoff that has waited longest, if it may be given to
 * another process. Loop thread only. @return 0, or -1: there is none */
int door_take_back(door *d, handoff *p);

/* How many wait; for how long the first one has waited (ms). Any thread. */
unsigned door_length(const door *d);
int64_t door_age(door *d, int64_t now);

/* How many connections that came through the door httpd holds now: busy, in
 * keep-alive or lingering close. Any thread. */
unsigned door_inside(const door *d);

/* Asks for one call of "drained", when the next handoff is taken. */
void door_want(door *d);

/* door_close: from now on every push fails. door_take: takes back what waits,
 * until it returns -1. Any thread; closing twice is harmless. */
void door_close(door *d);
int door_take(door *d, handoff *p);

/*
 * Makes a socket of httpd's of a handoff, with what came along, as a connection
 * through the door has it. @a p is empty afterwards. Any thread.
 * @return APR_SUCCESS, or why not: @a p is still the caller's
 */
apr_status_t door_socket(handoff *p, apr_pool_t *pool, apr_socket_t **socket);

/*
 * The note that came with a connection, for learning (R0), or NULL. Owned by
 * the door and freed with the connection. The worker serving @a c.
 */
void *door_note(const conn_rec *c);

/*
 * The bytes that came with a connection, as long as they have not been given
 * back; NULL: none. In insert_network_bucket, ahead of the
 * door's own hook.
 */
const char *door_bytes(apr_socket_t *socket, size_t *len);

/*
 * Who makes the sockets of connections with TLS, or takes those up again that
 * were kept: as door_socket(), and owns p->kept, bytes, expired and ending
 * from then on. Main thread, before others exist.
 */
void door_set_keeper(apr_status_t (*keeper)(handoff *p, apr_pool_t *pool,
                                            apr_socket_t **socket));

/* Hooks: the first restores c->keepalives, the second gives the bytes back.
 * mod_cpuaffinity.c has their order. */
int door_pre_connection(conn_rec *c, void *csd);
apr_status_t door_network_bucket(conn_rec *c, apr_bucket_brigade *bb,
                                 apr_socket_t *socket);

#endif
