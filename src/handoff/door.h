/* SPDX-License-Identifier: Apache-2.0 */
/*
 * door: hands a connection to httpd's own threads. Every ap_listen_rec of
 * the child has an eventfd in place of its socket; the MPM's listener thread
 * waits on them and our accept function gives it the next handoff. From then
 * on it is an ordinary connection of mpm_event.
 *
 * Bytes that were read come back below every filter, in front of the
 * socket's own, and c->keepalives goes on. All of it is found by data on the
 * accepted apr_socket_t, so that a backend connection or a failed one can
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
 * the MPM builds its pollset. Lives as long as the process.
 * @param listeners ap_listeners, without records of our own; or one of them
 * @param all 0: that one record only
 * @param bound how many handoffs may wait
 * @param drained called on the listener's thread whenever a handoff was
 *        taken while door_want() is set, which is cleared by it; must not
 *        block
 * @return APR_SUCCESS or why not (then the records are untouched)
 */
apr_status_t door_open(server_rec *s, ap_listen_rec *listeners, int all,
                       unsigned bound, void (*drained)(void *), void *ctx,
                       door **result);

/*
 * Makes a socket of httpd's of a descriptor, to stand in @a lr.
 * @param fd -1: a failed call's, with errno; it is the socket's on success,
 *        else closed
 */
apr_status_t door_wrap(server_rec *s, ap_listen_rec *lr, int fd,
                       apr_socket_t **sd);

/* Has the MPM built its pollset? If so, our accept function is in place from
 * the first such call on. On the loop's thread, until it says 1. */
int door_is_ready(door *d);

/*
 * Hands handoffs over: push any number, then ring once. Loop thread only.
 * @return 0; or -1: full or closed, @a p is still the caller's
 */
int door_push(door *d, handoff *p);
void door_ring(door *d);

/* Takes back the one that waits longest, if it may be given to another
 * process. Loop thread only. @return 0, or -1: there is none */
int door_take_back(door *d, handoff *p);

/* How many wait; for how long the first one has waited (ms). Any thread. */
unsigned door_length(const door *d);
int64_t door_age(door *d, int64_t now);

/* How many connections that came through the door are httpd's now, busy, kept
 * or lingering. Any thread. */
unsigned door_inside(const door *d);

/* Asks for one call of "drained" at the next handoff that is taken. */
void door_want(door *d);

/* No handoff is pushed any more; what waits can be taken back by door_take
 * until it says -1. Any thread; twice is harmless. */
void door_close(door *d);
int door_take(door *d, handoff *p);

/*
 * The note that came with a connection, for learning (R0), or NULL. It stays
 * the door's: freed with the connection. Any worker serving @a c.
 */
void *door_note(const conn_rec *c);

/*
 * The bytes that came with a connection without a note, before they are given
 * back; NULL: none. In insert_network_bucket, ahead of the door's.
 */
const char *door_bytes(apr_socket_t *socket, size_t *len);

/* Hooks: restores c->keepalives; gives the bytes back. Their order stands in
 * mod_cpuaffinity.c. */
int door_pre_connection(conn_rec *c, void *csd);
apr_status_t door_network_bucket(conn_rec *c, apr_bucket_brigade *bb,
                                 apr_socket_t *socket);

#endif
