/* SPDX-License-Identifier: Apache-2.0 */
#include "affinity/plan_make.h"

#include <string.h>

#include <hwloc/bitmap.h>

#include <apr_strings.h>

#include "affinity/deal.h"
#include "affinity/planwarn.h"

/* Most places in a plan: more than any server has processes. */
#define PLACES_MAX 65536

/* What all steps of making a plan share. */
typedef struct maker {
    apr_pool_t *p;
    topology *t;
    const policy *pol;
    plan *pl;
    const cpuset_scope *scope;
    topology_unit actual; /* what units_of() found last */
    const char *error;
} maker;

/* Adds a warning, once: a set may be named twice. */
static void warn(maker *m, const char *text)
{
    int i;

    for (i = 0; i < m->pl->warnings->nelts; i++) {
        if (!strcmp(APR_ARRAY_IDX(m->pl->warnings, i, const char *), text)) {
            return;
        }
    }
    APR_ARRAY_PUSH(m->pl->warnings, const char *) = text;
}

/* The CPUs of @a out in words, grouped by why they are not available. */
static const char *reasons(maker *m, const cpuset *out)
{
    const char *text = "";
    cpuset *left = cpuset_copy(m->p, out);

    while (!hwloc_bitmap_iszero(left)) {
        int first = hwloc_bitmap_first(left), cpu;
        const topology_cpu *row = topology_find(m->t, first);
        const char *why = row ? row->reason : "not there";
        cpuset *same = cpuset_make(m->p);

        hwloc_bitmap_foreach_begin(cpu, left)
        {
            const topology_cpu *other = topology_find(m->t, cpu);

            if (other == row || (row && other && other->reason == why)
                || (!row && !other)) {
                hwloc_bitmap_set(same, (unsigned)cpu);
            }
        }
        hwloc_bitmap_foreach_end();
        hwloc_bitmap_andnot(left, left, same);
        text = apr_psprintf(m->p, "%s%sCPU%s %s %s %s", text, *text ? ", " : "",
                            hwloc_bitmap_weight(same) > 1 ? "s" : "",
                            cpuset_format(m->p, same),
                            hwloc_bitmap_weight(same) > 1 ? "are" : "is", why);
    }
    return text;
}

/* What of a set is not available, in words; "" when all of it is. */
static const char *dropped(maker *m, const apr_array_header_t *missing,
                           const cpuset *out)
{
    const char *text = reasons(m, out);
    int i;

    for (i = 0; missing && i < missing->nelts; i++) {
        text = apr_pstrcat(m->p, text, *text ? ", " : "",
                           APR_ARRAY_IDX(missing, i, const char *), NULL);
    }
    return text;
}

/*
 * One CPUSET word of a directive, reduced to the allowed CPUs. What is
 * dropped is a warning or, under strict, an error. When nothing is left, all
 * allowed CPUs replace it.
 * @param what "CPUAffinity map 0-3": how the messages begin
 * @return NULL with m->error set
 */
static cpuset *resolve(maker *m, const char *what, const char *word)
{
    cpuset_scope scope = *m->scope;
    cpuset *set, *out = cpuset_make(m->p);
    const char *error;

    if (!m->pol->strict) {
        scope.missing = apr_array_make(m->p, 1, sizeof(const char *));
    }
    if (cpuset_parse(m->p, word, &scope, &set, &error)) {
        m->error = apr_psprintf(m->p, "%s: %s", what, error);
        return NULL;
    }
    hwloc_bitmap_andnot(out, set, m->t->allowed);
    hwloc_bitmap_and(set, set, m->t->allowed);
    error = dropped(m, scope.missing, out);
    if (!*error) {
        return set;
    }
    if (m->pol->strict) {
        m->error = apr_psprintf(m->p, "%s: %s", what, error);
        return NULL;
    }
    if (hwloc_bitmap_iszero(set)) {
        hwloc_bitmap_copy(set, m->t->allowed);
        warn(m, apr_psprintf(m->p,
                             "%s: %s, and no CPU is left: all of %s "
                             "instead",
                             what, error, cpuset_format(m->p, set)));
    }
    else {
        warn(m, apr_psprintf(m->p, "%s: %s: dropped", what, error));
    }
    return set;
}

