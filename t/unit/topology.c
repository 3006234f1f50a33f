/* SPDX-License-Identifier: Apache-2.0 */
/* topology and cgroup: rows, reasons, units, what is made of bad sources. */
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include <apr_escape.h>
#include <apr_file_io.h>

#include "affinity/cgroup.h"
#include "affinity/pin.h"
#include "t/unit/plantest.h"

/* "0:0/0/0 …": cpu:package/numa/core and what is not used. */
static const char *rows(const topology *t)
{
    const char *text = "";
    int i;

    for (i = 0; i < t->ncpus; i++) {
        const topology_cpu *r = &t->cpus[i];

        text = apr_psprintf(p, "%s%s%d:%d/%d/%d.%d%s%s", text, i ? " " : "",
                            r->cpu, r->package, r->l3, r->core, r->smt,
                            r->used ? "" : "!", r->reason);
    }
    return text;
}

static const char *units(const topology *t, topology_unit unit,
                         const char *within, topology_unit *actual)
{
    apr_array_header_t *list =
        topology_units(p, t, unit, list_set(within), actual);
    const char *text = "";
    int i;

    for (i = 0; i < list->nelts; i++) {
        text = apr_pstrcat(p, text, i ? " " : "",
                           cpuset_format(p, APR_ARRAY_IDX(list, i, cpuset *)),
                           NULL);
    }
    return text;
}

static void test_rows(void)
{
    topology *t = load_synthetic("pack:2 l3:1 core:1 pu:2", "0-2");
    const char *error;

    is_str(rows(t),
           "0:0/0/0.0 1:0/0/0.1 2:1/1/1.0 "
           "3:1/1/1.1!outside the inherited mask",
           "rows of a synthetic machine under a mask");
    is_str(cpuset_format(p, t->machine), "0-3", "the machine");
    is_str(cpuset_format(p, t->allowed), "0-2", "allowed");
    is_int(topology_restrict(t, list_set("1-3"), 0, &error), 0, "restricted");
    is_int(topology_restrict(t, NULL, 1, &error), 0, "to first siblings");
    is_str(rows(t),
           "0:0/0/0.0!outside CPUAffinityCPUs 1:0/0/0.1 2:1/1/1.0 "
           "3:1/1/1.1!outside the inherited mask",
           "the first that is allowed counts as first sibling");
    is_int(topology_restrict(t, list_set("0"), 0, &error), -1,
           "nothing left is an error");
    ok(topology_find(t, 2) == &t->cpus[2] && !topology_find(t, 4)
           && !topology_find(t, -1),
       "rows are found");
}

static void test_units(void)
{
    topology *t = load_synthetic("pack:2 l3:2 core:2 pu:2", "0-6,8-15");
    topology_unit actual;

    is_str(units(t, TOPOLOGY_L3, "0-15", &actual), "0-3 4-6 8-11 12-15",
           "L3s, of used CPUs");
    is_int(actual, TOPOLOGY_L3, "  known");
    is_str(units(t, TOPOLOGY_L3, "2-5", &actual), "2-3 4-5", "inside a set");
    is_str(units(t, TOPOLOGY_L3, "7", &actual), "", "none inside");
    is_str(units(t, TOPOLOGY_MACHINE, "1,9", &actual), "1,9", "the machine");
    t->cpus[12].l3 = t->cpus[13].l3 = -1;
    t->cpus[12].numa = t->cpus[13].numa = -1;
    is_str(units(t, TOPOLOGY_L3, "8-15", &actual), "8-11 12-13 14-15",
           "CPUs that alone lack an L3: their package's remainder");
    is_int(actual, TOPOLOGY_L3, "  and the unit is L3 still");
    is_int(topology_unit_parse("numa"), TOPOLOGY_NUMA, "a unit's name");
    is_int(topology_unit_parse("node"), -1, "no unit's name");
}

