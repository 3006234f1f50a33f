#include "loop/loop.h"

#include "http_log.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/compat.h"
#include "affinity/pin.h"
#include "loop/takeover.h"
#include "loop/descriptors.h"
#include "loop/accept.h"
#include "loop/events.h"
#include "loop/drain.h"

APLOG_USE_MODULE(cpuaffinity);

#define EVENTS 128  /* per turn */
#define TIMERS 256  /* expired ones per turn */
#define INBOX 1024  /* from other threads, waiting */
#define GIVEN 64    /* of these per turn */
#define WHINE 60000 /* ms between two log lines about a shortage */

/* Somebody woke us; what for is looked at in every turn. */
static void woken(loop *l, watch *w, uint32_t events)
{
    uint64_t n;

    if (read(l->wake_fd, &n, sizeof(n)) < 0 && errno != EAGAIN) {
        ap_log_error(APLOG_MARK, APLOG_ERR, errno, l->server,
                     "read of the loop's eventfd");
    }
}

void loop_unmake(loop *l)
{
    if (l->epoll >= 0) {
        close(l->epoll);
    }
    if (l->wake_fd >= 0) {
        close(l->wake_fd);
    }
    if (l->inbox) {
        queue_free(l->inbox);
    }
}

loop *loop_make(apr_pool_t *p, server_rec *s)
{
    loop *l = apr_pcalloc(p, sizeof(*l));
    struct epoll_event ev = {EPOLLIN, {.ptr = &l->wake}};

    l->server = s;
    l->seat = l->slot = -1;
    l->wake.ready = woken;
    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    l->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    l->inbox = queue_make(INBOX);
    if (l->epoll < 0 || l->wake_fd < 0 || !l->inbox
        || epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->wake_fd, &ev)) {
        ap_log_error(APLOG_MARK, APLOG_ERR, errno, s,
                     "the loop's epoll or eventfd could not be made");
        loop_unmake(l);
        return NULL;
    }
    l->room = descriptors_room();
    conn_slab_init(&l->conns);
    l->now = clock_ms();
    timer_wheel_init(&l->timers, l->now);
    return l;
}

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
    int wait = l->look_at > l->now ? (int)(l->look_at - l->now) : 0;

    sooner(&wait, timer_wheel_wait(&l->timers, l->now));
    sooner(&wait, accept_wait(l));
    if (queue_length(l->inbox)) {
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

    for (n = 0; n < GIVEN && queue_pop(l->inbox, &p); n++) {
        loop_take(l, &p);
    }
}

static void turn(loop *l)
{
    struct epoll_event ev[EVENTS];
    int i, n = epoll_wait(l->epoll, ev, EVENTS, patience(l));

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
        if (l->now >= l->look_at) {
            takeover_look(l);
        }
        events_make_room(l);
        if (l->answers && l->answers->turn) {
            l->answers->turn(l, l->now);
        }
        conn_reap(&l->conns);
    }
}

/* The MPM makes its pollset after child_init; until then a ring would be
 * answered by its own accept function. */
static int wait_for_mpm(loop *l)
{
    while (!door_ready(l->door)) {
        if (stopping(l)) {
            return 0;
        }
        apr_sleep(1000);
    }
    return 1;
}

/* Answers in progress go on until they end or may not. */
static void finish(loop *l)
{
    drain_begin(l, stopping(l) == LOOP_STOP_GRACEFUL);
    while (l->conns.count && stopping(l) == LOOP_STOP_GRACEFUL) {
        l->look_at = l->now + 1000;
        turn(l);
        if (l->answers && l->answers->turn) {
            l->answers->turn(l, l->now);
        }
        conn_reap(&l->conns);
    }
    drain_end(l);
}

static void *APR_THREAD_FUNC thread_main(apr_thread_t *thread, void *data)
{
    loop *l = data;

    pin_name(0, "httpd/static");
    if (l->answers && l->answers->begin) {
        l->answers->begin(l);
    }
    if (wait_for_mpm(l)) {
        takeover_look(l);
        run(l);
    }
    finish(l);
    if (l->answers && l->answers->end) {
        l->answers->end(l);
    }
    return NULL;
}

apr_status_t loop_start(loop *l, apr_pool_t *p)
{
    apr_status_t rv;

    if (accept_make(l, p) || takeover_make(l, p)) {
        return APR_ENOMEM;
    }
    rv = compat_thread_create(&l->thread, NULL, thread_main, l, p);
    if (rv != APR_SUCCESS) {
        ap_log_error(APLOG_MARK, APLOG_ERR, rv, l->server,
                     "the loop's thread could not be started");
    }
    return rv;
}

void loop_wake(loop *l)
{
    uint64_t one = 1;

    if (write(l->wake_fd, &one, sizeof(one)) < 0) {
        return; /* full: it is awake */
    }
}

void loop_stop(loop *l, int graceful)
{
    int mode = graceful ? LOOP_STOP_GRACEFUL : LOOP_STOP_NOW;

    if (__atomic_load_n(&l->stop, __ATOMIC_ACQUIRE) < mode) {
        __atomic_store_n(&l->stop, mode, __ATOMIC_RELEASE);
    }
    loop_wake(l);
}

void loop_join(loop *l)
{
    apr_status_t rv;

    if (l->thread) {
        apr_thread_join(&rv, l->thread);
        l->thread = NULL;
    }
}

int loop_give(loop *l, handoff *p)
{
    if (queue_push(l->inbox, p)) {
        return -1;
    }
    loop_wake(l);
    return 0;
}

int loop_seat(const loop *l)
{
    return __atomic_load_n(&l->seat, __ATOMIC_ACQUIRE);
}

int loop_may_whine(loop *l)
{
    int may = !l->whined || l->now - l->whined > WHINE;

    if (may) {
        l->whined = l->now;
    }
    return may;
}
