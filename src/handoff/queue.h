/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue: a bounded queue of handoffs between threads; first in, first out.
 * Its lock is never held across a system call other than the lock's own. No
 * httpd header is needed.
 */
#ifndef CPUAFFINITY_QUEUE_H
#define CPUAFFINITY_QUEUE_H

#include "handoff/handoff.h"

typedef struct queue queue;

/* A queue for at most @a bound (>= 1) handoffs; NULL when out of memory. */
queue *queue_make(unsigned bound);

/* Drops what is in it and frees it. No other thread uses it any more. */
void queue_free(queue *q);

/* Moves @a p into the queue and notes the time in p->since.
 * @return 0, or -1: full or closed, @a p is still the caller's */
int queue_push(queue *q, handoff *p);

/* Moves the oldest out into @a p. @return 0, or -1 when there is none */
int queue_pop(queue *q, handoff *p);

/* A handoff that came from another process may go on to a third after it has
 * waited here so long, in milliseconds: whoever sent it was mistaken. */
#define QUEUE_MOVES_AGAIN 1000

/* The same, but only if the oldest has not moved between processes yet, or
 * has waited here for QUEUE_MOVES_AGAIN. @return 0 or -1 */
int queue_pop_unmoved(queue *q, handoff *p);

/* From now on every push fails; what is queued can still be popped. */
void queue_close(queue *q);

unsigned queue_length(const queue *q);

/* Milliseconds that the oldest has waited at @a now; 0 when empty. */
int64_t queue_age(queue *q, int64_t now);

#endif
