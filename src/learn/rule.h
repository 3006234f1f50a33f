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

/* Judges the request by its head and posts the lesson, or counts and logs why
 * not. Where a filter compressed it, what is fit waits for its body in
 * t->capture. */
void rule_judge(request_rec *r, trace *t);

/*
 * All of the file has gone through the filters: posts the lesson of a request
 * that waits for its body, if that has gone out, or counts and logs why not.
 * @param unchanged the file is what it was before its first byte was read
 */
void rule_finish(request_rec *r, trace *t, int unchanged);

#endif
