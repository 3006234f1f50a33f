/* SPDX-License-Identifier: Apache-2.0 */
/*
 * score: the loop's row in httpd's scoreboard, so that mod_status and whatever
 * reads it count the loop's answers. Each child has the last row of its slot,
 * which no worker has as long as ThreadsPerChild is less than ThreadLimit
 * (conf/processes.c sees to that). It is written once per turn. Loop thread
 * only, unless stated.
 */
#ifndef CPUAFFINITY_SCORE_H
#define CPUAFFINITY_SCORE_H

#include "httpd.h"
#include "scoreboard.h"

#include "serve/send.h"

typedef struct score {
    worker_score *row; /* NULL: none, or not known yet */
    int row_index;     /* -1: there is none */
    int logio;
    unsigned sending; /* answers that wait for their clients */
    send_tally batch; /* answers that are being gathered */
    send_tally done;  /* since the row was written */
    apr_time_t began; /* this turn's first request; 0: none */
    int64_t next;     /* CLOCK_MONOTONIC ms: when to look for the row, or at
                          the process's CPU time, again */
} score;

/* When the thread starts. */
void score_begin(score *s);

/* The loop is about to answer. */
static inline void score_work(score *s)
{
    if (s->row && !s->began) {
        s->row->status = SERVER_BUSY_WRITE;
        s->began = ap_extended_status ? apr_time_now() : 1;
    }
}

/* An answer is in the batch. httpd counts what came and what was sent when
 * there is mod_logio, else bodies, without chunks (@a content). */
static inline void score_add(score *s, size_t in, size_t head, int64_t body,
                             int64_t content)
{
    s->batch.answers++;
    s->batch.in += s->logio ? (int64_t)in : 0;
    s->batch.out += s->logio ? (int64_t)head + body : content;
}

/* The batch has ended, but for the last @a left bytes. */
void score_batch(score *s, int64_t left);

/* Some of the batch is left in @a job, and counts when that ends. */
void score_keep(score *s, sending *job);

/* Its client is slow. */
void score_wait(score *s, sending *job);

/* It is about to be freed: sent, or not to be sent any more. */
void score_drop(score *s, sending *job);

/* The end of a turn; at the thread's end, too.
 * @param slot the caller's memory of this process's slot, as workers_idle
 * @param status SERVER_READY, SERVER_GRACEFUL or SERVER_DEAD, when no client
 *        is waited for */
void score_turn(score *s, int *slot, int64_t now, int status);

/* A child has gone: its row is nobody's. child_status, parent. */
void score_gone(int slot);

#endif
