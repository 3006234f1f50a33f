/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outbox: lessons on their way from httpd's threads to the loop of this
 * process, and to those of the others.
 */
#ifndef CPUAFFINITY_OUTBOX_H
#define CPUAFFINITY_OUTBOX_H

#include "learn/lesson.h"

/* At most this many lessons wait for the loop; further ones are lost, which
 * only costs speed. */
#define OUTBOX_ROOM 1024
/* Nor more bytes of compressed bodies than this. */
#define OUTBOX_BODIES (8 * 1024 * 1024)

/* Gives a lesson to the loop of this process, wakes it up, and shares the
 * lesson with the other processes (peer_share); dropped when too many wait or
 * there is no loop. Any worker. */
void outbox_post(lesson *l);

/* The next lesson or NULL; lesson_free() it. The loop's thread. */
lesson *outbox_next(void);

/* Frees all that wait and takes no more. When the loop's thread ends. */
void outbox_close(void);

#endif
