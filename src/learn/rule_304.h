/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule_304: what is different in the rules for a 304 that the loop asked httpd
 * for. Worker threads. Internal to learn.
 */
#ifndef CPUAFFINITY_RULE_304_H
#define CPUAFFINITY_RULE_304_H

#include "learn/verdict.h"

/* R1: it is a 304, and the loop wants one. */
int rule_304_is_asked(const verdict_subject *s);

/* R6: nothing of the file was sent; it is the one that was looked up, and
 * settled. Fills the trace's status of the file. */
reason_id rule_304_file(verdict_subject *s);

/*
 * R7, R8: the head can be taken apart, making it again gives the very same
 * bytes, and httpd judged the request as the loop would have. Posts the lesson.
 * @param c as it was before the request
 * @param vary bits of the fields that its Vary names
 */
reason_id rule_304_teach(verdict_subject *s, const response_connection *c,
                         uint64_t vary);

#endif
