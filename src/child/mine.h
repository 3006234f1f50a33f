/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mine: what a worker makes of a request that httpd is about to read: may it be
 * learned, and under which key. The worker that serves the connection.
 */
#ifndef CPUAFFINITY_MINE_H
#define CPUAFFINITY_MINE_H

#include "httpd.h"

#include "learn/conn_note.h"
#include "serve/state.h"

typedef struct mine {
    request req;
    const char *head; /* the caller's bytes */
    uint64_t vary;
    size_t len;  /* of the key; 0: it has none, and cannot be learned */
    size_t base; /* of the key for whatever query; 0: neither */
    unsigned char key[REQUEST_KEY];
} mine;

/*
 * Recognises it; why it is not mine is counted, and told to conn_note.
 * @param tls as of state_key()
 * @param keepalives that the key is to be made for
 * @return 1: m is filled in; or 0
 */
int mine_look(mine *m, conn_rec *c, const serve_state *st, const char *bytes,
              size_t len, const session *tls, int keepalives);

/* Does the loop know the answer, or that to whatever query of the path? */
int mine_is_known(const mine *m);

/* The same of the request of a note. */
int mine_note_is_known(const conn_note *n);

/* Attaches a note to the connection, if httpd's answer may be learned. */
void mine_attach(const mine *m, conn_rec *c);

#endif
