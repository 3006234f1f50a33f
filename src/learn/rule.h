/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule: R0 to R8 of docs/security.md, one function per rule, for a request
 * whose final head has just been made. Worker threads. Internal to learn.
 */
#ifndef CPUAFFINITY_RULE_H
#define CPUAFFINITY_RULE_H

#include "learn/trace.h"

/* R3 when all filters have been inserted: marks the trace. */
void rule_filters(request_rec *r, trace *t);

/* Judges the request and posts the lesson, or counts and logs why not. */
void rule_judge(request_rec *r, trace *t);

#endif
