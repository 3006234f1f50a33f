/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events: the connections that a loop holds: waiting for events and timers,
 * handing over, closing. The rest of events.c is declared in loop.h. Loop
 * thread only.
 */
#ifndef CPUAFFINITY_EVENTS_H
#define CPUAFFINITY_EVENTS_H

#include "loop/loop.h"

/* Whether what it waits for is already there, even if epoll has not reported
 * it yet. One system call. */
int events_is_pending(const conn *c);

/* Its timer has expired. The socket is checked first: the timer counts only
 * if nothing has arrived. */
void events_expired(loop *l, conn *c);

/* Hands over parked connections, as many as the door takes. */
void events_turn(loop *l);

/* More connections than descriptors allow: silent ones go, oldest first, so
 * that httpd has what it opens files with. A bounded number of looks. */
void events_make_room(loop *l);

/* Takes the connection out of everything and makes a handoff of it; the
 * record is gone. */
void events_release(loop *l, conn *c, handoff *p);

#endif
