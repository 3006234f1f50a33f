/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accept: the loop's listening sockets: accepting with measure, and not at
 * all while the door or the descriptors do not allow it. Loop thread only.
 */
#ifndef CPUAFFINITY_ACCEPT_H
#define CPUAFFINITY_ACCEPT_H

#include "loop/loop.h"

/* Makes l->listens of l->sockets; none is in epoll yet. @return 0 or -1 */
int accept_make(loop *l, apr_pool_t *p);

/* Begins or ends accepting on the sockets of a seat (>= 0). @return 0, or -1
 * (logged): not on all of them; what was done is not done again */
int accept_own(loop *l, int seat, int own);

/* At the end of each turn: goes on with what had to wait; moves waiting
 * connections to idle seats. */
void accept_turn(loop *l);

/* Milliseconds until accept_turn() wants to run; -1: not by itself. */
int accept_wait(loop *l);

/* Accepts nothing any more and closes the descriptors. */
void accept_close(loop *l);

/* Whether the workers, here or elsewhere, can take one more connection. One
 * may always wait at the door: it tells when a worker is free again. */
int accept_has_room(loop *l);

/* A handoff for httpd's threads: through the door. @return 0 or -1: full,
 * @a p is still the caller's */
int accept_hand_over(loop *l, handoff *p);

#endif
