#include "loop/rebalance.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "loop/events.h"

/* Looked at over so many ms at least: one look (TAKEOVER_LOOK) after the other.
 * A connection moves once in its life, so a wrong move is a cheap one. */
#define WINDOW 300
/* Share of the time that a thread ran or wanted to: so much is a bottleneck,
 * and a seat with less than this part of it idles. */
#define BUSY 0.70
#define IDLE_PART 0.6
/* Of what would make two seats equal, this part goes at once. */
#define STEP 0.5

/* What a seat's row said when the window began. */
typedef struct rebalance_seat {
    uint64_t busy_us;
    uint64_t beat;
} rebalance_seat;

struct rebalance {
    int64_t since; /* when the window began; 0: not yet, all say nothing */
    int to;        /* who gets connections */
    unsigned left; /* how many still go */
    rebalance_seat was[]; /* of each seat */
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
    /* A kernel without schedstat: what it ran has to do. */
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* The share of the window that a seat was busy; 2: it says nothing. Each
 * seat tells of its own time, which is not quite ours. */
static double share(const rebalance *e, const loop *l, int seat)
{
    const seat_row *row = &l->seats->rows[seat];
    const rebalance_seat *was = &e->was[seat];
    uint64_t busy_us = SEAT_GET(row, busy_us);
    uint64_t beat = SEAT_GET(row, beat);

    if (!seat_holder(l->seats, seat) || !was->beat || busy_us < was->busy_us
        || beat < was->beat + WINDOW / 2
        || SEAT_GET(row, state) == SEAT_STOPPING) {
        return 2;
    }
    return (double)(busy_us - was->busy_us) / 1000 / (double)(beat - was->beat);
}

static void begin_window(rebalance *e, const loop *l)
{
    int i;

    e->since = l->now;
    for (i = 0; i < l->seats->seats; i++) {
        e->was[i].busy_us = SEAT_GET(&l->seats->rows[i], busy_us);
        e->was[i].beat = SEAT_GET(&l->seats->rows[i], beat);
    }
}

void rebalance_look(loop *l)
{
    rebalance *e = l->even;
    double mine, least = 2;
    int i;

    if (l->now - e->since < WINDOW) {
        return;
    }
    e->to = -1;
    e->left = 0;
    mine = share(e, l, l->seat);
    for (i = 0; i < l->seats->seats; i++) {
        double other = i == l->seat ? 2 : share(e, l, i);

        if (other < least) {
            least = other;
            e->to = i;
        }
    }
    if (mine < 2 && mine >= BUSY && least < mine * IDLE_PART
        && l->conns.count > 1) {
        e->left = (unsigned)((double)l->conns.count * (mine - least)
                             / (2 * mine) * STEP)
                  + 1;
    }
    begin_window(e, l);
}

int rebalance_give(loop *l, conn *c)
{
    rebalance *e = l->even;
    handoff p;

    if (!e || !e->left || c->moved || e->to < 0 || !l->row) {
        return 0;
    }
    events_release(l, c, &p);
    if (fd_channel_send(&l->mail->box[e->to], &p)) {
        e->left = 0;
        loop_take(l, &p);
        return 1;
    }
    e->left--;
    SEAT_ADD(l->row, given, 1);
    return 1;
}
