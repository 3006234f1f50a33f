/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/pending_log.h"

#include <stdlib.h>
#include <string.h>

#include "tls/session.h"

int pending_log_reserve(pending_log *ls)
{
    if (!ls->needed) {
        return 0;
    }
    return ls->n < SEND_PARTS ? access_log_reserve() : -1;
}

void pending_log_cancel(pending_log *ls)
{
    if (ls->needed) {
        access_log_cancel();
    }
}

/* As logs count it. */
static int64_t sent_by(const conn *c, int64_t len)
{
    return c->kept ? session_wire(c->kept, len) : len;
}

void pending_log_add(pending_log *ls, const conn *c, cache_entry *e,
                     const server_rec *s, const request *req, const char *head,
                     const char *made, const response_reply *reply)
{
    line *l;

    if (!ls->needed) {
        return;
    }
    l = &ls->line[ls->n++];
    l->req = *req;
    l->entry = e;
    cache_hold(e);
    l->record = (access_log_record){
        .server = s,
        .remote = &c->remote,
        .local = &c->local,
        .req = &l->req,
        .head = head,
        .answer = made,
        .answer_len = reply->head_len,
        .path = e->path,
        .env = e->answer.env,
        .env_len = e->answer.env_len,
        .start = ls->start,
        .piped = ls->piped,
        .status = reply->status,
        .message = e->answer.message,
        .body = reply->content,
        .sent = sent_by(c, (int64_t)reply->head_len + reply->body_len),
        .keepalives = reply->keepalives,
        .keepalive = reply->keepalive,
        .tls = c->kept != NULL,
    };
}

void pending_log_close(pending_log *ls, int waits)
{
    access_log_record *last = ls->n ? &ls->line[ls->n - 1].record : NULL;

    if (last && (waits || !last->body)) {
        last->keepalive = 0;
    }
}

/* What has left belongs to the first of them. As httpd has it: what was to be
 * sent is the body's length, and what was sent is what the kernel took. */
static void settle(access_log_record *r, int64_t *sent)
{
    if (r->sent > *sent) {
        r->aborted = 1;
        r->sent = *sent;
    }
    *sent -= r->sent;
}

void pending_log_end(pending_log *ls, cache *c, int64_t left)
{
    int64_t sent = 0;
    int i;

    for (i = 0; i < ls->n; i++) {
        sent += ls->line[i].record.sent;
    }
    sent = left < sent ? sent - left : 0;
    for (i = 0; i < ls->n; i++) {
        settle(&ls->line[i].record, &sent);
        access_log_write(&ls->line[i].record);
        cache_release(c, ls->line[i].entry);
    }
    ls->n = 0;
}

/* A copy with its request's and its answer's head behind it. */
static line *copy_line(const line *from)
{
    size_t head = from->req.consumed, made = from->record.answer_len;
    line *l = malloc(sizeof(*l) + head + made);
    char *bytes;

    if (!l) {
        return NULL;
    }
    *l = *from;
    bytes = (char *)(l + 1);
    memcpy(bytes, from->record.head, head);
    memcpy(bytes + head, from->record.answer, made);
    l->remote = *from->record.remote;
    l->local = *from->record.local;
    l->record.remote = &l->remote;
    l->record.local = &l->local;
    l->record.req = &l->req;
    l->record.head = bytes;
    l->record.answer = bytes + head;
    l->next = NULL;
    return l;
}

line *pending_log_keep(pending_log *ls, cache *c)
{
    line *first = NULL, **end = &first;
    int i;

    for (i = 0; i < ls->n; i++) {
        line *l = copy_line(&ls->line[i]);

        if (l) {
            *end = l;
            end = &l->next;
        }
        else {
            access_log_write(&ls->line[i].record);
            cache_release(c, ls->line[i].entry);
        }
    }
    ls->n = 0;
    return first;
}

void pending_log_kept_end(cache *c, line *kept, int64_t left)
{
    int64_t sent = -left;
    line *l;

    for (l = kept; l; l = l->next) {
        sent += l->record.sent;
    }
    sent = sent < 0 ? 0 : sent;
    while ((l = kept)) {
        kept = l->next;
        settle(&l->record, &sent);
        access_log_write(&l->record);
        cache_release(c, l->entry);
        free(l);
    }
}
