#include "serve/serve.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "learn/conn_note.h"
#include "learn/setenvif.h"
#include "serve/revalidate.h"
#include "http/blank.h"
#include "cache/page_cache.h"
#include "serve/finish.h"
#include "cache/key_hints.h"
#include "learn/not_mine.h"

/* Read at once while others keep much that waits for them. */
#define TIGHT_READ 1024

static const address *address_of(const serve_state *st, const conn *c)
{
    return st->addresses[c->group];
}

static const lesson_server *server_of(const cache_entry *e)
{
    return e->tag;
}

static void drop_sending(serve_state *st, conn *c)
{
    sending *job = c->answer;

    if (job && job->lines) {
        pending_log_kept_end(st->cache, job->lines, send_left(job));
    }
    if (job) {
        score_drop(&st->score, job);
    }
    send_free(st->cache, c->answer);
    c->answer = NULL;
}

typedef struct serving {
    loop *l;
    conn *c;
    serve_state *st;
    int64_t idle;    /* ms after the last answer; -1: there was none yet */
    int64_t timeout; /* ms for the client to take something */
    int64_t unsent;  /* what a failure left of the batch */
    int close;
} serving;

typedef enum served {
    SERVED,  /* goes on with the next request */
    BLOCKED, /* the rest waits until the client takes what there is */
    GONE     /* the connection is httpd's, or closed */
} served;

/* For the client to take something, or for the disk. */
static void wait_to_go_on(loop *l, conn *c, send_result r, int64_t timeout)
{
    if (r == SEND_COLD) {
        loop_wait(l, c, LOOP_END_ONLY, l->now + PAGE_CACHE_WAIT);
    }
    else {
        loop_wait(l, c, EPOLLOUT, l->now + timeout);
    }
}

static served wait_to_send(serving *s, send_result r, const char *rest,
                           size_t len)
{
    sending *job = s->c->answer;

    if (finish_keep(s->c, rest, len)) {
        loop_close(s->l, s->c);
        return GONE;
    }
    job->close = (uint8_t)s->close;
    job->timeout = s->timeout;
    job->idle = s->idle;
    send_keep(job, len);
    score_wait(&s->st->score, job);
    s->c->state = CONN_SENDING;
    wait_to_go_on(s->l, s->c, r, s->timeout);
    return BLOCKED;
}

/* Lines and counts of what was just sent, or of what waits in c->answer. */
static void end_batch(serving *s, send_result r)
{
    int64_t left = r == SEND_FAILED ? s->unsent : 0;
    sending *job = s->c->answer;
    serve_state *st = s->st;

    if (s->close) {
        pending_log_close(&st->lines, r != SEND_DONE);
    }
    if (r == SEND_DONE || r == SEND_FAILED || !job) {
        pending_log_end(&st->lines, st->cache, left);
        score_batch(&st->score, left);
        return;
    }
    job->lines = pending_log_keep(&st->lines, st->cache);
    score_keep(&st->score, job);
}

/* Blank lines that came together with the request before them, which httpd
 * skips; more than it allows end the connection. @return bytes to skip */
static size_t skip_blank(serving *s, const char *bytes, size_t len)
{
    return s->close
               ? 0
               : blank_skip(bytes, len, DEFAULT_LIMIT_BLANK_LINES, &s->close);
}

/* What a send came to, for the one whose unread bytes are @a rest. */
static served sent(serving *s, send_result r, const char *rest, size_t len)
{
    if (r != SEND_DONE && r != SEND_FAILED) {
        skip_blank(s, rest, len);
    }
    end_batch(s, r);
    switch (r) {
    case SEND_DONE:
        return SERVED;
    case SEND_FAILED:
        loop_close(s->l, s->c);
        return GONE;
    default:
        return wait_to_send(s, r, rest, len);
    }
}

/* Sends the batch. What it leaves goes to c->answer. */
static served flush(serving *s, const char *rest, size_t len)
{
    sending *left = NULL;
    send_result r;

    s->unsent = INT64_MAX;
    r = send_flush(&s->st->out, s->st->cache, s->c->fd, 0, &left);
    s->c->answer = left;
    return sent(s, r, rest, len);
}

