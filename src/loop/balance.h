/* SPDX-License-Identifier: Apache-2.0 */
/*
 * balance: when all workers of a seat are busy and another seat's are idle,
 * its waiting connections go there (FixedBalance). Never by mere count: only
 * what has waited for BALANCE_LATE while no worker was idle. Loop thread only;
 * no httpd header is needed.
 */
#ifndef CPUAFFINITY_BALANCE_H
#define CPUAFFINITY_BALANCE_H

#include <apr_pools.h>

#include "affinity/seat.h"

#define BALANCE_LATE 50    /* ms in the door's queue before a seat is late */
#define BALANCE_FRESH 1500 /* ms after which a seat's row is out of date */
#define BALANCE_AGAIN 10   /* ms until a seat's workers are counted again */

typedef struct balance balance;

/* How many workers of a process are idle; -1: not known. *slot is kept by the
 * caller between calls; -1 at first. */
typedef int balance_idle(pid_t pid, int *slot);

/* Makes one for a loop of @a seats, from @a p. */
balance *balance_make(apr_pool_t *p, seat_table *seats, balance_idle *idle);

/* Notes in our row whether we are saturated, when the oldest handoff has waited
 * @a age ms and @a idle workers are free. @return 1 if so */
int balance_look(seat_row *row, int64_t age, int idle);

/*
 * The seat with the most idle workers, less the connections it was given in
 * the last few milliseconds.
 * @param own our seat, never chosen
 * @return the seat, or -1
 */
int balance_target(balance *b, int own, int64_t now);

/* balance_given: a connection was given to a seat. balance_refused: it could
 * not be; no more are given until the seat's workers are counted again. */
void balance_given(balance *b, int seat);
void balance_refused(balance *b, int seat);

#endif
