/* SPDX-License-Identifier: Apache-2.0 */
#include "loop/events.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loop/accept.h"
#include "loop/own.h"

#define LOOKS 128 /* for silent connections, per turn */

/* Is the connection the answering server's, or only kept by the loop? */
static int served(const loop *l, const conn *c)
{
    return c->kept || (c->group != CONN_NO_GROUP && l->own->reads[c->group]);
}

/* An idle connection of httpd's has a request, or was closed. */
static void idle_ready(loop *l, conn *c)
{
    char byte;
    ssize_t n = recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

    if (n > 0) {
        loop_hand_over(l, c);
    }
    else if (n == 0 || errno != EAGAIN) {
        loop_close(l, c);
    }
}

static void ready(loop *l, watch *w, uint32_t events)
{
    conn *c = (conn *)w;

    if (served(l, c)) {
        l->own->answers->ready(l, c, events);
    }
    else {
        idle_ready(l, c);
    }
}

int events_is_pending(const conn *c)
{
    /* EPOLLIN and EPOLLOUT equal poll's flags. */
    struct pollfd p = {c->fd, (short)(c->events & (EPOLLIN | EPOLLOUT)), 0};

    return p.events && poll(&p, 1, 0) == 1;
}

void events_expired(loop *l, conn *c)
{
    /* The process may have been stopped, the connection on its way here, or
     * its event not fetched yet: what has arrived by now counts. */
    if (events_is_pending(c)) {
        ready(l, &c->watch, c->events);
    }
    else if (served(l, c)) {
        l->own->answers->expired(l, c);
    }
    else {
        loop_close(l, c);
    }
}

void loop_wait(loop *l, conn *c, uint32_t events, int64_t deadline)
{
    struct epoll_event ev = {events, {.ptr = &c->watch}};

    if (c->events != events) {
        int op = c->events ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

        if (epoll_ctl(l->own->epoll, op, c->fd, &ev)) {
            loop_close(l, c);
            return;
        }
        c->events = events;
    }
    if (deadline) {
        timer_wheel_set(&l->timers, &c->timer, deadline);
    }
    else {
        timer_wheel_clear(&l->timers, &c->timer);
    }
}

/* Takes it out of epoll and of the timers. */
static void detach(loop *l, conn *c)
{
    if (c->events) {
        epoll_ctl(l->own->epoll, EPOLL_CTL_DEL, c->fd, NULL);
        c->events = 0;
    }
    timer_wheel_clear(&l->timers, &c->timer);
}

static void forget(loop *l, conn *c)
{
    if (l->own->answers && l->own->answers->closing) {
        l->own->answers->closing(l, c);
    }
    conn_free(&l->conns, c);
}

static void park(loop *l, conn *c)
{
    c->state = CONN_PARKED;
    c->parked = NULL;
    if (l->own->parked) {
        l->own->parked_last->parked = c;
    }
    else {
        l->own->parked = c;
    }
    l->own->parked_last = c;
    door_want(l->door);
}

/* @return 0, or -1: the door is full and the connection is as it was */
static int try_hand_over(loop *l, conn *c)
{
    handoff p;

    conn_pack(c, &p);
    p.idle = 0;
    p.deadline = 0;
    p.tls = c->group != CONN_NO_GROUP && l->own->keeps[c->group];
    if (accept_hand_over(l, &p)) {
        conn_unpack(c, &p);
        return -1;
    }
    forget(l, c);
    return 0;
}

void loop_hand_over(loop *l, conn *c)
{
    if (__atomic_load_n(&l->stop, __ATOMIC_RELAXED) != LOOP_RUN) {
        l->let_go(l, c);
        return;
    }
    /* Out of epoll first: the worker may close it at once. */
    detach(l, c);
    /* Those that wait already come first. */
    if (l->own->parked || !accept_has_room(l) || try_hand_over(l, c)) {
        park(l, c);
    }
}

void events_turn(loop *l)
{
    while (l->own->parked) {
        conn *c = l->own->parked;
        conn *next = c->parked;

        if (!accept_has_room(l) || try_hand_over(l, c)) {
            door_want(l->door);
            if (door_length(l->door)) {
                return;
            }
            continue; /* the one at the door was taken meanwhile */
        }
        l->own->parked = next;
    }
}

/* httpd's half ends where it began, on httpd's threads. */
static void give_to_close(loop *l, conn *c)
{
    if (c->ending == HANDOFF_GOES_ON) {
        c->ending = HANDOFF_ABORT;
    }
    free(c->in);
    c->in = NULL;
    c->in_len = c->in_size = 0;
    loop_hand_over(l, c);
}

void loop_close(loop *l, conn *c)
{
    int fd = c->fd;

    if (c->kept && __atomic_load_n(&l->stop, __ATOMIC_RELAXED) == LOOP_RUN) {
        give_to_close(l, c);
        return;
    }

    detach(l, c);
    c->fd = -1;
    forget(l, c);
    if (fd >= 0) {
        close(fd);
    }
}

void events_make_room(loop *l)
{
    int n;

    for (n = 0; n < LOOKS && l->conns.count > l->room; n++) {
        conn *c = l->conns.open.next;

        if ((c->state == CONN_IDLE || (c->state == CONN_READING && !c->in_len))
            && !events_is_pending(c)) {
            c->ending = HANDOFF_CLOSE;
            loop_close(l, c);
        }
        else {
            conn_last(&l->conns, c);
        }
    }
}

void events_release(loop *l, conn *c, handoff *p)
{
    int64_t deadline = c->timer.next ? c->timer.deadline : 0;

    detach(l, c);
    conn_pack(c, p);
    p->deadline = deadline;
    forget(l, c);
}

/* The group that listens on a local address, or CONN_NO_GROUP. */
static int find_group(const loop *l, const addr *a)
{
    int g, any = CONN_NO_GROUP;

    for (g = 0; g < l->sockets->ngroups; g++) {
        const addr *at = (const addr *)&l->sockets->groups[g].local;

        switch (addr_comes_in(a, at)) {
        case ADDR_EXACT:
            return g;
        case ADDR_WILDCARD:
            any = g;
            break;
        default:
            break;
        }
    }
    return any;
}

void loop_begin(loop *l, handoff *p, int group)
{
    conn *c = conn_alloc(&l->conns);
    int64_t deadline = p->deadline;

    if (!c) {
        handoff_drop(p);
        return;
    }
    c->state = p->idle ? CONN_IDLE : CONN_READING;
    c->began = l->now;
    c->group = (uint16_t)group;
    c->watch.ready = ready;
    conn_unpack(c, p);
    c->tls = c->kept != NULL;
    l->conns.tls += c->tls;
    if (c->kept && group == CONN_NO_GROUP) {
        c->ending = HANDOFF_CLOSE; /* its address is not listened on */
        loop_hand_over(l, c);
        return;
    }
    if (!served(l, c)) {
        if (c->state != CONN_IDLE) {
            loop_hand_over(l, c);
            return;
        }
        loop_wait(l, c, EPOLLIN, deadline);
        return;
    }
    if (c->state == CONN_IDLE) {
        loop_wait(l, c, EPOLLIN, deadline);
    }
    else {
        l->own->answers->ready(l, c, EPOLLIN);
    }
}

void loop_take(loop *l, handoff *p)
{
    if (handoff_addresses(p)) {
        handoff_drop(p); /* the client is gone */
        return;
    }
    loop_begin(l, p, find_group(l, &p->local));
}
