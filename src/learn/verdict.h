/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict: what comes of a request that rule has judged: a lesson, or a refusal
 * that is counted and logged. Worker threads. Internal to learn.
 */
#ifndef CPUAFFINITY_VERDICT_H
#define CPUAFFINITY_VERDICT_H

#include "http_core.h"

#include "learn/trace.h"
#include "learn/vhost.h"

/* What is judged. */
typedef struct verdict_subject {
    request_rec *r;
    trace *t;
    const vhost *server;
    const core_dir_config *core;
    const char *detail; /* out: what it was */
    const obstacle *by; /* out: the directive that refused; NULL: not known */
} verdict_subject;

/* The answer may be repeated: posts it, with the bits of the fields that its
 * Vary names. */
void verdict_teach(verdict_subject *s, const response *a, uint64_t vary);

/* The same for a 304. */
void verdict_teach_304(verdict_subject *s, const response_304 *u);

/* It may not: counts and logs it, and tells the loop where that could have
 * answered. */
void verdict_refuse(verdict_subject *s, reason_id reason);

#endif
