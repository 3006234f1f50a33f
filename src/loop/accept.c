/* SPDX-License-Identifier: Apache-2.0 */
#include "loop/accept.h"

#include "ap_mpm.h"
#include "http_log.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "handoff/workers.h"
#include "loop/own.h"

APLOG_USE_MODULE(cpuaffinity);

#define ACCEPTS 32   /* connections per socket and turn */
#define SHORTAGE 100 /* ms without accepting after EMFILE */

static void arm(loop *l, loop_listen *x, int on)
{
    struct epoll_event ev = {on ? EPOLLIN : 0, {.ptr = &x->watch}};

    if (x->owned && !x->dead && x->armed != on) {
        x->armed = (uint8_t)on;
        epoll_ctl(l->own->epoll, EPOLL_CTL_MOD, x->fd, &ev);
    }
}

static void arm_all(loop *l, int on)
{
    int i;

    for (i = 0; i < l->own->nlistens; i++) {
        arm(l, &l->own->listens[i], on);
    }
}

/* Not known before the parent has entered us in the scoreboard: says 1. */
static int idle_workers(loop *l)
{
    int idle = workers_idle(getpid(), &l->slot);

    return idle < 0 ? 1 : idle;
}

int accept_has_room(loop *l)
{
    int waiting, idle;

    if (l->own->budget > 0) {
        return 1;
    }
    waiting = (int)door_length(l->door);
    idle = idle_workers(l);
    l->own->budget = idle - waiting;
    if (l->own->budget > 0 || !waiting) {
        return 1;
    }
    return l->own->balance
           && balance_look(l->row, door_age(l->door, l->now), idle)
           && balance_target(l->own->balance, l->seat, l->now) >= 0;
}

int accept_hand_over(loop *l, handoff *p)
{
    l->own->budget--;
    if (door_push(l->door, p)) {
        return -1;
    }
    SEAT_ADD(l->row, handoffs, 1);
    return 0;
}

/* Descriptors or memory have run out: connections wait in the kernel's queue,
 * where none is lost, and epoll must not report them meanwhile. */
static void shortage(loop *l, int error)
{
    arm_all(l, 0);
    l->own->rearm_at = l->now + SHORTAGE;
    if (loop_may_warn(l)) {
        ap_log_error(APLOG_MARK, APLOG_ERR, error, l->server,
                     "seat %d: accept: no new connections for %d ms", l->seat,
                     SHORTAGE);
    }
}

/* @return 1 to go on accepting, 0: not now */
static int accept_failed(loop *l, loop_listen *x, int error)
{
    switch (error) {
    case EAGAIN:
        return 0;
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
        shortage(l, error);
        return 0;
    case EINVAL:
    case EBADF:
        /* The parent has shut it down. */
        x->dead = 1;
        epoll_ctl(l->own->epoll, EPOLL_CTL_DEL, x->fd, NULL);
        return 0;
    default:
        /* Concerns this connection only: ECONNABORTED, EINTR, EPROTO, network
         * errors. */
        return 1;
    }
}

/* Sets the local address, on which the answers depend. A socket that listens
 * on a single address needs no system call for it. @return 0, or -1: the
 * client is gone */
static int set_local(const sockets_group *g, handoff *p)
{
    const addr *a = (const addr *)&g->local;

    if (addr_is_known(a)) {
        memcpy(&p->local, a, addr_len(a));
        return 0;
    }
    return handoff_addresses(p);
}

/* The MPM is stopping and is about to tell us: what is not accepted now is
 * served by the next generation without having to be moved. */
static int mpm_stops(loop *l)
{
    int state = 0;

    if (ap_mpm_query(AP_MPMQ_MPM_STATE, &state) != APR_SUCCESS
        || state != AP_MPMQ_STOPPING) {
        return 0;
    }
    arm_all(l, 0);
    l->own->rearm_at = l->now + SHORTAGE;
    return 1;
}

/* Whether a neighbour's process is there (again): then what waits in its
 * socket is left to it, as it may have free workers when ours are all busy. */
