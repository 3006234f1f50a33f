/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/rule_environment.h"

#include "http_ssl.h"

#include "learn/environment.h"
#include "learn/setenvif.h"
#include "learn/setter.h"

/* Variables by which httpd decides about connection and protocol when it makes
 * a head: another request of the same key would show what this one does not. */
static const char *const deciding[] = {
    "nokeepalive",
    "downgrade-1.0",
    "force-response-1.0",
    "force-no-vary",
};

/* What mod_ssl tells of the handshake, after R5 has looked (SSLOptions
 * +StdEnvVars): another connection with the same key had another. The name in
 * the hello is in the key. */
static const char *tls_variable(const verdict_subject *s)
{
    const apr_array_header_t *all = apr_table_elts(s->r->subprocess_env);
    int i;

    for (i = 0; i < all->nelts; i++) {
        const char *name = APR_ARRAY_IDX(all, i, apr_table_entry_t).key;

        if (!strncasecmp(name, "SSL_", 4) && strcasecmp(name, "SSL_TLS_SNI")) {
            return name;
        }
    }
    return NULL;
}

/* R4, R5: marked while it happened (authz, trace_hooks). What mod_env adds
 * later is constant, but httpd may look at it and a log may show it; a log may
 * also show that the error log has something about the request. */
reason_id rule_environment(verdict_subject *s)
{
    const apr_table_t *env = s->r->subprocess_env;
    size_t i;

    for (i = 0; i < sizeof(deciding) / sizeof(deciding[0]); i++) {
        if (apr_table_get(env, deciding[i])) {
            s->detail = deciding[i];
            return REASON_ENVIRONMENT;
        }
    }
    if (ap_ssl_conn_is_ssl(s->r->connection)
        && (s->detail = tls_variable(s)) != NULL) {
        return REASON_ENVIRONMENT;
    }
    if (s->server->logs_id && s->r->log_id) {
        s->detail = "%L, and the error log tells of it";
        return REASON_ENVIRONMENT;
    }
    /* It may have set a variable, or taken one away. */
    if (setenvif_has_match(&s->t->note->req, conn_note_head(s->t->note),
                           s->r->server, trace_looks(s->r, s->t))) {
        s->detail = "a SetEnvIf or BrowserMatch matches";
        s->by = setter_find(s->server->index, s->r, NULL);
        return REASON_ENVIRONMENT;
    }
    return REASON_OK;
}

/* Logs count the bytes of records. Of those that were read the loop knows
 * nothing; those that were sent follow from the answer's length (session_wire),
 * if mod_ssl got a file, in pieces of the usual size. */
static const char *tls_uncounted(const verdict_subject *s)
{
    if (!ap_ssl_conn_is_ssl(s->r->connection)) {
        return NULL;
    }
    if (s->server->logs_read) {
        return "%I or %S, of TLS";
    }
    return s->server->logs_sent && (s->t->coding || s->core->read_buf_size)
               ? "%O, of TLS and a compressed answer or with ReadBufferSize"
               : NULL;
}

/* R5: the variables that its log lines depend on go with the answer. */
reason_id rule_environment_keep(verdict_subject *s, response *a)
{
    const char *uncounted = tls_uncounted(s);
    char *text = apr_palloc(s->r->pool, RESPONSE_ENV);
    int len = environment_copy(s->r, s->server->log_variables, text);

    if (uncounted) {
        s->detail = uncounted;
        return REASON_ENVIRONMENT;
    }
    if (len < 0) {
        s->detail = "too long for the loop to log";
        return REASON_ENVIRONMENT;
    }
    a->env = text;
    a->env_len = (uint16_t)len;
    return REASON_OK;
}
