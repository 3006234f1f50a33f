/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread: the loop's thread: takes turns until it is told to stop, then drains.
 */
#ifndef CPUAFFINITY_THREAD_H
#define CPUAFFINITY_THREAD_H

#include "loop/loop.h"

/*
 * Starts the thread of a loop that is filled in. Main thread of the child.
 * @param p lives as long as the loop
 * @return APR_SUCCESS or why not (logged)
 */
apr_status_t thread_start(loop *l, apr_pool_t *p);

#endif
