/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learning: what FixedStatic has refused, by vhost and by reason, as part of
 * the status. Worker threads.
 */
#ifndef CPUAFFINITY_LEARNING_H
#define CPUAFFINITY_LEARNING_H

#include <jansson.h>

#include "httpd.h"

/*
 * {"servers": [{"server", "state", "rule", "why", "obstacles": [{"index",
 * "section", "file", "line", "rule", "what", "advice", "covers",
 * "requests"}], "causes": [...]}], "refusals": [{"rule", "reason", "count"}],
 * "not_recognised": [{"reason", "text", "count"}], "generation", "since",
 * "requests": {...}}, or NULL: FixedStatic is not on anywhere. For causes and
 * requests see causes.h.
 * "addresses": [{"address", "reads", "why", "advice"}] are those of Listen.
 * @param loop requests that the loop answered
 */
json_t *learning_json(apr_pool_t *p, uint64_t loop);

/* Tables of it, from the whole status; nothing where it has no "learning". */
void learning_html(request_rec *r, const json_t *model);

/* Counters of refusals and of requests not recognised; nothing for NULL. */
void learning_prometheus(request_rec *r, const json_t *learning);

#endif
