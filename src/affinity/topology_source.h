/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology_source: where a topology comes from. Plain data.
 */
#ifndef CPUAFFINITY_TOPOLOGY_SOURCE_H
#define CPUAFFINITY_TOPOLOGY_SOURCE_H

#include "affinity/cpuset.h"

/* Far above any machine's last CPU. */
#define TOPOLOGY_CPU_MAX 1000000

typedef struct topology_source {
    const char *synthetic;   /* hwloc synthetic string, or NULL */
    const char *xml;         /* file name, or NULL; both NULL: this machine */
    const cpuset *inherited; /* NULL: all of the machine */
    int io;                  /* discover NICs too: only for netdev: */
} topology_source;

#endif