/* The batch with the head, then the file. */
static served send_file(serving *s, cache_entry *e, const response_reply *reply,
                        const char *rest, size_t len)
{
    sending *job = send_make();
    send_result r;

    s->unsent = INT64_MAX;
    if (!job) {
        /* Or the next connection would get what was gathered for this. */
        send_drop(&s->st->out, s->st->cache);
        return sent(s, SEND_FAILED, rest, len);
    }
    cache_hold(e);
    job->entry = e;
    job->file_off = reply->body_off;
    job->file_left = reply->body_len;
    job->by_read = (uint8_t)server_of(e)->no_sendfile;
    s->c->answer = job;
    r = send_flush(&s->st->out, s->st->cache, s->c->fd, 1, &job);
    if (r == SEND_DONE) {
        r = send_go_on(&s->st->out, s->c->fd, job, s->l->now);
        s->unsent = send_left(job);
    }
    if (r == SEND_DONE) {
        drop_sending(s->st, s->c);
    }
    return sent(s, r, rest, len);
}

/* Makes the reply in the batch; the batch may be sent for want of room.
 * @return SERVED with *made set, or 0: httpd's */
static served make(serving *s, cache_entry *e, const request *req,
                   const char *head, size_t left, response_reply *reply,
                   int *made)
{
    const lesson_server *v = server_of(e);
    response_connection state = {
        .keepalives = (int)s->c->keepalives,
        .keep_alive = v->keep_alive,
        .max = v->keep_alive_max,
        .timeout = v->keep_alive_timeout,
        .stopping = __atomic_load_n(&s->l->stop, __ATOMIC_RELAXED) != LOOP_RUN,
    };
    size_t size = e->answer.head_len + RESPONSE_EXTRA;
    char *room = send_head_room(&s->st->out, size);

    *made = 0;
    if (!room) {
        served r;

        /* The entry must outlive what the flush does to the cache. */
        cache_hold(e);
        r = flush(s, head, left);
        cache_release(s->st->cache, e);
        if (r != SERVED) {
            return r;
        }
        room = send_head_room(&s->st->out, size);
    }
    *made = room
            && !response_make(&e->answer, req, head, &s->st->clock, &state,
                              room, size, reply);
    return SERVED;
}

static void count(serving *s, const request *req, const response_reply *reply)
{
    score_add(&s->st->score, req->consumed + (s->st->lines.piped != 0),
              reply->head_len, reply->body_len);
    seat_row *row = s->l->row;

    if (row) {
        SEAT_ADD(row, requests, 1);
        SEAT_ADD(row, loop_hits, 1);
        SEAT_ADD(row, bytes, reply->head_len + (uint64_t)reply->body_len);
    }
}

/* A request that is mine and known. @return 1: httpd's after all */
static int repeat(serving *s, cache_entry *e, const request *req,
                  const char *head, size_t left, served *result)
{
    response_reply reply;
    const char *rest = head + req->consumed;
    size_t rest_len = left - req->consumed;
    int made;

    if (pending_log_reserve(&s->st->lines)) {
        return 1;
    }
    *result = make(s, e, req, head, left, &reply, &made);
    if (!made) {
        pending_log_cancel(&s->st->lines);
        return *result == SERVED;
    }
    pending_log_add(&s->st->lines, s->c, e, server_of(e)->server, req, head,
                    s->st->out.head + s->st->out.head_used, &reply);
    s->c->keepalives = (uint32_t)reply.keepalives;
    s->close = !reply.keepalive;
    s->idle = server_of(e)->idle / 1000;
    s->timeout = server_of(e)->timeout / 1000;
    count(s, req, &reply);
    if (reply.body_len == 0 || e->file->data) {
        send_add(&s->st->out, reply.head_len,
                 reply.body_len ? e->file->data + reply.body_off : NULL,
                 (size_t)reply.body_len, e);
        return 0;
    }
    send_add(&s->st->out, reply.head_len, NULL, 0, e);
    *result = send_file(s, e, &reply, rest, rest_len);
    return 0;
}

/* The connection is httpd's from this request on, which may be learned. */
static served hand_over(serving *s, const request *req,
                        const unsigned char *key, size_t key_len,
                        conn_note_ask ask, const char *head, size_t left)
{
    served r = flush(s, head, left);
    conn *c = s->c;

    if (r != SERVED) {
        return r;
    }
    if (s->close) {
        finish_linger(s->l, c);
        return GONE;
    }
    if (key_len) {
        c->note = conn_note_make(req, head, key, key_len, s->st->vary,
                                 (int)c->keepalives, c->keepalives == 0, ask,
                                 s->l->now);
        c->drop_note = free;
    }
    finish_httpd(s->l, c, head, left);
    return GONE;
}

