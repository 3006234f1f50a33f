/* SPDX-License-Identifier: Apache-2.0 */
/*
 * takeover: which seats' sockets and channels a loop serves: its own, and
 * those of neighbours whose process is dead, not started yet, or stuck. Loop
 * thread only.
 */
#ifndef CPUAFFINITY_TAKEOVER_H
#define CPUAFFINITY_TAKEOVER_H

#include "loop/loop.h"

#define TAKEOVER_LOOK 400 /* ms between looks at the table of seats */

/* Prepares channels and tables. @return 0 or -1 */
int takeover_make(loop *l, apr_pool_t *p);

/* Claims a seat if we have none yet, updates our row in the table of seats,
 * and takes over or gives back sockets as the neighbours' state requires. */
void takeover_look(loop *l);

/* Stops receiving from channels. */
void takeover_close(loop *l);

#endif
