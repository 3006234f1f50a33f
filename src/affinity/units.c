#include "affinity/topology.h"

#include <string.h>

#include <hwloc.h>

#include <apr_strings.h>

/* A CPU's logical number on a level; -1: unknown there. */
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

/* The finest level that is known of the CPU and not finer than @a unit. */
static topology_unit known_level(const topology_cpu *row, topology_unit unit)
{
    while (unit > TOPOLOGY_MACHINE && level_id(row, unit) < 0) {
        unit--;
    }
    return unit;
}

static int most(const topology *t)
{
    int i, max = 0;

    for (i = 0; i < t->ncpus; i++) {
        const topology_cpu *row = &t->cpus[i];
        int l;

        for (l = TOPOLOGY_PACKAGE; l < TOPOLOGY_UNITS; l++) {
            int id = level_id(row, (topology_unit)l);

            max = id > max ? id : max;
        }
    }
    return max + 1;
}

apr_array_header_t *topology_units(apr_pool_t *p, const topology *t,
                                   topology_unit unit, const cpuset *within,
                                   topology_unit *actual)
{
    apr_array_header_t *units = apr_array_make(p, 16, sizeof(cpuset *));
    int width = most(t), i;
    cpuset **by = apr_pcalloc(p, sizeof(*by) * (size_t)width * TOPOLOGY_UNITS);

    *actual = TOPOLOGY_MACHINE;
    for (i = 0; i < t->ncpus; i++) {
        const topology_cpu *row = &t->cpus[i];
        topology_unit level;
        cpuset **slot;

        if (!row->used || !hwloc_bitmap_isset(within, (unsigned)row->cpu)) {
            continue;
        }
        level = known_level(row, unit);
        slot = &by[(int)level * width + level_id(row, level)];
        if (!*slot) {
            *slot = cpuset_make(p);
            APR_ARRAY_PUSH(units, cpuset *) = *slot;
        }
        hwloc_bitmap_set(*slot, (unsigned)row->cpu);
        *actual = level > *actual ? level : *actual;
    }
    return units;
}

static int count_objects(const topology *t, hwloc_obj_type_t type)
{
    return t->hw ? hwloc_get_nbobjs_by_type(t->hw, type) : 0;
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
            hwloc_bitmap_or(set, set, object->cpuset);
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
                hwloc_bitmap_or(set, set, near->cpuset);
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
