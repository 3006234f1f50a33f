/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rebalance: a loop that has been the bottleneck for a while, while another
 * one is idle, gives it some of its connections (FixedBalance), each between
 * two requests and once in its life. By the threads' load, never by mere
 * count: connections stay where they are as long as no loop is overloaded.
 * Loop thread only.
 */
#ifndef CPUAFFINITY_REBALANCE_H
#define CPUAFFINITY_REBALANCE_H

#include "loop/loop.h"

typedef struct rebalance rebalance;

/* Makes one for a loop of @a seats; from @a p. */
rebalance *rebalance_make(apr_pool_t *p, const seat_table *seats);

/* How long the calling thread has run or waited for a CPU so far, in
 * microseconds (its schedstat); goes into seat_row.busy_us. */
uint64_t rebalance_busy(void);

/* A few times a second, after our row was updated: decides how many
 * connections to give away and where. */
void rebalance_look(loop *l);

/* A connection waits for its next request. @return 0: it has been given away
 * and the record is gone; -1: it stays */
int rebalance_give(loop *l, conn *c);

#endif
