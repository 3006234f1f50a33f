/* SPDX-License-Identifier: Apache-2.0 */
#include "loop/loop.h"

#include "http_log.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "loop/descriptors.h"
#include "loop/own.h"

APLOG_USE_MODULE(cpuaffinity);

#define INBOX 1024       /* from other threads, waiting */
#define WARN_AGAIN 60000 /* ms between log lines about a shortage */

static loop *published;

void loop_publish(loop *l)
{
    __atomic_store_n(&published, l, __ATOMIC_RELEASE);
}

loop *loop_get(void)
{
    return __atomic_load_n(&published, __ATOMIC_ACQUIRE);
}

/* Clears a wake-up; every turn checks for whatever may have caused it. */
static void woken(loop *l, watch *w, uint32_t events)
{
    uint64_t n;

    if (read(l->own->wake_fd, &n, sizeof(n)) < 0 && errno != EAGAIN) {
        ap_log_error(APLOG_MARK, APLOG_ERR, errno, l->server,
                     "read of the loop's eventfd");
    }
}

void loop_unmake(loop *l)
{
    if (l->own->epoll >= 0) {
        close(l->own->epoll);
    }
    if (l->own->wake_fd >= 0) {
        close(l->own->wake_fd);
    }
    if (l->own->inbox) {
        queue_free(l->own->inbox);
    }
}

loop *loop_make(apr_pool_t *p, server_rec *s)
{
    loop *l = apr_pcalloc(p, sizeof(*l));
    loop_own *own = apr_pcalloc(p, sizeof(*own));
    struct epoll_event ev = {EPOLLIN, {.ptr = &own->wake}};

    l->own = own;
    l->server = s;
    l->seat = l->slot = -1;
    l->own->wake.ready = woken;
    l->own->epoll = epoll_create1(EPOLL_CLOEXEC);
    l->own->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    l->own->inbox = queue_make(INBOX);
    if (l->own->epoll < 0 || l->own->wake_fd < 0 || !l->own->inbox
        || epoll_ctl(l->own->epoll, EPOLL_CTL_ADD, l->own->wake_fd, &ev)) {
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

void loop_wake(loop *l)
{
    uint64_t one = 1;

    if (write(l->own->wake_fd, &one, sizeof(one)) < 0) {
        return; /* counter full: it wakes up anyway */
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

    if (l->own->thread) {
        __atomic_store_n(&l->own->alone, 1, __ATOMIC_RELEASE);
        loop_wake(l);
        apr_thread_join(&rv, l->own->thread);
        l->own->thread = NULL;
    }
}

int loop_give(loop *l, handoff *p)
{
    if (queue_push(l->own->inbox, p)) {
        return -1;
    }
    loop_wake(l);
    return 0;
}

int loop_seat(const loop *l)
{
    return __atomic_load_n(&l->seat, __ATOMIC_ACQUIRE);
}

int loop_may_warn(loop *l)
{
    int may = !l->own->complained || l->now - l->own->complained > WARN_AGAIN;

    if (may) {
        l->own->complained = l->now;
    }
    return may;
}
