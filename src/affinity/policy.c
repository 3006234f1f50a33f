/* SPDX-License-Identifier: Apache-2.0 */
#include "affinity/policy.h"

#include <string.h>
#include <strings.h>

#include <apr_strings.h>

#include "affinity/topology.h"

policy *policy_make(apr_pool_t *p)
{
    policy *pol = apr_pcalloc(p, sizeof(*pol));

    pol->process = POLICY_PROCESS_UNSET;
    pol->unit = -1;
    pol->listener = POLICY_ROLE_UNSET;
    pol->listener_unit = -1;
    pol->listener_exclusive = -1;
    pol->workers = POLICY_ROLE_UNSET;
    pol->worker_unit = -1;
    pol->smt_first = -1;
    pol->strict = -1;
    return pol;
}

void policy_defaults(policy *pol)
{
    if (pol->process == POLICY_PROCESS_UNSET) {
        pol->process = POLICY_PROCESS_OFF;
    }
    if (pol->listener == POLICY_ROLE_UNSET) {
        pol->listener = POLICY_ROLE_PROCESS;
    }
    if (pol->listener_exclusive < 0) {
        pol->listener_exclusive = 0;
    }
    if (pol->workers == POLICY_ROLE_UNSET) {
        pol->workers = POLICY_ROLE_PROCESS;
    }
    if (pol->smt_first < 0) {
        pol->smt_first = 0;
    }
    if (pol->strict < 0) {
        pol->strict = 0;
    }
}

/* Checks each word's syntax; stores the words as an array of const char *. */
static const char *take_sets(apr_pool_t *p, int argc, char *const argv[],
                             apr_array_header_t **sets)
{
    const char *error;
    int i;

    *sets = apr_array_make(p, argc, sizeof(const char *));
    for (i = 0; i < argc; i++) {
        if (cpuset_parse(p, argv[i], NULL, NULL, &error)) {
            return error;
        }
        APR_ARRAY_PUSH(*sets, const char *) = apr_pstrdup(p, argv[i]);
    }
    return NULL;
}

/* A word that is neither keyword nor unit nor the beginning of a set. */
static int is_name(const char *word)
{
    return !strpbrk(word, "0123456789+!:,") || !strncasecmp(word, "l", 1);
}

static const char *extra(apr_pool_t *p, const char *word, const char *after)
{
    return apr_psprintf(p, "'%s' after '%s' is too much", word, after);
}

static const char *unknown_unit(apr_pool_t *p, const char *word,
                                const char *others)
{
    return apr_psprintf(p,
                        "unknown unit '%s': %s or one of machine package "
                        "numa l3 core cpu",
                        word, others);
}

const char *policy_set_process(apr_pool_t *p, policy *pol, int argc,
                               char *const argv[])
{
    if (argc < 1) {
        return "needs an argument: off, auto, a unit, or map CPUSET ...";
    }
    if (!strcasecmp(argv[0], "map")) {
        if (argc < 2) {
            return "'map' needs at least one CPUSET";
        }
        pol->process = POLICY_PROCESS_MAP;
        return take_sets(p, argc - 1, argv + 1, &pol->map);
    }
    if (!strcasecmp(argv[0], "off")) {
        pol->process = POLICY_PROCESS_OFF;
    }
    else if (!strcasecmp(argv[0], "auto")) {
        pol->process = POLICY_PROCESS_AUTO;
    }
    else {
        pol->unit = topology_unit_parse(argv[0]);
        if (pol->unit < 0) {
            return unknown_unit(p, argv[0], "off, auto, map CPUSET ...");
        }
        pol->process = POLICY_PROCESS_UNIT;
    }
    return argc > 1 ? extra(p, argv[1], argv[0]) : NULL;
}

/* What listener and workers have in common: process, UNIT, or sets. */
static const char *set_role(apr_pool_t *p, policy_role *role, int *unit,
                            apr_array_header_t **sets, int argc,
                            char *const argv[])
{
    if (argc < 1) {
        return "needs an argument: process, a unit, or CPUSET ...";
    }
    if (!strcasecmp(argv[0], "process")) {
        *role = POLICY_ROLE_PROCESS;
        return argc > 1 ? extra(p, argv[1], argv[0]) : NULL;
    }
    *unit = topology_unit_parse(argv[0]);
    if (*unit >= 0) {
        *role = POLICY_ROLE_UNIT;
        return NULL;
    }
    if (is_name(argv[0])) {
        const char *error;

        if (cpuset_parse(p, argv[0], NULL, NULL, &error)) {
            return unknown_unit(p, argv[0], "process, CPUSET ...");
        }
    }
    *role = POLICY_ROLE_SETS;
    return take_sets(p, argc, argv, sets);
}

const char *policy_set_listener(apr_pool_t *p, policy *pol, int argc,
                                char *const argv[])
{
    const char *error = set_role(p, &pol->listener, &pol->listener_unit,
                                 &pol->listener_sets, argc, argv);

    if (error || pol->listener != POLICY_ROLE_UNIT || argc == 1) {
        return error;
    }
    if (strcasecmp(argv[1], "exclusive") || argc > 2) {
        return extra(p, strcasecmp(argv[1], "exclusive") ? argv[1] : argv[2],
                     argv[0]);
    }
    pol->listener_exclusive = 1;
    return NULL;
}

const char *policy_set_workers(apr_pool_t *p, policy *pol, int argc,
                               char *const argv[])
{
    const char *error = set_role(p, &pol->workers, &pol->worker_unit,
                                 &pol->worker_sets, argc, argv);

    if (!error && pol->workers == POLICY_ROLE_UNIT && argc > 1) {
        return extra(p, argv[1], argv[0]);
    }
    return error;
}

const char *policy_set_cpus(apr_pool_t *p, policy *pol, const char *arg)
{
    const char *error;

    if (cpuset_parse(p, arg, NULL, NULL, &error)) {
        return error;
    }
    pol->cpus = apr_pstrdup(p, arg);
    return NULL;
}

const char *policy_set_smt(apr_pool_t *p, policy *pol, const char *arg)
{
    if (strcasecmp(arg, "all") && strcasecmp(arg, "first")) {
        return apr_psprintf(p, "'%s' is not one of all, first", arg);
    }
    pol->smt_first = !strcasecmp(arg, "first");
    return NULL;
}

static int names_io(const apr_array_header_t *sets)
{
    int i;

    for (i = 0; sets && i < sets->nelts; i++) {
        if (strstr(APR_ARRAY_IDX(sets, i, const char *), "netdev:")) {
            return 1;
        }
    }
    return 0;
}

int policy_needs_io(const policy *pol)
{
    return names_io(pol->map) || names_io(pol->listener_sets)
           || names_io(pol->worker_sets)
           || (pol->cpus && strstr(pol->cpus, "netdev:"));
}
