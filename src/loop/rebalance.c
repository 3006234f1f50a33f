/* SPDX-License-Identifier: Apache-2.0 */
#include "loop/rebalance.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "loop/events.h"
#include "loop/own.h"

/* Load is measured over at least so many ms: from one look (TAKEOVER_LOOK) to
 * the next. A connection moves once in its life, so a wrong move is cheap. */
#define WINDOW 300
/* Load from which a seat is the bottleneck, and the part of its load below
 * which another seat counts as idle. */
#define BUSY 0.70
#define IDLE_PART 0.6
/* The part of what would make two seats equal that goes at once. */
#define STEP 0.5

struct rebalance {
    int64_t since;     /* when the window began; 0: none yet, no loads known */
    int to;            /* the seat that gets connections; -1: none */
    unsigned left;     /* how many are still to go */
    seat_moment was[]; /* of each seat, when the window began */
};

rebalance *rebalance_make(apr_pool_t *p, const seat_table *seats)
{
    size_t n = (size_t)seats->seats;
    rebalance *e = apr_pcalloc(p, sizeof(*e) + n * sizeof(*e->was));

    e->to = -1;
    return e;
}

uint64_t rebalance_busy(void)
{
    char buf[64];
    struct timespec t;
    unsigned long long ran, waited;
    char *end;
    int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof(buf) - 1);

    if (fd >= 0) {
        close(fd);
    }
    if (n > 0) {
        buf[n] = '\0';
        ran = strtoull(buf, &end, 10);
        waited = strtoull(end, NULL, 10);
        return (ran + waited) / 1000;
    }
    /* A kernel without schedstat: CPU time only. */
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* The load of a seat in the window; -1: unknown, or it is stopping. */
static double load_of(const rebalance *e, const loop *l, int seat)
{
    const seat_row *row = &l->seats->rows[seat];

    if (!seat_holder(l->seats, seat) || SEAT_GET(row, state) == SEAT_STOPPING) {
        return -1;
    }
    return seat_load(row, &e->was[seat], WINDOW / 2);
}

static void begin_window(rebalance *e, const loop *l)
{
    int i;

    e->since = l->now;
    for (i = 0; i < l->seats->seats; i++) {
        seat_look(&l->seats->rows[i], &e->was[i]);
    }
}

void rebalance_look(loop *l)
{
    rebalance *e = l->own->rebalance;
    double mine, least = 2;
    int i;

    if (l->now - e->since < WINDOW) {
        return;
    }
    e->to = -1;
    e->left = 0;
    mine = load_of(e, l, l->seat);
    for (i = 0; i < l->seats->seats; i++) {
        /* What is sent to a seat that we serve comes back to us. */
        double other =
            i == l->seat || l->own->serves[i] ? -1 : load_of(e, l, i);

        if (other >= 0 && other < least) {
            least = other;
            e->to = i;
        }
    }
    if (mine >= BUSY && least < mine * IDLE_PART && l->conns.count > 1) {
        e->left = (unsigned)((double)l->conns.count * (mine - least)
                             / (2 * mine) * STEP)
                  + 1;
    }
    begin_window(e, l);
}

int rebalance_give(loop *l, conn *c)
{
    rebalance *e = l->own->rebalance;
    handoff p;

    if (!e || !e->left || c->moved || c->kept || e->to < 0 || !l->row) {
        return -1;
    }
    events_release(l, c, &p);
    if (fd_channel_send(&l->channels->channel[e->to], &p)) {
        e->left = 0;
        loop_take(l, &p);
        return 0;
    }
    e->left--;
    SEAT_ADD(l->row, given, 1);
    return 0;
}
