/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inherited: the CPUs that httpd may use at all, as those who started it
 * decide: a taskset, and the cpuset of its control group. Kept over restarts,
 * also those that load the module anew.
 */
#ifndef CPUAFFINITY_INHERITED_H
#define CPUAFFINITY_INHERITED_H

#include "affinity/cpuset.h"

/*
 * The mask for this reading of the configuration. At the first one the
 * process's own. At later ones it is what the kernel gives the process now,
 * so that it follows a cpuset that grew or shrank; if the first mask was
 * narrower than the cpuset was, that was a taskset, and it holds: the result
 * is inside it, unless nothing is left of it, which is a warning in the log.
 * Parent, in pre_config, before anything has changed its mask.
 * @return the set, from @a p; empty when it cannot be read (logged)
 */
cpuset *inherited_mask(apr_pool_t *p);

#endif
