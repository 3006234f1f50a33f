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

typedef enum handoff_ending {
    HANDOFF_GOES_ON,
    HANDOFF_CLOSE, /* close it in order */
    HANDOFF_ABORT  /* close it at once, it is broken */
} handoff_ending;

struct session;

/* Whoever holds the handoff owns fd, bytes, note and kept. */
typedef struct handoff {
    int fd; /* non-blocking, close-on-exec; -1: none */
    addr remote;
    addr local;
    uint32_t keepalives; /* requests answered on it: c->keepalives */
    uint32_t idle;       /* 1: waits for a request, has no byte of it yet */
    uint32_t moved;      /* 1: came from another process; stays here */
    uint32_t expired;    /* 1: timed out: no more is to be read */
    uint32_t tls;        /* 1: httpd makes a handshake, then it may be kept */
    uint32_t ending;     /* handoff_ending: what httpd is to do, if kept */
    int64_t since;       /* CLOCK_MONOTONIC ms: in its queue since then */
    int64_t deadline;    /* CLOCK_MONOTONIC ms: end of its timeout; 0: none */
    char *bytes;         /* read and not answered, from malloc; NULL: none */
    size_t len;
    void *note;                /* stays with it inside a process; or NULL */
    void (*drop_note)(void *); /* frees the note, on any thread; or NULL */
    struct session *kept;      /* its TLS, with httpd's connection (tls/keep.h):
                             stays inside the process; or NULL */
    void (*drop_kept)(struct session *); /* ends it; any thread */
} handoff;

/* An empty handoff: no descriptor, nothing owned. */
void handoff_init(handoff *p);

/* Frees bytes, note and kept, closes fd unless it is -1. Leaves it empty. */
void handoff_drop(handoff *p);

/* Asks the kernel for those addresses that are not known. @return 0, or -1
 * with errno (ENOTCONN: the client is gone) */
int handoff_addresses(handoff *p);

#endif
