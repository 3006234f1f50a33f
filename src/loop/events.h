/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events: the connections that a loop holds: waiting for events and time,
 * handing over, closing. The rest of it is declared in loop.h. Loop thread
 * only.
 */
#ifndef CPUAFFINITY_EVENTS_H
#define CPUAFFINITY_EVENTS_H

#include "loop/loop.h"

/* Does what it waits for stand in its socket, though nobody may have told us
 * yet? One system call. */
int events_is_pending(const conn *c);

/* Its timer has run out. The socket is looked at first: a timer counts only
 * if nothing has come. */
void events_expired(loop *l, conn *c);

/* Hands parked connections over as far as the door takes them. */
void events_turn(loop *l);

/* More connections than descriptors allow: silent ones go, oldest first, so
 * that httpd has what it opens files with. A bounded number of looks. */
void events_make_room(loop *l);

/* Takes the connection out of everything and makes a handoff of it; the
 * record is gone. */
void events_release(loop *l, conn *c, handoff *p);

#endif
