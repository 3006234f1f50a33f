/*
 * learncount: what all processes of a generation share about learning: how
 * often each reason refused, how many requests were not mine and why, what
 * has been logged, which vhosts an audit turned off. Children write it: the parent believes nothing in it. Any
 * thread. Internal to learn.
 */
#ifndef CPUAFFINITY_COUNTERS_H
#define CPUAFFINITY_COUNTERS_H

#include "httpd.h"

#include "learn/learn.h"

/* Makes it for so many servers, until @a p ends. @return 0, or -1 with errno:
 * nothing is counted, and every vhost is off */
int learncount_make(apr_pool_t *p, unsigned servers);

/* Counts a refusal. @return 1 the first time for this server */
int learncount_refused(learn_reason reason, unsigned server);

uint64_t learncount_get(learn_reason reason);

/* A request that is httpd's, by request_why; and how many there were. */
void learncount_not_mine(unsigned why);
uint64_t learncount_get_not_mine(unsigned why);

/* An audit turned the vhost off; is it off? How many were turned off? */
void learncount_off(unsigned server);
int learncount_is_off(unsigned server);
unsigned learncount_offs(void);

#endif
