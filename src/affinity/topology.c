/* SPDX-License-Identifier: Apache-2.0 */
#include "affinity/topology.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <apr_strings.h>

#include "affinity/cgroup.h"
#include "affinity/discover.h"
#include "affinity/pin.h"

static const char *const unit_names[TOPOLOGY_UNITS] = {
    "machine", "package", "numa", "l3", "core", "cpu"};

static const char *const reason_offline = "offline";
static const char *const reason_hidden = "offline or hidden in the XML file";
static const char *const reason_inherited = "outside the inherited mask";

int topology_unit_parse(const char *name)
{
    int i;

    for (i = 0; i < TOPOLOGY_UNITS; i++) {
        if (!strcasecmp(name, unit_names[i])) {
            return i;
        }
    }
    return -1;
}

const char *topology_unit_name(topology_unit unit)
{
    return unit_names[unit];
}

static void warn(topology *t, const char *text)
{
    APR_ARRAY_PUSH(t->warnings, const char *) = text;
}

static apr_status_t destroy(void *data)
{
    hwloc_topology_destroy(data);
    return APR_SUCCESS;
}

/* Reads a list file of sysfs; anything else gives an empty set. */
static void read_list(const char *file, cpuset *set)
{
    char text[65536];
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;

    if (fd >= 0) {
        close(fd);
    }
    text[n > 0 ? n : 0] = '\0';
    if (cpuset_from_list(text, set)) {
        hwloc_bitmap_zero(set);
    }
}

static int ancestor(hwloc_topology_t hw, hwloc_obj_type_t type, hwloc_obj_t pu)
{
    hwloc_obj_t o = hwloc_get_ancestor_obj_by_type(hw, type, pu);

    return o ? (int)o->logical_index : -1;
}

/* The nearest NUMA node: the one with the fewest CPUs that has memory.
 * Devices and memory extensions appear as further nodes of the same CPUs, or
 * of more. */
static int numa_of(hwloc_topology_t hw, hwloc_obj_t pu)
{
    hwloc_obj_t node = NULL, best = NULL;

    while ((node = hwloc_get_next_obj_by_type(hw, HWLOC_OBJ_NUMANODE, node))) {
        int memory = node->attr->numanode.local_memory != 0;
        int best_memory = best && best->attr->numanode.local_memory;

        if (!node->cpuset || !hwloc_bitmap_isset(node->cpuset, pu->os_index)) {
            continue;
        }
        if (!best || memory > best_memory
            || (memory == best_memory
                && hwloc_bitmap_weight(node->cpuset)
                       < hwloc_bitmap_weight(best->cpuset))) {
            best = node;
        }
    }
    return best ? (int)best->logical_index : -1;
}

static int efficiency_of(hwloc_topology_t hw, hwloc_obj_t pu)
{
    int kind = hwloc_cpukinds_get_by_cpuset(hw, pu->cpuset, 0);
    int efficiency = -1;

    if (hwloc_cpukinds_get_nr(hw, 0) > 1 && kind >= 0) {
        hwloc_cpukinds_get_info(hw, (unsigned)kind, NULL, &efficiency, NULL,
                                NULL, 0);
    }
    return efficiency;
}

static void fill_row(const topology *t, topology_cpu *row, hwloc_obj_t pu)
{
    hwloc_obj_t core =
        hwloc_get_ancestor_obj_by_type(t->hw, HWLOC_OBJ_CORE, pu);

    row->package = ancestor(t->hw, HWLOC_OBJ_PACKAGE, pu);
    row->die = ancestor(t->hw, HWLOC_OBJ_DIE, pu);
    row->l3 = ancestor(t->hw, HWLOC_OBJ_L3CACHE, pu);
    row->numa = numa_of(t->hw, pu);
    if (core) {
        hwloc_bitmap_t before = hwloc_bitmap_dup(core->cpuset);

        hwloc_bitmap_clr_range(before, pu->os_index, -1);
        row->core = (int)core->logical_index;
        row->smt = hwloc_bitmap_weight(before);
        hwloc_bitmap_free(before);
    }
    row->efficiency = efficiency_of(t->hw, pu);
}

