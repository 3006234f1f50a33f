/* SPDX-License-Identifier: Apache-2.0 */
#include "affinity/planwarn.h"

#include <hwloc/bitmap.h>

#include <apr_strings.h>

/* What the places' sets add up to. */
typedef struct totals {
    cpuset *listeners;
    cpuset *workers;    /* under prefork: the processes */
    cpuset *unbalanced; /* isolated CPUs in sets of several */
} totals;

static void warn(plan *pl, const char *text)
{
    APR_ARRAY_PUSH(pl->warnings, const char *) = text;
}

/* "CPU 3", "CPUs 3-4" */
static const char *name(apr_pool_t *p, const cpuset *set)
{
    return apr_pstrcat(p, hwloc_bitmap_weight(set) > 1 ? "CPUs " : "CPU ",
                       cpuset_format(p, set), NULL);
}

static void add(const topology *t, totals *sum, cpuset *to, const cpuset *set)
{
    int cpu;

    hwloc_bitmap_or(to, to, set);
    if (hwloc_bitmap_weight(set) < 2
        || !hwloc_bitmap_intersects(set, t->isolated)) {
        return;
    }
    hwloc_bitmap_foreach_begin(cpu, set)
    {
        if (hwloc_bitmap_isset(t->isolated, (unsigned)cpu)) {
            hwloc_bitmap_set(sum->unbalanced, (unsigned)cpu);
        }
    }
    hwloc_bitmap_foreach_end();
}

/* Sums over the places that the planned seats take. */
static totals sum_up(apr_pool_t *p, const topology *t, const plan *pl)
{
    totals sum = {cpuset_make(p), cpuset_make(p), cpuset_make(p)};
    int i, w;

    for (i = 0; i < pl->nplaces && i < pl->seats; i++) {
        const plan_place *place = &pl->places[i];

        if (!pl->threads) {
            add(t, &sum, sum.workers, place->process);
            continue;
        }
        add(t, &sum, sum.listeners, place->listener);
        for (w = 0; w < place->nworkers && w < pl->threads; w++) {
            add(t, &sum, sum.workers, place->workers[w]);
        }
    }
    return sum;
}

static void warn_uneven(apr_pool_t *p, const policy *pol, plan *pl, int sets)
{
    int more = pl->seats % sets;

    if (pl->seats > sets && more) {
        warn(pl, apr_psprintf(
                     p,
                     "CPUAffinity: %d processes on %d %s%s: %d of "
                     "them get%s one process more than the others",
                     pl->seats, sets,
                     pol->process == POLICY_PROCESS_MAP ? "" : pl->unit,
                     pol->process == POLICY_PROCESS_MAP ? "sets" : " units",
                     more, more == 1 ? "s" : ""));
    }
}

static void warn_unused(apr_pool_t *p, const topology *t, plan *pl,
                        const totals *sum)
{
    cpuset *left = cpuset_make(p);

    hwloc_bitmap_andnot(left, t->allowed, sum->workers);
    hwloc_bitmap_andnot(left, left, sum->listeners);
    if (!hwloc_bitmap_iszero(left)) {
        warn(pl, apr_psprintf(p,
                              "CPUAffinity: no process uses %s, which may be "
                              "used",
                              name(p, left)));
    }
}

/* One process's exclusive listener CPUs may be another's worker CPUs. */
static void warn_shared(apr_pool_t *p, const policy *pol, plan *pl,
                        const totals *sum)
{
    cpuset *both = cpuset_make(p);

    hwloc_bitmap_and(both, sum->listeners, sum->workers);
    if (pol->listener_exclusive && !hwloc_bitmap_iszero(both)) {
        warn(pl, apr_psprintf(p,
                              "CPUAffinityListener exclusive: workers of "
                              "another process use %s of a listener",
                              name(p, both)));
    }
}

static void warn_isolated(apr_pool_t *p, plan *pl, const totals *sum)
{
    if (!hwloc_bitmap_iszero(sum->unbalanced)) {
        warn(pl,
             apr_psprintf(p,
                          "CPUAffinity: the kernel isolates %s: in a set of "
                          "several, threads stay on one of them",
                          name(p, sum->unbalanced)));
    }
}

static void warn_quota(apr_pool_t *p, const topology *t, plan *pl)
{
    if (t->quota > 0 && pl->seats > t->quota) {
        warn(pl, apr_psprintf(p,
                              "CPUAffinity: %d pinned processes, but the "
                              "control group's quota is %d CPU%s",
                              pl->seats, t->quota, t->quota == 1 ? "" : "s"));
    }
}

void planwarn_add(apr_pool_t *p, const topology *t, const policy *pol, plan *pl,
                  int sets)
{
    totals sum = sum_up(p, t, pl);

    warn_uneven(p, pol, pl, sets);
    warn_unused(p, t, pl, &sum);
    warn_shared(p, pol, pl, &sum);
    warn_isolated(p, pl, &sum);
    warn_quota(p, t, pl);
}
