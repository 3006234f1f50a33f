/*
 * balance: when a seat's workers are exhausted and another seat's idle, its
 * waiting connections go there (FixedBalance). Never by mere count: only
 * what has waited for LATE milliseconds with no idle worker in sight. Loop
 * thread only; no httpd header is needed.
 */
#ifndef CPUAFFINITY_BALANCE_H
#define CPUAFFINITY_BALANCE_H

#include "affinity/seat.h"

#define BALANCE_LATE 50    /* ms in the door's queue before a seat is late */
#define BALANCE_FRESH 1500 /* ms after which a seat's row says nothing */

typedef struct balance balance;

/* For a loop at seat @a seat of @a seats, from @a p. */
balance *balance_make(apr_pool_t *p, seat_table *seats);

/* Notes in our row whether we are saturated. @return 1 if so */
int balance_look(balance *b, seat_row *row, int64_t age, int idle);

/*
 * The seat with most idle workers that has not been given as many already
 * since it last reported.
 * @param own our seat, never chosen
 * @return the seat, or -1
 */
int balance_target(balance *b, int own, int64_t now);

/* One was given to (or could not be given to: all of) a seat. */
void balance_given(balance *b, int seat);
void balance_refused(balance *b, int seat);

#endif
