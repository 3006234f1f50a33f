/* SPDX-License-Identifier: Apache-2.0 */
#include "loop/takeover.h"

#include "http_log.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "loop/rebalance.h"
#include "loop/accept.h"
#include "handoff/workers.h"
#include "loop/own.h"

APLOG_USE_MODULE(cpuaffinity);

#define BATCH 32  /* connections per channel and turn */
#define MISSING 2 /* looks after which a seat is served by a neighbour */

static void channel_ready(loop *l, watch *w, uint32_t events)
{
    loop_channel *m = (loop_channel *)w;
    int n;

    for (n = 0; m->owned && n < BATCH; n++) {
        handoff p;
        int rc = fd_channel_receive(m->channel, &p);

        if (!rc) {
            return;
        }
        if (rc < 0) {
            ap_log_error(APLOG_MARK, APLOG_INFO, errno, l->server,
                         "seat %d: a connection sent by another process was "
                         "refused",
                         l->seat);
            continue;
        }
        SEAT_ADD(l->row, taken, 1);
        loop_take(l, &p);
    }
}

int takeover_make(loop *l, apr_pool_t *p)
{
    apr_size_t n = l->seats ? (apr_size_t)l->seats->seats : 1;
    int i;

    l->own->missing = apr_pcalloc(p, n * sizeof(int));
    l->own->serves = apr_pcalloc(p, n * sizeof(int));
    l->own->channels =
        apr_pcalloc(p, (apr_size_t)l->channels->count * sizeof(loop_channel));
    for (i = 0; i < l->channels->count; i++) {
        l->own->channels[i].watch.ready = channel_ready;
        l->own->channels[i].channel = &l->channels->channel[i];
    }
    return 0;
}

/* @return 0, or -1 */
static int own_channel(loop *l, loop_channel *m, int on)
{
    struct epoll_event ev = {EPOLLIN, {.ptr = &m->watch}};

    if (m->owned == on) {
        return 0;
    }
    if (epoll_ctl(l->own->epoll, on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL,
                  m->channel->from, &ev)) {
        if (loop_may_warn(l)) {
            ap_log_error(APLOG_MARK, APLOG_ERR, errno, l->server,
                         "seat %d: epoll_ctl on a channel", l->seat);
        }
        return -1;
    }
    m->owned = on;
    return 0;
}

/* @return 0, or -1: what failed is tried again at the next look */
static int serve(loop *l, int seat, int on)
{
    int rv = accept_own(l, seat, on), i;

    for (i = seat; i < l->channels->count; i += l->seats->seats) {
        rv |= own_channel(l, &l->own->channels[i], on);
    }
    if (!rv) {
        l->own->serves[seat] = on;
    }
    return rv;
}

void takeover_close(loop *l)
{
    int i;

    for (i = 0; i < l->channels->count; i++) {
        own_channel(l, &l->own->channels[i], 0);
    }
}

/* Whether no loop of this seat has turned yet: its process is still to come,
 * perhaps not in this generation's lifetime if restarts follow quickly. */
static int is_unborn(const loop *l, int seat)
{
    return !SEAT_GET(&l->seats->rows[seat], beat);
}

/* Who serves a missing seat: the next one that is not missing. */
static int stand_in(const loop *l, int seat)
{
    int n = l->seats->seats, i;

    for (i = 1; i < n; i++) {
        int next = (seat + i) % n;

        if (next == l->seat || !l->own->missing[next]) {
            return next;
        }
    }
    return -1;
}

static void look_round(loop *l)
{
    int i;

    for (i = 0; i < l->seats->seats; i++) {
        if (i == l->seat || seat_turns(l->seats, i, l->now)) {
            l->own->missing[i] = 0;
        }
        else if (is_unborn(l, i)) {
            l->own->missing[i] = MISSING;
        }
        else if (l->own->missing[i] < MISSING) {
            l->own->missing[i]++;
        }
    }
    for (i = 0; i < l->seats->seats; i++) {
        /* Missing at one look only: it is being replaced. */
        int on =
            i == l->seat
            || (l->own->missing[i] == MISSING && stand_in(l, i) == l->seat);

        if (on == l->own->serves[i]) {
            continue;
        }
        if (!serve(l, i, on) && i != l->seat) {
            ap_log_error(APLOG_MARK, APLOG_INFO, 0, l->server,
                         "seat %d: %s connections of seat %d", l->seat,
                         on ? "serves the" : "gives back the", i);
        }
    }
}

static void claim(loop *l)
{
    int seat = seat_claim(l->seats);

    if (seat < 0) {
        return;
    }
    if (__atomic_load_n(&l->stop, __ATOMIC_ACQUIRE) != LOOP_RUN) {
        seat_release(l->seats, getpid());
        return;
    }
    l->row = &l->seats->rows[seat];
    __atomic_store_n(&l->seat, seat, __ATOMIC_RELEASE);
    if (l->own->place) {
        l->own->place(seat);
    }
}

/* Without seats: every process reads all channels. */
static void carry_all(loop *l)
{
    int i;

    for (i = 0; i < l->channels->count; i++) {
        own_channel(l, &l->own->channels[i], 1);
    }
}

void takeover_look(loop *l)
{
    int idle;

    l->own->look_at = l->now + TAKEOVER_LOOK;
    if (!l->seats) {
        carry_all(l);
        return;
    }
    if (l->seat < 0) {
        claim(l);
    }
    if (l->seat < 0) {
        return;
    }
    idle = workers_idle(getpid(), &l->slot);
    SEAT_SET(l->row, idle_workers, (uint32_t)(idle < 0 ? 0 : idle));
    SEAT_SET(l->row, connections, l->conns.count);
    SEAT_SET(l->row, tls_open, l->conns.tls);
    SEAT_SET(l->row, busy_us, rebalance_busy());
    SEAT_SET(l->row, beat, (uint64_t)l->now);
    if (l->own->rebalance) {
        rebalance_look(l);
    }
    SEAT_SET(l->row, state, SEAT_RUNNING);
    look_round(l);
    if (l->own->look) {
        l->own->look(l->seat);
    }
}
