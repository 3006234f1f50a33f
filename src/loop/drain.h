/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain: how a loop ends. Connections that wait for an answer go to the next
 * generation through a channel, with the bytes that were read; answers under
 * way are finished by the loop's server. Where httpd goes on without this
 * module, they stay here until they have had an answer of httpd's. Loop thread
 * only.
 */
#ifndef CPUAFFINITY_DRAIN_H
#define CPUAFFINITY_DRAIN_H

#include "loop/loop.h"

/* Stops accepting; gives away, keeps or (at a stop) closes what waits. */
void drain_begin(loop *l, int graceful);

/* The same for a connection that is idle, or httpd's, while the loop stops. The
 * record is gone. */
void drain_let_go(loop *l, conn *c);

/* Whether there is anything left to wait for. */
int drain_goes_on(loop *l);

/* At the end of each turn: takes in what workers still give. */
void drain_turn(loop *l);

/* Closes the rest and frees the loop's memory. */
void drain_end(loop *l);

#endif
