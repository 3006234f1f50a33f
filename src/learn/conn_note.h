/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conn_note: what the recogniser made of a request that httpd is about to
 * answer. It travels through the door, or is attached where a worker peeked,
 * and is good for exactly the next request of its connection (R0).
 */
#ifndef CPUAFFINITY_CONN_NOTE_H
#define CPUAFFINITY_CONN_NOTE_H

#include "httpd.h"

#include "http/request.h"

/* Why httpd is asked. */
typedef enum conn_note_ask {
    CONN_NOTE_NEW,   /* the loop cannot answer */
    CONN_NOTE_AUDIT, /* it could: the answers are compared */
    CONN_NOTE_AGAIN, /* it could, but its answer is getting old */
    CONN_NOTE_304,   /* only httpd's 304 is not known, or getting old */
    CONN_NOTE_WHY    /* it is not mine: only why is set */
} conn_note_ask;

/* A request that is mine, and that httpd is asked to answer. */
typedef struct conn_note {
    request req;    /* slices count from conn_note_head() */
    uint64_t vary;  /* the mask that the key was made with */
    int64_t made;   /* CLOCK_MONOTONIC ms */
    int keepalives; /* answered on the connection before it */
    uint8_t first;  /* it is the first request of its connection */
    uint8_t ask;    /* conn_note_ask */
    uint8_t why;    /* request_why, with CONN_NOTE_WHY */
    uint16_t key_len;
    unsigned char bytes[]; /* the key, then the head (req.consumed bytes) */
} conn_note;

static inline const char *conn_note_head(const conn_note *n)
{
    return (const char *)n->bytes + n->key_len;
}

/*
 * A note, from malloc; free() frees it (a handoff's drop_note). Any thread.
 * @param head the bytes that @a req was recognised in; copied
 * @param key of request_key(), made with @a vary; copied
 * @return NULL without memory
 */
conn_note *conn_note_make(const request *req, const char *head,
                          const unsigned char *key, size_t key_len,
                          uint64_t vary, int keepalives, int first,
                          conn_note_ask ask, int64_t now);

/* The note of a request that is not mine: static, nothing frees it. It is never
 * taken, only conn_note_why() tells of it. Any thread. */
const conn_note *conn_note_not_mine(request_why why);

/* The same for the next request of @a c. The worker serving c. */
void conn_note_set_why(conn_rec *c, request_why why);

/* Why the last request that was created on @a c was not mine, a request_why,
 * once; -1: nobody said so. The worker serving c. */
int conn_note_why(conn_rec *c);

/* Gives the next request of @a c a note, which is owned by the connection
 * from now on. A note that was not used is dropped. The worker serving c. */
void conn_note_attach(conn_rec *c, conn_note *note);

/* The note of a request that has just been created, once: a second call for
 * the same connection gives NULL until another note is attached. It stays the
 * connection's: valid as long as the request. create_request only. */
const conn_note *conn_note_take(conn_rec *c);

/* 1 while a note waits for the next request of @a c. The worker serving c. */
int conn_note_is_waiting(conn_rec *c);

/* What conn_note_take() is going to give, or why it will give none (then ask is
 * CONN_NOTE_WHY); NULL: nothing is known of the next request. The worker
 * serving c. */
const conn_note *conn_note_next(conn_rec *c);

/* The connection has come through the door once more: what came with it is
 * about its next request. The worker serving c. */
void conn_note_renew(conn_rec *c);

/* The request of @a note got an answer that the loop may repeat. The worker
 * serving c. */
void conn_note_taught(conn_rec *c, const conn_note *note);

/* The last one that was taught on @a c, once; NULL: none, or another note
 * has come since. It is the connection's. The worker serving c. */
const conn_note *conn_note_last(conn_rec *c);

/* The virtual host whose times count for the request that @a c has now, and
 * while the connection idles after it: its own, or if that has none, the first
 * one of the address; and that of its last request, NULL: it had none. The
 * worker serving c. */
void conn_note_set_host(conn_rec *c, const server_rec *s);
const server_rec *conn_note_host(conn_rec *c);

#endif
