/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock: the time that deadlines are counted by. The wall clock may be set
 * back: it is for Date and logs only.
 */
#ifndef CPUAFFINITY_CLOCK_H
#define CPUAFFINITY_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC in milliseconds (coarse: right to a few of them). */
int64_t clock_ms(void);

#endif
