/*
 * loopconn: the connections that a loop holds: waiting for events and time,
 * handing over, closing. The rest of it is declared in loop.h. Loop thread
 * only.
 */
#ifndef CPUAFFINITY_LOOPCONN_H
#define CPUAFFINITY_LOOPCONN_H

#include "fixed/loop.h"

/* Its timer has run out. */
void loopconn_expired(loop *l, conn *c);

/* Hands parked connections over as far as the door takes them. */
void loopconn_turn(loop *l);

/* Takes the connection out of everything and makes a parcel of it; the
 * record is gone. */
void loopconn_release(loop *l, conn *c, parcel *p);

#endif
