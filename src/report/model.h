/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model: what is planned and what is, as one JSON structure with the
 * documented keys: the plan's, and for each seat pid, counters, threads.
 */
#ifndef CPUAFFINITY_MODEL_H
#define CPUAFFINITY_MODEL_H

#include <jansson.h>

#include <apr_pools.h>

/*
 * Reads seats and threads of all processes of this generation now. Threads
 * are read from /proc; a process that may not be read (hidepid) has none.
 * @return a new reference; NULL when there is no plan (CPUAffinity off)
 */
json_t *model_make(apr_pool_t *p);

#endif
