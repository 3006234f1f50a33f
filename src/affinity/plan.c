#include "affinity/plan.h"

#include <hwloc/bitmap.h>

#include <apr_strings.h>

#include "affinity/deal.h"

/* One making: what all steps need. */
typedef struct maker {
    apr_pool_t *p;
    topology *t;
    const policy *pol;
    plan *pl;
    const cpuset_scope *scope;
    const char *error;
} maker;

static void warn(maker *m, const char *text)
{
    APR_ARRAY_PUSH(m->pl->warnings, const char *) = text;
}

/* The CPUs of @a out in words, grouped by why they cannot be had. */
static const char *reasons(maker *m, const cpuset *out)
{
    const char *text = "";
    cpuset *left = cpuset_copy(m->p, out);

    while (!hwloc_bitmap_iszero(left)) {
        int first = hwloc_bitmap_first(left), cpu;
        const topology_cpu *row = topology_find(m->t, first);
        const char *why = row ? row->reason : "there is no such CPU";
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

/*
 * One CPUSET word of a directive, reduced to the allowed CPUs. What is
 * dropped is a warning or, under strict, an error.
 * @param what "CPUAffinity map 0-3": how the messages begin
 * @return NULL with m->error set
 */
static cpuset *resolve(maker *m, const char *what, const char *word)
{
    cpuset *set, *out;
    const char *error;

    if (cpuset_parse(m->p, word, m->scope, &set, &error)) {
        m->error = apr_psprintf(m->p, "%s: %s", what, error);
        return NULL;
    }
    out = cpuset_make(m->p);
    hwloc_bitmap_andnot(out, set, m->t->allowed);
    if (hwloc_bitmap_iszero(out)) {
        return set;
    }
    hwloc_bitmap_and(set, set, m->t->allowed);
    if (m->pol->strict || hwloc_bitmap_iszero(set)) {
        m->error = apr_psprintf(m->p, "%s: %s%s", what, reasons(m, out),
                                m->pol->strict ? "" : ", and no CPU is left");
        return NULL;
    }
    warn(m, apr_psprintf(m->p, "%s: %s: dropped", what, reasons(m, out)));
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
    topology_unit actual;
    apr_array_header_t *units =
        topology_units(m->p, m->t, (topology_unit)unit, within, &actual);

    if ((int)actual != unit && directive) {
        warn(m, apr_psprintf(m->p,
                             "%s %s: this machine does not show its %s units, "
                             "using %s",
                             directive, topology_unit_name(unit),
                             topology_unit_name(unit),
                             topology_unit_name(actual)));
    }
    return units;
}

/* The finest unit of which there are not more than processes. */
static int automatic_unit(maker *m)
{
    int unit;

    for (unit = TOPOLOGY_CPU; unit > TOPOLOGY_MACHINE; unit--) {
        topology_unit actual;
        apr_array_header_t *units = topology_units(
            m->p, m->t, (topology_unit)unit, m->t->allowed, &actual);

        if ((int)actual == unit && units->nelts <= m->pl->seats) {
            break;
        }
    }
    return unit;
}

/* The process sets in the order in which seats get them. */
static apr_array_header_t *process_sets(maker *m)
{
    int unit;

    if (m->pol->process == POLICY_PROCESS_MAP) {
        m->pl->unit = "map";
        return resolve_all(m, "CPUAffinity map", m->pol->map);
    }
    unit = m->pol->process == POLICY_PROCESS_AUTO ? automatic_unit(m)
                                                  : m->pol->unit;
    m->pl->unit = topology_unit_name((topology_unit)unit);
    return deal_units(m->p, m->t,
                      units_of(m, "CPUAffinity", unit, m->t->allowed));
}

/* The listener's set of one place, and what it leaves to the workers. */
static int place_listener(maker *m, plan_place *place, int index,
                          const apr_array_header_t *sets, cpuset **rest)
{
    const policy *pol = m->pol;

    *rest = place->process;
    place->listener = place->process;
    if (pol->listener == POLICY_ROLE_SETS) {
        place->listener = APR_ARRAY_IDX(sets, index % sets->nelts, cpuset *);
    }
    else if (pol->listener == POLICY_ROLE_UNIT) {
        apr_array_header_t *units =
            units_of(m, index ? NULL : "CPUAffinityListener",
                     pol->listener_unit, place->process);

        place->listener = APR_ARRAY_IDX(units, 0, cpuset *);
    }
    if (pol->listener_exclusive) {
        *rest = cpuset_make(m->p);
        hwloc_bitmap_andnot(*rest, place->process, place->listener);
        if (hwloc_bitmap_iszero(*rest)) {
            m->error = apr_psprintf(
                m->p,
                "CPUAffinityListener %s exclusive: the process's set %s of "
                "seat %d leaves no CPU to the workers",
                topology_unit_name((topology_unit)pol->listener_unit),
                cpuset_format(m->p, place->process), index);
            return -1;
        }
    }
    return 0;
}

static void place_workers(maker *m, plan_place *place, int index,
                          const apr_array_header_t *sets, cpuset *rest)
{
    apr_array_header_t *units = NULL;

    if (m->pol->workers == POLICY_ROLE_SETS) {
        place->nworkers = sets->nelts;
        place->workers = (cpuset **)sets->elts;
        return;
    }
    if (m->pol->workers == POLICY_ROLE_UNIT) {
        units = units_of(m, index ? NULL : "CPUAffinityWorkers",
                         m->pol->worker_unit, rest);
    }
    else {
        units = apr_array_make(m->p, 1, sizeof(cpuset *));
        APR_ARRAY_PUSH(units, cpuset *) = rest;
    }
    place->nworkers = units->nelts;
    place->workers = (cpuset **)units->elts;
}

static int make_places(maker *m, const apr_array_header_t *processes)
{
    apr_array_header_t *listeners = NULL, *workers = NULL;
    int i, n = processes->nelts;

    if (m->pol->listener == POLICY_ROLE_SETS
        && !(listeners = resolve_all(m, "CPUAffinityListener",
                                     m->pol->listener_sets))) {
        return -1;
    }
    if (m->pol->workers == POLICY_ROLE_SETS
        && !(workers =
                 resolve_all(m, "CPUAffinityWorkers", m->pol->worker_sets))) {
        return -1;
    }
    /* Explicit listener sets wrap on their own: make places until both do,
     * or until every seat has one. */
    if (listeners && listeners->nelts > n) {
        n = n * listeners->nelts;
        n = n < m->pl->seats ? n : m->pl->seats;
        n = n < processes->nelts ? processes->nelts : n;
    }
    m->pl->nplaces = n;
    m->pl->places = apr_pcalloc(m->p, sizeof(plan_place) * (size_t)n);
    for (i = 0; i < n; i++) {
        plan_place *place = &m->pl->places[i];
        cpuset *rest;

        place->process =
            APR_ARRAY_IDX(processes, i % processes->nelts, cpuset *);
        if (place_listener(m, place, i, listeners, &rest)) {
            return -1;
        }
        place_workers(m, place, i, workers, rest);
    }
    return 0;
}

static void warn_uneven(maker *m, int sets)
{
    int seats = m->pl->seats;

    if (m->pol->process != POLICY_PROCESS_MAP && seats > sets && seats % sets) {
        warn(m, apr_psprintf(m->p,
                             "CPUAffinity: %d processes on %d %s units: %d of "
                             "them get%s one process more than the others",
                             seats, sets, m->pl->unit, seats % sets,
                             seats % sets == 1 ? "s" : ""));
    }
}

static void warn_unused(maker *m)
{
    cpuset *left = cpuset_copy(m->p, m->t->allowed);
    int i, w;

    for (i = 0; i < m->pl->nplaces && i < m->pl->seats; i++) {
        const plan_place *place = &m->pl->places[i];

        hwloc_bitmap_andnot(left, left, place->process);
        hwloc_bitmap_andnot(left, left, place->listener);
        for (w = 0; w < place->nworkers && w < m->pl->threads; w++) {
            hwloc_bitmap_andnot(left, left, place->workers[w]);
        }
    }
    if (!hwloc_bitmap_iszero(left)) {
        warn(m, apr_psprintf(m->p,
                             "CPUAffinity: no process uses CPU%s %s, which "
                             "may be used",
                             hwloc_bitmap_weight(left) > 1 ? "s" : "",
                             cpuset_format(m->p, left)));
    }
}

static void warn_isolated(maker *m)
{
    cpuset *bad = cpuset_make(m->p);
    int i;

    for (i = 0; i < m->pl->nplaces; i++) {
        const cpuset *set = m->pl->places[i].process;

        if (hwloc_bitmap_weight(set) > 1
            && hwloc_bitmap_intersects(set, m->t->isolated)) {
            hwloc_bitmap_or(bad, bad, set);
        }
    }
    hwloc_bitmap_and(bad, bad, m->t->isolated);
    if (!hwloc_bitmap_iszero(bad)) {
        warn(m, apr_psprintf(m->p,
                             "CPUAffinity: CPUs %s are isolated by the kernel: "
                             "in a set of several, threads stay on one of "
                             "them",
                             cpuset_format(m->p, bad)));
    }
}

static void warn_quota(maker *m)
{
    if (m->t->quota > 0 && m->pl->seats > m->t->quota) {
        warn(m, apr_psprintf(m->p,
                             "CPUAffinity: %d pinned processes, but the "
                             "control group's quota is %d CPU%s",
                             m->pl->seats, m->t->quota,
                             m->t->quota == 1 ? "" : "s"));
    }
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
        warn_uneven(&m, sets->nelts);
        warn_unused(&m);
        warn_isolated(&m);
        warn_quota(&m);
    }
    *result = m.pl;
    return 0;
}

const plan_place *plan_seat(const plan *pl, int seat)
{
    return pl->active ? &pl->places[seat % pl->nplaces] : NULL;
}

const cpuset *plan_worker(const plan *pl, int seat, int worker)
{
    const plan_place *place = plan_seat(pl, seat);

    return place ? place->workers[worker % place->nworkers] : NULL;
}
