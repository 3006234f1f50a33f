/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch: the thread of each child that pins workers as they appear (the
 * placer), then keeps every thread's mask as planned (the watcher).
 *
 * A worker's pthread_t is read from the scoreboard and used once, under a
 * lock that watch_stop() takes too: the MPM joins its workers only after the
 * child_stopping hooks have run. Afterwards only kernel thread ids are used.
 */
#ifndef CPUAFFINITY_WATCH_H
#define CPUAFFINITY_WATCH_H

#include "httpd.h"
#include "apr_thread_proc.h"

#include "affinity/plan.h"

typedef struct watch_config {
    const plan *plan;
    const cpuset *allowed; /* what a process without a seat gets */
    int seat;              /* -1: none yet */
    int (*claim)(void);    /* asks for a seat, -1: none free; may be NULL */
    int interval;          /* seconds between passes; 0: place, then end */
    int threads;           /* workers per process */
    server_rec *s;
} watch_config;

/*
 * Starts the thread from child_init (after the main thread got the
 * listener's set); it is joined in a pre-cleanup of @a pchild. @a cf is
 * copied. Main thread.
 */
apr_status_t watch_start(apr_pool_t *pchild, const watch_config *cf);

/* Tells the thread to end; from then on it uses no pthread_t. From
 * child_stopping: any thread, any number of times, also without a start. */
void watch_stop(void);

/* One pass over this process's threads, for a child without the thread
 * (prefork). The calling thread; not with watch_start(). */
void watch_pass_now(apr_pool_t *p, const watch_config *cf);

/*
 * From pre_connection: pins the calling worker if the placer has not reached
 * it, or a thread that serves a secondary (HTTP/2) connection to the
 * process's set. Once per thread; then it costs one load.
 */
void watch_connection(conn_rec *c);

#endif
