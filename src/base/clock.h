/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock: the clock for all deadlines. The wall clock may be set back, so it
 * serves for Date and logs only.
 */
#ifndef CPUAFFINITY_CLOCK_H
#define CPUAFFINITY_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC in milliseconds (coarse: accurate to a few of them). */
int64_t clock_ms(void);

#endif
