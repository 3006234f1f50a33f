/* SPDX-License-Identifier: Apache-2.0 */
/* balance: when a seat is saturated, and who is given to.
 * links: src/loop/balance.c src/affinity/seat.c
 */
#include "t/unit/tap.h"
#include "loop/balance.h"

#include <apr_general.h>
#include <unistd.h>

#define SEATS 40

static int idle_of[SEATS];
static seat_table *seats;

/* The processes are numbers here; the slot is left as it is. */
static int idle(pid_t pid, int *slot)
{
    return idle_of[pid - 1000];
}

static void alive(int seat, int64_t now)
{
    seat_row *row = &seats->rows[seat];

    SEAT_SET(row, pid, 1000 + seat);
    SEAT_SET(row, state, SEAT_RUNNING);
    SEAT_SET(row, beat, (uint64_t)now);
    SEAT_SET(row, saturated, 0);
}

int main(void)
{
    int64_t now = 1000000;
    apr_pool_t *p;
    balance *b;
    int i, given[SEATS] = {0};

    apr_initialize();
    apr_pool_create(&p, NULL);
    seats = seat_table_make(p, SEATS);
    b = balance_make(p, seats, idle);

    is_int(balance_look(&seats->rows[0], BALANCE_LATE, 0), 1,
           "late and no idle worker: saturated");
    is_int(seats->rows[0].saturated, 1, "and the row says so");
    is_int(balance_look(&seats->rows[0], BALANCE_LATE - 1, 0), 0,
           "not late: not saturated");
    is_int(balance_look(&seats->rows[0], 100 * BALANCE_LATE, 1), 0,
           "late with an idle worker: not saturated");
    is_int(seats->rows[0].saturated, 0, "and the row says so");

    is_int(balance_target(b, 0, now), -1, "nobody lives");
    for (i = 0; i < SEATS; i++) {
        alive(i, now);
    }
    is_int(balance_target(b, 0, now), -1, "nobody idles");
    idle_of[0] = 9;
    now += BALANCE_AGAIN;
    is_int(balance_target(b, 0, now), -1, "never oneself");
    idle_of[7] = 2;
    idle_of[31] = 3;
    is_int(balance_target(b, 0, now), -1, "not asked again at once");
    now += BALANCE_AGAIN;
    for (i = 0; i < 5; i++) {
        int to = balance_target(b, 0, now);

        ok(to >= 0, "gift %d", i + 1);
        given[to]++;
        balance_given(b, to);
    }
    ok(given[31] == 3 && given[7] == 2, "as many as each has idle workers");
    is_int(balance_target(b, 0, now), -1, "and no more");
    now += BALANCE_AGAIN;
    is_int(balance_target(b, 0, now), 31, "until they are asked again");
    balance_refused(b, 31);
    is_int(balance_target(b, 0, now), 7, "a full channel: the next one");

    now += BALANCE_AGAIN;
    SEAT_SET(&seats->rows[31], saturated, 1);
    is_int(balance_target(b, 0, now), 7, "not to one that gives away itself");
    SEAT_SET(&seats->rows[7], state, SEAT_STOPPING);
    is_int(balance_target(b, 0, now), -1, "not to one that stops");
    alive(7, now - BALANCE_FRESH - 1);
    is_int(balance_target(b, 0, now), -1, "not to one that does not turn");
    alive(7, now);
    idle_of[7] = -1;
    now += BALANCE_AGAIN;
    is_int(balance_target(b, 0, now), -1, "not to one that is not known");
    apr_terminate();
    return done();
}
