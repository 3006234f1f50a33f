/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/serve.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve/batch.h"
#include "serve/finish.h"
#include "learn/not_mine.h"
#include "loop/transport.h"

/* Read at once while others keep much that waits for them. */
#define TIGHT_READ 1024

static const address *address_of(const serve_state *st, const conn *c)
{
    return st->addresses[c->group];
}

/* Answers what is there, in order. @a idle: ms that it may idle after the
 * answer that went before it; -1: there was none. */
static void serve(loop *l, conn *c, const char *bytes, size_t len, int64_t idle)
{
    serve_state *st = l->answers_ctx;
    const address *a = address_of(st, c);
    batch b = {.l = l, .c = c, .st = st, .idle = idle, .timeout = a->timeout};
    int piped = idle >= 0;
    size_t pos = 0;

    state_tell_time(st, l->now);
    score_work(&st->score);
    if (st->lines.needed) {
        st->lines.start = apr_time_now();
    }
    if (piped) {
        pos = batch_skip_blank(&b, bytes, len);
    }
    while (pos < len && !b.close) {
        request req;
        request_verdict v =
            request_recognise(bytes + pos, len - pos, &a->limits, &req);

        if (v == REQUEST_INCOMPLETE) {
            break;
        }
        if (v == REQUEST_NOT_MINE) {
            b.why = not_mine_count(req.why);
            batch_hand_over(&b, NULL, NULL, 0, CONN_NOTE_NEW, bytes + pos,
                            len - pos);
            return;
        }
        st->lines.piped = piped || pos > 0;
        if (batch_add(&b, bytes + pos, len - pos, &req) != BATCH_ON) {
            return;
        }
        pos += req.consumed;
        if (!b.close) {
            pos += batch_skip_blank(&b, bytes + pos, len - pos);
        }
    }
    if (batch_flush(&b, bytes + pos, len - pos) != BATCH_ON) {
        return;
    }
    if (b.close) {
        finish_linger(l, c);
    }
    else if (pos == len) {
        finish_idle(l, c, b.idle);
    }
    else if (finish_keep(c, bytes + pos, len - pos)) {
        loop_close(l, c);
    }
    else {
        finish_more(l, c, a, pos > 0);
    }
}

static void go_on_sending(loop *l, conn *c)
{
    serve_state *st = l->answers_ctx;
    sending *job = c->answer;
    send_result r = send_go_on(&st->out, c, job, l->now);
    int over = job->close;
    int64_t idle = job->idle;
    char *in = c->in;
    size_t len = c->in_len;

    if (r == SEND_FAILED) {
        loop_close(l, c);
        return;
    }
    if (r != SEND_DONE) {
        batch_wait(l, c, r, job->timeout);
        return;
    }
    batch_drop(st, c);
    if (over) {
        finish_linger(l, c);
        return;
    }
    if (!in) {
        finish_idle(l, c, idle);
        return;
    }
    /* The next requests were read before this answer had left. */
    c->in = NULL;
    c->in_len = c->in_size = 0;
    c->state = CONN_READING;
    c->began = l->now;
    serve(l, c, in, len, idle);
    free(in);
}

static void read_more(loop *l, conn *c)
{
    serve_state *st = l->answers_ctx;
    size_t have = c->in_len, room = STATE_READ - have;
    ssize_t n;

    if (have > STATE_READ) {
        /* What TLS gave with a request before it. */
        loop_hand_over(l, c);
        return;
    }
    if (have) {
        memcpy(st->in, c->in, have);
    }
    if (room > TIGHT_READ && send_tight()) {
        room = TIGHT_READ;
    }
    n = transport_recv(c, st->in + have, room);
    if (n > 0 && transport_has_ended(c)) {
        finish_httpd(l, c, st->in, have + (size_t)n);
    }
    else if (n > 0) {
        serve(l, c, st->in, have + (size_t)n, -1);
    }
    else if ((n == 0 && have) || (c->kept && (n == 0 || errno != EAGAIN))) {
        /* Half a request and the client's end, or an end of TLS: httpd knows
         * what to say. */
        finish_httpd(l, c, st->in, have);
    }
    else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        loop_close(l, c);
    }
    else if (have && !c->events) {
        /* Came with bytes from another process or from httpd. */
        serve(l, c, st->in, have, -1);
    }
    else if (!c->events) {
        /* httpd waits for its first byte as for the others. */
        finish_more(l, c, address_of(st, c), 0);
    }
}

static void act(loop *l, conn *c)
{
    switch (c->state) {
    case CONN_SENDING:
        go_on_sending(l, c);
        break;
    case CONN_CLOSING:
        finish_drain(l, c);
        break;
    default:
        read_more(l, c);
        break;
    }
}

void serve_ready(loop *l, conn *c, uint32_t events)
{
    act(l, c);
    /* Records that have been received tell no event. */
    while ((c->state == CONN_IDLE || c->state == CONN_READING)
           && transport_has_more(c)) {
        read_more(l, c);
    }
}

/* Time for another look at a file that was not in memory. Else too slow: a
 * request that is started or a connection's first is httpd's, which logs it;
 * all others are closed as httpd closes them. */
void serve_expired(loop *l, conn *c)
{
    sending *job = c->answer;

    if (c->state == CONN_SENDING && job->looks) {
        go_on_sending(l, c);
        return;
    }
    if (c->state == CONN_READING) {
        finish_slow(l, c);
        return;
    }
    c->ending = c->state == CONN_IDLE ? HANDOFF_CLOSE : HANDOFF_ABORT;
    loop_close(l, c);
}

void serve_stopping(loop *l, conn *c, int graceful)
{
    if (!graceful || (c->state != CONN_SENDING && c->state != CONN_CLOSING)) {
        loop_close(l, c);
    }
}

void serve_closing(loop *l, conn *c)
{
    batch_drop(l->answers_ctx, c);
}
