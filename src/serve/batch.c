/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/batch.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "cache/key_hints.h"
#include "cache/page_cache.h"
#include "http/blank.h"
#include "learn/conn_note.h"
#include "learn/not_mine.h"
#include "learn/setenvif.h"
#include "loop/transport.h"
#include "serve/finish.h"
#include "serve/revalidate.h"

static const lesson_server *server_of(const cache_entry *e)
{
    return e->tag;
}

void batch_drop(serve_state *st, conn *c)
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

void batch_wait(loop *l, conn *c, send_result r, int64_t timeout)
{
    if (r == SEND_COLD) {
        loop_wait(l, c, LOOP_END_ONLY, l->now + PAGE_CACHE_WAIT);
    }
    else {
        loop_wait(l, c, EPOLLOUT, l->now + timeout);
    }
}

static batch_state wait_to_send(batch *b, send_result r, const char *rest,
                                size_t len)
{
    sending *job = b->c->answer;

    if (finish_keep(b->c, rest, len)) {
        loop_close(b->l, b->c);
        return BATCH_GONE;
    }
    job->close = (uint8_t)b->close;
    job->timeout = b->timeout;
    job->idle = b->idle;
    send_keep(job, len + transport_pending(b->c));
    score_wait(&b->st->score, job);
    b->c->state = CONN_SENDING;
    batch_wait(b->l, b->c, r, b->timeout);
    return BATCH_BLOCKED;
}

