/* SPDX-License-Identifier: Apache-2.0 */
#include "log/access_log_line.h"

#include "http_connection.h"
#include "http_core.h"
#include "http_log.h"
#include "http_protocol.h"
#include "apr_lib.h"
#include "apr_optional.h"
#include "apr_strings.h"

#include <strings.h>

#include "log/access_log_writer.h"
#include "log/access_log_time.h"
#include "log/access_log_tls.h"
#include "log/log_format.h"

APLOG_USE_MODULE(cpuaffinity);

struct accesslogline {
    conn_rec *c;
    conn_rec blank;   /* *c before its first line */
    apr_pool_t *pool; /* of one line */
    int fields;       /* log_format_fields() */
    apr_table_t *empty;
    ap_method_list_t *methods;
    APR_OPTIONAL_FN_TYPE(ap_logio_add_bytes_out) * add_out;
    APR_OPTIONAL_FN_TYPE(ap_logio_add_bytes_in) * add_in;
};

/* Other modules' pre_connection: mod_logio needs it for its counters. Ours
 * would take this thread for a worker. */
static void pre_connection(conn_rec *c, apr_socket_t *socket)
{
    apr_array_header_t *a = ap_hook_get_pre_connection();
    int i, rc = OK;

    for (i = 0; a && i < a->nelts && (rc == OK || rc == DECLINED); i++) {
        const ap_LINK_pre_connection_t *l =
            &APR_ARRAY_IDX(a, i, ap_LINK_pre_connection_t);

        if (strcmp(l->szName, "mod_cpuaffinity.c")) {
            rc = l->pFunc(c, socket);
        }
    }
}

accesslogline *access_log_line_make(apr_pool_t *p, server_rec *s)
{
    accesslogline *l = apr_pcalloc(p, sizeof(*l));
    apr_socket_t *socket;
    apr_status_t rv;
    conn_rec *c;

    rv = apr_socket_create(&socket, APR_INET, SOCK_STREAM, APR_PROTO_TCP, p);
    if (rv != APR_SUCCESS) {
        ap_log_error(APLOG_MARK, APLOG_ERR, rv, s,
                     "FixedStatic: no socket for the access log");
        return NULL;
    }
    c = l->c = apr_pcalloc(p, sizeof(*c));
    c->pool = p;
    c->base_server = s;
    c->conn_config = ap_create_conn_config(p);
    c->notes = apr_table_make(p, 5);
    c->bucket_alloc = apr_bucket_alloc_create(p);
    pre_connection(c, socket);
    l->blank = *c;
    apr_pool_create(&l->pool, p);
    l->fields = log_format_fields();
    l->empty = apr_table_make(p, 1);
    l->methods = ap_make_method_list(p, 2);
    l->add_out = APR_RETRIEVE_OPTIONAL_FN(ap_logio_add_bytes_out);
    l->add_in = APR_RETRIEVE_OPTIONAL_FN(ap_logio_add_bytes_in);
    return l;
}

static apr_sockaddr_t *address(apr_pool_t *p, const addr *from, char **text)
{
    apr_sockaddr_t *a = apr_pcalloc(p, sizeof(*a));

    a->pool = p;
    a->family = from->any.sa_family;
    a->salen = addr_len(from);
    memcpy(&a->sa, from, a->salen);
    if (a->family == AF_INET6) {
        a->port = ntohs(from->in6.sin6_port);
        a->ipaddr_ptr = &a->sa.sin6.sin6_addr;
        a->ipaddr_len = sizeof(a->sa.sin6.sin6_addr);
        a->addr_str_len = 46;
    }
    else {
        a->port = ntohs(from->in.sin_port);
        a->ipaddr_ptr = &a->sa.sin.sin_addr;
        a->ipaddr_len = sizeof(a->sa.sin.sin_addr);
        a->addr_str_len = 16;
    }
    if (apr_sockaddr_ip_get(text, a) != APR_SUCCESS) {
        *text = apr_pstrdup(p, "unknown");
    }
    return a;
}

/* Nothing of an earlier line is left, and what the hooks attach to the
 * connection for this one goes with the line's pool. */
static void fill_connection(accesslogline *l, const access_log_record *rec)
{
    apr_pool_t *p = l->pool;
    conn_rec *c = l->c;

    *c = l->blank;
    c->pool = p;
    c->notes = apr_table_make(p, 1);
    c->client_addr = address(p, rec->remote, &c->client_ip);
    c->local_addr = address(p, rec->local, &c->local_ip);
    c->keepalives = rec->keepalives;
    c->keepalive = rec->keepalive ? AP_CONN_KEEPALIVE : AP_CONN_CLOSE;
    c->aborted = rec->aborted != 0;
}

/* Fields of a head that is known to be well formed: "Name: value", without
 * its first line. Of several with one name all are kept, as httpd does. */
static void fields(apr_pool_t *p, apr_table_t *table, const char *head,
                   size_t len)
{
    const char *line = memchr(head, '\n', len), *last = head + len;

    while (line && ++line < last) {
        const char *end = memchr(line, '\n', (size_t)(last - line));
        const char *stop = end ? end : last, *colon;

        if (stop > line && stop[-1] == '\r') {
            stop--;
        }
        colon = memchr(line, ':', (size_t)(stop - line));
        if (colon) {
            const char *value = colon + 1;

            while (value < stop && (*value == ' ' || *value == '\t')) {
                value++;
            }
            while (stop > value && (stop[-1] == ' ' || stop[-1] == '\t')) {
                stop--;
            }
            apr_table_mergen(table, apr_pstrmemdup(p, line, colon - line),
                             apr_pstrmemdup(p, value, stop - value));
        }
        line = end;
    }
}

