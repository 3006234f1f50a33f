/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conn: the connections of a loop: fixed-size records from a slab. A freed
 * record is not reused before conn_reap(), so that events already fetched for
 * it cannot reach another connection. Loop thread only; no httpd header is
 * needed.
 */
#ifndef CPUAFFINITY_CONN_H
#define CPUAFFINITY_CONN_H

#include "handoff/handoff.h"
#include "base/timer_wheel.h"

struct loop;

/* The group of a connection whose address is no longer listened on. */
#define CONN_NO_GROUP 0xffff

/* What epoll's data points to: the first member of all that is watched. */
typedef struct watch {
    void (*ready)(struct loop *l, struct watch *w, uint32_t events);
} watch;

typedef enum conn_state {
    CONN_FREE,
    CONN_IDLE,    /* waits for another request; no buffer */
    CONN_READING, /* waits for its first request, or has part of one */
    CONN_SENDING, /* an answer is on its way */
    CONN_CLOSING, /* sent all, waits for the client to close */
    CONN_PARKED   /* goes to httpd, whose threads are all busy */
} conn_state;

/* One connection; under 300 bytes, all that it needs while idle. */
typedef struct conn {
    watch watch;
    timer_wheel_entry timer;
    struct conn *next; /* in a list of the slab */
    struct conn *prev;
    struct conn *parked; /* the next that waits for the door */
    int fd;
    uint8_t state;   /* conn_state */
    uint8_t moved;   /* as in the handoff */
    uint8_t expired; /* as in the handoff */
    uint8_t ending;  /* as in the handoff */
    uint8_t tls;     /* 1: it has been kept */
    uint16_t group;  /* which Listen it came from, or CONN_NO_GROUP */
    int64_t began;   /* CLOCK_MONOTONIC ms: when its state began; server's */
    uint32_t events; /* what epoll waits for; 0: it is not in epoll */
    uint32_t keepalives;
    addr remote;
    addr local;
    char *in; /* read and not answered, from malloc; NULL: none */
    uint32_t in_len;
    uint32_t in_size;
    void *answer; /* the server's: what is being sent */
    void *note;   /* as in the handoff */
    void (*drop_note)(void *);
    struct session *kept; /* as in the handoff: TLS */
    void (*drop_kept)(struct session *);
} conn;

typedef struct conn_slab {
    conn open; /* ring of open connections, oldest first */
    conn *free;
    conn *freed; /* since the last reap */
    unsigned count;
    unsigned tls; /* of them */
    struct conn_block *blocks;
} conn_slab;

void conn_slab_init(conn_slab *s);

/* Frees the memory; connections must have been freed. */
void conn_slab_free(conn_slab *s);

/* An open record, all zero but fd = -1; NULL when out of memory. */
conn *conn_alloc(conn_slab *s);

/* To the end of the open ones, as if it were the newest. */
void conn_last(conn_slab *s, conn *c);

/* Frees the record, buffer and note; fd is the caller's, timer not set. */
void conn_free(conn_slab *s, conn *c);

/* Makes freed records usable again: at the end of each turn. */
void conn_reap(conn_slab *s);

/* Moves descriptor, addresses, bytes and note into @a p; the record must then
 * be freed. */
void conn_pack(conn *c, handoff *p);

/* Moves those of a handoff into the record. */
void conn_unpack(conn *c, handoff *p);

#endif
