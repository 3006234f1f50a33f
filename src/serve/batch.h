/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch: answers to the requests of one connection that were read together:
 * they are made one after the other and leave in one send. Loop thread only.
 */
#ifndef CPUAFFINITY_BATCH_H
#define CPUAFFINITY_BATCH_H

#include "serve/state.h"

/* What is made of the bytes that were read together. */
typedef struct batch {
    loop *l;
    conn *c;
    serve_state *st;
    int64_t idle;    /* ms after the last answer; -1: there was none yet */
    int64_t timeout; /* ms for the client to take something */
    int64_t unsent;  /* what a failure left of the batch */
    int close;
    int why; /* what is handed over is not mine: request_why + 1; else 0 */
} batch;

typedef enum batch_state {
    BATCH_ON,      /* goes on with the next request */
    BATCH_BLOCKED, /* the rest waits until the client takes what there is */
    BATCH_GONE     /* the connection is httpd's, or closed */
} batch_state;

/*
 * One request, recognised at @a head: its answer is added, and sent when there
 * is no room or a file follows; or the connection becomes httpd's, with a note
 * where its answer may be learned.
 * @param left bytes from @a head on
 * @return BATCH_ON: the next request may follow; else the connection is not
 *         the caller's any more
 */
batch_state batch_add(batch *b, const char *head, size_t left,
                      const request *req);

/* Sends what was added. What the client does not take goes to c->answer, and
 * the unread bytes @a rest are kept. @return as above */
batch_state batch_flush(batch *b, const char *rest, size_t len);

/*
 * Sends, then the connection is httpd's from the bytes at @a head on.
 * @param key its answer may be learned under it; @a key_len 0: it may not
 * @return BATCH_GONE or BATCH_BLOCKED
 */
batch_state batch_hand_over(batch *b, const request *req,
                            const unsigned char *key, size_t key_len,
                            conn_note_ask ask, const char *head, size_t left);

/* Blank lines that came together with the request before them, which httpd
 * skips; more than it allows end the connection. @return bytes to skip */
size_t batch_skip_blank(batch *b, const char *bytes, size_t len);

/* Waits for the client to take something, or for the disk. */
void batch_wait(loop *l, conn *c, send_result r, int64_t timeout);

/* Ends what is being sent on the connection: done, or given up. */
void batch_drop(serve_state *st, conn *c);

#endif
