/* SPDX-License-Identifier: Apache-2.0 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <hwloc/bitmap.h>
#include <jansson.h>

#include <apr_strings.h>

#include "affinity/pin.h"
#include "affinity/plan_make.h"
#include "affinity/planview.h"
#include "cli/cli.h"

/* More workers than any httpd has. */
#define THREADS_MAX 100000

static const char help[] =
    "usage: cpuaffinity plan [OPTION ...]\n"
    "\n"
    "Prints which CPUs each process, listener and worker would get.\n"
    "\n"
    "the machine (default: this one)\n"
    "  --synthetic TEXT  as hwloc has it: \"pack:2 l3:4 core:8 pu:2\"\n"
    "  --xml FILE        an export of lstopo\n"
    "  --allowed LIST    the mask that httpd is started with\n"
    "the configuration, each with its directive's arguments in one string\n"
    "  --affinity ARGS   CPUAffinity (default: auto)\n"
    "  --listener ARGS   CPUAffinityListener\n"
    "  --workers ARGS    CPUAffinityWorkers\n"
    "  --cpus CPUSET     CPUAffinityCPUs\n"
    "  --smt all|first   CPUAffinitySMT\n"
    "  --strict on|off   CPUAffinityStrict\n"
    "  --processes N     StartServers (default: 3)\n"
    "  --fixed N|auto    FixedProcesses, instead of --processes\n"
    "  --threads N       ThreadsPerChild (default: 25)\n"
    "output\n"
    "  --json            for programs\n";

typedef struct options {
    const char *synthetic;
    const char *xml;
    const char *allowed;
    policy *policy;
    int processes;
    int fixed_auto;
    int threads;
    int json;
} options;

enum option_id {
    OPT_SYNTHETIC = 1,
    OPT_XML,
    OPT_ALLOWED,
    OPT_AFFINITY,
    OPT_LISTENER,
    OPT_WORKERS,
    OPT_CPUS,
    OPT_SMT,
    OPT_STRICT,
    OPT_PROCESSES,
    OPT_FIXED,
    OPT_THREADS,
    OPT_JSON,
    OPT_HELP
};

static const struct option long_options[] = {
    {"synthetic", required_argument, NULL, OPT_SYNTHETIC},
    {"xml", required_argument, NULL, OPT_XML},
    {"allowed", required_argument, NULL, OPT_ALLOWED},
    {"affinity", required_argument, NULL, OPT_AFFINITY},
    {"listener", required_argument, NULL, OPT_LISTENER},
    {"workers", required_argument, NULL, OPT_WORKERS},
    {"cpus", required_argument, NULL, OPT_CPUS},
    {"smt", required_argument, NULL, OPT_SMT},
    {"strict", required_argument, NULL, OPT_STRICT},
    {"processes", required_argument, NULL, OPT_PROCESSES},
    {"fixed", required_argument, NULL, OPT_FIXED},
    {"threads", required_argument, NULL, OPT_THREADS},
    {"json", no_argument, NULL, OPT_JSON},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0}};

/* A decimal number in a range. @return NULL or the reason */
static const char *number(apr_pool_t *p, const char *arg, int low, int high,
                          int *n)
{
    char *end;
    long value = strtol(arg, &end, 10);

    if (end == arg || *end || value < low || value > high) {
        return apr_psprintf(p, "'%s' is not a number of %d to %d", arg, low,
                            high);
    }
    *n = (int)value;
    return NULL;
}

/* A directive's arguments in one string -> its setter. */
static const char *words(apr_pool_t *p, policy *pol, const char *text,
                         const char *(*set)(apr_pool_t *, policy *, int,
                                            char *const[]))
{
    char **argv;
    int argc = 0;

    if (apr_tokenize_to_argv(text, &argv, p)) {
        return apr_psprintf(p, "'%s' has an open quote", text);
    }
    while (argv[argc]) {
        argc++;
    }
    return set(p, pol, argc, argv);
}

static const char *set_fixed(apr_pool_t *p, options *o, const char *arg)
{
    if (!strcasecmp(arg, "auto")) {
        o->fixed_auto = 1;
        return NULL;
    }
    return number(p, arg, 1, 4096, &o->processes);
}

static const char *set_strict(apr_pool_t *p, options *o, const char *arg)
{
    o->policy->strict = !strcasecmp(arg, "on");
    return o->policy->strict || !strcasecmp(arg, "off")
               ? NULL
               : apr_psprintf(p, "'%s' is not on or off", arg);
}

