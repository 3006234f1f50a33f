/* SPDX-License-Identifier: Apache-2.0 */
/*
 * balance: when a seat's workers are exhausted and another seat's idle, its
 * waiting connections go there (FixedBalance). Never by mere count: only
 * what has waited for BALANCE_LATE with no idle worker in sight. Loop thread
 * only; no httpd header is needed.
 */
#ifndef CPUAFFINITY_BALANCE_H
#define CPUAFFINITY_BALANCE_H

#include <apr_pools.h>

#include "affinity/seat.h"

#define BALANCE_LATE 50    /* ms in the door's queue before a seat is late */
#define BALANCE_FRESH 1500 /* ms after which a seat's row says nothing */
#define BALANCE_AGAIN 10   /* ms until a seat is asked again */

typedef struct balance balance;

/* How many workers of a process are idle, -1: not known; *slot is memory for
 * the asker, -1 at first. */
typedef int balance_idle(pid_t pid, int *slot);

/* For the loops of @a seats, from @a p. */
balance *balance_make(apr_pool_t *p, seat_table *seats, balance_idle *idle);

/* Notes in our row whether we are saturated: the oldest waits for @a age ms
 * and @a idle workers are free. @return 1 if so */
int balance_look(seat_row *row, int64_t age, int idle);

/*
 * The seat with most idle workers, less those it was given a connection for
 * in the last few milliseconds.
 * @param own our seat, never chosen
 * @return the seat, or -1
 */
int balance_target(balance *b, int own, int64_t now);

/* One was given to a seat; or could not be: for a while nothing more is. */
void balance_given(balance *b, int seat);
void balance_refused(balance *b, int seat);

#endif
