/* SPDX-License-Identifier: Apache-2.0 */
#include "child/takeback.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "apr_portable.h"
#include "http_connection.h"
#include "ap_mpm.h"
#include "http_core.h"
#include "http_protocol.h"
#include "util_filter.h"

#include "child/mine.h"
#include "child/streams.h"
#include "child/tls_takeback.h"
#include "learn/conn_note.h"
#include "handoff/door.h"
#include "handoff/input_gate.h"
#include "cache/key_hints.h"
#include "handoff/detach.h"
#include "learn/not_mine.h"
#include "serve/state.h"

#define TICK 10 /* ms that the kernel's and the MPM's clocks may differ */

/* The client's bytes, left where they are. @return how many, or -1 */
static ssize_t peek(conn_rec *c, char *buf, size_t size)
{
    apr_socket_t *sock = ap_get_conn_socket(c);
    apr_os_sock_t fd;

    if (!sock || apr_os_sock_get(&fd, sock) != APR_SUCCESS) {
        return -1;
    }
    return recv(fd, buf, size, MSG_PEEK | MSG_DONTWAIT);
}

/*
 * The next bytes of the client, left where they are, in the socket or in the
 * filter above it. The filter's only while the socket is empty: the copy
 * looks into the socket, and were the client's end there, httpd would know
 * of it one request too soon.
 * @return how many, or 0
 */
static size_t look_ahead(conn_rec *c, char *buf, size_t size)
{
    ssize_t n = peek(c, buf, c->data_in_input_filters ? 1 : size);

    if (!c->data_in_input_filters) {
        return n > 0 ? (size_t)n : 0;
    }
    return n < 0 && errno == EAGAIN ? detach_input(c, buf, size) : 0;
}

/* @a p is the loop's. @return OK: the MPM closes its copy; or DECLINED */
static int give(conn_rec *c, loop *l, handoff *p)
{
    if (loop_give(l, p)) {
        handoff_drop(p);
        return DECLINED;
    }
    if (l->row) {
        SEAT_ADD(l->row, adoptions, 1);
    }
    c->aborted = 1;
    c->keepalive = AP_CONN_CLOSE;
    if (c->cs) {
        c->cs->state = CONN_STATE_LINGER;
    }
    return OK;
}

/* The next request is there. In the socket: if it is known, it is the loop's
 * with its connection. In the filter above: never (docs/security.md, Adoption).
 * @return OK: it is the loop's; or DECLINED, maybe with a note */
static int next_request(conn_rec *c, loop *l, const serve_state *st)
{
    char buf[REQUEST_HEAD];
    size_t n;
    handoff p;
    mine m;

    if (!detach_may_with_input(c) || !(n = look_ahead(c, buf, sizeof(buf)))
        || !mine_look(&m, c, st, buf, n, NULL, c->keepalives)) {
        return DECLINED;
    }
    if (detach_may(c) && !detach_is_named(c) && mine_is_known(&m)) {
        return detach_take(c, conn_note_host(c), &p) ? DECLINED
                                                     : give(c, l, &p);
    }
    mine_attach(&m, c);
    return DECLINED;
}

/* An answer is made that the loop could have given, or connections are too
 * many here: if all of it is sent, the connection idles at the loop, where it
 * takes no room that the MPM counts, and little memory.
 * @return 1: it is the loop's */
static int go_home(conn_rec *c, loop *l)
{
    ap_filter_t *f = c->output_filters;
    const conn_note *note = conn_note_last(c);
    handoff p;

    if (!(note && mine_note_is_known(note))
        && door_inside(l->door) <= l->crowd) {
        return 0;
    }
    /* As the MPM does next. */
    while (f->next) {
        f = f->next;
    }
    if (f->frec->filter_func.out_func(f, NULL) != APR_SUCCESS || !detach_may(c)
        || detach_is_named(c) || detach_holds_input(c)
        || detach_take(c, conn_note_host(c), &p)) {
        return 0;
    }
    return give(c, l, &p) == OK;
}

/* The loop that may have this connection; NULL: none. Only where connections
 * come from the loop. */
static loop *loop_of(const conn_rec *c)
{
    loop *l = c->master || !c->sbh ? NULL : loop_get();

    return l && l->seats ? l : NULL;
}

int takeback_process_connection(conn_rec *c)
{
    const serve_state *st = state_get();
    loop *l = loop_of(c);
    keep *k = keep_of(c);
    int waits, rv;

    input_gate_begin(c);
    if (input_gate_is_running(c)) {
        return DECLINED;
    }
    if (k) {
        return tls_takeback_process_connection(k, l);
    }
    if (!l) {
        return DECLINED;
    }
    if (st && c->keepalives > 0 && next_request(c, l, st) == OK) {
        return OK;
    }
    waits = conn_note_is_waiting(c);
    streams_serve(c);
    rv = input_gate_run(c);
    streams_serve(NULL);
    if (rv == OK && c->cs && c->cs->state == CONN_STATE_WRITE_COMPLETION
        && !go_home(c, l) && waits) {
        input_gate_go_on(c);
    }
    return rv;
}

apr_status_t takeback_network_bucket(conn_rec *c, apr_bucket_brigade *bb,
                                     apr_socket_t *socket)
{
    const serve_state *st = state_get();
    size_t len;
    const char *bytes = st ? door_bytes(socket, &len) : NULL;

    if (bytes) {
        not_mine_look(c, bytes, len, &st->limits);
    }
    return AP_DECLINED;
}

int takeback_post_read_request(request_rec *r)
{
    conn_rec *c = r->connection;

    if (!r->main && loop_of(c)) {
        /* As the MPM takes them. */
        conn_note_set_host(
            c, r->server->keep_alive_timeout_set ? r->server : c->base_server);
    }
    return DECLINED;
}

/* A filter holds the next request, with which the MPM would have gone on had
 * it not begun to stop. @return 1: it is answered */
static int answer_read(conn_rec *c)
{
    int state = 0;

    if (!c->data_in_input_filters || c->aborted || !c->cs
        || c->keepalive != AP_CONN_KEEPALIVE
        || strcmp(ap_get_protocol(c), AP_PROTOCOL_HTTP1) != 0
        || ap_mpm_query(AP_MPMQ_MPM_STATE, &state) != APR_SUCCESS
        || state != AP_MPMQ_STOPPING) {
        return 0;
    }
    c->cs->state = CONN_STATE_READ_REQUEST_LINE;
    input_gate_run(c);
    return 1;
}

/* The MPM closes kept connections when all its threads are busy, also one
 * whose request has come, and when their time is over. */
int takeback_pre_close(conn_rec *c)
{
    loop *l = loop_of(c);
    char first;
    handoff p;

    if (!l || answer_read(c) || !detach_may(c) || detach_is_named(c)
        || detach_holds_input(c) || detach_take(c, conn_note_host(c), &p)) {
        return DECLINED;
    }
    p.deadline -= detach_idled(c);
    if (p.deadline - clock_ms() < TICK && peek(c, &first, 1) <= 0) {
        handoff_drop(&p);
        return DECLINED;
    }
    return give(c, l, &p);
}
