/* SPDX-License-Identifier: Apache-2.0 */
/*
 * takeover: which seats' sockets and channels a loop serves: its own, and
 * those of neighbours whose process is dead, not born yet, or stuck. Loop
 * thread only.
 */
#ifndef CPUAFFINITY_TAKEOVER_H
#define CPUAFFINITY_TAKEOVER_H

#include "loop/loop.h"

#define TAKEOVER_LOOK 400 /* ms between looks at the table of seats */

/* Prepares channels and tables. @return 0 or -1 */
int takeover_make(loop *l, apr_pool_t *p);

/* Takes a seat if there is none yet, tells that we live, and takes over or
 * gives back what the neighbours' state asks for. */
void takeover_look(loop *l);

/* Takes nothing from channels any more. */
void takeover_close(loop *l);

#endif