/* @return NULL or the reason why the option's value is refused */
static const char *set_option(apr_pool_t *p, options *o, int id,
                              const char *arg)
{
    switch (id) {
    case OPT_SYNTHETIC:
        o->synthetic = arg;
        return NULL;
    case OPT_XML:
        o->xml = arg;
        return NULL;
    case OPT_ALLOWED:
        o->allowed = arg;
        return NULL;
    case OPT_AFFINITY:
        return words(p, o->policy, arg, policy_set_process);
    case OPT_LISTENER:
        return words(p, o->policy, arg, policy_set_listener);
    case OPT_WORKERS:
        return words(p, o->policy, arg, policy_set_workers);
    case OPT_CPUS:
        return policy_set_cpus(p, o->policy, arg);
    case OPT_SMT:
        return policy_set_smt(p, o->policy, arg);
    case OPT_STRICT:
        return set_strict(p, o, arg);
    case OPT_PROCESSES:
        return number(p, arg, 1, 20000, &o->processes);
    case OPT_FIXED:
        return set_fixed(p, o, arg);
    case OPT_THREADS:
        return number(p, arg, 0, THREADS_MAX, &o->threads);
    default:
        o->json = 1;
        return NULL;
    }
}

/* @return -1: go on; else the exit code */
static int read_options(apr_pool_t *p, int argc, char *argv[], options *o)
{
    int id, index;

    optind = 1;
    while ((id = getopt_long(argc, argv, "h", long_options, &index)) != -1) {
        const char *error;

        if (id == 'h' || id == OPT_HELP) {
            fputs(help, stdout);
            return CLI_OK;
        }
        if (id == '?') {
            return CLI_USAGE;
        }
        error = set_option(p, o, id, optarg);
        if (error) {
            return cli_fail("--%s: %s", long_options[index].name, error);
        }
    }
    if (optind < argc) {
        cli_fail("'%s' is too much", argv[optind]);
        return CLI_USAGE;
    }
    if (o->xml && o->synthetic) {
        cli_fail("--xml and --synthetic exclude each other");
        return CLI_USAGE;
    }
    return -1;
}

/* The mask: --allowed, else for this machine our own. 0 or an exit code */
static int inherited(apr_pool_t *p, const options *o, cpuset **set)
{
    *set = NULL;
    if (o->allowed) {
        *set = cpuset_make(p);
        if (hwloc_bitmap_list_sscanf(*set, o->allowed)
            || hwloc_bitmap_iszero(*set)) {
            return cli_fail("--allowed: '%s' is not a list of CPUs",
                            o->allowed);
        }
    }
    else if (!o->xml && !o->synthetic) {
        *set = cpuset_make(p);
        if (pin_get(0, *set)) {
            *set = NULL;
        }
    }
    return 0;
}

static void print(apr_pool_t *p, const options *o, const topology *t,
                  const plan *pl)
{
    json_t *json;

    if (!o->json) {
        fputs(planview_text(p, t, pl), stdout);
        return;
    }
    json = planview_json(p, t, pl);
    json_dumpf(json, stdout, JSON_INDENT(1));
    fputc('\n', stdout);
    json_decref(json);
}

int cli_plan(apr_pool_t *p, int argc, char *argv[])
{
    options o = {.policy = policy_make(p), .processes = 3, .threads = 25};
    topology_source source = {0};
    topology *t;
    cpuset *mask;
    plan *pl;
    const char *error;
    int rc = read_options(p, argc, argv, &o);

    if (rc >= 0 || (rc = inherited(p, &o, &mask))) {
        return rc;
    }
    if (o.policy->process == POLICY_PROCESS_UNSET) {
        o.policy->process = POLICY_PROCESS_AUTO;
    }
    policy_defaults(o.policy);
    source.synthetic = o.synthetic;
    source.xml = o.xml;
    source.inherited = mask;
    source.io = policy_needs_io(o.policy);
    if (topology_load(p, &source, &t, &error)) {
        return cli_fail("%s: %s",
                        o.xml         ? "--xml"
                        : o.synthetic ? "--synthetic"
                                      : "this machine",
                        error);
    }
    if (o.allowed && !hwloc_bitmap_intersects(mask, t->machine)) {
        return cli_fail("--allowed: none of CPUs %s is there", o.allowed);
    }
    if (o.fixed_auto) {
        o.processes = topology_count(t, o.policy->cpus, o.policy->smt_first);
    }
    if (plan_make(p, t, o.policy, o.processes, o.threads, &pl, &error)) {
        return cli_fail("%s", error);
    }
    print(p, &o, t, pl);
    return CLI_OK;
}
