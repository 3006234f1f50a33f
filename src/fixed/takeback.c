#include "fixed/takeback.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "apr_portable.h"
#include "http_connection.h"
#include "http_core.h"
#include "util_filter.h"

#include "fixed/child.h"
#include "fixed/intake.h"
#include "fixed/known.h"
#include "fixed/leave.h"
#include "fixed/static.h"

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
    return n < 0 && errno == EAGAIN ? leave_input(c, buf, size) : 0;
}

/* The connection's own address as the loop has it. 0 or -1 */
static int local_address(conn_rec *c, parcel_addr *a)
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

/* @a p is the loop's. @return OK: the MPM closes its copy; or DECLINED */
static int give(conn_rec *c, loop *l, parcel *p)
{
    if (loop_give(l, p)) {
        parcel_drop(p);
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
 * with its connection. In the filter above: never (LEARNING.md, Adoption).
 * @return OK: it is the loop's; or DECLINED, maybe with a note */
static int next_request(conn_rec *c, loop *l, const statics *st)
{
    unsigned char key[REQUEST_KEY];
    char buf[REQUEST_HEAD];
    parcel_addr local;
    request req;
    uint64_t vary;
    size_t len, n;
    parcel p;

    if (!leave_may_with_input(c) || local_address(c, &local)
        || !(n = look_ahead(c, buf, sizeof(buf)))
        || request_recognise(buf, n, &st->limits, &req) != REQUEST_MINE
        || learn_setenvif(&req, buf)) {
        return DECLINED;
    }
    vary = __atomic_load_n(&st->vary, __ATOMIC_ACQUIRE);
    len = static_key(&req, buf, &local, c->keepalives, vary, key);
    if (!len) {
        return DECLINED;
    }
    if (leave_may(c) && known_is(key, len)) {
        return leave_take(c, &p) ? DECLINED : give(c, l, &p);
    }
    lesson_attach(c, lesson_note_make(&req, buf, key, len, vary, c->keepalives,
                                      0, 0, parcel_now()));
    return DECLINED;
}

/* An answer is made that the loop could have given: if all of it is sent, the
 * connection idles there and not here, where it would take memory.
 * @return 1: it is the loop's */
static int go_home(conn_rec *c, loop *l)
{
    ap_filter_t *f = c->output_filters;
    int64_t keep_alive;
    const lesson_note *note = lesson_last(c, &keep_alive);
    parcel p;

    if (!note || !known_is(note->bytes, note->key_len)) {
        return 0;
    }
    /* As the MPM does next. */
    while (f->next) {
        f = f->next;
    }
    if (f->frec->filter_func.out_func(f, NULL) != APR_SUCCESS || !leave_may(c)
        || leave_take(c, &p)) {
        return 0;
    }
    p.deadline = parcel_now() + keep_alive;
    return give(c, l, &p) == OK;
}

/* The next request is there already. Had the intake been open, httpd would
 * have it in a filter, and the MPM would go on with it at once; a connection
 * that waits in its pollset instead may be closed, for want of an idle worker
 * or because the process is to stop. */
static void go_on(conn_rec *c)
{
    char first;

    if (c->keepalive == AP_CONN_KEEPALIVE && !c->aborted
        && !c->data_in_input_filters && peek(c, &first, 1) > 0) {
        c->data_in_input_filters = 1;
        lesson_see(c);
    }
}

/* The hook is within itself on this thread, for this connection. */
static __thread const conn_rec *within;

int takeback_process_connection(conn_rec *c)
{
    const statics *st = static_get();
    loop *l = child_loop();
    int rv;

    intake_open();
    if (lesson_seen(c)) {
        c->data_in_input_filters = 0; /* it is still in the socket */
    }
    if (!st || !l || within == c) {
        return DECLINED;
    }
    if (c->keepalives > 0 && next_request(c, l, st) == OK) {
        return OK;
    }
    if (!lesson_waits(c)) {
        return DECLINED;
    }
    within = c;
    rv = ap_run_process_connection(c);
    within = NULL;
    intake_open();
    if (rv == OK && c->cs && c->cs->state == CONN_STATE_WRITE_COMPLETION
        && !go_home(c, l)) {
        go_on(c);
    }
    return rv;
}
