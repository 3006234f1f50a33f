/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain: how a loop ends. Connections that wait for an answer go to the next
 * generation through a channel, with the bytes that were read; answers under
 * way are finished by the loop's server. Loop thread only.
 */
#ifndef CPUAFFINITY_DRAIN_H
#define CPUAFFINITY_DRAIN_H

#include "loop/loop.h"

/* Stops accepting; gives away or (not graceful) closes what waits. */
void drain_begin(loop *l, int graceful);

/* Sends a connection that has become idle while the loop stops to the next
 * generation, or closes it. The record is gone. */
void drain_let_go(loop *l, conn *c);

/* Closes the rest and frees the loop's memory. */
void drain_end(loop *l);

#endif
