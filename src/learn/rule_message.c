/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/rule_message.h"

#include "http_protocol.h"
#include "http_request.h"
#include "apr_strings.h"

#include "cache/cache_path.h"
#include "http/response.h"
#include "learn/environment.h"
#include "learn/rule_environment.h"

/* A longer text is nobody's error message. */
#define TEXT_LONGEST 4096

/* 403 is never among them: it is logged as an error, and others read that. */
static const int statuses[] = {
    HTTP_MOVED_PERMANENTLY,
    HTTP_MOVED_TEMPORARILY,
    HTTP_SEE_OTHER,
    HTTP_TEMPORARY_REDIRECT,
    HTTP_PERMANENT_REDIRECT,
    HTTP_NOT_FOUND,
    HTTP_GONE,
};

int rule_message_is(const verdict_subject *s)
{
    size_t i;

    for (i = 0; s->t->written && i < sizeof(statuses) / sizeof(statuses[0]);
         i++) {
        if (s->r->status == statuses[i]) {
            return 1;
        }
    }
    return 0;
}

/* The Location of mod_dir, which sends a directory's name on to itself with a
 * slash. */
static int is_slash(request_rec *r)
{
    const char *sent = apr_table_get(r->headers_out, "Location");
    const char *query = r->args ? apr_pstrcat(r->pool, "?", r->args, NULL) : "";
    const char *path = apr_pstrcat(
        r->pool,
        ap_escape_uri(r->pool, apr_pstrcat(r->pool, r->uri, "/", NULL)), query,
        NULL);

    return sent && r->status == HTTP_MOVED_PERMANENTLY
           && r->finfo.filetype == APR_DIR && !(r->path_info && *r->path_info)
           && !strcmp(sent, ap_construct_url(r->pool, path, r));
}

/* Nothing is there, and the default handler says so. With MultiViews other
 * names count. */
static int is_absent(const request_rec *r, const trace *t)
{
    return r->status == HTTP_NOT_FOUND && r->finfo.filetype == APR_NOFILE
           && t->defaulted && !(ap_allow_options((request_rec *)r) & OPT_MULTI);
}

/* By the time when httpd gave up. */
static reason_id cause(verdict_subject *s)
{
    request_rec *r = s->r;
    trace *t = s->t;

    if (!r->filename) {
        /* Before a file was looked for: mod_alias, of the server. */
        t->cause = CACHE_CAUSE_KEY;
        return REASON_OK;
    }
    t->cause = is_absent(r, t)                ? CACHE_CAUSE_ABSENT
               : !t->defaulted && is_slash(r) ? CACHE_CAUSE_DIRECTORY
                                              : CACHE_CAUSE_FILE;
    if (t->cause == CACHE_CAUSE_FILE) {
        s->detail = apr_itoa(r->pool, r->status);
        return REASON_SHAPE;
    }
    if (!t->mapped || strcmp(t->mapped, r->filename) != 0
        || cache_path_look(r->filename, t->cause, &t->digest)) {
        s->detail = "not simply missing, or a directory";
        return REASON_FILE;
    }
    return REASON_OK;
}

reason_id rule_message_cause(verdict_subject *s)
{
    request_rec *r = s->r;

    if (s->server->messages) {
        s->detail = s->server->messages;
        return REASON_SECTION;
    }
    if (r->htaccess || s->t->access) {
        s->detail = r->htaccess ? r->htaccess->dir : ".htaccess";
        return REASON_HTACCESS;
    }
    if (r->log_id) {
        s->detail = "the error log tells of it";
        return REASON_SHAPE;
    }
    if (s->core->use_canonical_name == USE_CANONICAL_NAME_DNS) {
        s->detail = "UseCanonicalName DNS";
        return REASON_SHAPE;
    }
    if (!s->t->fixed) {
        /* Else it was looked at in time. */
        s->detail =
            environment_first(r, !s->server->reads_unique, s->t->access);
        if (s->detail) {
            return REASON_ENVIRONMENT;
        }
    }
    return cause(s);
}

reason_id rule_message_teach(verdict_subject *s, const response_connection *c,
                             uint64_t vary)
{
    const conn_note *n = s->t->note;
    unsigned flags = RESPONSE_MESSAGE | (s->t->clocked ? RESPONSE_CLOCKED : 0);
    char copy[RESPONSE_HEAD];
    reason_id reason;
    response a;

    if (response_learn(&a, s->t->head, s->t->head_len, -1, flags, copy,
                       &s->detail)) {
        return REASON_HEAD;
    }
    if (a.size > TEXT_LONGEST || a.status != s->r->status) {
        s->detail = "longer than a message";
        return REASON_BODY;
    }
    if (!response_is_exact(&a, &n->req, conn_note_head(n), c, s->t->head,
                           s->t->head_len)) {
        return REASON_VERIFY;
    }
    reason = rule_environment_keep(s, &a);
    if (reason == REASON_OK) {
        s->t->capture = capture_make(s->r, &a, vary);
    }
    return reason;
}
