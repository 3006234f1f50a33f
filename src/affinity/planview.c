/* SPDX-License-Identifier: Apache-2.0 */
#include "affinity/planview.h"

#include <hwloc/bitmap.h>
#include <jansson.h>

#include <apr_strings.h>

/* Worker sets, or seats, that a line shows before "...". */
#define SHOWN 8

static const char *worker_list(apr_pool_t *p, const plan *pl, int seat)
{
    const plan_place *place = plan_seat(pl, seat);
    const char *text = "";
    int i, n = place->nworkers;

    if (pl->threads < n) {
        n = pl->threads;
    }
    for (i = 0; i < n && i < SHOWN; i++) {
        text = apr_pstrcat(p, text, i ? " " : "",
                           cpuset_format(p, place->workers[i]), NULL);
    }
    return n > SHOWN ? apr_pstrcat(p, text, " ...", NULL) : text;
}

const char *planview_seat(apr_pool_t *p, const plan *pl, int seat)
{
    const plan_place *place = plan_seat(pl, seat);

    if (!place) {
        return apr_psprintf(p, "seat %d: not pinned", seat);
    }
    if (!pl->threads) {
        return apr_psprintf(p, "seat %d: process %s", seat,
                            cpuset_format(p, place->process));
    }
    return apr_psprintf(p, "seat %d: process %s, listener %s, workers %s", seat,
                        cpuset_format(p, place->process),
                        cpuset_format(p, place->listener),
                        worker_list(p, pl, seat));
}

/* A number of the topology, "-" when unknown. */
static const char *known(apr_pool_t *p, int n)
{
    return n < 0 ? "-" : apr_itoa(p, n);
}

/* All CPUs that a place's threads may run on. */
static cpuset *reach(apr_pool_t *p, const plan_place *place)
{
    cpuset *all = cpuset_copy(p, place->process);
    int w;

    hwloc_bitmap_or(all, all, place->listener);
    for (w = 0; w < place->nworkers; w++) {
        hwloc_bitmap_or(all, all, place->workers[w]);
    }
    return all;
}

/* For each place its reach; NULL when nothing is pinned. */
static cpuset **reaches(apr_pool_t *p, const plan *pl)
{
    cpuset **all;
    int i;

    if (!pl->active) {
        return NULL;
    }
    all = apr_palloc(p, sizeof(*all) * (size_t)pl->nplaces);
    for (i = 0; i < pl->nplaces && i < pl->seats; i++) {
        all[i] = reach(p, &pl->places[i]);
    }
    return all;
}

/* "seat 3", "seats 0 4 8 ...", "no seat", or why it is not used. */
static const char *cpu_use(apr_pool_t *p, const topology_cpu *row,
                           const plan *pl, cpuset *const *reached)
{
    const char *text = "";
    int seat, n = 0;

    if (!row->used || !reached) {
        return row->used ? "used"
                         : apr_pstrcat(p, "not used: ", row->reason, NULL);
    }
    for (seat = 0; seat < pl->seats && n <= SHOWN; seat++) {
        if (!hwloc_bitmap_isset(reached[seat % pl->nplaces],
                                (unsigned)row->cpu)) {
            continue;
        }
        text = n++ < SHOWN ? apr_psprintf(p, "%s %d", text, seat)
                           : apr_pstrcat(p, text, " ...", NULL);
    }
    return n ? apr_pstrcat(p, n > 1 ? "seats" : "seat", text, NULL) : "no seat";
}

static const char *cpu_line(apr_pool_t *p, const topology_cpu *row,
                            const char *use)
{
    return apr_psprintf(p, "%5d %5s %4s %8s %5s %5s %5s %6s  %s\n", row->cpu,
                        known(p, row->core), known(p, row->smt),
                        known(p, row->package), known(p, row->die),
                        known(p, row->numa), known(p, row->l3),
                        known(p, row->efficiency), use);
}

static const char *first_line(apr_pool_t *p, const plan *pl)
{
    const char *workers = "";

    if (!pl->active) {
        return "unit: off, nothing is pinned\n";
    }
    if (pl->threads) {
        workers = apr_psprintf(p, " of %d worker%s", pl->threads,
                               pl->threads == 1 ? "" : "s");
    }
    return apr_psprintf(p, "unit: %s, %d process%s%s\n", pl->unit, pl->seats,
                        pl->seats == 1 ? "" : "es", workers);
}

const char *planview_text(apr_pool_t *p, const topology *t, const plan *pl)
{
    apr_array_header_t *lines = apr_array_make(p, 64, sizeof(const char *));
    cpuset **reached = reaches(p, pl);
    int i;

#define LINE(text) APR_ARRAY_PUSH(lines, const char *) = (text)
    LINE(first_line(p, pl));
    for (i = 0; pl->active && i < pl->seats; i++) {
        LINE(planview_seat(p, pl, i));
        LINE("\n");
    }
    LINE("\n  CPU  core  smt  package   die  numa    l3  class  use\n");
    for (i = 0; i < t->ncpus; i++) {
        const topology_cpu *row = &t->cpus[i];

        LINE(cpu_line(p, row, cpu_use(p, row, pl, reached)));
    }
    if (pl->warnings->nelts) {
        LINE("\n");
    }
    for (i = 0; i < pl->warnings->nelts; i++) {
        LINE("warning: ");
        LINE(APR_ARRAY_IDX(pl->warnings, i, const char *));
        LINE("\n");
    }
#undef LINE
    return apr_array_pstrcat(p, lines, 0);
}

static json_t *cpus_json(const topology *t)
{
    json_t *list = json_array();
    int i;

    for (i = 0; i < t->ncpus; i++) {
        const topology_cpu *row = &t->cpus[i];

        json_array_append_new(
            list,
            json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:b, "
                      "s:s}",
                      "cpu", row->cpu, "package", row->package, "numa",
                      row->numa, "die", row->die, "l3", row->l3, "core",
                      row->core, "smt", row->smt, "class", row->efficiency,
                      "used", row->used, "reason", row->reason));
    }
    return list;
}

static json_t *seat_json(apr_pool_t *p, const plan *pl, int seat)
{
    const plan_place *place = plan_seat(pl, seat);
    json_t *workers = json_array();
    int i;

    for (i = 0; place && i < pl->threads; i++) {
        json_array_append_new(
            workers, json_string(cpuset_format(p, plan_worker(pl, seat, i))));
    }
    return json_pack("{s:i, s:s, s:s, s:o}", "seat", seat, "process",
                     place ? cpuset_format(p, place->process) : "", "listener",
                     place ? cpuset_format(p, place->listener) : "", "workers",
                     workers);
}

json_t *planview_json(apr_pool_t *p, const topology *t, const plan *pl)
{
    json_t *seats = json_array();
    json_t *warnings = json_array();
    int i;

    for (i = 0; i < pl->seats; i++) {
        json_array_append_new(seats, seat_json(p, pl, i));
    }
    for (i = 0; i < pl->warnings->nelts; i++) {
        json_array_append_new(warnings, json_string(APR_ARRAY_IDX(
                                            pl->warnings, i, const char *)));
    }
    return json_pack("{s:o, s:s, s:o, s:o}", "cpus", cpus_json(t), "unit",
                     pl->unit, "seats", seats, "warnings", warnings);
}
