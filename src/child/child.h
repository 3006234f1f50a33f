/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child: the fixed-process mode's part of a child's life: joins door, loop
 * and channels and follows httpd's hooks.
 */
#ifndef CPUAFFINITY_CHILD_H
#define CPUAFFINITY_CHILD_H

#include "httpd.h"

#include "affinity/seat.h"
#include "loop/loop.h"

/* What the rest of the module knows and the loop needs. */
typedef struct child_setup {
    seat_table *seats;
    int balance;             /* FixedBalance */
    void (*place)(int seat); /* pins the calling thread; or NULL */
    void (*look)(int seat);  /* on the loop, at each look round; or NULL */
    /* Makes the server of answers for the loop; may return NULL. */
    const loop_server *(*answers)(apr_pool_t *pchild, server_rec *s,
                                  const sockets_set *sockets);
} child_setup;

/*
 * In child_init, in a child of the fixed-process mode: opens the door and
 * starts the loop's thread, which claims the seat. A child is served by all
 * threads or by none: without epoll or eventfd it serves the sockets of its
 * seat as plain mpm_event; without a seat, or a thread, it ends. Both logged.
 */
void child_start(apr_pool_t *pchild, server_rec *s, const child_setup *setup);

/* In child_init, where the mode is off: serves what processes of an older
 * generation, which had it on, still pass on. */
void child_carry(apr_pool_t *pchild, server_rec *s);

/* In child_stopping: any thread, any number of times, also without
 * child_start. Only tells the loop. */
void child_stop(int graceful);

/* pre_close_connection: while the process stops gracefully, an idle
 * keep-alive connection moves to the next generation instead of being
 * closed. On the worker that closes it. */
int child_pre_close(conn_rec *c);

#endif