/* The Host field as httpd takes it for a name: lower case, no port. */
static const char *host_name(apr_pool_t *p, const char *host, size_t len)
{
    const char *colon = memchr(host, ':', len);
    char *name, *dot;

    if (!len) {
        return NULL;
    }
    name = apr_pstrmemdup(p, host, colon ? (size_t)(colon - host) : len);
    ap_str_tolower(name);
    dot = name + strlen(name) - 1;
    if (dot > name && *dot == '.') {
        *dot = '\0';
    }
    return name;
}

/* What the client sent. */
static void fill_request(request_rec *r, const access_log_record *rec,
                         int need_fields)
{
    const request *q = rec->req;
    const request_slice *host = &q->header[REQUEST_HOST];
    const char *base = ap_strrchr_c(rec->path, '/');
    char *query;

    r->the_request =
        apr_pstrmemdup(r->pool, rec->head + q->line.off, q->line.len);
    r->method = q->head_only ? "HEAD" : "GET";
    r->method_number = M_GET;
    r->header_only = q->head_only;
    r->proto_num = HTTP_VERSION(1, q->minor);
    r->protocol = q->minor ? "HTTP/1.1" : "HTTP/1.0";
    r->unparsed_uri =
        apr_pstrmemdup(r->pool, rec->head + q->target.off, q->target.len);
    r->uri = apr_pstrmemdup(r->pool, rec->head + q->path.off, q->path.len);
    query = ap_strchr(r->unparsed_uri, '?');
    r->args = query ? query + 1 : NULL;
    /* mod_dir went on to the index file. */
    if (!rec->message && q->path.len && r->uri[q->path.len - 1] == '/'
        && base) {
        r->uri = apr_pstrcat(r->pool, r->uri, base + 1, NULL);
    }
    if (need_fields) {
        r->headers_in = apr_table_make(r->pool, 16);
        fields(r->pool, r->headers_in, rec->head, q->consumed);
    }
    if (q->present & (uint64_t)1 << REQUEST_HOST) {
        r->hostname = host_name(r->pool, rec->head + host->off, host->len);
    }
}

/* What it got. */
static void fill_answer(request_rec *r, const access_log_record *rec,
                        int need_fields)
{
    r->status = rec->status;
    r->bytes_sent = rec->body;
    r->sent_bodyct = rec->body > 0;
    if (need_fields) {
        r->headers_out = apr_table_make(r->pool, 12);
        fields(r->pool, r->headers_out, rec->answer, rec->answer_len);
        /* httpd has these in the head, not in its table. */
        apr_table_unset(r->headers_out, "Date");
        apr_table_unset(r->headers_out, "Server");
        r->content_type = apr_table_get(r->headers_out, "Content-Type");
    }
    r->filename = *rec->path ? apr_pstrdup(r->pool, rec->path) : NULL;
}

/* The variables that logs show, as httpd had them when it gave the answer. */
static void fill_env(request_rec *r, const access_log_record *rec)
{
    const char *p = rec->env, *end = p + rec->env_len;

    if (rec->env_len) {
        r->subprocess_env = apr_table_make(r->pool, 4);
    }
    while (p < end) {
        const char *value = p + strlen(p) + 1;

        apr_table_setn(r->subprocess_env, p, value);
        p = value + strlen(value) + 1;
    }
}

static request_rec *make_request(accesslogline *l, const access_log_record *rec)
{
    request_rec *r = apr_pcalloc(l->pool, sizeof(*r));

    r->pool = l->pool;
    r->connection = l->c;
    r->server = (server_rec *)rec->server;
    r->per_dir_config = r->server->lookup_defaults;
    r->request_config = ap_create_request_config(r->pool);
    r->allowed_methods = l->methods;
    /* Log hooks do not change these tables. */
    r->headers_in = r->headers_out = r->err_headers_out = l->empty;
    r->trailers_in = r->trailers_out = l->empty;
    r->subprocess_env = r->notes = l->empty;
    r->used_path_info = AP_REQ_DEFAULT_PATH_INFO;
    r->useragent_addr = l->c->client_addr;
    r->useragent_ip = l->c->client_ip;
    return r;
}

void access_log_line_write(accesslogline *l, const access_log_record *rec,
                           apr_time_t end)
{
    request_rec *r;

    fill_connection(l, rec);
    r = make_request(l, rec);
    fill_request(r, rec, l->fields & LOG_FORMAT_IN);
    fill_answer(r, rec, l->fields & LOG_FORMAT_OUT);
    fill_env(r, rec);
    if (l->add_in && l->add_out) {
        /* httpd counts twice what it reads to see whether there is a next
         * request. */
        l->add_in(l->c, rec->req->consumed + (rec->piped != 0));
        l->add_out(l->c, rec->sent);
    }
    r->request_time = rec->start;
    access_log_time_set(end);
    access_log_tls_set(rec->tls);
    ap_run_log_transaction(r);
    access_log_tls_set(0);
    access_log_time_set(0);
    *l->c = l->blank;
    apr_pool_clear(l->pool);
}

void access_log_line_flush(accesslogline *l)
{
    request_rec *r = apr_pcalloc(l->pool, sizeof(*r));

    r->pool = l->pool;
    r->connection = l->c;
    r->server = l->c->base_server;
    access_log_writer_flush(r);
    apr_pool_clear(l->pool);
}
