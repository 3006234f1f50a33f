/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/verdict.h"

#include "http_log.h"

#include <stdlib.h>
#include <string.h>

#include "learn/blame.h"
#include "learn/counters.h"
#include "learn/htaccess.h"
#include "learn/outbox.h"
#include "loop/loop.h"

APLOG_USE_MODULE(cpuaffinity);

/* Does a refusal show that the loop would have been wrong? Not when the request
 * asked for less than the whole, not when the process began to stop in between,
 * and not for want of memory: clients that read slowly may have it. */
static int tells(const verdict_subject *s, reason_id reason)
{
    const capture *c = s->t->capture;

    return request_is_whole(&s->t->note->req) && reason != REASON_VERIFY
           && reason != REASON_AUDIT && !(c && c->lack);
}

/* Of the head that was sent: an error document's request has its own. */
static int status_of(const verdict_subject *s)
{
    const trace *t = s->t;

    return t->head_len >= sizeof("HTTP/1.1 200") - 1
                   && !memcmp(t->head, "HTTP/1.1 ", 9)
               ? atoi(t->head + 9)
               : s->r->status;
}

static const watched *watched_of(const verdict_subject *s)
{
    return s->t->access ? &s->t->access->on : NULL;
}

void verdict_refuse(verdict_subject *s, reason_id reason)
{
    const conn_note *n = s->t->note;
    loop *to = loop_get();

    if (to && to->row) {
        SEAT_ADD(to->row, refused, 1);
    }
    blame_refused(s->server, s->r, reason, s->by, s->detail);
    if (s->server && reason != REASON_OFF) {
        int level = counters_refused(reason, s->server->index) ? APLOG_INFO
                                                               : APLOG_DEBUG;

        /* Not ap_log_rerror: that would give the request a log id. */
        ap_log_error(APLOG_MARK, level, 0, s->r->server,
                     "FixedStatic: %s is not learned (%s): %s%s%s", s->r->uri,
                     reason_rule(reason), reason_text(reason),
                     s->detail ? ": " : "", s->detail ? s->detail : "");
    }
    if (n->ask == CONN_NOTE_304
        || (n->ask != CONN_NOTE_NEW && tells(s, reason))) {
        lesson *l =
            lesson_make(n, LESSON_REFUSED, NULL, s->r->filename, watched_of(s));

        if (l) {
            l->reason = reason;
            l->status = status_of(s);
            l->server.server = s->r->server;
            outbox_post(l);
        }
    }
}

/* What an answer and a 304 have in common. */
static void fill(const verdict_subject *s, lesson *l)
{
    const server_rec *v = s->r->server,
                     *idle = conn_note_host(s->r->connection);

    blame_taught(s->server, s->t->note->ask != CONN_NOTE_NEW);
    l->reason = REASON_OK;
    l->status = s->r->status;
    l->when = s->t->capture ? s->t->capture->when : clock_ms();
    l->st = s->t->st;
    l->cause = (uint8_t)s->t->cause;
    l->digest = s->t->digest;
    /* A redirect has it in its Location. */
    l->shared =
        s->t->cause != CACHE_CAUSE_KEY && s->t->cause != CACHE_CAUSE_DIRECTORY
        && !s->server->query_reader && !counters_is_by_query(s->server->index);
    l->server.server = v;
    l->server.sections = trace_looks(s->r, s->t);
    l->server.keep_alive = v->keep_alive;
    l->server.keep_alive_max = v->keep_alive_max;
    l->server.keep_alive_timeout = v->keep_alive_timeout;
    l->server.idle = (idle ? idle : v)->keep_alive_timeout;
    /* The MPM waits for sendfile(), a worker for what was read. */
    l->server.timeout =
        (idle && s->core->enable_sendfile == ENABLE_SENDFILE_ON ? idle : v)
            ->timeout;
    /* Who forbids mmap() knows that the file may be cut. */
    l->server.no_sendfile =
        s->core->enable_sendfile == ENABLE_SENDFILE_OFF
        || (s->core->enable_sendfile == ENABLE_SENDFILE_UNSET
            && s->core->enable_mmap == ENABLE_MMAP_OFF);
}

static void post(const verdict_subject *s, lesson *l, const char *what)
{
    int is_answer = l->kind != LESSON_WIDEN;

    ap_log_error(APLOG_MARK, APLOG_DEBUG, 0, s->r->server,
                 "FixedStatic: %s%s is learned", what, s->r->uri);
    outbox_post(l);
    if (is_answer) {
        conn_note_taught(s->r->connection, s->t->note);
    }
}

void verdict_teach(verdict_subject *s, const response *a, uint64_t vary)
{
    lesson_kind kind = vary & ~s->t->note->vary ? LESSON_WIDEN : LESSON_ANSWER;
    lesson *l =
        lesson_make(s->t->note, kind, a, s->r->filename ? s->r->filename : "",
                    watched_of(s));

    if (!l) {
        return;
    }
    fill(s, l);
    l->vary = vary;
    if (s->t->capture && kind == LESSON_ANSWER) {
        l->body = capture_release(s->t->capture);
    }
    post(s, l, "");
}

void verdict_teach_304(verdict_subject *s, const response_304 *u)
{
    lesson *l = lesson_make_304(s->t->note, u, s->r->filename, watched_of(s));

    if (l) {
        fill(s, l);
        post(s, l, "the 304 of ");
    }
}
