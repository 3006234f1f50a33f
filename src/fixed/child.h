/*
 * child: the fixed-process mode's part of a child's life: joins door, loop
 * and mailroom and follows httpd's hooks.
 */
#ifndef CPUAFFINITY_CHILD_H
#define CPUAFFINITY_CHILD_H

#include "httpd.h"

#include "affinity/seat.h"
#include "fixed/loop.h"

/* What the rest of the module knows and the loop needs. */
typedef struct child_setup {
    seat_table *seats;
    int balance;                /* FixedBalance */
    void (*place)(int seat);    /* pins the calling thread; or NULL */
    void (*look)(int seat);     /* on the loop, at each look round; or NULL */
    const loop_server *answers; /* who answers on the loop, or NULL */
} child_setup;

/*
 * In child_init, in a child of the fixed-process mode: opens the door and
 * starts the loop's thread, which claims the seat. On failure (logged) the
 * child serves as plain mpm_event from httpd's own socket.
 */
void child_start(apr_pool_t *pchild, server_rec *s, const child_setup *setup);

/* In child_init, where the mode is off: serves what processes of an older
 * generation, which had it on, still pass on. */
void child_carry(apr_pool_t *pchild, server_rec *s);

/* In child_stopping: any thread, any number of times, also without
 * child_start. Only tells the loop. */
void child_stop(int graceful);

/* The loop of this process, or NULL. For taking connections back. */
loop *child_loop(void);

/* pre_close_connection: while the process stops gracefully, an idle
 * keep-alive connection moves to the next generation instead of being
 * closed. On the worker that closes it. */
int child_pre_close(conn_rec *c);

#endif
