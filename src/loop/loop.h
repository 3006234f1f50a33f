/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop: one thread per seat that owns the seat's listening sockets. It accepts
 * and gives each connection to httpd's threads through the door or, when one
 * is plugged in, to a server that answers by itself (loop_server). It never
 * blocks; each turn does a bounded amount of work.
 */
#ifndef CPUAFFINITY_LOOP_H
#define CPUAFFINITY_LOOP_H

#include "httpd.h"
#include "apr_thread_proc.h"

#include "affinity/cpuset.h"
#include "affinity/seat.h"
#include "loop/balance.h"
#include "loop/conn.h"
#include "handoff/door.h"
#include "listen/fd_channels.h"
#include "handoff/queue.h"
#include "listen/sockets.h"

typedef struct loop loop;

/*
 * Who answers requests on the loop's thread: the static answers plug in
 * here. All functions run there and must not block. Whatever they do with a
 * connection, they end with loop_wait(), loop_hand_over() or loop_close().
 */
typedef struct loop_server {
    /* Whether connections of this group may be read here. 0: each of them
     * goes through the door at once. Called once per group. */
    int (*reads)(loop *l, const sockets_group *g);
    /* Whether those of this group have TLS and may come here once httpd has
     * made the handshake. Called once per group. */
    int (*keeps)(loop *l, const sockets_group *g);
    /* Bytes arrived, or may be sent again (events of epoll). Also called at
     * once, with EPOLLIN, for a connection that is new or comes from another
     * process: there may be bytes in c->in already, and nothing to read. */
    void (*ready)(loop *l, conn *c, uint32_t events);
    /* Its timer has expired. */
    void (*expired)(loop *l, conn *c);
    /* The loop stops: finish or give up (graceful 0). Called once for each
     * connection in CONN_SENDING or CONN_CLOSING; the others are moved with
     * their bytes, or closed, by the loop itself. */
    void (*stopping)(loop *l, conn *c, int graceful);
    /* Before the record is freed: releases c->answer. */
    void (*closing)(loop *l, conn *c);
    /* Called before the first turn, at the end of each turn, and when the
     * thread ends. Any may be NULL. */
    void (*begin)(loop *l);
    void (*turn)(loop *l, int64_t now);
    void (*end)(loop *l);
} loop_server;

/*
 * A loop, as its server and other rooms see it. What only loop/ needs is in
 * "own" (loop/own.h).
 */
struct loop {
    /* Filled in before thread_start(). */
    server_rec *server;
    const sockets_set *sockets;
    seat_table *seats;
    door *door;
    const fd_channels *channels;
    unsigned crowd; /* idle connections are taken back from httpd
                                   once it has more than this many */
    int stop;       /* atomic: loop_stop_mode */
    int seat;       /* atomic; -1: none is free yet */
    seat_row *row;  /* our seat's; NULL without one */
    int slot;       /* ours in httpd's scoreboard, once known */
    int64_t now;    /* CLOCK_MONOTONIC ms, read once per turn */
    timer_wheel timers;
    conn_slab conns;
    unsigned room;     /* of conns: more of them, and silent ones go */
    void *answers_ctx; /* of the server */
    /* Where a connection goes that becomes httpd's or idle while the loop
     * stops; the record is gone. Set before the thread starts. */
    void (*let_go)(loop *l, conn *c);
    struct loop_own *own;
};

typedef enum loop_stop_mode {
    LOOP_RUN,
    LOOP_STOP_GRACEFUL,
    LOOP_STOP_NOW
} loop_stop_mode;

/*
 * Makes a loop with everything set but the thread; door, sockets, seats,
 * channels, balance, answers and place are filled in by the caller before
 * thread_start().
 * @return it, from @a p, or NULL after logging
 */
loop *loop_make(apr_pool_t *p, server_rec *s);

/* Frees what a loop holds whose thread was never started. */
void loop_unmake(loop *l);

/* Makes it the loop of this process: what loop_get() says from now on. Main
 * thread, before others exist. */
void loop_publish(loop *l);

/* The loop of this process, or NULL. Any thread. */
loop *loop_get(void);

/* Tells the loop to stop; graceful first and not graceful later is fine.
 * Any thread, any number of times, also in a signal handler. */
void loop_stop(loop *l, int graceful);

/* Waits for the thread to end, after loop_stop(). No other thread calls
 * loop_give() any more. */
void loop_join(loop *l);

/* Wakes the loop up. Any thread; async-signal safe. */
void loop_wake(loop *l);

/* Gives the loop a connection. Any thread. @return 0 and @a p is empty; or -1:
 * the loop is stopping or its inbox is full, and @a p is still the caller's */
int loop_give(loop *l, handoff *p);

/* The loop's seat; -1: none (yet). Any thread. */
int loop_seat(const loop *l);

/* Rate limit for log lines about a shortage: 1 at most once a minute. Loop
 * thread only. */
int loop_may_warn(loop *l);

/* For servers and for the files of the loop itself, on its thread: */

/* For loop_wait(): wait for nothing but the deadline or an error. */
#define LOOP_END_ONLY EPOLLET

/* Waits for events (EPOLLIN, EPOLLOUT) on the connection until @a deadline
 * (CLOCK_MONOTONIC ms; 0: for ever). */
void loop_wait(loop *l, conn *c, uint32_t events, int64_t deadline);

/* Gives the connection to httpd, with the bytes in c->in. It waits
 * (CONN_PARKED) until httpd has an idle thread for it; when the loop stops it
 * goes to the next generation. The record is gone for the caller. */
void loop_hand_over(loop *l, conn *c);

/* Closes it. The record is gone for the caller. */
void loop_close(loop *l, conn *c);

/* Takes in a connection: loop_begin() one of a known group; loop_take() one
 * from elsewhere, whose group is found by its address. @a p is empty
 * afterwards. */
void loop_begin(loop *l, handoff *p, int group);
void loop_take(loop *l, handoff *p);

#endif
