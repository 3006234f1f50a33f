/* SPDX-License-Identifier: Apache-2.0 */
/* plan: who gets which CPUs, what is refused, what is warned of. */
#include "t/unit/plantest.h"

static void is_plan(plan_case c, const char *want, const char *name)
{
    const char *error = NULL;

    plan *pl = make_plan(&c, &error);

    is_str(summary(pl, error), want, name);
}

/* Two packages of two L3s of two cores of two threads: CPU 0-15. */
#define TWO "pack:2 l3:2 core:2 pu:2"

static void test_dealing(void)
{
    is_plan((plan_case){TWO, .affinity = "cpu", .processes = 16},
            "0 8 4 12 2 10 6 14 1 9 5 13 3 11 7 15",
            "CPUs: packages, L3s, cores, siblings last");
    is_plan((plan_case){TWO, .affinity = "core", .processes = 8},
            "0-1 8-9 4-5 12-13 2-3 10-11 6-7 14-15", "cores");
    is_plan((plan_case){TWO, .affinity = "l3", .processes = 4},
            "0-3 8-11 4-7 12-15", "L3s");
    is_plan((plan_case){TWO, .affinity = "package", .processes = 2}, "0-7 8-15",
            "packages");
    is_plan((plan_case){TWO, .affinity = "machine", .processes = 2},
            "0-15 0-15", "the machine for all");
    is_plan((plan_case){"pack:2 numa:2 core:2 pu:1", .affinity = "core",
                        .processes = 8},
            "0 4 2 6 1 5 3 7", "NUMA nodes after packages");
    is_plan((plan_case){TWO, "0-3,8-15", .affinity = "cpu", .processes = 12},
            "0 8 2 12 10 14 1 9 3 13 11 15",
            "uneven packages: siblings still last");
    is_plan((plan_case){"core:2 pu:2(indexes=0,2,1,3)", .affinity = "cpu",
                        .processes = 4},
            "0 1 2 3", "siblings numbered as many machines do");
    is_plan((plan_case){TWO, .affinity = "off", .processes = 4}, "",
            "off: nothing");
}

static void test_auto(void)
{
    static const struct {
        int processes;
        const char *unit;
    } cases[] = {{1, "numa"},  {2, "package"}, {3, "package"},
                 {4, "l3"},    {7, "l3"},      {8, "core"},
                 {15, "core"}, {16, "cpu"},    {99, "cpu"}};
    size_t i;

    for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        plan_case c = {TWO, .affinity = "auto",
                       .processes = cases[i].processes};
        const char *error = NULL;
        plan *pl = make_plan(&c, &error);

        is_str(pl ? pl->unit : error, cases[i].unit, "auto's unit");
        ok(pl && !warns(pl, "no process uses"), "  leaves no CPU out");
    }
    is_plan((plan_case){TWO, "1,6,11", .affinity = "auto", .processes = 3},
            "1 11 6", "auto counts allowed units alone");
    is_plan((plan_case){TWO, "1,6,11", .affinity = "auto", .processes = 2},
            "1,6 11", "  and goes up a level");
}

static void test_allowed(void)
{
    is_plan((plan_case){TWO, "2-5", .affinity = "core", .processes = 2},
            "2-3 4-5", "inside the inherited mask");
    is_plan((plan_case){TWO, .affinity = "cpu", .cpus = "0-3", .smt = "first",
                        .processes = 2},
            "0 2", "CPUAffinityCPUs and CPUAffinitySMT first");
    is_plan((plan_case){TWO, "1-15", .affinity = "core", .smt = "first",
                        .processes = 2},
            "1 8", "first is the first allowed sibling");
    is_plan((plan_case){TWO, "4-15", .affinity = "map +0-1 l3:1 !4-11",
                        .processes = 3},
            "4-5 4-7 12-15", "sets that count in the allowed CPUs");
    is_plan(
        (plan_case){"pu:64", "15,21,22,26", .affinity = "cpu", .processes = 4},
        "15 21 22 26", "sparse CPUs");
    is_plan((plan_case){"pu:1", .affinity = "auto", .workers = "cpu",
                        .processes = 2, .threads = 1},
            "0/0/0 0/0/0", "one CPU");
}

