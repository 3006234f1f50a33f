/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handoff: a client connection on its way between the loop, httpd's threads
 * and other processes: its descriptor and what was read from it. Plain data;
 * no httpd header is needed.
 */
#ifndef CPUAFFINITY_HANDOFF_H
#define CPUAFFINITY_HANDOFF_H

#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/clock.h"

/* Most bytes that can go along: a connection with more is already httpd's or
 * is closed. */
#define HANDOFF_BYTES 16384

/* Whoever holds the handoff owns fd, bytes and note. */
typedef struct handoff {
    int fd; /* non-blocking, close-on-exec; -1: none */
    addr remote;
    addr local;
    uint32_t keepalives; /* requests answered on it: c->keepalives */
    uint32_t idle;       /* 1: waits for a request, has no byte of it yet */
    uint32_t moved;      /* 1: came from another process; stays here */
    uint32_t expired;    /* 1: timed out: no more is to be read */
    int64_t since;       /* CLOCK_MONOTONIC ms: in its queue since then */
    int64_t deadline;    /* CLOCK_MONOTONIC ms: end of its timeout; 0: none */
    char *bytes;         /* read and not answered, from malloc; NULL: none */
    size_t len;
    void *note;                /* stays with it inside a process; or NULL */
    void (*drop_note)(void *); /* frees the note, on any thread; or NULL */
} handoff;

/* An empty handoff: no descriptor, nothing owned. */
void handoff_init(handoff *p);

/* Frees bytes and note, and closes fd unless it is -1. Leaves it empty. */
void handoff_drop(handoff *p);

/* Asks the kernel for those addresses that are not known. @return 0, or -1
 * with errno (ENOTCONN: the client is gone) */
int handoff_addresses(handoff *p);

#endif
