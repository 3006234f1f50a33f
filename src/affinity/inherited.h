/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inherited: the CPUs that httpd may use at all, as decided by whoever started
 * it: a taskset, and the cpuset of its control group. Kept over restarts, also
 * those that reload the module.
 */
#ifndef CPUAFFINITY_INHERITED_H
#define CPUAFFINITY_INHERITED_H

#include "affinity/cpuset.h"

/*
 * The mask for this reading of the configuration. At the first reading it is
 * the process's own mask. Later it is what the kernel gives the process now,
 * so that it follows a cpuset that grew or shrank. If the first mask was
 * narrower than the cpuset, that was a taskset, and it holds: the result stays
 * inside it, unless nothing of it is left, which is logged as a warning.
 * Parent, in pre_config, before anything has changed its mask.
 * @return the set, from @a p; empty when it cannot be read (logged)
 */
cpuset *inherited_mask(apr_pool_t *p);

#endif
