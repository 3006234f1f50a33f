/* SPDX-License-Identifier: Apache-2.0 */
#include "loop/drain.h"

#include "http_log.h"

#include <errno.h>

#include "loop/takeover.h"
#include "loop/accept.h"
#include "loop/events.h"
#include "loop/own.h"

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
    int closed;
} tally;

static void let_go(loop *l, handoff *p, tally *t)
{
    if (t->successor && !forward(l, p)) {
        t->moved++;
        return;
    }
    t->closed++;
    handoff_drop(p);
}

static void empty_door(loop *l, tally *t)
{
    handoff p;

    door_close(l->door);
    while (!door_take(l->door, &p)) {
        let_go(l, &p, t);
    }
    queue_close(l->own->inbox);
    while (!queue_pop(l->own->inbox, &p)) {
        let_go(l, &p, t);
    }
}

static void empty_conns(loop *l, int graceful, tally *t)
{
    conn *c = l->conns.open.next;

    l->own->parked = NULL;
    while (c != &l->conns.open) {
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
    tally t = {__atomic_load_n(&l->stop, __ATOMIC_ACQUIRE) == LOOP_STOP_GRACEFUL
                   && fd_channels_has_successor(l->channels),
               0, 0};
    handoff p;

    events_release(l, c, &p);
    let_go(l, &p, &t);
}

void drain_begin(loop *l, int graceful)
{
    tally t = {graceful && fd_channels_has_successor(l->channels), 0, 0};

    accept_close(l);
    takeover_close(l);
    empty_door(l, &t);
    empty_conns(l, graceful, &t);
    if (t.moved || t.closed) {
        ap_log_error(APLOG_MARK, APLOG_INFO, 0, l->server,
                     "seat %d stops: of its waiting connections %d go to the "
                     "next generation, %d are closed",
                     l->seat, t.moved, t.closed);
    }
    conn_reap(&l->conns);
}

void drain_end(loop *l)
{
    conn *c = l->conns.open.next;

    while (c != &l->conns.open) {
        conn *next = c->next;

        loop_close(l, c);
        c = next;
    }
    conn_slab_free(&l->conns);
}
