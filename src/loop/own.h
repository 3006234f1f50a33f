/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own: what of a loop is nobody's business outside of loop/ but child's, which
 * fills some of it in before the thread starts. The loop's thread.
 */
#ifndef CPUAFFINITY_OWN_H
#define CPUAFFINITY_OWN_H

#include "apr_thread_proc.h"

#include "handoff/queue.h"
#include "listen/fd_channel.h"
#include "loop/balance.h"
#include "loop/conn.h"

struct loop_server;
struct rebalance;

/* A listening socket. */
typedef struct loop_listen {
    watch watch;
    int fd;
    int seat;       /* which serves it, or whose neighbour */
    uint16_t group; /* index in sockets->groups */
    uint8_t owned;  /* is in our epoll: ours or adopted */
    uint8_t armed;  /* epoll waits for connections on it */
    uint8_t dead;   /* the parent has shut it down */
    uint8_t reads;  /* as loop.reads of the group */
} loop_listen;

/* The receiving end of a channel. */
typedef struct loop_mail {
    watch watch;
    const fd_channel *box;
    int owned;
} loop_mail;

typedef struct loop_own {
    /* Filled in before thread_start(). */
    const struct loop_server
        *answers;                /* NULL: everything goes through the door */
    balance *balance;            /* NULL: FixedBalance off */
    struct rebalance *rebalance; /* the same for what the loop answers */
    void (*place)(int seat);     /* pins the calling thread; or NULL */
    void (*look)(int seat);      /* at each look round; or NULL */
    apr_thread_t *thread;
    int epoll;
    int wake_fd; /* eventfd: somebody wants the loop to look */
    watch wake;
    queue *inbox;       /* from other threads */
    int *missing;       /* looks for which a seat had no process */
    int *serves;        /* which seats' sockets are ours now */
    int64_t look_at;    /* when to look at the table of seats again */
    int64_t rearm_at;   /* when accepting goes on after EMFILE; 0: it does */
    int64_t complained; /* when loop_may_whine() last said so; 0: never */
    int hungry;         /* 1: sockets wait until a worker is free */
    int budget;         /* connections that the workers can still take */
    uint8_t *reads;     /* of each group: loop_server.reads said so */
    int nlistens;
    loop_listen *listens;
    loop_mail *mails; /* of mail->boxes */
    conn *parked;     /* first in, first out */
    conn *parked_last;
} loop_own;

#endif