static void test_this_machine(void)
{
    topology_source source = {0};
    topology *t = NULL;
    const char *error = NULL;
    cpuset *mask = cpuset_make(p);

    pin_get(0, mask);
    source.inherited = mask;
    is_int(topology_load(p, &source, &t, &error), 0, "this machine loads");
    is_str(cpuset_format(p, t->allowed), cpuset_format(p, mask),
           "allowed is our mask");
    setenv("HWLOC_FSROOT", "/nonexistent", 1);
    is_int(topology_load(p, &source, &t, &error), 0,
           "it loads without sysfs too");
    unsetenv("HWLOC_FSROOT");
    is_int(t->warnings->nelts, 1, "  with one warning");
    is_str(cpuset_format(p, t->allowed), cpuset_format(p, mask),
           "  by the mask alone");
    is_int(t->cpus[0].core, -1, "  and nothing else is known");
    setenv("HWLOC_SYNTHETIC", "pu:64", 1);
    is_int(topology_load(p, &source, &t, &error), 0,
           "a variable that names another machine");
    unsetenv("HWLOC_SYNTHETIC");
    is_int(t->warnings->nelts, 1, "  is warned of");
    is_str(cpuset_format(p, t->allowed), cpuset_format(p, mask),
           "  and not believed");
    setenv("HWLOC_PLUGINS_PATH", "/somewhere", 1);
    is_int(topology_load(p, &source, &t, &error), 0, "loads again");
    is_str(getenv("HWLOC_PLUGINS_PATH"), "/somewhere",
           "  and leaves the environment as it was");
    unsetenv("HWLOC_PLUGINS_PATH");
}

static void refused(topology_source source, const char *name)
{
    topology *t = NULL;
    const char *error = NULL;

    ok(topology_load(p, &source, &t, &error) == -1 && !t && error,
       "refused: %s", name);
    printf("# %s\n", error ? error : "");
}

static void test_bad_sources(void)
{
    cpuset *far = list_set("100");

    refused((topology_source){.synthetic = "pack:0"}, "a bad synthetic");
    refused((topology_source){.synthetic = ""}, "an empty synthetic");
    refused((topology_source){.xml = "/nonexistent.xml"}, "a missing file");
    refused((topology_source){.xml = "/dev/null"}, "an empty file");
    refused((topology_source){.xml = "/etc/passwd"}, "another file");
    refused((topology_source){.xml = "/"}, "a directory");
    refused((topology_source){.synthetic = "pu:2", .inherited = far},
            "a mask without a CPU of the machine");
}

static void put(const char *root, const char *name, const char *text)
{
    char *path = apr_pstrcat(p, root, name, NULL), *slash;
    FILE *f;

    for (slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0755);
        *slash = '/';
    }
    f = fopen(path, "w");
    if (!f || fputs(text, f) < 0 || fclose(f)) {
        printf("Bail out! %s\n", path);
        exit(1);
    }
}

static const char *new_root(const char *cgroup)
{
    char *root = apr_pstrdup(p, "/tmp/cpuaff-cgroup-XXXXXX");

    if (!mkdtemp(root)) {
        printf("Bail out! mkdtemp\n");
        exit(1);
    }
    put(root, "/proc/self/cgroup", cgroup);
    return root;
}

static void is_quota(const char *root, int want, const char *name)
{
    is_int(cgroup_quota(root), want, name);
}