/* Lines and counts of what was just sent, or of what waits in c->answer. */
static void end_batch(batch *b, send_result r)
{
    int64_t left = r == SEND_FAILED ? b->unsent : 0;
    sending *job = b->c->answer;
    serve_state *st = b->st;

    if (b->close) {
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

size_t batch_skip_blank(batch *b, const char *bytes, size_t len)
{
    return b->close
               ? 0
               : blank_skip(bytes, len, DEFAULT_LIMIT_BLANK_LINES, &b->close);
}

/* Acts on the result of a send; @a rest are the connection's unread bytes. */
static batch_state sent(batch *b, send_result r, const char *rest, size_t len)
{
    if (r != SEND_DONE && r != SEND_FAILED) {
        batch_skip_blank(b, rest, len);
    }
    end_batch(b, r);
    switch (r) {
    case SEND_DONE:
        return BATCH_ON;
    case SEND_FAILED:
        loop_close(b->l, b->c);
        return BATCH_GONE;
    default:
        return wait_to_send(b, r, rest, len);
    }
}

batch_state batch_flush(batch *b, const char *rest, size_t len)
{
    sending *left = NULL;
    send_result r;

    b->unsent = INT64_MAX;
    r = send_flush(&b->st->out, b->st->cache, b->c, 0, &left);
    b->c->answer = left;
    return sent(b, r, rest, len);
}

/* The batch with the head, then the file. */
static batch_state send_file(batch *b, cache_entry *e,
                             const response_reply *reply, const char *rest,
                             size_t len)
{
    sending *job = send_make();
    send_result r;

    b->unsent = INT64_MAX;
    if (!job) {
        /* Or the next connection would get what was gathered for this. */
        send_drop(&b->st->out, b->st->cache);
        return sent(b, SEND_FAILED, rest, len);
    }
    cache_hold(e);
    job->entry = e;
    job->file_off = reply->body_off;
    job->file_left = reply->body_len;
    job->by_read = (uint8_t)server_of(e)->no_sendfile;
    b->c->answer = job;
    r = send_flush(&b->st->out, b->st->cache, b->c, 1, &job);
    if (r == SEND_DONE) {
        r = send_go_on(&b->st->out, b->c, job, b->l->now);
        b->unsent = send_left(job);
    }
    if (r == SEND_DONE) {
        batch_drop(b->st, b->c);
    }
    return sent(b, r, rest, len);
}

/* Makes the reply in the batch; the batch may be sent for want of room.
 * @return BATCH_ON with *declined as of response_make(); else the result of the
 *         send */
static batch_state make(batch *b, cache_entry *e, const request *req,
                        const char *head, size_t left, response_reply *reply,
                        int *declined)
{
    const lesson_server *v = server_of(e);
    response_connection state = {
        .keepalives = (int)b->c->keepalives,
        .keep_alive = v->keep_alive,
        .max = v->keep_alive_max,
        .timeout = v->keep_alive_timeout,
        .stopping = __atomic_load_n(&b->l->stop, __ATOMIC_RELAXED) != LOOP_RUN,
    };
    size_t size = e->answer.head_len + RESPONSE_EXTRA;
    char *room = send_head_room(&b->st->out, size);

    *declined = -1;
    if (!room) {
        batch_state r;

        /* The entry must outlive what the flush does to the cache. */
        cache_hold(e);
        r = batch_flush(b, head, left);
        cache_release(b->st->cache, e);
        if (r != BATCH_ON) {
            return r;
        }
        room = send_head_room(&b->st->out, size);
    }
    if (room) {
        *declined = response_make(&e->answer, req, head, &b->st->clock, &state,
                                  room, size, reply);
    }
    return BATCH_ON;
}

static void count(batch *b, const request *req, const response_reply *reply)
{
    score_add(&b->st->score, req->consumed + (b->st->lines.piped != 0),
              reply->head_len, reply->body_len, reply->content);
    seat_row *row = b->l->row;

    if (row) {
        SEAT_ADD(row, requests, 1);
        SEAT_ADD(row, loop_hits, 1);
        SEAT_ADD(row, bytes, reply->head_len + (uint64_t)reply->body_len);
    }
}

/* A request that is mine and known. @return 0, or as of response_make(): it is
 * httpd's after all */
static int repeat(batch *b, cache_entry *e, const request *req,
                  const char *head, size_t left, batch_state *result)
{
    response_reply reply;
    const char *rest = head + req->consumed;
    size_t rest_len = left - req->consumed;
    int declined;

    if (pending_log_reserve(&b->st->lines)) {
        return -1;
    }
    *result = make(b, e, req, head, left, &reply, &declined);
    if (declined) {
        pending_log_cancel(&b->st->lines);
        return *result == BATCH_ON ? declined : 0;
    }
    pending_log_add(&b->st->lines, b->c, e, server_of(e)->server, req, head,
                    b->st->out.head + b->st->out.head_used, &reply);
    b->c->keepalives = (uint32_t)reply.keepalives;
    b->close = !reply.keepalive;
    b->idle = server_of(e)->idle / 1000;
    b->timeout = server_of(e)->timeout / 1000;
    count(b, req, &reply);
    if (reply.body_len == 0 || e->file->data) {
        send_add(&b->st->out, reply.head_len,
                 reply.body_len ? e->file->data + reply.body_off : NULL,
                 (size_t)reply.body_len, e);
        return 0;
    }
    send_add(&b->st->out, reply.head_len, NULL, 0, e);
    *result = send_file(b, e, &reply, rest, rest_len);
    return 0;
}

batch_state batch_hand_over(batch *b, const request *req,
                            const unsigned char *key, size_t key_len,
                            conn_note_ask ask, const char *head, size_t left)
{
    batch_state r = batch_flush(b, head, left);
    conn *c = b->c;

    if (r != BATCH_ON) {
        return r;
    }
    if (b->close) {
        finish_linger(b->l, c);
        return BATCH_GONE;
    }
    if (key_len) {
        c->note = conn_note_make(req, head, key, key_len, b->st->vary,
                                 (int)c->keepalives, c->keepalives == 0, ask,
                                 b->l->now);
        c->drop_note = free;
    }
    else if (b->why) {
        c->note = (void *)conn_note_not_mine((request_why)(b->why - 1));
        c->drop_note = NULL;
    }
    finish_httpd(b->l, c, head, left);
    return BATCH_GONE;
}

static void forget_hints(const unsigned char *key, size_t len, size_t base)
{
    if (len) {
        key_hints_forget(key, len, 0);
    }
    key_hints_forget(key, base, 1);
}

/* Whether httpd takes a Host on a TLS connection is known of the one that it
 * took (421, SSLStrictSNIVHostCheck). */
static int has_known_host(const conn *c, const request *req, const char *head)
{
    const request_slice *host = &req->header[REQUEST_HOST];

    return !c->kept
           || (request_has(req, REQUEST_HOST)
               && session_is_host(c->kept, head + host->off, host->len));
}

batch_state batch_add(batch *b, const char *head, size_t left,
                      const request *req)
{
    unsigned char key[REQUEST_KEY];
    size_t base,
        len = state_key(req, head, &b->c->local, b->c->kept,
                        (int)b->c->keepalives, b->st->vary, key, &base);
    int known_host = has_known_host(b->c, req, head);
    cache_entry *e =
        base && known_host
            ? cache_find(b->st->cache, &(cache_key){key, len, base, 0})
            : NULL;
    conn_note_ask ask = CONN_NOTE_NEW;
    batch_state result;

    if (e
        && setenvif_has_match(req, head, server_of(e)->server,
                              server_of(e)->sections)) {
        b->why = not_mine_count(REQUEST_WHY_SETENVIF);
        len = 0;
        e = NULL;
    }
    else if (!len && !e) {
        b->why = not_mine_count(REQUEST_WHY_KEY);
    }
    if (e && cache_may_use(b->st->cache, e, b->l->now)) {
        if (len && revalidate_is_audit(b->l, b->st, e)) {
            ask = CONN_NOTE_AUDIT;
        }
        else if (len) {
            ask = revalidate_ask(b->l, e, req, head, b->st->clock.seconds);
        }
        if (ask == CONN_NOTE_NEW) {
            int declined = repeat(b, e, req, head, left, &result);

            if (!declined) {
                return result;
            }
            /* What the answer does not cover is not to be learned anew. */
            ask = declined == RESPONSE_ASK_304 ? CONN_NOTE_304 : ask;
            len = declined == RESPONSE_ASK_304 ? len : 0;
        }
    }
    else if (base && known_host) {
        forget_hints(key, len, base);
    }
    return batch_hand_over(b, req, key, len, ask, head, left);
}