static int is_back(loop *l, const loop_listen *x)
{
    if (x->seat == l->seat || !seat_turns(l->seats, x->seat, l->now)) {
        return 0;
    }
    l->own->look_at = l->now; /* gives it back */
    return 1;
}

/* What was accepted is read here, or is httpd's at once. */
static void begin(loop *l, const loop_listen *x, handoff *p)
{
    int failed = set_local(&l->sockets->groups[x->group], p);

    if (!failed && x->reads) {
        loop_begin(l, p, x->group);
        return;
    }
    p->tls = x->keeps;
    if (failed || accept_hand_over(l, p)) {
        handoff_drop(p);
    }
}

/* Accepts what is there, within measure. @return 1 if there may be more */
static int accept_some(loop *l, loop_listen *x)
{
    int n;

    if (mpm_stops(l) || is_back(l, x)) {
        return 0;
    }
    for (n = 0; n < ACCEPTS; n++) {
        socklen_t len = sizeof(addr);
        handoff p;

        if (!x->reads && !accept_has_room(l)) {
            return 1;
        }
        handoff_init(&p);
        p.fd =
            accept4(x->fd, &p.remote.any, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (p.fd < 0) {
            if (!accept_failed(l, x, errno)) {
                return 0;
            }
            continue;
        }
        SEAT_ADD(l->row, accepts, 1);
        begin(l, x, &p);
    }
    return 1;
}

/* All workers are busy: sockets whose connections all go to them wait until
 * one is free. */
static void starve(loop *l)
{
    int i;

    door_want(l->door);
    if (!door_length(l->door)) {
        return; /* the one at the door was taken meanwhile */
    }
    l->own->hungry = 1;
    for (i = 0; i < l->own->nlistens; i++) {
        if (!l->own->listens[i].reads) {
            arm(l, &l->own->listens[i], 0);
        }
    }
}

static void ready(loop *l, watch *w, uint32_t events)
{
    loop_listen *x = (loop_listen *)w;

    if (!x->owned || x->dead) {
        return;
    }
    if (events & (EPOLLHUP | EPOLLERR)) {
        accept_failed(l, x, EINVAL);
        return;
    }
    if (x->armed) {
        accept_some(l, x);
        if (!x->reads && !accept_has_room(l)) {
            starve(l);
        }
    }
}

/* Accepts from the sockets that had to wait, without going through epoll. */
static void feed(loop *l)
{
    int more = 0, i;

    for (i = 0; i < l->own->nlistens; i++) {
        loop_listen *x = &l->own->listens[i];

        if (x->owned && !x->dead && !x->reads && accept_has_room(l)) {
            more |= accept_some(l, x);
        }
    }
    if (more && !accept_has_room(l)) {
        door_want(l->door);
        if (door_length(l->door)) {
            return;
        }
    }
    l->own->hungry = 0;
    if (!l->own->rearm_at) {
        arm_all(l, 1);
    }
}

/* Moves connections that wait at the door to seats with idle workers. */
static void give_away(loop *l)
{
    int idle, to;
    handoff p;

    if (!l->own->balance || door_age(l->door, l->now) < BALANCE_LATE) {
        if (l->own->balance && SEAT_GET(l->row, saturated)) {
            balance_look(l->row, 0, 1);
        }
        return;
    }
    idle = idle_workers(l);
    while (balance_look(l->row, door_age(l->door, l->now), idle)
           && (to = balance_target(l->own->balance, l->seat, l->now)) >= 0
           && to < l->channels->count) {
        if (l->own->serves[to]) {
            /* We read its channel: it would come back to us, as moved. */
            balance_refused(l->own->balance, to);
            continue;
        }
        if (door_take_back(l->door, &p)) {
            return;
        }
        if (!fd_channel_send(&l->channels->channel[to], &p)) {
            SEAT_ADD(l->row, given, 1);
            SEAT_ADD(l->row, handoffs, -1);
            balance_given(l->own->balance, to);
            continue;
        }
        ap_log_error(APLOG_MARK, APLOG_DEBUG, errno, l->server,
                     "seat %d: channel of seat %d", l->seat, to);
        balance_refused(l->own->balance, to);
        p.moved = 1; /* it waits here for a second before it is tried again */
        if (door_push(l->door, &p)) {
            handoff_drop(&p);
        }
    }
}

void accept_turn(loop *l)
{
    if (!l->row) {
        return;
    }
    if (l->own->rearm_at && l->now >= l->own->rearm_at) {
        l->own->rearm_at = 0;
        l->own->hungry = 0;
        arm_all(l, 1);
    }
    if (l->own->hungry && !l->own->rearm_at) {
        feed(l);
    }
    give_away(l);
    door_ring(l->door);
}

int accept_wait(loop *l)
{
    int wait = -1;

    /* What the parked ones waited behind was given away. */
    if (l->own->parked && !door_length(l->door)) {
        return 0;
    }
    if (l->own->rearm_at) {
        wait = l->own->rearm_at > l->now ? (int)(l->own->rearm_at - l->now) : 0;
    }
    if (l->own->balance && door_length(l->door)) {
        int again = SEAT_GET(l->row, saturated) ? BALANCE_AGAIN : BALANCE_LATE;

        if (wait < 0 || wait > again) {
            wait = again;
        }
    }
    return wait;
}

int accept_make(loop *l, apr_pool_t *p)
{
    const sockets_set *set = l->sockets;
    int g, i, n = 0;

    for (g = 0; g < set->ngroups; g++) {
        n += set->groups[g].nfds;
    }
    l->own->reads = apr_pcalloc(p, (apr_size_t)set->ngroups + 1);
    l->own->keeps = apr_pcalloc(p, (apr_size_t)set->ngroups + 1);
    l->own->listens = apr_pcalloc(p, (apr_size_t)n * sizeof(*l->own->listens));
    for (g = 0; g < set->ngroups; g++) {
        const sockets_group *group = &set->groups[g];
        if (l->own->answers && group->lr) {
            l->own->reads[g] = (uint8_t)l->own->answers->reads(l, group);
            l->own->keeps[g] = (uint8_t)l->own->answers->keeps(l, group);
        }

        for (i = 0; i < group->nfds; i++) {
            loop_listen *x = &l->own->listens[l->own->nlistens++];

            x->watch.ready = ready;
            x->fd = group->fds[i];
            x->group = (uint16_t)g;
            x->seat = i % set->seats;
            x->reads = l->own->reads[g];
            x->keeps = l->own->keeps[g];
        }
    }
    return 0;
}

/* @return 0, or -1: epoll refused it (the number of watches is limited) */
static int own(loop *l, loop_listen *x, int on)
{
    struct epoll_event ev = {EPOLLIN, {.ptr = &x->watch}};

    if (x->dead || x->owned == on) {
        return 0;
    }
    if (!on) {
        epoll_ctl(l->own->epoll, EPOLL_CTL_DEL, x->fd, NULL);
    }
    else if (epoll_ctl(l->own->epoll, EPOLL_CTL_ADD, x->fd, &ev)) {
        if (loop_may_warn(l)) {
            ap_log_error(APLOG_MARK, APLOG_ERR, errno, l->server,
                         "seat %d: epoll_ctl on the listening socket of seat "
                         "%d, which is tried again",
                         l->seat, x->seat);
        }
        return -1;
    }
    x->owned = x->armed = (uint8_t)on;
    return 0;
}

int accept_own(loop *l, int seat, int on)
{
    int i, rv = 0;

    for (i = 0; i < l->own->nlistens; i++) {
        if (l->own->listens[i].seat == seat
            && own(l, &l->own->listens[i], on)) {
            rv = -1;
        }
    }
    return rv;
}

void accept_close(loop *l)
{
    int i;

    for (i = 0; i < l->own->nlistens; i++) {
        own(l, &l->own->listens[i], 0);
        l->own->listens[i].dead = 1;
    }
    sockets_child_close();
}
