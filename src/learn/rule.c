/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/rule.h"

#include "http_config.h"
#include "http_connection.h"
#include "http_core.h"
#include "http_protocol.h"
#include "http_request.h"
#include "http_ssl.h"
#include "ap_mpm.h"
#include "apr_date.h"
#include "apr_strings.h"

#include "conf/config.h"
#include "handoff/input_gate.h"
#include "learn/counters.h"
#include "learn/file_id.h"
#include "learn/filter.h"
#include "learn/htaccess.h"
#include "learn/mark.h"
#include "learn/modules.h"
#include "learn/obstacles.h"
#include "learn/rule_304.h"
#include "learn/rule_direct.h"
#include "learn/rule_environment.h"
#include "learn/rule_message.h"
#include "learn/rule_vary.h"
#include "learn/verdict.h"

/* Has a section that applied something for the module? */
static int is_set(const request_rec *r, const ap_conf_vector_t *dir,
                  const module *m)
{
    return ap_get_module_config(dir, m)
           != ap_get_module_config(r->server->lookup_defaults, m);
}

/* S2 and FixedStatic itself in the sections that applied. A module that is
 * inert only where it is not configured: merging keeps the pointer of what no
 * section has set. */
static reason_id sections(verdict_subject *s, const ap_conf_vector_t *dir)
{
    const config_dir *mine = config_dir_get(dir);
    const module *tls = vhost_tls_module();
    module *const *m;

    if (mine->fixed_static != 1) {
        return REASON_OFF;
    }
    /* It may ask for a certificate, or show what the handshake gave. */
    if (tls && ap_ssl_conn_is_ssl(s->r->connection) && is_set(s->r, dir, tls)) {
        s->detail = tls->name;
        return REASON_SECTION;
    }
    for (m = vhost_sections(); *m; m++) {
        if (is_set(s->r, dir, *m)) {
            s->detail = (*m)->name;
            return REASON_SECTION;
        }
    }
    if (mine->refused != CONFIG_UNSET) {
        const ap_directive_t *node = mark_node(mine->refused);
        const obstacle *o = obstacles_of(s->server->index, node);

        s->by = o;
        s->detail =
            o ? obstacle_text(s->r->pool, o) : tree_where(s->r->pool, node);
        return REASON_SECTION;
    }
    return REASON_OK;
}

/* The same for both requests where mod_dir went from one to another. */
static reason_id both(verdict_subject *s,
                      reason_id (*rule)(verdict_subject *,
                                        const ap_conf_vector_t *))
{
    const ap_conf_vector_t *asked = s->t->asked;
    reason_id reason = rule(s, s->r->per_dir_config);

    return reason == REASON_OK && asked && asked != s->r->per_dir_config
               ? rule(s, asked)
               : reason;
}

/* S1, S2: is this scope to be learned at all? */
static reason_id scope(verdict_subject *s)
{
    reason_id reason;

    if (!s->server) {
        return REASON_OFF;
    }
    reason = both(s, sections);
    if (reason == REASON_OFF) {
        return reason;
    }
    if (s->server->reason != REASON_OK) {
        s->detail = s->server->why;
        return s->server->reason;
    }
    if (modules_have_changed()) {
        s->detail = "a hook was registered late";
        return REASON_MODULE;
    }
    return counters_is_off(s->server->index) ? REASON_AUDIT : reason;
}

/* R0: it is the very request that the recogniser saw: same place on the
 * connection, same target. */
static reason_id r0_one_key(verdict_subject *s)
{
    const conn_note *n = s->t->note;
    const request_slice *target = &n->req.target;
    const char *head = conn_note_head(n);
    const request_rec *r = s->r;

    if (!r->unparsed_uri || strlen(r->unparsed_uri) != target->len
        || memcmp(r->unparsed_uri, head + target->off, target->len) != 0
        || r->proto_num != HTTP_VERSION(1, n->req.minor)) {
        return REASON_UNFIT;
    }
    return REASON_OK;
}

/* R1: a plain GET, answered with 200, on a plain connection. */
static reason_id r1_plain_get(verdict_subject *s)
{
    request_rec *r = s->r;

    if (r->main || r->prev || r->connection->master || r->method_number != M_GET
        || r->header_only || r->assbackwards
        || (r->status != HTTP_OK && !rule_304_is_asked(s)
            && !rule_message_is(s))
        || r->proxyreq || r->no_cache || r->no_local_copy || r->user
        || r->ap_auth_type) {
        s->detail = r->status == HTTP_OK ? NULL : apr_itoa(r->pool, r->status);
        return REASON_SHAPE;
    }
    /* httpd looked for such a file, at any level: it may appear. */
    return htaccess_judge(r, s->t->access, &s->detail);
}

/* S2. By R1 the path is the one that was asked for, and the file its own. */
static reason_id s2_claims(verdict_subject *s)
{
    s->detail = modules_claiming(s->r);
    return s->detail ? REASON_SECTION : REASON_OK;
}

