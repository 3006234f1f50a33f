/* SPDX-License-Identifier: Apache-2.0 */
#include "child/mine.h"

#include <string.h>

#include "cache/key_hints.h"
#include "learn/not_mine.h"
#include "learn/setenvif.h"

/* The connection's own address as the loop has it. 0 or -1 */
static int local_address(conn_rec *c, addr *a)
{
    memset(a, 0, sizeof(*a));
    if (c->local_addr->family == APR_INET) {
        a->in = c->local_addr->sa.sin;
        a->in.sin_family = AF_INET;
        return 0;
    }
    if (c->local_addr->family == APR_INET6) {
        a->in6 = c->local_addr->sa.sin6;
        a->in6.sin6_family = AF_INET6;
        return 0;
    }
    return -1;
}

/* Is it a request that the loop may answer? */
static int is_mine(conn_rec *c, const serve_state *st, const char *buf,
                   size_t n, request *req)
{
    request_verdict v = request_recognise(buf, n, &st->limits, req);

    if (v == REQUEST_NOT_MINE) {
        conn_note_set_why(c, req->why);
        not_mine_count(req->why);
        not_mine_name(c, req, buf);
        return 0;
    }
    if (v == REQUEST_MINE && setenvif_may_match(req, buf)) {
        conn_note_set_why(c, REQUEST_WHY_SETENVIF);
        not_mine_count(REQUEST_WHY_SETENVIF);
        return 0;
    }
    return v == REQUEST_MINE;
}

int mine_look(mine *m, conn_rec *c, const serve_state *st, const char *bytes,
              size_t len, const session *tls, int keepalives)
{
    addr local;

    if (local_address(c, &local) || !is_mine(c, st, bytes, len, &m->req)) {
        return 0;
    }
    m->head = bytes;
    m->vary = __atomic_load_n(&st->vary, __ATOMIC_ACQUIRE);
    m->len = state_key(&m->req, bytes, &local, tls, keepalives, m->vary, m->key,
                       &m->base);
    return 1;
}

static int is_known(const unsigned char *key, size_t len, size_t base)
{
    return (len && key_hints_has(key, len, 0))
           || (base && key_hints_has(key, base, 1));
}

int mine_is_known(const mine *m)
{
    return is_known(m->key, m->len, m->base);
}

int mine_note_is_known(const conn_note *n)
{
    return is_known(n->bytes, n->key_len,
                    request_key_base(&n->req, n->key_len));
}

void mine_attach(const mine *m, conn_rec *c)
{
    if (!m->len) {
        return;
    }
    conn_note_attach(c, conn_note_make(&m->req, m->head, m->key, m->len,
                                       m->vary, c->keepalives, 0, CONN_NOTE_NEW,
                                       clock_ms()));
}
