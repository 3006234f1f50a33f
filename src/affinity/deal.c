#include "affinity/deal.h"

#include <hwloc/bitmap.h>

/* What is told apart, coarse to fine. */
#define LEVELS 4

static int level_id(const topology_cpu *row, int level)
{
    switch (level) {
    case 0:
        return row->package;
    case 1:
        return row->numa;
    case 2:
        return row->l3;
    default:
        return row->core;
    }
}

/* A unit is where its first CPU is. */
static int unit_id(const topology *t, const cpuset *unit, int level)
{
    const topology_cpu *row = topology_find(t, hwloc_bitmap_first(unit));

    return row ? level_id(row, level) : -1;
}

/* The groups of one level, each an array of units, by first appearance. */
static apr_array_header_t *split(apr_pool_t *p, const topology *t,
                                 const apr_array_header_t *units, int level)
{
    apr_array_header_t *groups =
        apr_array_make(p, 8, sizeof(apr_array_header_t *));
    int max = 0, i;
    apr_array_header_t **by;

    for (i = 0; i < units->nelts; i++) {
        int id = unit_id(t, APR_ARRAY_IDX(units, i, cpuset *), level);

        max = id > max ? id : max;
    }
    by = apr_pcalloc(p, sizeof(*by) * (size_t)(max + 2));
    for (i = 0; i < units->nelts; i++) {
        cpuset *unit = APR_ARRAY_IDX(units, i, cpuset *);
        apr_array_header_t **group = &by[unit_id(t, unit, level) + 1];

        if (!*group) {
            *group = apr_array_make(p, 8, sizeof(cpuset *));
            APR_ARRAY_PUSH(groups, apr_array_header_t *) = *group;
        }
        APR_ARRAY_PUSH(*group, cpuset *) = unit;
    }
    return groups;
}

/* One of each group in turn, each group dealt by the finer levels. */
static apr_array_header_t *deal(apr_pool_t *p, const topology *t,
                                const apr_array_header_t *units, int level)
{
    apr_array_header_t *out = apr_array_make(p, units->nelts, sizeof(cpuset *));
    apr_array_header_t *groups;
    int round, i;

    if (level == LEVELS || units->nelts < 2) {
        apr_array_cat(out, units);
        return out;
    }
    groups = split(p, t, units, level);
    for (i = 0; i < groups->nelts; i++) {
        apr_array_header_t **group =
            &APR_ARRAY_IDX(groups, i, apr_array_header_t *);

        *group = deal(p, t, *group, level + 1);
    }
    for (round = 0; out->nelts < units->nelts; round++) {
        for (i = 0; i < groups->nelts; i++) {
            const apr_array_header_t *group =
                APR_ARRAY_IDX(groups, i, apr_array_header_t *);

            if (round < group->nelts) {
                APR_ARRAY_PUSH(out, cpuset *) =
                    APR_ARRAY_IDX(group, round, cpuset *);
            }
        }
    }
    return out;
}

apr_array_header_t *deal_units(apr_pool_t *p, const topology *t,
                               const apr_array_header_t *units)
{
    return deal(p, t, units, 0);
}