static reason_id conditions(verdict_subject *s, const ap_conf_vector_t *dir)
{
    const core_dir_config *core = ap_get_core_module_config(dir);

    if (core->handler || core->expr_handler) {
        s->detail = "SetHandler";
        return REASON_HANDLER;
    }
    if (core->sec_if && core->sec_if->nelts) {
        s->detail = "<If>";
        return REASON_CONDITION;
    }
    return REASON_OK;
}

/* R2: the default handler chose the file, and no expression had a say. */
static reason_id r2_default_handler(verdict_subject *s)
{
    if (!s->t->defaulted) {
        s->detail = s->r->handler;
        return REASON_HANDLER;
    }
    return both(s, conditions);
}

static reason_id r2_no_conditions(verdict_subject *s)
{
    return both(s, conditions);
}

/* R3: nothing stands on the way out that could change, delay or stop it. */
static reason_id r3_way_out(verdict_subject *s)
{
    s->detail = filter_forbids(s->r, &s->t->filter, &s->t->clocked);
    return s->detail ? REASON_FILTER : REASON_OK;
}

void rule_filters(request_rec *r, trace *t)
{
    verdict_subject s = {.r = r, .t = t};

    if (r3_way_out(&s) != REASON_OK) {
        trace_mark(r, REASON_FILTER, s.detail);
    }
}

/* Of a compressed answer it is in the key, whatever Vary says. */
static const uint64_t by_coding = UINT64_C(1) << REQUEST_ACCEPT_ENCODING;

/* R6: one whole file, the one that was looked up, and settled. */
static reason_id r6_one_file(verdict_subject *s)
{
    trace *t = s->t;
    const struct stat *st = &t->st;

    if (s->r->status == HTTP_NOT_MODIFIED) {
        return rule_304_file(s);
    }
    if (!t->whole && t->filter) {
        t->coding = filter_acted(s->r);
        t->st = t->source;
    }
    if (!(t->coding ? t->sourced && t->note->vary & by_coding : t->whole)
        || (s->r->path_info && *s->r->path_info)
        || !file_id_is(&s->r->finfo, st)) {
        s->detail = t->filter;
        return REASON_FILE;
    }
    return file_id_is_settled(st, s->r->request_time) ? REASON_OK
                                                      : REASON_YOUNG;
}

/* What a filter makes of a tag when it is told to add its coding. */
static const char *suffixed(const verdict_subject *s, const char *tag)
{
    int len = (int)strlen(tag);

    return len && tag[len - 1] == '"' ? apr_psprintf(s->r->pool, "%.*s-%s\"",
                                                     len - 1, tag, s->t->coding)
                                      : "";
}

/* Does a section touch validators, or what the client says of them? */
static reason_id no_validators(verdict_subject *s, const ap_conf_vector_t *dir)
{
    return config_dir_get(dir)->plain == CONFIG_UNSET ? REASON_OK : REASON_HEAD;
}

static reason_id no_conditions(verdict_subject *s, const ap_conf_vector_t *dir)
{
    return config_dir_get(dir)->rewritten == CONFIG_UNSET ? REASON_OK
                                                          : REASON_HEAD;
}

static int is_rewritten(verdict_subject *s)
{
    const htaccess *a = s->t->access;

    return s->server->rewritten || (a && a->rewritten)
           || both(s, no_conditions) != REASON_OK;
}

/* R7: conditions and ranges are judged by ETag and Last-Modified; where these
 * are not what httpd computes, or MaxRanges is set, they are httpd's. */
static unsigned r7_flags(verdict_subject *s)
{
    const char *etag = apr_table_get(s->r->headers_out, "ETag");
    const char *modified = apr_table_get(s->r->headers_out, "Last-Modified");
    const char *computed = ap_make_etag(s->r, 0);
    unsigned flags = (s->t->filter ? RESPONSE_FILTERED : 0)
                     | (s->t->coding ? RESPONSE_ENCODED : 0)
                     | (s->t->clocked ? RESPONSE_CLOCKED : 0);

    if (s->t->coding && etag && computed
        && !strcmp(etag, suffixed(s, computed))) {
        etag = computed;
    }

    if (s->server->plain || (s->t->access && s->t->access->plain)
        || is_rewritten(s) || both(s, no_validators) != REASON_OK
        || s->core->max_ranges != AP_MAXRANGES_UNSET
        || strcmp(etag ? etag : "", computed ? computed : "") != 0 || !modified
        || apr_date_parse_http(modified)
               != apr_time_from_sec(apr_time_sec(s->r->mtime))) {
        flags |= RESPONSE_PLAIN;
    }
    return flags;
}

/* What the connection was before this request; c->keepalives has counted it
 * by now when it stays open. */
static response_connection connection_of(const verdict_subject *s)
{
    const server_rec *v = s->r->server;
    int state = AP_MPMQ_RUNNING;
    response_connection c = {
        .keepalives = s->t->note->keepalives,
        .keep_alive = v->keep_alive,
        .max = v->keep_alive_max,
        .timeout = v->keep_alive_timeout,
    };

    ap_mpm_query(AP_MPMQ_MPM_STATE, &state);
    c.stopping = state == AP_MPMQ_STOPPING;
    return c;
}

