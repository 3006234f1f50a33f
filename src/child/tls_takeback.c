/* SPDX-License-Identifier: Apache-2.0 */
#include "child/tls_takeback.h"

#include "http_protocol.h"
#include "util_filter.h"
#include "apr_strings.h"

#include "child/mine.h"
#include "child/streams.h"
#include "handoff/detach.h"
#include "handoff/input_gate.h"
#include "learn/conn_note.h"
#include "serve/state.h"

/* After the MPM has let go of it, on the thread that frees its pool. */
static int give(handoff *p)
{
    loop *l = loop_get();
    seat_row *row = l ? l->row : NULL;

    if (!l || loop_give(l, p)) {
        return -1;
    }
    if (row) {
        SEAT_ADD(row, tls_taken, 1);
    }
    return 0;
}

/* All that httpd has answered is sent, and the next request is not there. */
static int is_idle(conn_rec *c)
{
    ap_filter_t *f = c->output_filters;

    if (!c->cs || c->cs->state != CONN_STATE_WRITE_COMPLETION) {
        return 0;
    }
    /* As the MPM does next. */
    while (f->next) {
        f = f->next;
    }
    return f->frec->filter_func.out_func(f, NULL) == APR_SUCCESS;
}

/* An answer that is known is made and sent: the connection is the loop's, or
 * waits. */
static void leave(keep *k)
{
    conn_rec *c = k->c;
    handoff p;

    /* mod_ssl does not look behind a record that has no text. */
    if (!keep_may_take(k) || detach_holds_input(c)
        || detach_take(c, conn_note_host(c), &p)) {
        input_gate_go_on(c);
    }
    else if (keep_take(k, &p, give)) {
        handoff_drop(&p);
        input_gate_go_on(c);
    }
}

int tls_takeback_process_connection(keep *k, loop *l)
{
    conn_rec *c = k->c;
    int rv;

    if (keep_begin(k)) {
        return OK;
    }
    if (k->fresh) {
        k->fresh = 0;
        conn_note_renew(c);
        if (l && l->row) {
            SEAT_ADD(l->row, tls_returned, 1);
        }
    }
    streams_serve(l ? c : NULL);
    rv = input_gate_run(c);
    streams_serve(NULL);
    if (rv == OK && k->known && l && is_idle(c)) {
        leave(k);
    }
    return rv;
}

static void note_host(keep *k, request_rec *r, const request *req,
                      const char *head)
{
    const request_slice *host = &req->header[REQUEST_HOST];

    if (request_has(req, REQUEST_HOST)) {
        k->asked = apr_pstrmemdup(r->pool, head + host->off, host->len);
        k->asked_len = host->len;
    }
}

/* What follows a request that is all here is left in the socket, for the
 * loop. */
static void set_known(keep *k, int known)
{
    k->known = known;
    if (known) {
        input_gate_shut(k->c);
    }
}

/* The first request of a connection is never the loop's here: it is looked up
 * as if it were a later one, as those that follow are likely to be known if it
 * is. @return 0: there is nothing to look at yet */
static int look(keep *k, request_rec *r, const serve_state *st, int may_attach)
{
    conn_rec *c = k->c;
    char buf[REQUEST_HEAD];
    size_t n = replay_look(&k->bytes, r, buf, sizeof(buf));
    mine m;

    if (!n
        || !mine_look(&m, c, st, buf, n, &k->session,
                      c->keepalives ? c->keepalives : 1)) {
        return n > 0;
    }
    note_host(k, r, &m.req, buf);
    if (may_attach && c->keepalives) {
        mine_attach(&m, c);
    }
    set_known(k, mine_is_known(&m));
    return 1;
}

/* It came later than httpd began to wait for it. */
static void seen(request_rec *r)
{
    keep *k = keep_of(r->connection);
    const serve_state *st = k ? state_get() : NULL;

    if (st) {
        look(k, r, st, 0);
    }
}

int tls_takeback_create_request(request_rec *r)
{
    keep *k = r->main || r->prev ? NULL : keep_of(r->connection);
    const serve_state *st = k ? state_get() : NULL;
    const conn_note *n;

    if (!st) {
        return DECLINED;
    }
    k->known = 0;
    k->asked = NULL;
    replay_watch(&k->bytes, NULL, NULL);
    if (!k->session.ssl || !session_may_take(&k->session)) {
        return DECLINED; /* the loop will not have it */
    }
    n = conn_note_next(r->connection);
    if (!n && !look(k, r, st, 1)) {
        replay_watch(&k->bytes, r, seen);
    }
    else if (n && n->ask != CONN_NOTE_WHY) {
        note_host(k, r, &n->req, conn_note_head(n));
        set_known(k, mine_note_is_known(n));
    }
    return DECLINED;
}

int tls_takeback_log_transaction(request_rec *r)
{
    keep *k = keep_of(r->connection);

    if (k && k->asked
        && (r->status == HTTP_OK || r->status == HTTP_NOT_MODIFIED)) {
        session_set_host(&k->session, k->asked, k->asked_len);
    }
    return DECLINED;
}