static void test_cgroup(void)
{
    const char *root = new_root("0::/a/b\n");
    const char *cg = "/sys/fs/cgroup";

    is_quota(root, -1, "v2: no quota to be read");
    put(root, "/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    is_quota(root, -1, "v2: none");
    put(root, "/sys/fs/cgroup/a/b/cpu.max", "250000 100000\n");
    is_quota(root, 3, "v2: 2.5 CPUs are 3");
    put(root, "/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
    is_quota(root, 2, "v2: an outer group's is smaller");
    put(root, "/sys/fs/cgroup/a/cpu.max", "400000 100000\n");
    is_quota(root, 3, "v2: an outer group's is larger");
    put(root, "/sys/fs/cgroup/a/b/cpu.max", "1000 100000\n");
    is_quota(root, 1, "v2: never less than 1");
    put(root, "/sys/fs/cgroup/a/b/cpu.max", "200000 100000\n");
    is_quota(root, 2, "v2: a whole number");

    root = new_root("0::/..\n");
    put(root, "/sys/fs/cgroup/cpu.max", "200000 100000\n");
    is_quota(root, 2, "v2: a group that is not to be seen");

    root = new_root("4:memory:/\n3:cpu,cpuacct:/docker/x\n1:cpuset:/y\n");
    put(root, apr_pstrcat(p, cg, "/cpu/docker/x/cpu.cfs_quota_us", NULL),
        "-1\n");
    put(root, apr_pstrcat(p, cg, "/cpu/docker/x/cpu.cfs_period_us", NULL),
        "100000\n");
    is_quota(root, -1, "v1: none");
    put(root, apr_pstrcat(p, cg, "/cpu/docker/x/cpu.cfs_quota_us", NULL),
        "350000\n");
    is_quota(root, 4, "v1: 3.5 CPUs are 4");
    put(root, apr_pstrcat(p, cg, "/cpu/cpu.cfs_quota_us", NULL), "200000\n");
    put(root, apr_pstrcat(p, cg, "/cpu/cpu.cfs_period_us", NULL), "100000\n");
    is_quota(root, 2, "v1: the mounted group's is smaller");
    is_quota("/nonexistent", -1, "no /proc");
}

static void is_cpus(const char *root, const char *want, const char *name)
{
    char list[256];

    is_str(cgroup_cpuset(root, list, sizeof(list)) ? "none" : list, want, name);
}

static void test_cgroup_cpuset(void)
{
    const char *root = new_root("0::/a/b\n");

    is_cpus(root, "none", "v2: no cpuset to be read");
    put(root, "/sys/fs/cgroup/cpuset.cpus.effective", "0-7\n");
    is_cpus(root, "0-7", "v2: an outer group's");
    put(root, "/sys/fs/cgroup/a/b/cpuset.cpus.effective", "2-3\n");
    is_cpus(root, "2-3", "v2: its own");

    root = new_root("4:cpu:/q\n3:cpuset:/docker/x\n0::/z\n");
    put(root, "/sys/fs/cgroup/unified/cpuset.cpus.effective", "0-9\n");
    is_cpus(root, "0-9", "v2, mounted beside v1");
    put(root, "/sys/fs/cgroup/cpuset/cpuset.effective_cpus", "4\n");
    is_cpus(root, "4", "v1 before v2, in a container the mount's root");
    put(root, "/sys/fs/cgroup/cpuset/docker/x/cpuset.effective_cpus", "5\n");
    is_cpus(root, "5", "v1: its own");
    is_cpus("/nonexistent", "none", "no /proc");
}

static void is_list(const char *text, const char *want)
{
    cpuset *set = cpuset_make(p);

    is_str(cpuset_from_list(text, set) ? "none" : cpuset_format(p, set), want,
           apr_psprintf(p, "the list '%s'", apr_pescape_echo(p, text, 0)));
}

static void test_lists(void)
{
    is_list("0-3,7\n", "0-3,7");
    is_list("", "");
    is_list("\n", "");
    is_list("1000000", "1000000");
    is_list("1000001", "none");
    is_list("0-4294967295", "none");
    is_list("99999999999999999999", "none");
    is_list("0x3", "none");
    is_list("all", "none");
    is_list("0\n1", "none");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&p, NULL);
    test_rows();
    test_units();
    test_this_machine();
    test_bad_sources();
    test_cgroup();
    test_cgroup_cpuset();
    test_lists();
    if (system("rm -rf /tmp/cpuaff-cgroup-??????")) {
        printf("# left behind: /tmp/cpuaff-cgroup-*\n");
    }
    apr_pool_destroy(p);
    apr_terminate();
    return done();
}