/* A list of words -> array of cpuset *; NULL with m->error set. */
static apr_array_header_t *resolve_all(maker *m, const char *directive,
                                       const apr_array_header_t *words)
{
    apr_array_header_t *sets =
        apr_array_make(m->p, words->nelts, sizeof(cpuset *));
    int i;

    for (i = 0; i < words->nelts; i++) {
        const char *word = APR_ARRAY_IDX(words, i, const char *);
        cpuset *set =
            resolve(m, apr_pstrcat(m->p, directive, " ", word, NULL), word);

        if (!set) {
            return NULL;
        }
        APR_ARRAY_PUSH(sets, cpuset *) = set;
    }
    return sets;
}

/* CPUAffinityCPUs and CPUAffinitySMT. 0 or -1 */
static int restrict_machine(maker *m)
{
    cpuset *cpus = NULL;
    const char *error;

    if (m->pol->cpus) {
        cpus = resolve(
            m, apr_pstrcat(m->p, "CPUAffinityCPUs ", m->pol->cpus, NULL),
            m->pol->cpus);
        if (!cpus) {
            return -1;
        }
    }
    if (topology_restrict(m->t, cpus, m->pol->smt_first, &error)) {
        m->error = apr_pstrcat(m->p, "CPUAffinityCPUs: ", error, NULL);
        return -1;
    }
    return 0;
}

static apr_array_header_t *units_of(maker *m, const char *directive, int unit,
                                    const cpuset *within)
{
    apr_array_header_t *units =
        topology_units(m->p, m->t, (topology_unit)unit, within, &m->actual);

    if ((int)m->actual != unit && directive) {
        warn(m, apr_psprintf(m->p,
                             "%s %s: this machine does not show its %s units, "
                             "using %s",
                             directive, topology_unit_name(unit),
                             topology_unit_name(unit),
                             topology_unit_name(m->actual)));
    }
    return units;
}

/* The most numerous unit of which there are not more than processes; among
 * equals the finest. (A NUMA node may hold several packages or be one.) */
static int automatic_unit(maker *m)
{
    int unit, best = TOPOLOGY_MACHINE, most = 0;

    for (unit = TOPOLOGY_CPU; unit >= TOPOLOGY_MACHINE; unit--) {
        topology_unit actual;
        apr_array_header_t *units = topology_units(
            m->p, m->t, (topology_unit)unit, m->t->allowed, &actual);

        if ((int)actual == unit && units->nelts <= m->pl->seats
            && units->nelts > most) {
            best = unit;
            most = units->nelts;
        }
    }
    return best;
}

/* The process sets in the order in which seats get them. */
static apr_array_header_t *process_sets(maker *m)
{
    apr_array_header_t *units;
    int unit;

    if (m->pol->process == POLICY_PROCESS_MAP) {
        m->pl->unit = "map";
        return resolve_all(m, "CPUAffinity map", m->pol->map);
    }
    unit = m->pol->process == POLICY_PROCESS_AUTO ? automatic_unit(m)
                                                  : m->pol->unit;
    units = units_of(m, "CPUAffinity", unit, m->t->allowed);
    m->pl->unit = topology_unit_name(m->actual);
    return deal_units(m->p, m->t, units);
}

/* The listener's set of one place, unless sets are given. */
static void place_listener(maker *m, plan_place *place, int index)
{
    apr_array_header_t *units;

    place->listener = place->process;
    if (m->pol->listener == POLICY_ROLE_UNIT) {
        units = units_of(m, index ? NULL : "CPUAffinityListener",
                         m->pol->listener_unit, place->process);
        units = deal_units(m->p, m->t, units);
        place->listener = APR_ARRAY_IDX(units, 0, cpuset *);
    }
}

/* Whether the directives leave no room on any machine. */
static int never_room(const policy *pol)
{
    return pol->process == POLICY_PROCESS_UNIT
           && pol->listener == POLICY_ROLE_UNIT
           && pol->listener_unit <= pol->unit;
}

/* @a set without the listener's CPUs if those are exclusive. When nothing is
 * left: all of it or, if that is an error, NULL with m->error. */
static cpuset *detach_listener(maker *m, const plan_place *place, int index,
                               cpuset *set)
{
    cpuset *rest;
    const char *error;

    if (!m->pol->listener_exclusive) {
        return set;
    }
    rest = cpuset_make(m->p);
    hwloc_bitmap_andnot(rest, set, place->listener);
    if (!hwloc_bitmap_iszero(rest)) {
        return rest;
    }
    error = apr_psprintf(
        m->p,
        "CPUAffinityListener %s exclusive: the listener of seat %d takes "
        "all of %s and leaves no CPU to the workers",
        topology_unit_name((topology_unit)m->pol->listener_unit), index,
        cpuset_format(m->p, set));
    if (m->pol->strict || never_room(m->pol)) {
        m->error = error;
        return NULL;
    }
    warn(m, apr_pstrcat(m->p, error, ": they share it", NULL));
    return set;
}

