/*
 * plan: which CPUs each seat's process, listener and workers get. Plain data
 * made by a pure function of topology, policy, processes and threads.
 */
#ifndef CPUAFFINITY_PLAN_H
#define CPUAFFINITY_PLAN_H

#include <apr_tables.h>

#include "affinity/policy.h"
#include "affinity/topology.h"

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

/*
 * Makes the plan. @a t is restricted here by CPUAffinityCPUs and
 * CPUAffinitySMT; @a pol must have its defaults filled in.
 * @param processes planned processes, >= 1
 * @param threads workers per process, >= 0 (prefork: 0)
 * @return 0, or -1 with @a error: "DIRECTIVE ARGUMENT: reason". What this
 *         machine does not have (a CPU that is not there, offline or not
 *         allowed, an object, room for `exclusive`) is an error under
 *         strict only. Else it is dropped with one warning that names it and
 *         why; where nothing is left, all allowed CPUs stand for the set.
 */
int plan_make(apr_pool_t *p, topology *t, const policy *pol, int processes,
              int threads, plan **result, const char **error);

/* The place of a seat (>= 0, wrapping past the places). NULL if inactive. */
const plan_place *plan_seat(const plan *pl, int seat);

/* The set of worker @a worker (>= 0) of a seat. NULL if inactive. */
const cpuset *plan_worker(const plan *pl, int seat, int worker);

#endif
