/* SPDX-License-Identifier: Apache-2.0 */
#include "affinity/topology.h"

#include <stdlib.h>
#include <string.h>

#include <hwloc.h>

#include <apr_strings.h>

/* A CPU's logical number on a level; -1: unknown. */
static int level_id(const topology_cpu *row, topology_unit unit)
{
    switch (unit) {
    case TOPOLOGY_PACKAGE:
        return row->package;
    case TOPOLOGY_NUMA:
        return row->numa;
    case TOPOLOGY_L3:
        return row->l3;
    case TOPOLOGY_CORE:
        return row->core;
    case TOPOLOGY_CPU:
        return row->cpu;
    default:
        return 0;
    }
}

/* One CPU and the unit it belongs to. */
typedef struct member {
    topology_unit level;
    int id;
    int cpu;
} member;

/* How many different units of a kind the rows show. */
static int count_units(const topology *t, topology_unit unit)
{
    cpuset *ids = cpuset_make(t->pool);
    int i;

    for (i = 0; i < t->ncpus; i++) {
        int id = level_id(&t->cpus[i], unit);

        if (id >= 0) {
            hwloc_bitmap_set(ids, (unsigned)id);
        }
    }
    return hwloc_bitmap_weight(ids);
}

void topology_find_levels(topology *t)
{
    int count[TOPOLOGY_UNITS], unit, larger;

    for (unit = 0; unit < TOPOLOGY_UNITS; unit++) {
        topology_unit *level = &t->level[unit];

        count[unit] = count_units(t, (topology_unit)unit);
        *level = (topology_unit)unit;
        if (count[unit]) {
            continue;
        }
        if (unit == TOPOLOGY_CORE) {
            *level = TOPOLOGY_CPU; /* no sign that it has a sibling */
            continue;
        }
        /* One NUMA node may hold several packages: the next larger unit is
         * the one with the most of its kind. */
        *level = TOPOLOGY_MACHINE;
        for (larger = TOPOLOGY_PACKAGE; larger < unit; larger++) {
            if (count[larger] && count[larger] >= count[*level]) {
                *level = (topology_unit)larger;
            }
        }
    }
}

/* The finest level that is known of the CPU and not finer than @a unit. */
static topology_unit finest_level(const topology_cpu *row, topology_unit unit)
{
    if (unit == TOPOLOGY_CORE && row->core < 0) {
        return TOPOLOGY_CPU; /* no sign that it has a sibling */
    }
    while (unit > TOPOLOGY_MACHINE && level_id(row, unit) < 0) {
        unit--;
    }
    return unit;
}

