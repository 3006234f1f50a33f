/* SPDX-License-Identifier: Apache-2.0 */
#include "loop/thread.h"

#include "http_log.h"

#include <sys/epoll.h>

#include "affinity/pin.h"
#include "base/compat.h"
#include "loop/accept.h"
#include "loop/drain.h"
#include "loop/events.h"
#include "loop/takeover.h"
#include "loop/own.h"

APLOG_USE_MODULE(cpuaffinity);

#define EVENTS 128 /* per turn */
#define TIMERS 256 /* expired ones per turn */
#define GIVEN 64   /* from other threads per turn */

static int stopping(const loop *l)
{
    return __atomic_load_n(&l->stop, __ATOMIC_ACQUIRE);
}

static void sooner(int *wait, int other)
{
    if (other >= 0 && other < *wait) {
        *wait = other;
    }
}

/* Milliseconds to sleep. */
static int patience(loop *l)
{
    int wait = l->own->look_at > l->now ? (int)(l->own->look_at - l->now) : 0;

    sooner(&wait, timer_wheel_wait(&l->timers, l->now));
    sooner(&wait, accept_wait(l));
    if (queue_length(l->own->inbox)) {
        wait = 0;
    }
    return wait;
}

static void expire(loop *l)
{
    timer_wheel_entry *t;
    int n;

    for (n = 0; n < TIMERS && (t = timer_wheel_pop(&l->timers, l->now)); n++) {
        events_expired(l, (conn *)((char *)t - offsetof(conn, timer)));
    }
}

static void take_in(loop *l)
{
    handoff p;
    int n;

    for (n = 0; n < GIVEN && !queue_pop(l->own->inbox, &p); n++) {
        loop_take(l, &p);
    }
}

static void turn(loop *l)
{
    struct epoll_event ev[EVENTS];
    int i, n = epoll_wait(l->own->epoll, ev, EVENTS, patience(l));

    l->now = clock_ms();
    for (i = 0; i < n; i++) {
        watch *w = ev[i].data.ptr;

        w->ready(l, w, ev[i].events);
    }
    expire(l);
}

static void run(loop *l)
{
    while (!stopping(l)) {
        turn(l);
        take_in(l);
        events_turn(l);
        accept_turn(l);
        if (l->now >= l->own->look_at) {
            takeover_look(l);
        }
        events_make_room(l);
        if (l->own->answers && l->own->answers->turn) {
            l->own->answers->turn(l, l->now);
        }
        conn_reap(&l->conns);
    }
}

/* The MPM makes its pollset after child_init; until then a ring would reach
 * its own accept function. */
static int wait_for_mpm(loop *l)
{
    while (!door_is_ready(l->door)) {
        if (stopping(l)) {
            return 0;
        }
        apr_sleep(1000);
    }
    return 1;
}

/* Drains: answers under way go on until they end or the stop is no longer
 * graceful. */
static void finish(loop *l)
{
    drain_begin(l, stopping(l) == LOOP_STOP_GRACEFUL);
    while (drain_goes_on(l) && stopping(l) == LOOP_STOP_GRACEFUL) {
        l->own->look_at = l->now + 1000;
        turn(l);
        drain_turn(l);
        if (l->own->answers && l->own->answers->turn) {
            l->own->answers->turn(l, l->now);
        }
        conn_reap(&l->conns);
    }
    drain_end(l);
}

static void *APR_THREAD_FUNC thread_main(apr_thread_t *thread, void *data)
{
    loop *l = data;

    pin_name(0, "httpd/static");
    if (l->own->answers && l->own->answers->begin) {
        l->own->answers->begin(l);
    }
    if (wait_for_mpm(l)) {
        takeover_look(l);
        run(l);
    }
    finish(l);
    if (l->own->answers && l->own->answers->end) {
        l->own->answers->end(l);
    }
    return NULL;
}

apr_status_t thread_start(loop *l, apr_pool_t *p)
{
    apr_status_t rv;

    l->let_go = drain_let_go;
    if (accept_make(l, p) || takeover_make(l, p)) {
        return APR_ENOMEM;
    }
    rv = compat_thread_create(&l->own->thread, NULL, thread_main, l, p);
    if (rv != APR_SUCCESS) {
        ap_log_error(APLOG_MARK, APLOG_ERR, rv, l->server,
                     "the loop's thread could not be started");
    }
    return rv;
}