/* R7 and the first half of R8: the head can be taken apart, and making it
 * again gives the very same bytes. (That two answers agree is the cache's.) */
static reason_id r8_again(verdict_subject *s, response *a, char *copy)
{
    const conn_note *n = s->t->note;
    response_connection c = connection_of(s);

    if (response_learn(a, s->t->head, s->t->head_len,
                       s->t->coding ? -1 : s->t->st.st_size, r7_flags(s), copy,
                       &s->detail)) {
        return REASON_HEAD;
    }
    a->base = s->t->base;
    /* What httpd makes of a condition before it judges it is not known: they
     * are httpd's without its 304, too. */
    if (is_rewritten(s)) {
        memset(&a->base, 0, sizeof(a->base));
    }
    if (a->plain && !request_is_whole(&n->req)) {
        s->detail = "a conditional request, of an answer with other validators";
        return REASON_SHAPE;
    }
    return response_is_exact(a, &n->req, conn_note_head(n), &c, s->t->head,
                             s->t->head_len)
               ? REASON_OK
               : REASON_VERIFY;
}

typedef reason_id rule(verdict_subject *);
#define RULES 9

/* The rules that ask for no more than the request, in order. */
static rule *const file_rules[RULES] = {
    scope,       r0_one_key,       r1_plain_get,
    rule_direct, s2_claims,        r2_default_handler,
    r3_way_out,  rule_environment, r6_one_file,
};

/* Those for a message. R3 was judged when the filters for it stood: what writes
 * it adds one more. */
static rule *const message_rules[RULES] = {
    scope,
    r0_one_key,
    r1_plain_get,
    s2_claims,
    r2_no_conditions,
    rule_environment,
    rule_message_cause,
};

static verdict_subject subject_of(request_rec *r, trace *t)
{
    return (verdict_subject){
        .r = r,
        .t = t,
        .server = vhost_of(r->server),
        .core = ap_get_core_module_config(r->per_dir_config),
    };
}

/* The end of an answer that was captured. */
static void finish(verdict_subject *s, capture *c, int unchanged)
{
    uint64_t digest[2];

    s->detail = c->error;
    if (!htaccess_is_still(s->t->access)) {
        verdict_refuse(s, REASON_YOUNG);
        return;
    }
    if (!c->error) {
        capture_digest(c->body, c->len, digest);
        s->detail = !unchanged ? "the file changed while it was compressed"
                    : response_set_body(&c->answer, c->body, c->len, digest)
                        ? "its body is not as its head says"
                        : NULL;
    }
    if (s->detail) {
        verdict_refuse(s, REASON_BODY);
    }
    else {
        capture_trim(c);
        verdict_teach(s, &c->answer, c->vary);
    }
}

void rule_finish(request_rec *r, trace *t, int unchanged)
{
    verdict_subject s = subject_of(r, t);
    capture *c = t->capture;

    /* A client that has gone says nothing about the answer. */
    if (c && (c->whole || c->error)) {
        finish(&s, c, unchanged);
    }
    if (c) {
        capture_drop(c);
    }
}

/* What is left of R5, R7 and R8, and the lesson, or the start of its body. */
static reason_id teach(verdict_subject *s)
{
    char copy[RESPONSE_HEAD];
    uint64_t vary = 0;
    reason_id reason = rule_vary(s, &vary);
    response a;

    if (reason == REASON_OK && !htaccess_is_still(s->t->access)) {
        s->detail = ".htaccess";
        reason = REASON_YOUNG;
    }
    if (reason == REASON_OK && s->r->status != HTTP_OK) {
        response_connection c = connection_of(s);

        return s->r->status == HTTP_NOT_MODIFIED
                   ? rule_304_teach(s, &c, vary)
                   : rule_message_teach(s, &c, vary);
    }
    if (reason == REASON_OK) {
        reason = r8_again(s, &a, copy);
    }
    if (reason == REASON_OK) {
        reason = rule_environment_keep(s, &a);
    }
    if (reason == REASON_OK && s->t->coding) {
        s->t->capture = capture_make(s->r, &a, vary);
    }
    else if (reason == REASON_OK) {
        verdict_teach(s, &a, vary);
    }
    return reason;
}

void rule_judge(request_rec *r, trace *t)
{
    verdict_subject s = subject_of(r, t);
    rule *const *list = rule_message_is(&s) ? message_rules : file_rules;
    reason_id reason = REASON_OK;
    size_t i;

    /* An error document's request took the filter over. */
    if (trace_of(r) != t) {
        s.detail = "answered by another request";
        reason = REASON_SHAPE;
    }
    for (i = 0; i < RULES && list[i] && reason == REASON_OK; i++) {
        reason = list[i](&s);
        /* What was marked on the way is reported before the later rules. */
        if (i == 0 && reason == REASON_OK && t->reason != REASON_OK) {
            reason = t->reason;
            s.detail = t->detail;
        }
    }
    if (reason == REASON_OK) {
        reason = teach(&s);
    }
    if (reason != REASON_OK) {
        verdict_refuse(&s, reason);
    }
    /* It has no body: what follows is the next one's. */
    input_gate_shut(r->connection);
}
