/* SPDX-License-Identifier: Apache-2.0 */
/*
 * causes: why httpd's threads answered requests, as part of the status. Worker
 * threads.
 */
#ifndef CPUAFFINITY_CAUSES_H
#define CPUAFFINITY_CAUSES_H

#include <stdint.h>

#include <jansson.h>

/* [{"kind", "name", "text", "advice", "requests"}] of the n-th server: those
 * that no obstacle is to blame for. */
json_t *causes_json(unsigned server);

/*
 * {"loop", "httpd", "elsewhere"}: requests of this generation: answered by the
 * loop, by httpd's threads, and by these for virtual hosts where FixedStatic is
 * not on (they count in "httpd" too).
 */
json_t *causes_totals(uint64_t loop);

#endif
