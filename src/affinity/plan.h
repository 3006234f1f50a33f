/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan: which CPUs each seat's process, listener and workers get. Plain data
 * made by a pure function of topology, policy, processes and threads.
 */
#ifndef CPUAFFINITY_PLAN_H
#define CPUAFFINITY_PLAN_H

#include <apr_tables.h>

#include "affinity/cpuset.h"

/* What one seat gets; places are dealt to seats in order, wrapping. */
typedef struct plan_place {
    cpuset *process;
    cpuset *listener;
    int nworkers;     /* how many distinct worker sets: >= 1 */
    cpuset **workers; /* worker i gets workers[i % nworkers] */
} plan_place;

typedef struct plan {
    int active;       /* 0: CPUAffinity off, nothing is pinned */
    const char *unit; /* "l3", "map", "off": what the processes got */
    int seats;        /* planned processes */
    int threads;      /* workers per process, >= 0 */
    int nplaces;
    plan_place *places;
    apr_array_header_t *warnings; /* of const char *: topology's and ours */
} plan;

/* The place of a seat (>= 0, wrapping past the places). NULL if inactive. */
const plan_place *plan_seat(const plan *pl, int seat);

/* The set of worker @a worker (>= 0) of a seat. NULL if inactive. */
const cpuset *plan_worker(const plan *pl, int seat, int worker);

#endif
