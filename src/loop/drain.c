/* SPDX-License-Identifier: Apache-2.0 */
#include "loop/drain.h"

#include "http_log.h"

#include <errno.h>
#include <poll.h>

#include "handoff/leftover.h"
#include "loop/takeover.h"
#include "loop/accept.h"
#include "loop/events.h"
#include "loop/own.h"
#include "tls/session.h"

APLOG_USE_MODULE(cpuaffinity);

/* Sends it to our seat's channel, which whoever serves the seat next reads;
 * to another when that is full. @return 0, or -1 */
static int forward(loop *l, handoff *p)
{
    int first = l->seat < 0 ? 0 : l->seat, i;

    for (i = 0; i < l->channels->count; i++) {
        if (!fd_channel_send(
                &l->channels->channel[(first + i) % l->channels->count], p)) {
            return 0;
        }
        if (errno != EAGAIN) {
            break;
        }
    }
    ap_log_error(APLOG_MARK, APLOG_WARNING, errno, l->server,
                 "seat %d: a waiting connection could not be sent to the next "
                 "generation",
                 l->seat);
    return -1;
}

typedef struct tally {
    int successor; /* a next generation will read the channels */
    int moved;
    int kept;
    int closed;
} tally;

static void served(void *ctx)
{
    loop_wake(ctx);
}

static tally begin_tally(const loop *l, int graceful)
{
    return (tally){graceful && fd_channels_has_successor(l->channels), 0, 0, 0};
}

/* Whether httpd has something to do for it. */
static int is_due(const handoff *p)
{
    struct pollfd in = {p->fd, POLLIN, 0};

    return p->len || p->expired || (p->kept && session_has_more(p->kept))
           || poll(&in, 1, 0) == 1;
}

/* Nobody takes it over. It waits here for its next request, as long as it would
 * have without the restart; the answer to that one ends it. */
static void keep(loop *l, handoff *p)
{
    if (is_due(p)) {
        leftover_give(l->own->leftover, p);
        return;
    }
    if (!p->deadline) {
        p->deadline = l->now + apr_time_as_msec(l->server->timeout);
    }
    p->idle = 1;
    loop_begin(l, p, CONN_NO_GROUP);
}

/* TLS cannot leave the process. What has no request on its way is told so and
 * closed, as the MPM closes what is idle. */
static void part(loop *l, handoff *p, tally *t)
{
    if (l->own->endings && (p->ending == HANDOFF_CLOSE || is_due(p))) {
        t->kept++;
        leftover_give(l->own->endings, p);
        return;
    }
    t->closed++;
    if (p->ending != HANDOFF_ABORT) {
        session_end(p->kept, p->fd);
    }
    handoff_drop(p);
}

static void let_go(loop *l, handoff *p, tally *t)
{
    if (p->kept) {
        part(l, p, t);
        return;
    }
    if (t->successor && !forward(l, p)) {
        t->moved++;
    }
    else if (l->own->leftover) {
        t->kept++;
        keep(l, p);
    }
    else {
        t->closed++;
        handoff_drop(p);
    }
}

static void empty_door(loop *l, tally *t)
{
    handoff p;

    door_close(l->door);
    while (!door_take(l->door, &p)) {
        let_go(l, &p, t);
    }
    if (!l->own->leftover) {
        queue_close(l->own->inbox);
    }
    while (!queue_pop(l->own->inbox, &p)) {
        let_go(l, &p, t);
    }
}

static void empty_conns(loop *l, int graceful, tally *t)
{
    conn *c = l->conns.open.next;
    unsigned n = l->conns.count; /* those that are kept come after them */

    l->own->parked = NULL;
    while (n-- && c != &l->conns.open) {
        conn *next = c->next;
        handoff p;

        /* What was read has not been answered yet. */
        if (c->state != CONN_SENDING && c->state != CONN_CLOSING) {
            events_release(l, c, &p);
            let_go(l, &p, t);
        }
        else {
            l->own->answers->stopping(l, c, graceful);
        }
        c = next;
    }
}

void drain_let_go(loop *l, conn *c)
{
    tally t = begin_tally(l, __atomic_load_n(&l->stop, __ATOMIC_ACQUIRE)
                                 == LOOP_STOP_GRACEFUL);
    handoff p;

    events_release(l, c, &p);
    let_go(l, &p, &t);
}

static int may_have_tls(const loop *l)
{
    int g;

    for (g = 0; g < l->sockets->ngroups; g++) {
        if (l->own->keeps[g]) {
            return 1;
        }
    }
    return 0;
}

void drain_begin(loop *l, int graceful)
{
    tally t = begin_tally(l, graceful);

    accept_close(l);
    takeover_close(l);
    if (graceful && !t.successor && fd_channels_is_restart()) {
        l->own->leftover = leftover_make(l->server, served, l);
    }
    if (graceful && may_have_tls(l)) {
        l->own->endings = l->own->leftover
                              ? l->own->leftover
                              : leftover_make(l->server, served, l);
    }
    empty_door(l, &t);
    empty_conns(l, graceful, &t);
    if (t.moved || t.kept || t.closed) {
        ap_log_error(APLOG_MARK, APLOG_INFO, 0, l->server,
                     "seat %d stops: of its waiting connections %d go to the "
                     "next generation, %d are served here, %d are closed",
                     l->seat, t.moved, t.kept, t.closed);
    }
    conn_reap(&l->conns);
}

int drain_goes_on(loop *l)
{
    return l->conns.count
           || (l->own->endings && leftover_count(l->own->endings))
           || (l->own->leftover
               && (!__atomic_load_n(&l->own->alone, __ATOMIC_ACQUIRE)
                   || queue_length(l->own->inbox)
                   || leftover_count(l->own->leftover)));
}

void drain_turn(loop *l)
{
    tally t = {0};
    handoff p;

    while (l->own->leftover && !queue_pop(l->own->inbox, &p)) {
        let_go(l, &p, &t);
    }
}

static void end_threads(loop *l, leftover *o)
{
    if (o) {
        leftover_end(o, __atomic_load_n(&l->stop, __ATOMIC_ACQUIRE)
                            != LOOP_STOP_GRACEFUL);
    }
}

void drain_end(loop *l)
{
    conn *c = l->conns.open.next;

    queue_close(l->own->inbox);
    while (c != &l->conns.open) {
        conn *next = c->next;

        loop_close(l, c);
        c = next;
    }
    if (l->own->endings != l->own->leftover) {
        end_threads(l, l->own->endings);
    }
    end_threads(l, l->own->leftover);
    l->own->endings = l->own->leftover = NULL;
    conn_slab_free(&l->conns);
}
