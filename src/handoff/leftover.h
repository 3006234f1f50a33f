/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leftover: serves connections that were accepted and that nobody takes over:
 * the MPM of this process has stopped, and the next generation is without this
 * module. httpd answers them here, on threads of ours that exist while there
 * are any. As the process is stopping, an answer ends its connection.
 */
#ifndef CPUAFFINITY_LEFTOVER_H
#define CPUAFFINITY_LEFTOVER_H

#include <httpd.h>

#include "handoff/handoff.h"

typedef struct leftover leftover;

/*
 * Where connections can be left; no thread yet. After door_open(). Loop thread,
 * as for all functions here.
 * @param done called on a thread of ours when a connection has ended
 * @return it, or NULL (logged)
 */
leftover *leftover_make(server_rec *s, void (*done)(void *), void *ctx);

/* Has httpd serve a connection: with as many threads as the MPM has workers,
 * the others wait. @a p is empty afterwards. If no thread can be made it is
 * closed (logged). */
void leftover_give(leftover *o, handoff *p);

/* How many have not ended yet. */
unsigned leftover_count(leftover *o);

/* Waits for the threads and frees everything. @param now 1: what is left is
 * cut off, 0: it ends by itself */
void leftover_end(leftover *o, int now);

#endif
