/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_make: makes the plan: a pure function of topology, policy, processes
 * and threads.
 */
#ifndef CPUAFFINITY_PLAN_MAKE_H
#define CPUAFFINITY_PLAN_MAKE_H

#include "affinity/plan.h"
#include "affinity/policy.h"
#include "affinity/topology.h"

/*
 * Makes the plan. @a t is restricted here by CPUAffinityCPUs and
 * CPUAffinitySMT; @a pol must have its defaults filled in.
 * @param processes planned processes, >= 1
 * @param threads workers per process, >= 0 (prefork: 0)
 * @return 0, or -1 with @a error: "DIRECTIVE ARGUMENT: reason". What this
 *         machine does not have (a CPU that does not exist, is offline or not
 *         allowed, an object, room for `exclusive`) is an error under
 *         strict only. Else it is dropped with one warning that names it and
 *         says why; where nothing is left, all allowed CPUs replace the set.
 */
int plan_make(apr_pool_t *p, topology *t, const policy *pol, int processes,
              int threads, plan **result, const char **error);

#endif
