/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule_vary: R7 of what an answer's Vary names. Worker threads. Internal to
 * learn.
 */
#ifndef CPUAFFINITY_RULE_VARY_H
#define CPUAFFINITY_RULE_VARY_H

#include "learn/verdict.h"

/* The bits of the fields that Vary names. One that no request of the loop has
 * is always absent: it may be left out. One that passes unseen cannot be put
 * into the key. */
reason_id rule_vary(verdict_subject *s, uint64_t *bits);

#endif
