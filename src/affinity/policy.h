/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy: what the affinity directives ask for, as plain data, before any
 * topology is known. Parsed from the directives' arguments; the same parser
 * serves httpd and the command line tool. Messages name argument and reason.
 */
#ifndef CPUAFFINITY_POLICY_H
#define CPUAFFINITY_POLICY_H

#include <apr_tables.h>

typedef enum policy_process {
    POLICY_PROCESS_UNSET = -1,
    POLICY_PROCESS_OFF,
    POLICY_PROCESS_AUTO,
    POLICY_PROCESS_UNIT,
    POLICY_PROCESS_MAP
} policy_process;

typedef enum policy_role {
    POLICY_ROLE_UNSET = -1,
    POLICY_ROLE_PROCESS, /* floats in the process's set */
    POLICY_ROLE_UNIT,    /* one unit inside the process's set */
    POLICY_ROLE_SETS     /* explicit sets */
} policy_role;

/* Every member has an unset value; policy_defaults() fills those in. */
typedef struct policy {
    policy_process process;
    int unit;                /* topology_unit; -1 */
    apr_array_header_t *map; /* of const char * CPUSET words, or NULL */
    policy_role listener;
    int listener_unit;      /* -1 */
    int listener_exclusive; /* -1 unset, 0, 1 */
    apr_array_header_t *listener_sets;
    policy_role workers;
    int worker_unit;
    apr_array_header_t *worker_sets;
    const char *cpus; /* CPUAffinityCPUs, or NULL: all */
    int smt_first;    /* -1 unset, 0 all, 1 first */
    int strict;       /* -1 unset, 0, 1 */
} policy;

/* A policy with everything unset, from @a p. */
policy *policy_make(apr_pool_t *p);

/* Fills what is unset with the documented defaults. */
void policy_defaults(policy *pol);

/*
 * Parses the arguments of CPUAffinity, CPUAffinityListener, CPUAffinityWorkers
 * into @a pol. The syntax of every CPUSET is checked.
 * @return NULL, or the reason from @a p without the directive's name, in the
 *         form "unknown unit 'l4': ..." (argument first, then the reason)
 */
const char *policy_set_process(apr_pool_t *p, policy *pol, int argc,
                               char *const argv[]);
const char *policy_set_listener(apr_pool_t *p, policy *pol, int argc,
                                char *const argv[]);
const char *policy_set_workers(apr_pool_t *p, policy *pol, int argc,
                               char *const argv[]);
/* CPUAffinityCPUs CPUSET and CPUAffinitySMT all|first, the same way. */
const char *policy_set_cpus(apr_pool_t *p, policy *pol, const char *arg);
const char *policy_set_smt(apr_pool_t *p, policy *pol, const char *arg);

/* Whether I/O discovery is needed (netdev: is named somewhere). */
int policy_needs_io(const policy *pol);

#endif
