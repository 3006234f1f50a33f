/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discover: hwloc's view of a machine. This machine's is taken in a process
 * of its own, since what stands in /sys is not ours to vouch for: hwloc may
 * end, hang or take all memory over it, and httpd may not.
 */
#ifndef CPUAFFINITY_DISCOVER_H
#define CPUAFFINITY_DISCOVER_H

#include <hwloc.h>

#include "affinity/topology_source.h"

/*
 * hwloc's topology of @a source; for hwloc_topology_destroy(). hwloc's plugins
 * are kept out: for that the environment is changed for a moment, so other
 * threads must not use it meanwhile. Forks and waits, at most
 * DISCOVER_SECONDS, when the source is this machine.
 * @return NULL with @a error, from @a p: the source does not parse, is not a
 *         topology (hwloc's silent fall-back to this machine is an error), or
 *         the discovery has failed
 */
hwloc_topology_t discover(const topology_source *source, apr_pool_t *p,
                          const char **error);

#define DISCOVER_SECONDS 10

/* The path of a file of sysfs below devices/system/cpu, from @a p. The
 * variable HWLOC_FSROOT, hwloc's own, stands in front: it is for tests. */
const char *discover_path(apr_pool_t *p, const char *name);

#endif
