/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology: a flat row per logical CPU of a machine: this one, a synthetic
 * one, or one from an XML file.
 */
#ifndef CPUAFFINITY_TOPOLOGY_H
#define CPUAFFINITY_TOPOLOGY_H

#include <apr_tables.h>

#include "affinity/cpuset.h"
#include "affinity/topology_source.h"

/* Units of the topology, coarse to fine. */
typedef enum topology_unit {
    TOPOLOGY_MACHINE,
    TOPOLOGY_PACKAGE,
    TOPOLOGY_NUMA,
    TOPOLOGY_L3,
    TOPOLOGY_CORE,
    TOPOLOGY_CPU,
    TOPOLOGY_UNITS
} topology_unit;

/* One logical CPU. Numbers are logical hwloc indexes but for cpu; -1 where
 * the machine does not say. */
typedef struct topology_cpu {
    int cpu; /* as the operating system numbers it */
    int package;
    int numa;
    int die;
    int l3;
    int core;
    int smt;            /* rank among the siblings of its core, from 0 */
    int efficiency;     /* hwloc's kind: 0 is the most power-efficient */
    int used;           /* allowed: may be planned with */
    const char *reason; /* why it is not used: "offline", "outside the
                           inherited mask", "outside CPUAffinityCPUs",
                           "SMT sibling", "offline or hidden in the XML
                           file"; "" when used */
} topology_cpu;

typedef struct topology {
    apr_pool_t *pool;
    int ncpus;
    topology_cpu *cpus;                  /* ascending by cpu */
    topology_unit level[TOPOLOGY_UNITS]; /* what represents each unit: itself
                                            or, where the machine does not
                                            show it, the next larger one (for
                                            core: cpu) */
    cpuset *machine;                     /* every CPU in the rows */
    cpuset *online;
    cpuset *inherited; /* the mask we were started with, ∩ machine */
    cpuset *allowed;   /* the rows that are used */
    cpuset *isolated;  /* the kernel's isolated CPUs; may be empty */
    int quota;         /* ceil of the cgroup's CPU quota; -1: none */
    apr_array_header_t *warnings; /* of const char * */
    struct hwloc_topology *hw;    /* freed with the pool; may be NULL */
} topology;

/*
 * Loads a machine. All CPUs that are online and in the inherited mask are
 * used; on this machine those of the caller's own mask are online, whatever
 * /sys says, with one warning and -1 for what is not known of them. When this
 * machine's topology cannot be read, there is one warning and all rows are
 * made from the mask alone. See discover() for forking and the environment.
 * @return 0, or -1 with @a error (source does not parse, file is not a
 *         topology: hwloc's silent fall-back to this machine is an error)
 */
int topology_load(apr_pool_t *p, const topology_source *source,
                  topology **result, const char **error);

/*
 * Takes CPUs out of use: those outside @a cpus (NULL: none) and, when
 * @a smt_first is set, all but the first used sibling of each core.
 * @return 0, or -1 with @a error when no CPU would be left
 */
int topology_restrict(topology *t, const cpuset *cpus, int smt_first,
                      const char **error);

/*
 * What "auto" counts: the CPUs that may be used within CPUAffinityCPUs (NULL:
 * not given; plan_make() reports what is wrong with it) and CPUAffinitySMT,
 * at most the quota. Restricts @a t. @return >= 1
 */
int topology_count(topology *t, const char *cpus, int smt_first);

/* The scope for cpuset_parse() on this machine, from the topology's pool. */
const cpuset_scope *topology_scope(topology *t);

/* "machine package numa l3 core cpu" -> unit; -1: no such unit. */
int topology_unit_parse(const char *name);
const char *topology_unit_name(topology_unit unit);

/*
 * The units of a kind inside @a within, as sets of used CPUs, in the order
 * of their first CPU: array of cpuset *. Empty units are left out. When the
 * machine does not show the kind, *actual says what replaces it; the caller
 * warns. A CPU that alone lacks the kind is in a unit of the next larger kind;
 * if the kind is core, it is a core of its own.
 */
apr_array_header_t *topology_units(apr_pool_t *p, const topology *t,
                                   topology_unit unit, const cpuset *within,
                                   topology_unit *actual);

/* Sets t->level from the rows; part of topology_load(). */
void topology_find_levels(topology *t);

/* The row of an operating system's CPU number, or NULL. O(log n). */
const topology_cpu *topology_find(const topology *t, int cpu);

/*
 * Makes the calling process (and all threads made later) prefer memory of the
 * NUMA nodes of @a set, without forcing it; memoryless nodes are skipped.
 * @return 0 or -1 with errno
 */
int topology_bind_memory(const topology *t, const cpuset *set);

#endif
