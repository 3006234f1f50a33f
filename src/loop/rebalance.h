/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rebalance: a loop that has been the bottleneck for a while, while another
 * idles, gives some of its connections to it (FixedBalance), each between two
 * requests and once in its life. By what the threads had to do, never by mere
 * count: connections stay where they are until it hurts. Loop thread only.
 */
#ifndef CPUAFFINITY_REBALANCE_H
#define CPUAFFINITY_REBALANCE_H

#include "loop/loop.h"

typedef struct rebalance rebalance;

/* For a loop of @a seats; from @a p. */
rebalance *rebalance_make(apr_pool_t *p, const seat_table *seats);

/* How much this thread ran or waited for a CPU so far, microseconds (its
 * schedstat); what seat_row.busy_us holds. */
uint64_t rebalance_busy(void);

/* A few times a second, with our row up to date: decides how many
 * connections are to go and where. */
void rebalance_look(loop *l);

/* A connection waits for its next request. @return 0: it has been given away
 * and the record is gone; -1: it stays */
int rebalance_give(loop *l, conn *c);

#endif
