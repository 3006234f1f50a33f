/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state: what the files of serve share: one per process, the loop's thread's.
 */
#ifndef CPUAFFINITY_STATE_H
#define CPUAFFINITY_STATE_H

#include "httpd.h"

#include "http/response.h"
#include "cache/cache.h"
#include "learn/address.h"
#include "learn/lesson.h"
#include "serve/pending_log.h"
#include "loop/loop.h"
#include "serve/score.h"
#include "serve/send.h"
#include "tls/session.h"

/* Bytes read at once; a connection never has more waiting. */
#define STATE_READ HANDOFF_BYTES
/* What TLS may give at once, behind those. */
#define STATE_IN (STATE_READ + SESSION_MOST)

/* What the loop's thread keeps; one per process. */
typedef struct serve_state {
    server_rec *server;
    const address **addresses; /* of each group of sockets */
    request_limits limits;     /* the smallest of all addresses */
    int keeps;                 /* 1: an address keeps connections with TLS */
    cache_config config;
    cache *cache;
    response_clock clock;
    uint64_t vary;   /* atomic: fields whose values are in keys; grows */
    unsigned audits; /* that are due */
    unsigned offs;   /* learn_offs() when it was looked at */
    int64_t told;    /* ms: when the cache was last shown in the row */
    cache_stats was; /* what it was then */
    send_buffers out;
    pending_log lines;
    score score;
    char in[STATE_IN];
} serve_state;

/* Makes it the state of this process; NULL: there is none any more. Main
 * thread, or the loop's at its end. */
void state_publish(serve_state *st);

/* What state_publish() was given, or NULL. Any thread; what it points to is
 * the loop's but for vary and limits. */
serve_state *state_get(void);

/*
 * The key of a request that is mine.
 * @param local the connection's own address; one that is not known (or is a
 *        wildcard) makes no key
 * @param tls of a connection with TLS, whose name in the hello chose the
 *        server that made the handshake; NULL: a plain one
 * @param keepalives answered on the connection before
 * @return its length, 0: none; it and @a base as of request_key(). Any thread
 */
size_t state_key(const request *req, const char *head, const addr *local,
                 const session *tls, int keepalives, uint64_t vary,
                 unsigned char key[REQUEST_KEY], size_t *base);

/* Makes st->clock show the time: of the request's second, as httpd's
 * r->request_time; @a now is the loop's. The loop's thread. */
void state_tell_time(serve_state *st, int64_t now);

#endif
