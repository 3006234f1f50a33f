/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/rule_304.h"

#include "http/response_304.h"
#include "learn/file_id.h"

int rule_304_is_asked(const verdict_subject *s)
{
    return s->r->status == HTTP_NOT_MODIFIED
           && (s->t->note->ask == CONN_NOTE_304
               || s->t->note->ask == CONN_NOTE_AUDIT);
}

reason_id rule_304_file(verdict_subject *s)
{
    const request_rec *r = s->r;
    struct stat *st = &s->t->st;

    if ((r->path_info && *r->path_info) || stat(r->filename, st) != 0
        || !file_id_is(&r->finfo, st)) {
        return REASON_FILE;
    }
    return file_id_is_settled(st, r->request_time) ? REASON_OK : REASON_YOUNG;
}

reason_id rule_304_teach(verdict_subject *s, const response_connection *c,
                         uint64_t vary)
{
    const trace *t = s->t;
    const conn_note *n = t->note;
    char copy[RESPONSE_HEAD];
    response_304 u;

    if (vary & ~n->vary) {
        s->detail = "Vary names more than that of the 200";
        return REASON_HEAD;
    }
    if (response_304_learn(&u, t->head, t->head_len, t->clocked, copy,
                           &s->detail)) {
        return REASON_HEAD;
    }
    u.base = t->base;
    if (!u.base.known
        || !response_base_is_met(&u.base, &n->req, conn_note_head(n),
                                 apr_time_sec(s->r->request_time))
        || !response_304_is_exact(&u, &n->req, c, t->head, t->head_len)) {
        return REASON_VERIFY;
    }
    verdict_teach_304(s, &u);
    return REASON_OK;
}
