/* SPDX-License-Identifier: Apache-2.0 */
#include "affinity/seat.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "base/shared_mem.h"

static apr_status_t unmap(void *data)
{
    shared_mem_free(data);
    return APR_SUCCESS;
}

seat_table *seat_table_make(apr_pool_t *p, int seats)
{
    shared_mem *m = apr_palloc(p, sizeof(*m));
    seat_table *t = apr_palloc(p, sizeof(*t));

    if (shared_mem_make(m, SEAT_MEMFD,
                        sizeof(seat_shared)
                            + (size_t)seats * sizeof(seat_row))) {
        return NULL;
    }
    apr_pool_cleanup_register(p, m, unmap, apr_pool_cleanup_null);
    t->seats = seats;
    t->shared = m->at;
    t->rows = t->shared->rows;
    t->shared->magic = SEAT_MAGIC;
    t->shared->row_size = sizeof(seat_row);
    t->shared->seats = seats;
    return t;
}

static int alive(pid_t pid)
{
    return kill(pid, 0) == 0 || errno != ESRCH;
}

/* Makes the row ours unless a living process has it. */
static int take(seat_row *row, pid_t me)
{
    int32_t held = __atomic_load_n(&row->pid, __ATOMIC_ACQUIRE);

    if (held && alive(held)) {
        return 0;
    }
    if (!__atomic_compare_exchange_n(&row->pid, &held, me, 0, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED)) {
        return 0;
    }
    if (held) {
        row->previous = held;
    }
    /* Resets the previous process's gauges; the counters go on. */
    SEAT_SET(row, connections, 0);
    SEAT_SET(row, waiting_bytes, 0);
    SEAT_SET(row, cache_entries, 0);
    SEAT_SET(row, cache_bytes, 0);
    SEAT_SET(row, cache_fds, 0);
    SEAT_SET(row, idle_workers, 0);
    SEAT_SET(row, saturated, 0);
    SEAT_SET(row, beat, 0);
    SEAT_SET(row, state, SEAT_STARTING);
    return 1;
}

int seat_claim(seat_table *t)
{
    pid_t me = getpid();
    int i;

    for (i = 0; i < t->seats; i++) {
        if (__atomic_load_n(&t->rows[i].pid, __ATOMIC_ACQUIRE) == me) {
            return i;
        }
    }
    for (i = 0; i < t->seats; i++) {
        if (take(&t->rows[i], me)) {
            return i;
        }
    }
    return -1;
}

int seat_release(seat_table *t, pid_t pid)
{
    int i;

    for (i = 0; i < t->seats; i++) {
        int32_t held = (int32_t)pid;

        if (__atomic_load_n(&t->rows[i].pid, __ATOMIC_RELAXED) == held) {
            t->rows[i].previous = held;
            if (__atomic_compare_exchange_n(&t->rows[i].pid, &held, 0, 0,
                                            __ATOMIC_ACQ_REL,
                                            __ATOMIC_RELAXED)) {
                return i;
            }
        }
    }
    return -1;
}

int64_t seat_silent(const seat_row *row, int64_t now)
{
    int64_t beat = (int64_t)SEAT_GET(row, beat);

    return beat < 0 ? now : beat < now ? now - beat : 0;
}

pid_t seat_holder(const seat_table *t, int seat)
{
    pid_t pid = __atomic_load_n(&t->rows[seat].pid, __ATOMIC_ACQUIRE);

    return pid && alive(pid) ? pid : 0;
}

int seat_turns(const seat_table *t, int seat, int64_t now)
{
    return seat_holder(t, seat)
           && seat_silent(&t->rows[seat], now) <= SEAT_STUCK;
}

void seat_look(const seat_row *row, seat_moment *now)
{
    now->busy_us = SEAT_GET(row, busy_us);
    now->beat = SEAT_GET(row, beat);
}

double seat_load(const seat_row *row, const seat_moment *was, uint64_t least)
{
    seat_moment now;
    double load;

    seat_look(row, &now);
    /* A successor's thread starts from zero. */
    if (!was->beat || now.beat <= was->beat || now.beat - was->beat < least
        || now.busy_us < was->busy_us) {
        return -1;
    }
    if (SEAT_GET(row, saturated)) {
        return 1;
    }
    load = (double)(now.busy_us - was->busy_us) / 1000
           / (double)(now.beat - was->beat);
    return load > 1 ? 1 : load;
}
