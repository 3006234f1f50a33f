/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay: input filters above and below mod_ssl's. The upper one gives httpd
 * what the loop, or a look ahead, has read of a connection, and then what
 * mod_ssl reads; the lower one gives mod_ssl the records that the loop has
 * received and not read, and then what comes from the socket. Workers.
 */
#ifndef CPUAFFINITY_REPLAY_H
#define CPUAFFINITY_REPLAY_H

#include "httpd.h"
#include "util_filter.h"

/* One for each filter of a connection; all zero at first. */
typedef struct replay {
    apr_bucket_brigade *bytes;   /* what is left; or NULL */
    int expired;                 /* 1: after those, the time is over: no more */
    ap_filter_t *filter;         /* NULL: there is no TLS */
    void (*seen)(request_rec *); /* as of replay_watch(); or NULL */
    request_rec *req;
} replay;

typedef enum replay_place {
    REPLAY_ABOVE,
    REPLAY_BELOW
} replay_place;

/* Registers the filters. */
void replay_register(void);

/* Adds the filter to the connection, once. Before its first request. */
void replay_add(replay *r, conn_rec *c, replay_place place);

/* Puts bytes there, from malloc, which are the filter's from now on. */
void replay_put(replay *r, conn_rec *c, char *bytes, size_t len);

/*
 * Copies what httpd would read next, as far as it is there; it stays. What
 * mod_ssl gives without waiting is taken from it, if there was nothing: its
 * own look ahead (AP_MODE_SPECULATIVE) is good for a byte or two only.
 * @param req the request that is to be read
 * @return bytes in @a buf
 */
apr_size_t replay_look(replay *r, request_rec *req, char *buf, apr_size_t size);

/*
 * Nothing was there to look at: calls @a seen when httpd has waited for it, and
 * before it gets it. Once; NULL: not any more.
 */
void replay_watch(replay *r, request_rec *req, void (*seen)(request_rec *));

/* Are there any left, or is its time over? */
int replay_has(replay *r);

#endif
