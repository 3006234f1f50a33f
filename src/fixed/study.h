/*
 * study: what the loop makes of a lesson: a new answer, a wider key, an audit
 * passed or failed. Loop thread only.
 */
#ifndef CPUAFFINITY_STUDY_H
#define CPUAFFINITY_STUDY_H

#include "fixed/static.h"

/* Takes one lesson in; it stays the caller's. */
void study_lesson(loop *l, statics *st, const lesson *said);

#endif