static void make_rows(topology *t, const char *offline)
{
    hwloc_obj_t pu = NULL;
    int cpu, i = 0;

    t->ncpus = hwloc_bitmap_weight(t->machine);
    t->cpus = apr_pcalloc(t->pool, sizeof(*t->cpus) * (size_t)t->ncpus);
    hwloc_bitmap_foreach_begin(cpu, t->machine)
    {
        topology_cpu *row = &t->cpus[i++];

        row->cpu = cpu;
        row->package = row->numa = row->die = row->l3 = row->core = -1;
        row->smt = row->efficiency = -1;
        row->used = hwloc_bitmap_isset(t->allowed, (unsigned)cpu);
        row->reason = row->used ? ""
                      : !hwloc_bitmap_isset(t->online, (unsigned)cpu)
                          ? offline
                          : reason_inherited;
    }
    hwloc_bitmap_foreach_end();
    while (t->hw
           && (pu = hwloc_get_next_obj_by_type(t->hw, HWLOC_OBJ_PU, pu))) {
        const topology_cpu *row = topology_find(t, (int)pu->os_index);

        if (row) {
            fill_row(t, &t->cpus[row - t->cpus], pu);
        }
    }
}

/* Another machine's sets, as its description has them. */
static void sets_from_description(topology *t, const topology_source *source)
{
    hwloc_bitmap_copy(t->online, hwloc_topology_get_topology_cpuset(t->hw));
    hwloc_bitmap_or(t->machine, t->online,
                    hwloc_topology_get_complete_cpuset(t->hw));
    hwloc_bitmap_and(t->inherited, hwloc_topology_get_allowed_cpuset(t->hw),
                     t->machine);
    if (source->inherited) {
        hwloc_bitmap_and(t->inherited, t->inherited, source->inherited);
    }
}

/*
 * This machine's sets. The kernel's mask is authoritative: what is in it is
 * online and may be used, whatever /sys says (in a container /sys is what the
 * container's manager makes of it). /sys describes the rest.
 */
static void sets_from_kernel(topology *t, const topology_source *source,
                             apr_pool_t *p)
{
    cpuset *mask = cpuset_make(p), *hidden = cpuset_make(p);

    if (pin_get(0, mask)) {
        hwloc_bitmap_zero(mask);
    }
    if (t->hw) {
        /* "possible" would count empty sockets. */
        read_list(discover_path(p, "present"), t->machine);
        read_list(discover_path(p, "isolated"), t->isolated);
        hwloc_bitmap_copy(t->online, hwloc_topology_get_topology_cpuset(t->hw));
        hwloc_bitmap_andnot(hidden, mask, t->online);
    }
    if (!hwloc_bitmap_iszero(hidden)) {
        warn(t, apr_psprintf(p,
                             "CPUAffinity: CPU%s %s %s not online in "
                             "/sys/devices/system/cpu, but in the CPU mask, "
                             "and used",
                             hwloc_bitmap_weight(hidden) > 1 ? "s" : "",
                             cpuset_format(p, hidden),
                             hwloc_bitmap_weight(hidden) > 1 ? "are" : "is"));
    }
    hwloc_bitmap_or(t->online, t->online, mask);
    if (hwloc_bitmap_iszero(t->online)) {
        if (source->inherited) {
            hwloc_bitmap_copy(t->online, source->inherited);
        }
        else {
            hwloc_bitmap_only(t->online, 0);
        }
    }
    hwloc_bitmap_or(t->machine, t->machine, t->online);
    hwloc_bitmap_copy(t->inherited, source->inherited ? source->inherited
                                    : hwloc_bitmap_iszero(mask) ? t->online
                                                                : mask);
    hwloc_bitmap_and(t->inherited, t->inherited, t->machine);
}

