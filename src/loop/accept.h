/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accept: the loop's listening sockets: accepts a bounded number per turn, and
 * nothing while the door is full or descriptors have run out. Loop thread
 * only.
 */
#ifndef CPUAFFINITY_ACCEPT_H
#define CPUAFFINITY_ACCEPT_H

#include "loop/loop.h"

/* Makes own->listens from l->sockets; none is in epoll yet. @return 0 or -1 */
int accept_make(loop *l, apr_pool_t *p);

/* Begins or ends accepting on the sockets of a seat (>= 0). @return 0, or -1
 * (logged): failed for some; a second call does only those that are left */
int accept_own(loop *l, int seat, int own);

/* At the end of each turn: resumes accepting where it had to wait; moves
 * waiting connections to idle seats. */
void accept_turn(loop *l);

/* Milliseconds until accept_turn() has to run; -1: no time set. */
int accept_wait(loop *l);

/* Stops accepting and closes the descriptors. */
void accept_close(loop *l);

/* Whether the workers, here or elsewhere, can take one more connection. One
 * may always wait at the door: when it is taken, a worker is free again. */
int accept_has_room(loop *l);

/* Hands a handoff to httpd's threads through the door. @return 0, or -1: full,
 * @a p is still the caller's */
int accept_hand_over(loop *l, handoff *p);

#endif
