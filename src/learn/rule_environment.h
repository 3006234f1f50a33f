/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule_environment: R5 for variables that httpd or a log looks at when the
 * answer is made. Worker threads. Internal to learn.
 */
#ifndef CPUAFFINITY_RULE_ENVIRONMENT_H
#define CPUAFFINITY_RULE_ENVIRONMENT_H

#include "learn/verdict.h"

/* Are all that were set the same for all requests of the key? What was set
 * before fixups was looked at there (trace_hooks). */
reason_id rule_environment(verdict_subject *s);

/* Gives the answer those that its log lines depend on, from the request's
 * pool. */
reason_id rule_environment_keep(verdict_subject *s, response *a);

#endif