static int by_unit(const void *a, const void *b)
{
    const member *x = a, *y = b;

    if (x->level != y->level) {
        return x->level < y->level ? -1 : 1;
    }
    if (x->id != y->id) {
        return x->id < y->id ? -1 : 1;
    }
    return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

static int by_first_cpu(const void *a, const void *b)
{
    int x = hwloc_bitmap_first(*(cpuset *const *)a);
    int y = hwloc_bitmap_first(*(cpuset *const *)b);

    return (x > y) - (x < y);
}

/* The used CPUs of @a within, each with its unit. @return how many */
static int gather(const topology *t, topology_unit unit, const cpuset *within,
                  member *members)
{
    int cpu, n = 0;

    hwloc_bitmap_foreach_begin(cpu, within)
    {
        const topology_cpu *row = topology_find(t, cpu);

        if (row && row->used) {
            topology_unit level = finest_level(row, unit);

            members[n++] = (member){level, level_id(row, level), cpu};
        }
    }
    hwloc_bitmap_foreach_end();
    return n;
}

apr_array_header_t *topology_units(apr_pool_t *p, const topology *t,
                                   topology_unit unit, const cpuset *within,
                                   topology_unit *actual)
{
    apr_array_header_t *units = apr_array_make(p, 4, sizeof(cpuset *));
    size_t most = (size_t)hwloc_bitmap_weight(within);
    member *members = malloc(sizeof(*members) * (most + 1));
    cpuset *set = NULL;
    int n, i;

    if (!members) {
        abort(); /* as APR's pools do when out of memory */
    }
    *actual = t->level[unit];
    n = gather(t, *actual, within, members);
    qsort(members, (size_t)n, sizeof(*members), by_unit);
    for (i = 0; i < n; i++) {
        if (!i || members[i].level != members[i - 1].level
            || members[i].id != members[i - 1].id) {
            set = cpuset_make(p);
            APR_ARRAY_PUSH(units, cpuset *) = set;
        }
        hwloc_bitmap_set(set, (unsigned)members[i].cpu);
    }
    free(members);
    qsort(units->elts, (size_t)units->nelts, sizeof(cpuset *), by_first_cpu);
    return units;
}

static int count_objects(const topology *t, hwloc_obj_type_t type)
{
    return t->hw ? hwloc_get_nbobjs_by_type(t->hw, type) : 0;
}

/* Naming an object means what may be used of it. Only when that is nothing
 * are all its CPUs added, so that the plan says why they are not used. */
static void add_usable(const topology *t, cpuset *set, const cpuset *object)
{
    int cpu, usable = hwloc_bitmap_intersects(object, t->allowed);

    hwloc_bitmap_foreach_begin(cpu, object)
    {
        if (!usable || hwloc_bitmap_isset(t->allowed, (unsigned)cpu)) {
            hwloc_bitmap_set(set, (unsigned)cpu);
        }
    }
    hwloc_bitmap_foreach_end();
}

static int scope_object(void *ctx, const char *kind, unsigned index,
                        cpuset *set, const char **error)
{
    static const struct {
        const char *kind;
        hwloc_obj_type_t type;
    } types[] = {{"core", HWLOC_OBJ_CORE},
                 {"l3", HWLOC_OBJ_L3CACHE},
                 {"numa", HWLOC_OBJ_NUMANODE},
                 {"package", HWLOC_OBJ_PACKAGE}};
    const topology *t = ctx;
    size_t i;

    for (i = 0; i < sizeof(types) / sizeof(*types); i++) {
        hwloc_obj_t object;
        int n;

        if (strcmp(types[i].kind, kind)) {
            continue;
        }
        n = count_objects(t, types[i].type);
        object =
            t->hw ? hwloc_get_obj_by_type(t->hw, types[i].type, index) : NULL;
        if (object && object->cpuset) {
            add_usable(t, set, object->cpuset);
            return 0;
        }
        *error = n > 0
                     ? apr_psprintf(t->pool, "this machine's last is %d", n - 1)
                     : "this machine does not show any";
        return -1;
    }
    *error = "no such kind";
    return -1;
}

static int scope_netdev(void *ctx, const char *name, cpuset *set,
                        const char **error)
{
    const topology *t = ctx;
    hwloc_obj_t dev = NULL, near;

    while (t->hw && (dev = hwloc_get_next_osdev(t->hw, dev))) {
        if (dev->attr->osdev.type == HWLOC_OBJ_OSDEV_NETWORK
            && !strcmp(dev->name, name)) {
            near = hwloc_get_non_io_ancestor_obj(t->hw, dev);
            if (near && near->cpuset) {
                add_usable(t, set, near->cpuset);
                return 0;
            }
        }
    }
    *error = "there is no such network device on the PCI bus";
    return -1;
}

const cpuset_scope *topology_scope(topology *t)
{
    cpuset_scope *scope = apr_pcalloc(t->pool, sizeof(*scope));

    scope->machine = t->machine;
    scope->allowed = t->allowed;
    scope->object = scope_object;
    scope->netdev = scope_netdev;
    scope->ctx = t;
    return scope;
}

int topology_count(topology *t, const char *cpus, int smt_first)
{
    cpuset_scope scope = *topology_scope(t);
    cpuset *set = NULL;
    const char *error;
    int count;

    scope.missing = apr_array_make(t->pool, 1, sizeof(const char *));
    if (cpus
        && (cpuset_parse(t->pool, cpus, &scope, &set, &error)
            || !hwloc_bitmap_intersects(set, t->allowed))) {
        set = NULL;
    }
    if (topology_restrict(t, set, smt_first, &error)) {
        return 1;
    }
    count = hwloc_bitmap_weight(t->allowed);
    return t->quota > 0 && t->quota < count ? t->quota : count;
}
