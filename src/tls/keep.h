/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep: httpd's half of a TLS connection that may go to the loop and come back
 * (docs/tls.md). Its conn_rec lives in a pool of its own: when the MPM has
 * closed its part of the connection, and freed its pool, the conn_rec and all
 * that modules have attached to it wait for the next time. The MPM knows of
 * none of this.
 */
#ifndef CPUAFFINITY_KEEP_H
#define CPUAFFINITY_KEEP_H

#include "httpd.h"

#include "handoff/handoff.h"
#include "tls/replay.h"
#include "tls/session.h"

typedef struct keep {
    session session;  /* the loop knows no more of it */
    apr_pool_t *pool; /* the conn_rec's: as long as the connection */
    conn_rec *c;      /* NULL: the MPM has not made it yet */
    apr_socket_t *socket;
    apr_interval_time_t timeout; /* of the socket, when it was taken */
    apr_pool_t *mpm;             /* the MPM's pool; NULL: it has none */
    handoff next;                /* what the loop gets */
    int (*give)(handoff *);      /* takes it; NULL: it stays httpd's */
    int returned;                /* 1: it was with the loop before */
    int fresh;                   /* 1: and has not been served since */
    uint32_t ending;             /* handoff_ending of this time */
    replay bytes;                /* what the loop has read */
    replay records;              /* what it has received, not read */
    int known;                   /* 1: the loop could have answered the last */
    const char *asked;           /* Host of the request being served, in its
                                    pool; NULL: not known */
    apr_size_t asked_len;
} keep;

/* The optional hook of mod_ssl, mod_ssl_openssl.h's, which not every package
 * of headers has. */
struct ssl_st;
typedef int ssl_HOOK_pre_handshake_t(conn_rec *c, struct ssl_st *ssl,
                                     int is_proxy);

/* What keeps all TLS connections from being kept: a part of a sentence, static
 * text; NULL: nothing. Configuration time. */
const char *keep_lacks(void);

/* From now on connections whose handoff says TLS have a keep. Main thread of a
 * child, before others exist. @return 0, or -1: they stay httpd's */
int keep_start(void);

/* A connection's; NULL: it has none. The worker that serves it. */
keep *keep_of(conn_rec *c);

/* Hooks; mod_cpuaffinity.c has their order. create_connection gives the MPM
 * the conn_rec that there is; pre_connection @return DONE when other modules
 * have seen the connection before; pre_handshake learns the SSL object; and
 * pre_read_request has mod_reqtimeout count a body that the loop has begun to
 * read. */
conn_rec *keep_create_connection(apr_pool_t *mpm, server_rec *s,
                                 apr_socket_t *socket, long id, void *sbh,
                                 apr_bucket_alloc_t *alloc);
int keep_pre_connection(conn_rec *c, void *socket);
int keep_pre_handshake(conn_rec *c, struct ssl_st *ssl, int is_proxy);
void keep_pre_read_request(request_rec *r, conn_rec *c);

/* The beginning of process_connection. @return 1: it has to end, and the MPM
 * closes it next */
int keep_begin(keep *k);

/* Between two requests: may the loop have it? The worker that serves it. */
int keep_may_take(keep *k);

/*
 * Takes it from the MPM, which closes its part next, and then gives k->next to
 * @a give: 0: it was taken, or -1: then the connection is closed.
 * @param p what detach_take() has made of it
 * @return 0, or -1: nothing has changed, @a p is still the caller's
 */
int keep_take(keep *k, handoff *p, int (*give)(handoff *));

#endif
