/* SPDX-License-Identifier: Apache-2.0 */
/*
 * planview: shows a plan to people (text) and to programs (JSON). Used by the
 * command line tool, -D DUMP_CPUAFFINITY and the status handler.
 */
#ifndef CPUAFFINITY_PLANVIEW_H
#define CPUAFFINITY_PLANVIEW_H

#include "affinity/plan.h"
#include "affinity/policy.h"
#include "affinity/topology.h"

struct json_t;

/* The plan as text: unit, a line per seat ("seat 3: process 6-7, listener 6,
 * workers 7"), a table of every CPU with its use or reason (physical number,
 * logical core, package, numa, l3, class), the warnings. From @a p. */
const char *planview_text(apr_pool_t *p, const topology *t, const plan *pl);

/* One seat's line without newline: "seat 3: process 6-7, listener 6,
 * workers 7" (worker sets abbreviated after 8 of them). */
const char *planview_seat(apr_pool_t *p, const plan *pl, int seat);

/* The plan with the documented keys; the caller owns the reference. */
struct json_t *planview_json(apr_pool_t *p, const topology *t, const plan *pl);

#endif