static void test_map(void)
{
    is_plan((plan_case){TWO, .affinity = "map 0-3 4,6", .processes = 5},
            "0-3 4,6 0-3 4,6 0-3", "map wraps");
    is_plan((plan_case){TWO, .affinity = "map package:1 core:0", .smt = "first",
                        .processes = 2},
            "8,10,12,14 0", "objects: what may be used of them");
}

static void test_roles(void)
{
    const char *four = "pack:1 core:4 pu:1";

    is_plan((plan_case){four, .affinity = "machine", .listener = "cpu",
                        .processes = 1, .threads = 1},
            "0-3/0/0-3", "a listener on one CPU, workers float over all");
    is_plan((plan_case){four, .affinity = "machine",
                        .listener = "cpu exclusive", .workers = "cpu",
                        .processes = 1, .threads = 4},
            "0-3/0/1;2;3;1", "exclusive, workers by CPU, wrapping");
    is_plan((plan_case){four, .affinity = "machine",
                        .listener = "core exclusive", .processes = 1,
                        .threads = 2},
            "0-3/0/1-3;1-3", "exclusive, workers float in the rest");
    is_plan((plan_case){four, .affinity = "map 0-1 2-3", .listener = "0 1 2",
                        .processes = 6, .threads = 1},
            "0-1/0/0-1 2-3/1/2-3 0-1/2/0-1 2-3/0/2-3 0-1/1/0-1 2-3/2/2-3",
            "listener sets wrap on their own, outside their process too");
    is_plan((plan_case){four, .affinity = "machine", .workers = "1 2,3",
                        .processes = 1, .threads = 3},
            "0-3/0-3/1;2-3;1", "worker sets wrap");
    is_plan((plan_case){four, .affinity = "machine",
                        .listener = "cpu exclusive", .workers = "0-1 2",
                        .processes = 1, .threads = 2},
            "0-3/0/1;2", "exclusive holds against worker sets");
    is_plan((plan_case){"core:2 pu:2", .affinity = "machine", .workers = "cpu",
                        .processes = 1, .threads = 4},
            "0-3/0-3/0;2;1;3", "workers: siblings last");
    is_plan((plan_case){"core:2 pu:2", .affinity = "cpu", .listener = "core",
                        .processes = 1, .threads = 1},
            "0/0/0", "a unit larger than the process's set is its set");
}

static void test_errors(void)
{
    const char *four = "pack:1 core:4 pu:1";

    is_plan(
        (plan_case){four, .affinity = "map 0-3 4", .strict = 1, .processes = 1},
        "CPUAffinity map 4: '4': there is no CPU 4, this machine's last "
        "is 3",
        "strict: past the machine");
    is_plan((plan_case){four, .affinity = "map core:4", .strict = 1,
                        .processes = 1},
            "CPUAffinity map core:4: 'core:4': there is no core 4, this "
            "machine's last is 3",
            "strict: an object too many");
    is_plan((plan_case){four, "0-1", .affinity = "map 1-2", .strict = 1,
                        .processes = 1},
            "CPUAffinity map 1-2: CPU 2 is outside the inherited mask",
            "strict: one CPU is enough");
    is_plan((plan_case){four, .affinity = "map 0", .cpus = "1-2", .strict = 1,
                        .processes = 1},
            "CPUAffinity map 0: CPU 0 is outside CPUAffinityCPUs",
            "strict: outside CPUAffinityCPUs");
    is_plan((plan_case){four, .affinity = "map 0-1 3", .strict = 1,
                        .listener = "cpu exclusive", .processes = 1,
                        .threads = 1},
            "CPUAffinityListener cpu exclusive: the listener of seat 1 takes "
            "all of 3 and leaves no CPU to the workers",
            "strict: exclusive without room");
    is_plan((plan_case){four, .affinity = "cpu", .listener = "cpu exclusive",
                        .processes = 1, .threads = 1},
            "CPUAffinityListener cpu exclusive: the listener of seat 0 takes "
            "all of 0 and leaves no CPU to the workers",
            "exclusive that has room on no machine");
    is_plan((plan_case){four, .affinity = "map 0x0", .processes = 1},
            "'0x0' is an empty set", "an empty mask");
}