static topology *make(apr_pool_t *p)
{
    topology *t = apr_pcalloc(p, sizeof(*t));

    t->pool = p;
    t->machine = cpuset_make(p);
    t->online = cpuset_make(p);
    t->inherited = cpuset_make(p);
    t->allowed = cpuset_make(p);
    t->isolated = cpuset_make(p);
    t->warnings = apr_array_make(p, 4, sizeof(const char *));
    return t;
}

int topology_load(apr_pool_t *p, const topology_source *source,
                  topology **result, const char **error)
{
    topology *t = make(p);
    int other = source->xml || source->synthetic;

    t->quota = other ? -1 : cgroup_quota("");
    t->hw = discover(source, p, error);
    if (!t->hw && other) {
        return -1;
    }
    if (t->hw) {
        apr_pool_cleanup_register(p, t->hw, destroy, apr_pool_cleanup_null);
    }
    else {
        warn(t, apr_psprintf(p,
                             "the topology cannot be read (%s): planning "
                             "with the CPU mask alone",
                             *error));
    }
    if (other) {
        sets_from_description(t, source);
    }
    else {
        sets_from_kernel(t, source, p);
    }
    hwloc_bitmap_and(t->allowed, t->inherited, t->online);
    if (hwloc_bitmap_iszero(t->allowed)) {
        *error = "no CPU of the mask is online";
        return -1;
    }
    make_rows(t, source->xml ? reason_hidden : reason_offline);
    topology_find_levels(t);
    *result = t;
    return 0;
}

static void take_out(topology *t, topology_cpu *row, const char *reason)
{
    row->used = 0;
    row->reason = reason;
    hwloc_bitmap_clr(t->allowed, (unsigned)row->cpu);
}

int topology_restrict(topology *t, const cpuset *cpus, int smt_first,
                      const char **error)
{
    cpuset *seen = cpuset_make(t->pool);
    int i;

    for (i = 0; cpus && i < t->ncpus; i++) {
        topology_cpu *row = &t->cpus[i];

        if (row->used && !hwloc_bitmap_isset(cpus, (unsigned)row->cpu)) {
            take_out(t, row, "outside CPUAffinityCPUs");
        }
    }
    for (i = 0; smt_first && i < t->ncpus; i++) {
        topology_cpu *row = &t->cpus[i];

        if (row->used && row->core >= 0) {
            if (hwloc_bitmap_isset(seen, (unsigned)row->core)) {
                take_out(t, row, "SMT sibling");
            }
            hwloc_bitmap_set(seen, (unsigned)row->core);
        }
    }
    if (hwloc_bitmap_iszero(t->allowed)) {
        *error = "no allowed CPU is left";
        return -1;
    }
    return 0;
}

const topology_cpu *topology_find(const topology *t, int cpu)
{
    int low = 0, high = t->ncpus - 1;

    while (low <= high) {
        int middle = (low + high) / 2;

        if (t->cpus[middle].cpu == cpu) {
            return &t->cpus[middle];
        }
        if (t->cpus[middle].cpu < cpu) {
            low = middle + 1;
        }
        else {
            high = middle - 1;
        }
    }
    return NULL;
}

int topology_bind_memory(const topology *t, const cpuset *set)
{
    cpuset *nodes;
    hwloc_obj_t node = NULL;
    int rc = 0;

    if (!t->hw) {
        return 0;
    }
    nodes = hwloc_bitmap_alloc();
    if (!nodes) {
        return -1;
    }
    while (
        (node = hwloc_get_next_obj_by_type(t->hw, HWLOC_OBJ_NUMANODE, node))) {
        if (node->attr->numanode.local_memory && node->cpuset
            && hwloc_bitmap_intersects(node->cpuset, set)) {
            hwloc_bitmap_set(nodes, node->os_index);
        }
    }
    /* Without HWLOC_MEMBIND_STRICT other nodes are used when these are full. */
    if (!hwloc_bitmap_iszero(nodes)) {
        rc = hwloc_set_membind(t->hw, nodes, HWLOC_MEMBIND_BIND,
                               HWLOC_MEMBIND_BYNODESET | HWLOC_MEMBIND_THREAD);
    }
    hwloc_bitmap_free(nodes);
    return rc;
}