/* The workers' sets of one place: of those given, if any. 0 or -1 */
static int place_workers(maker *m, plan_place *place, int index,
                         const apr_array_header_t *sets)
{
    apr_array_header_t *out = apr_array_make(m->p, 1, sizeof(cpuset *));
    cpuset *rest;
    int i;

    if (sets) {
        for (i = 0; i < sets->nelts; i++) {
            rest = detach_listener(m, place, index,
                                   APR_ARRAY_IDX(sets, i, cpuset *));
            if (!rest) {
                return -1;
            }
            APR_ARRAY_PUSH(out, cpuset *) = rest;
        }
    }
    else {
        rest = detach_listener(m, place, index, place->process);
        if (!rest) {
            return -1;
        }
        APR_ARRAY_PUSH(out, cpuset *) = rest;
        if (m->pol->workers == POLICY_ROLE_UNIT) {
            out = units_of(m, index ? NULL : "CPUAffinityWorkers",
                           m->pol->worker_unit, rest);
            out = deal_units(m->p, m->t, out);
        }
    }
    place->nworkers = out->nelts;
    place->workers = (cpuset **)out->elts;
    return 0;
}

/* How many places there are until process sets and listener sets, which wrap
 * independently, start over together. */
static int count_places(int processes, int listeners)
{
    int a = processes, b = listeners;

    while (b) {
        int rest = a % b;

        a = b;
        b = rest;
    }
    return listeners / a > PLACES_MAX / processes
               ? PLACES_MAX / processes * processes
               : processes * (listeners / a);
}

/* Whether a directive names sets, and what they are. 0 or -1 */
static int role_sets(maker *m, policy_role role, const char *directive,
                     const apr_array_header_t *words, apr_array_header_t **sets)
{
    *sets = NULL;
    if (role == POLICY_ROLE_SETS) {
        *sets = resolve_all(m, directive, words);
        return *sets ? 0 : -1;
    }
    return 0;
}

static int make_places(maker *m, const apr_array_header_t *processes)
{
    apr_array_header_t *listeners, *workers;
    int i, n = processes->nelts;

    if (role_sets(m, m->pol->listener, "CPUAffinityListener",
                  m->pol->listener_sets, &listeners)
        || role_sets(m, m->pol->workers, "CPUAffinityWorkers",
                     m->pol->worker_sets, &workers)) {
        return -1;
    }
    m->pl->nplaces = count_places(n, listeners ? listeners->nelts : 1);
    m->pl->places =
        apr_pcalloc(m->p, sizeof(plan_place) * (size_t)m->pl->nplaces);
    for (i = 0; i < m->pl->nplaces; i++) {
        plan_place *place = &m->pl->places[i];

        if (i >= n) {
            *place = m->pl->places[i % n];
        }
        else {
            place->process = APR_ARRAY_IDX(processes, i, cpuset *);
            place_listener(m, place, i);
            if (place_workers(m, place, i, workers)) {
                return -1;
            }
        }
        if (listeners) {
            place->listener =
                APR_ARRAY_IDX(listeners, i % listeners->nelts, cpuset *);
        }
    }
    return 0;
}

int plan_make(apr_pool_t *p, topology *t, const policy *pol, int processes,
              int threads, plan **result, const char **error)
{
    maker m = {.p = p, .t = t, .pol = pol};
    apr_array_header_t *sets = NULL;

    m.pl = apr_pcalloc(p, sizeof(*m.pl));
    m.pl->seats = processes;
    m.pl->threads = threads;
    m.pl->unit = "off";
    m.pl->warnings = apr_array_copy(p, t->warnings);
    m.scope = topology_scope(t);
    if (restrict_machine(&m)) {
        *error = m.error;
        return -1;
    }
    if (pol->process != POLICY_PROCESS_OFF) {
        m.pl->active = 1;
        if (!(sets = process_sets(&m)) || make_places(&m, sets)) {
            *error = m.error;
            return -1;
        }
        planwarn_add(p, t, pol, m.pl, sets->nelts);
    }
    *result = m.pl;
    return 0;
}