/* A machine that shrank, or was never as large: one warning for each. */
static void test_shrunk(void)
{
    const char *four = "pack:1 core:4 pu:1";
    static const struct {
        const char *given[4]; /* affinity, listener, workers, cpus */
        const char *want;
        const char *warning;
    } cases[] = {
        {{"map 0 4"},
         "0/0/0 0-3/0-3/0-3",
         "map 4: '4': there is no CPU 4, "
         "this machine's last is 3, and no CPU is left: all of 0-3 instead"},
        {{"map 0 2-9"},
         "0/0/0 2-3/2-3/2-3",
         "there is no CPU 4, this "
         "machine's last is 3: dropped"},
        {{"map 0,4096-99999 1"}, "0/0/0 1/1/1", "there is no CPU 4096"},
        {{"map 0xf0000000000f 1"}, "0-3/0-3/0-3 1/1/1", "no CPU 44"},
        {{"map +0 +4"}, "0/0/0 0-3/0-3/0-3", "only 4 CPUs are allowed"},
        {{"map !9 !0-3"}, "0-3/0-3/0-3 0-3/0-3/0-3", "is an empty set, and"},
        {{"map core:0 core:4"}, "0/0/0 0-3/0-3/0-3", "there is no core 4"},
        {{"map 0 l3:1"}, "0/0/0 0-3/0-3/0-3", "does not show any"},
        {{"map 0 netdev:a"}, "0/0/0 0-3/0-3/0-3", "no such network device"},
        {{"cpu", "7"}, "0/0-3/0 1/0-3/1", "CPUAffinityListener 7: '7'"},
        {{"cpu", NULL, "7"}, "0/0/0-3 1/1/0-3", "CPUAffinityWorkers 7: '7'"},
        {{"cpu", NULL, NULL, "7"}, "0/0/0 1/1/1", "CPUAffinityCPUs 7: '7'"},
        {{"cpu", NULL, NULL, "1-7"}, "1/1/1 2/2/2", "CPUAffinityCPUs 1-7"},
        {{"map 0-1 3", "cpu exclusive"}, "0-1/0/1 3/3/3", "they share it"},
    };
    size_t i;

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        plan_case c = {four,
                       .affinity = cases[i].given[0],
                       .listener = cases[i].given[1],
                       .workers = cases[i].given[2],
                       .cpus = cases[i].given[3],
                       .processes = 2,
                       .threads = 1};
        const char *error = NULL;
        plan *pl = make_plan(&c, &error);

        is_str(summary(pl, error), cases[i].want, cases[i].warning);
        if (!ok(warns(pl, cases[i].warning), "  with a warning")) {
            show_warnings(pl);
        }
    }
    is_plan((plan_case){four, "0-1", .affinity = "map 2-3", .processes = 1},
            "0-1", "nothing left of the mask");
    is_plan((plan_case){"core:2 pu:2", .affinity = "map 1", .smt = "first",
                        .processes = 1},
            "0,2", "an SMT sibling");
}

static void has_warning(plan_case c, const char *text, const char *name)
{
    const char *error = NULL;
    plan *pl = make_plan(&c, &error);

    if (!ok(text ? warns(pl, text) : pl && !pl->warnings->nelts, "%s", name)) {
        printf("# error: %s\n", error ? error : "none");
        show_warnings(pl);
    }
}

static void test_warnings(void)
{
    const char *four = "pack:1 l3:1 core:4 pu:1";

    has_warning(
        (plan_case){four, .affinity = "cpu", .processes = 8, .threads = 2},
        NULL, "nothing to warn of");
    has_warning((plan_case){four, .affinity = "cpu", .processes = 6},
                "6 processes on 4 cpu units: 2 of them get one process more",
                "uneven");
    has_warning((plan_case){four, .affinity = "map 0-1 2-3", .processes = 3},
                "3 processes on 2 sets: 1 of them gets", "uneven map");
    has_warning((plan_case){four, .affinity = "cpu", .processes = 2},
                "no process uses CPUs 2-3", "processes leave CPUs idle");
    has_warning((plan_case){four, .affinity = "machine", .workers = "cpu",
                            .listener = "0", .processes = 1, .threads = 3},
                "no process uses CPU 3", "workers leave a CPU idle");
    has_warning((plan_case){four, .affinity = "map 0-2 2-3",
                            .listener = "cpu exclusive", .processes = 2,
                            .threads = 2},
                "workers of another process use CPU 2 of a listener",
                "exclusive, but for another process");
    has_warning(
        (plan_case){four, "0-2", .affinity = "map 0-3 0-3", .processes = 2},
        "CPUAffinity map 0-3: CPU 3 is outside the inherited mask: "
        "dropped",
        "a CPU that is dropped, said once");
    has_warning(
        (plan_case){"pack:2 core:2 pu:1", .affinity = "l3", .processes = 2},
        "CPUAffinity l3: this machine does not show its l3 units",
        "a unit that the machine does not show");
}

