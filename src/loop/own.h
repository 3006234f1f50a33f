/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own: the private part of a loop. Outside of loop/ only child/ uses it, to
 * fill some of it in before the thread starts. Loop thread only.
 */
#ifndef CPUAFFINITY_OWN_H
#define CPUAFFINITY_OWN_H

#include "apr_thread_proc.h"

#include "handoff/queue.h"
#include "listen/fd_channel.h"
#include "loop/balance.h"
#include "loop/conn.h"

struct leftover;
struct loop_server;
struct rebalance;

/* A listening socket. */
typedef struct loop_listen {
    watch watch;
    int fd;
    int seat;       /* that serves it, unless a neighbour does */
    uint16_t group; /* index in sockets->groups */
    uint8_t owned;  /* is in our epoll: our own or taken over */
    uint8_t armed;  /* epoll waits for connections on it */
    uint8_t dead;   /* the parent has shut it down */
    uint8_t reads;  /* own->reads of the group */
    uint8_t keeps;  /* the same of own->keeps */
} loop_listen;

/* The receiving end of a channel. */
typedef struct loop_channel {
    watch watch;
    const fd_channel *channel;
    int owned;
} loop_channel;

typedef struct loop_own {
    /* Filled in before thread_start(). */
    const struct loop_server
        *answers;                /* NULL: everything goes through the door */
    balance *balance;            /* NULL: FixedBalance off */
    struct rebalance *rebalance; /* the same, for the loop's connections */
    void (*place)(int seat);     /* pins the calling thread; or NULL */
    void (*look)(int seat);      /* called by takeover_look(); or NULL */
    apr_thread_t *thread;
    int epoll;
    int wake_fd; /* eventfd of loop_wake() */
    watch wake;
    queue *inbox;              /* from other threads */
    int alone;                 /* atomic: 1: no other thread gives any more */
    struct leftover *leftover; /* while the loop stops: what nobody takes over
                                  is served here; NULL: it is closed */
    struct leftover *endings;  /* the same for what has TLS */
    int *missing;       /* per seat: looks in a row without live process */
    int *serves;        /* per seat: 1: we serve its sockets now */
    int64_t look_at;    /* when to look at the table of seats again */
    int64_t rearm_at;   /* when to accept again after EMFILE; 0: not paused */
    int64_t complained; /* when loop_may_warn() last said 1; 0: never */
    int hungry;         /* 1: sockets wait until a worker is free */
    int budget;         /* connections that the workers can still take */
    uint8_t *reads;     /* per group: the result of loop_server.reads */
    uint8_t *keeps;     /* the same of loop_server.keeps */
    int nlistens;
    loop_listen *listens;
    loop_channel *channels; /* one per channel */
    conn *parked;           /* first in, first out */
    conn *parked_last;
} loop_own;

#endif
