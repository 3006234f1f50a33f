/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finish: what becomes of a connection after its answers: it waits for the
 * next request, is httpd's, or lingers until the client has all of it. Loop
 * thread only; but for finish_keep() the connection is not the caller's any
 * more.
 */
#ifndef CPUAFFINITY_FINISH_H
#define CPUAFFINITY_FINISH_H

#include "learn/address.h"
#include "loop/loop.h"

/* Keeps a copy of bytes that were read and not answered, instead of those
 * that were kept. @return 0 or -1 without memory */
int finish_keep(conn *c, const char *bytes, size_t len);

/* httpd's from here on, with these bytes. */
void finish_httpd(loop *l, conn *c, const char *bytes, size_t len);

/* Waits for the rest of a request, some of which is kept. @a another: 1 when it
 * is not the one that was waited for before, so that its time starts anew.
 * Bytes that come after its time do not extend that. */
void finish_more(loop *l, conn *c, const address *a, int another);

/* The rest of a request did not come in time: httpd's, which knows how to say
 * that and is not to wait again. */
void finish_slow(loop *l, conn *c);

/* Waits for a request, @a timeout ms; goes to the next generation when the
 * loop stops. */
void finish_idle(loop *l, conn *c, int64_t timeout);

/* Ends our side and waits for the client's end as httpd does. */
void finish_linger(loop *l, conn *c);

/* Events of a connection that lingers. */
void finish_drain(loop *l, conn *c);

#endif