static void test_quota_and_isolated(void)
{
    plan_case c = {NULL, .affinity = "core", .processes = 2, .threads = 2};
    topology *t = load_synthetic("core:2 pu:2", NULL);
    const char *error = NULL;
    plan *pl;

    t->quota = 1;
    hwloc_bitmap_set_range(t->isolated, 1, 2);
    pl = make_on(t, &c, &error);
    ok(warns(pl, "2 pinned processes, but the control group's quota is 1 CPU"),
       "more processes than the quota");
    ok(warns(pl, "the kernel isolates CPUs 1-2"), "isolated CPUs in sets");
    t->quota = 2;
    c.workers = c.listener = "cpu";
    pl = make_on(t, &c, &error);
    ok(pl && !pl->warnings->nelts, "one each, and within the quota: none");
}

static void test_fallback(void)
{
    plan_case c = {"pack:2 core:2 pu:1", .affinity = "l3", .processes = 2};
    const char *error = NULL;
    plan *pl = make_plan(&c, &error);

    is_str(summary(pl, error), "0-1 2-3",
           "no L3: packages, which are smaller than the one NUMA node");
    is_str(pl ? pl->unit : error, "package", "and the plan says so");
    c = (plan_case){"pu:3", .affinity = "core", .processes = 3};
    is_plan(c, "0 1 2", "no cores: CPUs");
    c.affinity = "package";
    is_plan(c, "0-2 0-2 0-2", "no packages: the machine");
}

static void test_accessors(void)
{
    plan_case c = {TWO, .affinity = "l3", .workers = "core", .processes = 2,
                   .threads = 3};
    const char *error = NULL;
    plan *pl = make_plan(&c, &error);

    is_int(pl->nplaces, 4, "all units are places, also past the processes");
    is_str(cpuset_format(p, plan_seat(pl, 6)->process), "4-7", "seats wrap");
    is_str(cpuset_format(p, plan_worker(pl, 1, 5)), "10-11", "workers wrap");
    is_str(planview_seat(p, pl, 0),
           "seat 0: process 0-3, listener 0-3, workers 0-1 2-3",
           "a seat's line");
    c.affinity = "off";
    pl = make_plan(&c, &error);
    ok(!pl->active && !plan_seat(pl, 0) && !plan_worker(pl, 0, 0),
       "off has no places");
}

static void test_large(void)
{
    plan_case c = {"pack:8 l3:16 core:16 pu:2",
                   .affinity = "auto",
                   .listener = "cpu exclusive",
                   .workers = "cpu",
                   .processes = 64,
                   .threads = 256};
    const char *error = NULL;
    plan *pl = make_plan(&c, &error);
    cpuset *all = cpuset_make(p);
    int seat, w;

    ok(pl && !strcmp(pl->unit, "package"), "4096 CPUs, 64 processes: a plan");
    for (seat = 0; pl && seat < 8; seat++) {
        hwloc_bitmap_or(all, all, plan_seat(pl, seat)->process);
        for (w = 0; w < 256; w++) {
            if (hwloc_bitmap_weight(plan_worker(pl, seat, w)) != 1) {
                ok(0, "one CPU for worker %d of seat %d", w, seat);
            }
        }
    }
    is_int(hwloc_bitmap_weight(all), 4096, "  that covers them all");
    c.affinity = "cpu";
    c.listener = NULL;
    c.processes = 4096;
    pl = make_plan(&c, &error);
    is_int(pl ? pl->nplaces : -1, 4096, "a process for each of 4096 CPUs");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&p, NULL);
    test_dealing();
    test_auto();
    test_allowed();
    test_map();
    test_roles();
    test_errors();
    test_shrunk();
    test_warnings();
    test_quota_and_isolated();
    test_fallback();
    test_accessors();
    test_large();
    apr_pool_destroy(p);
    apr_terminate();
    return done();
}
