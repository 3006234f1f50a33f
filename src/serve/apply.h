/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apply: what the loop makes of a lesson: a new answer, a wider key, an audit
 * passed or failed. Loop thread only.
 */
#ifndef CPUAFFINITY_APPLY_H
#define CPUAFFINITY_APPLY_H

#include "serve/state.h"

/* Takes one lesson in; it stays the caller's, but its body may be kept. */
void apply_lesson(loop *l, serve_state *st, lesson *said);

#endif
