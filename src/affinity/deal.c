/* SPDX-License-Identifier: Apache-2.0 */
#include "affinity/deal.h"

#include <stdlib.h>
#include <string.h>

#include <hwloc/bitmap.h>

/* The levels that are told apart, coarse to fine: package, numa, l3, core. */
#define LEVELS 4
#define CORE 3

/* A unit; its place is that of its first CPU. */
typedef struct item {
    cpuset *unit;
    int cpu;
    int id[LEVELS];
    int sibling; /* how many units of the same core are before it */
} item;

/* Neighbours in the array that share a place on one level. */
typedef struct run {
    item *first;
    int length;
    int cpu; /* the lowest of all */
} run;

static int compare_ids(const item *a, const item *b)
{
    int l;

    for (l = 0; l < LEVELS; l++) {
        if (a->id[l] != b->id[l]) {
            return a->id[l] < b->id[l] ? -1 : 1;
        }
    }
    return (a->cpu > b->cpu) - (a->cpu < b->cpu);
}

static int by_place(const void *a, const void *b)
{
    return compare_ids(a, b);
}

static int by_sibling(const void *a, const void *b)
{
    const item *x = a, *y = b;

    if (x->sibling != y->sibling) {
        return x->sibling < y->sibling ? -1 : 1;
    }
    return compare_ids(x, y);
}

static int by_cpu(const void *a, const void *b)
{
    const run *x = a, *y = b;

    return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

/* Splits items, sorted by place, into the runs of a level, in the order of
 * their lowest CPU. @return how many */
static int split(item *items, int n, int level, run *runs)
{
    int count = 0, i;

    for (i = 0; i < n; i++) {
        run *r = &runs[count - 1];

        if (!i || items[i].id[level] != r->first->id[level]) {
            runs[count++] = (run){&items[i], 1, items[i].cpu};
        }
        else {
            r->length++;
            r->cpu = items[i].cpu < r->cpu ? items[i].cpu : r->cpu;
        }
    }
    qsort(runs, (size_t)count, sizeof(*runs), by_cpu);
    return count;
}

/* Takes one of each run in turn; each run is first dealt by finer levels. */
static void deal(apr_pool_t *p, item *items, int n, int level)
{
    run *runs;
    item *out;
    int count, round, filled = 0, i;

    if (n < 2 || level == LEVELS) {
        return;
    }
    runs = apr_palloc(p, sizeof(*runs) * (size_t)n);
    out = apr_palloc(p, sizeof(*out) * (size_t)n);
    count = split(items, n, level, runs);
    for (i = 0; i < count; i++) {
        deal(p, runs[i].first, runs[i].length, level + 1);
    }
    for (round = 0; filled < n; round++) {
        for (i = 0; i < count; i++) {
            if (round < runs[i].length) {
                out[filled++] = runs[i].first[round];
            }
        }
    }
    memcpy(items, out, sizeof(*items) * (size_t)n);
}

static void place_items(const topology *t, const apr_array_header_t *units,
                        item *items)
{
    int i;

    for (i = 0; i < units->nelts; i++) {
        item *it = &items[i];
        const topology_cpu *row;

        it->unit = APR_ARRAY_IDX(units, i, cpuset *);
        it->cpu = hwloc_bitmap_first(it->unit);
        row = topology_find(t, it->cpu);
        it->id[0] = row ? row->package : -1;
        it->id[1] = row ? row->numa : -1;
        it->id[2] = row ? row->l3 : -1;
        it->id[CORE] = row ? row->core : -1;
        it->sibling = 0;
    }
}

/* Counts siblings in items sorted by place. */
static void count_siblings(item *items, int n)
{
    int i;

    for (i = 1; i < n; i++) {
        int core = items[i].id[CORE];

        if (core >= 0 && core == items[i - 1].id[CORE]) {
            items[i].sibling = items[i - 1].sibling + 1;
        }
    }
}

apr_array_header_t *deal_units(apr_pool_t *p, const topology *t,
                               const apr_array_header_t *units)
{
    apr_array_header_t *out = apr_array_make(p, units->nelts, sizeof(cpuset *));
    int n = units->nelts, from, to, i;
    apr_pool_t *scratch;
    item *items;

    apr_pool_create(&scratch, p);
    items = apr_palloc(scratch, sizeof(*items) * (size_t)(n + 1));
    place_items(t, units, items);
    qsort(items, (size_t)n, sizeof(*items), by_place);
    count_siblings(items, n);
    qsort(items, (size_t)n, sizeof(*items), by_sibling);
    /* All first siblings, then all second ones: cores are shared only at the
     * end, even where packages differ in size. */
    for (from = 0; from < n; from = to) {
        for (to = from; to < n && items[to].sibling == items[from].sibling;) {
            to++;
        }
        deal(scratch, items + from, to - from, 0);
    }
    for (i = 0; i < n; i++) {
        APR_ARRAY_PUSH(out, cpuset *) = items[i].unit;
    }
    apr_pool_destroy(scratch);
    return out;
}
