/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of plans share: a machine and directives as text -> a plan. */
#ifndef PLANTEST_H
#define PLANTEST_H

#include <stdlib.h>

#include <apr_general.h>
#include <apr_strings.h>
#include <hwloc/bitmap.h>

#include "affinity/plan_make.h"
#include "affinity/planview.h"
#include "t/unit/tap.h"

static apr_pool_t *p;

/* A case; what is NULL is not given. */
typedef struct plan_case {
    const char *machine; /* synthetic */
    const char *allowed; /* list */
    const char *affinity;
    const char *listener;
    const char *workers;
    const char *cpus;
    const char *smt;
    int strict;
    int processes;
    int threads;
} plan_case;

static inline cpuset *list_set(const char *list)
{
    cpuset *set = cpuset_make(p);

    hwloc_bitmap_list_sscanf(set, list);
    return set;
}

static inline topology *load_synthetic(const char *machine, const char *allowed)
{
    topology_source source = {.synthetic = machine};
    const char *error;
    topology *t = NULL;

    if (allowed) {
        source.inherited = list_set(allowed);
    }
    if (topology_load(p, &source, &t, &error)) {
        printf("Bail out! %s: %s\n", machine, error);
        exit(1);
    }
    return t;
}

typedef const char *(*policy_setter)(apr_pool_t *, policy *, int,
                                     char *const[]);

/* NULL, or the setter's reason. */
static inline const char *set_words(policy *pol, const char *text,
                                    policy_setter set)
{
    char **argv;
    int argc = 0;

    if (!text) {
        return NULL;
    }
    apr_tokenize_to_argv(text, &argv, p);
    while (argv[argc]) {
        argc++;
    }
    return set(p, pol, argc, argv);
}

/* The plan, or NULL with the error. @a t gets the topology, may be NULL. */
static inline plan *make_on(topology *t, const plan_case *c, const char **error)
{
    policy *pol = policy_make(p);
    plan *pl = NULL;

    if ((*error = set_words(pol, c->affinity, policy_set_process))
        || (*error = set_words(pol, c->listener, policy_set_listener))
        || (*error = set_words(pol, c->workers, policy_set_workers))
        || (c->cpus && (*error = policy_set_cpus(p, pol, c->cpus)))
        || (c->smt && (*error = policy_set_smt(p, pol, c->smt)))) {
        return NULL;
    }
    pol->strict = c->strict;
    policy_defaults(pol);
    return plan_make(p, t, pol, c->processes, c->threads, &pl, error) ? NULL
                                                                      : pl;
}

static inline plan *make_plan(const plan_case *c, const char **error)
{
    return make_on(load_synthetic(c->machine, c->allowed), c, error);
}

/* "0-3/0/1,2,3 4-7/…": process / listener / workers of every seat; or the
 * error. */
static inline const char *summary(const plan *pl, const char *error)
{
    const char *text = "";
    int seat, w;

    if (!pl) {
        return error;
    }
    for (seat = 0; seat < pl->seats && pl->active; seat++) {
        const plan_place *place = plan_seat(pl, seat);

        text = apr_pstrcat(p, text, seat ? " " : "",
                           cpuset_format(p, place->process), NULL);
        if (pl->threads) {
            text = apr_pstrcat(p, text, "/", cpuset_format(p, place->listener),
                               "/", NULL);
        }
        for (w = 0; w < pl->threads; w++) {
            text =
                apr_pstrcat(p, text, w ? ";" : "",
                            cpuset_format(p, plan_worker(pl, seat, w)), NULL);
        }
    }
    return text;
}

/* Is there exactly one warning that holds the text? */
static inline int warns(const plan *pl, const char *text)
{
    int i, n = 0;

    for (i = 0; pl && i < pl->warnings->nelts; i++) {
        n += strstr(APR_ARRAY_IDX(pl->warnings, i, const char *), text) != NULL;
    }
    return n == 1;
}

static inline void show_warnings(const plan *pl)
{
    int i;

    for (i = 0; pl && i < pl->warnings->nelts; i++) {
        printf("# warning: %s\n", APR_ARRAY_IDX(pl->warnings, i, const char *));
    }
}

#endif