/* One request at @a head. */
static served serve_one(serving *s, const char *head, size_t left,
                        const request *req)
{
    unsigned char key[REQUEST_KEY];
    size_t len = state_key(req, head, &s->c->local, (int)s->c->keepalives,
                           s->st->vary, key);
    cache_entry *e = len ? cache_find(s->st->cache, key, len) : NULL;
    conn_note_ask ask = CONN_NOTE_NEW;
    served result;

    if (e && setenvif_matches(req, head)) {
        not_mine_count(REQUEST_WHY_SETENVIF);
        len = 0;
        e = NULL;
    }
    else if (!len) {
        not_mine_count(REQUEST_WHY_KEY);
    }
    if (e && cache_use(s->st->cache, e, s->l->now)) {
        if (revalidate_audit(s->l, s->st, e)) {
            ask = CONN_NOTE_AUDIT;
        }
        else if (revalidate_again(s->l, e, req)) {
            ask = CONN_NOTE_AGAIN;
        }
        if (ask == CONN_NOTE_NEW && !repeat(s, e, req, head, left, &result)) {
            return result;
        }
        /* What the answer does not cover is not to be learned anew. */
        len = ask == CONN_NOTE_NEW ? 0 : len;
    }
    else if (len) {
        key_hints_forget(key, len);
    }
    return hand_over(s, req, key, len, ask, head, left);
}

/* Answers what is there, in order. @a idle: ms that it may idle after the
 * answer that went before it; -1: there was none. */
static void serve(loop *l, conn *c, const char *bytes, size_t len, int64_t idle)
{
    serve_state *st = l->answers_ctx;
    const address *a = address_of(st, c);
    serving s = {.l = l, .c = c, .st = st, .idle = idle, .timeout = a->timeout};
    int piped = idle >= 0;
    size_t pos = 0;

    state_tell_time(st);
    score_work(&st->score);
    if (st->lines.needed) {
        st->lines.start = apr_time_now();
    }
    if (piped) {
        pos = skip_blank(&s, bytes, len);
    }
    while (pos < len && !s.close) {
        request req;
        request_verdict v =
            request_recognise(bytes + pos, len - pos, &a->limits, &req);

        if (v == REQUEST_INCOMPLETE) {
            break;
        }
        if (v == REQUEST_NOT_MINE) {
            not_mine_count(req.why);
            hand_over(&s, NULL, NULL, 0, CONN_NOTE_NEW, bytes + pos, len - pos);
            return;
        }
        st->lines.piped = piped || pos > 0;
        if (serve_one(&s, bytes + pos, len - pos, &req) != SERVED) {
            return;
        }
        pos += req.consumed;
        if (!s.close) {
            pos += skip_blank(&s, bytes + pos, len - pos);
        }
    }
    if (flush(&s, bytes + pos, len - pos) != SERVED) {
        return;
    }
    if (s.close) {
        finish_linger(l, c);
    }
    else if (pos == len) {
        finish_idle(l, c, s.idle);
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
    send_result r = send_go_on(&st->out, c->fd, job, l->now);
    int over = job->close;
    int64_t idle = job->idle;
    char *in = c->in;
    size_t len = c->in_len;

    if (r == SEND_FAILED) {
        loop_close(l, c);
        return;
    }
    if (r != SEND_DONE) {
        wait_to_go_on(l, c, r, job->timeout);
        return;
    }
    drop_sending(st, c);
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
    size_t have = c->in_len, room = sizeof(st->in) - have;
    ssize_t n;

    if (have) {
        memcpy(st->in, c->in, have);
    }
    if (room > TIGHT_READ && send_tight()) {
        room = TIGHT_READ;
    }
    n = recv(c->fd, st->in + have, room, MSG_DONTWAIT);
    if (n > 0) {
        serve(l, c, st->in, have + (size_t)n, -1);
    }
    else if (n == 0 && have) {
        /* Half a request and the client's end: httpd knows what to say. */
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

void serve_ready(loop *l, conn *c, uint32_t events)
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
    drop_sending(l->answers_ctx, c);
}
