/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discover: hwloc's view of a machine. This machine is read by a separate
 * process, since nothing vouches for the contents of /sys: hwloc may abort,
 * hang or use up all memory on them, and httpd must not.
 */
#ifndef CPUAFFINITY_DISCOVER_H
#define CPUAFFINITY_DISCOVER_H

#include <hwloc.h>

#include "affinity/topology_source.h"

/*
 * hwloc's topology of @a source; for hwloc_topology_destroy(). hwloc's plugins
 * are kept out by changing the environment for a moment: no other thread may
 * use it meanwhile. When the source is this machine, forks and waits for at
 * most DISCOVER_SECONDS.
 * @return NULL with @a error, from @a p: the source does not parse, is not a
 *         topology (hwloc's silent fall-back to this machine is an error), or
 *         the discovery failed
 */
hwloc_topology_t discover(const topology_source *source, apr_pool_t *p,
                          const char **error);

#define DISCOVER_SECONDS 10

/* The path of a sysfs file below devices/system/cpu, from @a p. It is prefixed
 * with hwloc's own variable HWLOC_FSROOT, which is for tests. */
const char *discover_path(apr_pool_t *p, const char *name);

#endif
