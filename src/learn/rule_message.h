/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule_message: when a redirect or a 404 that httpd wrote itself may be
 * learned: its cause has to be one that follows from the key, or can be watched
 * (docs/security.md, Redirects and missing names). Worker threads. Internal to
 * learn.
 */
#ifndef CPUAFFINITY_RULE_MESSAGE_H
#define CPUAFFINITY_RULE_MESSAGE_H

#include "learn/verdict.h"

/* Is it one, as far as its status tells? */
int rule_message_is(const verdict_subject *s);

/* Its cause, which is noted in the trace with what to watch. */
reason_id rule_message_cause(verdict_subject *s);

/* What is left, and the start of its body. @a c was the connection before it.
 */
reason_id rule_message_teach(verdict_subject *s, const response_connection *c,
                             uint64_t vary);

#endif
