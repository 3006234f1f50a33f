/* SPDX-License-Identifier: Apache-2.0 */
/*
 * planwarn: warns of what is legal in a plan and yet hardly intended: CPUs
 * left idle, CPUs with more processes than others, quotas, isolated CPUs.
 */
#ifndef CPUAFFINITY_PLANWARN_H
#define CPUAFFINITY_PLANWARN_H

#include "affinity/plan.h"
#include "affinity/policy.h"
#include "affinity/topology.h"

/*
 * Adds its warnings to those of a plan that is active and complete.
 * @param sets how many process sets are dealt to the seats
 */
void planwarn_add(apr_pool_t *p, const topology *t, const policy *pol, plan *pl,
                  int sets);

#endif
