/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters: what all processes of a generation share about learning: how often
 * each reason refused, how many requests were not mine and why, what has been
 * logged, which vhosts an audit turned off. Children write it: the parent
 * trusts nothing in it. Any thread.
 */
#ifndef CPUAFFINITY_COUNTERS_H
#define CPUAFFINITY_COUNTERS_H

#include "httpd.h"

#include "learn/reason.h"

/* Makes the counters for this many servers and obstacles, until @a p ends.
 * @return 0, or -1 with errno: nothing is counted, and every vhost is off */
int counters_make(apr_pool_t *p, unsigned servers, unsigned obstacles);

/* Counts a refusal. @return 1 the first time for this server */
int counters_refused(reason_id reason, unsigned server);

uint64_t counters_get(reason_id reason);

/* A request that is httpd's, by request_why; and how many there were. */
void counters_not_mine(unsigned why);
uint64_t counters_get_not_mine(unsigned why);

/* A request that httpd answered for that cause (learn/cost), below COSTS. */
void counters_cost(unsigned server, unsigned cause);
uint64_t counters_get_cost(unsigned server, unsigned cause);

/* One that met the obstacle of that index. @return 0, or -1: no such counter */
int counters_met(unsigned obstacle);
uint64_t counters_get_met(unsigned obstacle);

/* When they were made, seconds since 1970; 0: there are none. */
int64_t counters_since(void);

/* An audit turned the vhost off; is it off? How many were turned off? */
void counters_off(unsigned server);
int counters_is_off(unsigned server);
unsigned counters_offs(void);

/* Answers of the vhost were found to depend on queries; are they? It counts
 * among those that were turned off: what was learned before is not to be
 * repeated. @return counters_by_query(): 1 the first time */
int counters_by_query(unsigned server);
int counters_is_by_query(unsigned server);

#endif
