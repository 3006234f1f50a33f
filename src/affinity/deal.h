/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deal: the order in which units are dealt to seats: neighbouring seats land
 * far apart, on different packages first, then on different NUMA nodes, L3
 * caches, cores; SMT siblings come last. Pure; no httpd header is needed.
 */
#ifndef CPUAFFINITY_DEAL_H
#define CPUAFFINITY_DEAL_H

#include "affinity/topology.h"

/* @a units (cpuset *, as topology_units() gives them) in dealing order; a new
 * array from @a p with the same sets. */
apr_array_header_t *deal_units(apr_pool_t *p, const topology *t,
                               const apr_array_header_t *units);

#endif
