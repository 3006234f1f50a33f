/* SPDX-License-Identifier: Apache-2.0 */
#include "handoff/detach.h"

#include "http_config.h"
#include "http_connection.h"
#include "http_core.h"
#include "http_protocol.h"
#include "http_ssl.h"
#include "util_filter.h"
#include "apr_portable.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <string.h>

#include "handoff/input_gate.h"

static module *remoteip;

void detach_init(void)
{
    remoteip = ap_find_linked_module("mod_remoteip.c");
}

/* Connection filters that keep nothing between two requests. */
static const char *const plain[] = {"core_in", "core", "reqtimeout",
                                    "log_input_output", NULL};
/* The same of a TLS connection, which stays as it is with all of them: what
 * mod_ssl's hold is in the SSL object by then. */
static const char *const tls[] = {"core_in",
                                  "core",
                                  "reqtimeout",
                                  "log_input_output",
                                  "ssl/tls filter",
                                  "ssl/tls coalescing filter",
                                  "cpuaffinity_replay",
                                  "cpuaffinity_records",
                                  NULL};

static int is_known(const char *name, const char *const known[])
{
    int i;

    for (i = 0; known[i]; i++) {
        if (!strcmp(name, known[i])) {
            return 1;
        }
    }
    return 0;
}

static int all_known(const ap_filter_t *f, const char *const known[])
{
    for (; f; f = f->next) {
        if (!is_known(f->frec->name, known)) {
            return 0;
        }
    }
    return 1;
}

int detach_may(conn_rec *c)
{
    return !c->data_in_input_filters && detach_may_with_input(c);
}

static int is_between_requests(conn_rec *c, const char *const known[])
{
    apr_socket_t *socket = ap_get_conn_socket(c);
    apr_sockaddr_t *peer;

    return !c->master && c->sbh && socket && !c->aborted
           && c->keepalive == AP_CONN_KEEPALIVE && !c->data_in_output_filters
           && !c->clogging_input_filters && !c->outgoing
           && !strcmp(ap_get_protocol(c), AP_PROTOCOL_HTTP1)
           && all_known(c->input_filters, known)
           && all_known(c->output_filters, known)
           /* The PROXY protocol's header comes once per connection. */
           && !(remoteip && ap_get_module_config(c->conn_config, remoteip))
           && apr_socket_addr_get(&peer, APR_REMOTE, socket) == APR_SUCCESS
           && c->client_addr == peer;
}

int detach_may_with_input(conn_rec *c)
{
    return !ap_ssl_conn_is_ssl(c) && is_between_requests(c, plain);
}

int detach_may_keep(conn_rec *c)
{
    return !c->data_in_input_filters && ap_ssl_conn_is_ssl(c) && !c->log
           && is_between_requests(c, tls);
}

int detach_is_named(const conn_rec *c)
{
    return c->remote_host || c->double_reverse || c->remote_logname
           || c->local_host;
}

apr_size_t detach_input(conn_rec *c, char *buf, apr_size_t size)
{
    apr_bucket_brigade *bb = apr_brigade_create(c->pool, c->bucket_alloc);
    ap_filter_t *f = c->input_filters;
    apr_size_t len = size;

    /* The filter at the socket: others might count what they see. */
    while (f->next) {
        f = f->next;
    }
    if (ap_get_brigade(f, bb, AP_MODE_SPECULATIVE, APR_NONBLOCK_READ,
                       (apr_off_t)size)
            != APR_SUCCESS
        || apr_brigade_flatten(bb, buf, &len) != APR_SUCCESS) {
        len = 0;
    }
    apr_brigade_destroy(bb);
    return len;
}

int detach_holds_input(conn_rec *c)
{
    char first;
    apr_size_t n;

    input_gate_shut(c);
    n = detach_input(c, &first, 1);
    input_gate_open();
    return n > 0;
}

static void copy_addr(addr *to, const apr_sockaddr_t *from)
{
    if (from && from->salen <= sizeof(*to)) {
        memcpy(to, &from->sa, from->salen);
    }
}

int64_t detach_idled(conn_rec *c)
{
    struct tcp_info info;
    socklen_t len = sizeof(info);
    apr_os_sock_t fd;

    if (apr_os_sock_get(&fd, ap_get_conn_socket(c)) != APR_SUCCESS
        || getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len)) {
        return 0;
    }
    return info.tcpi_last_data_sent;
}

int detach_take(conn_rec *c, const server_rec *host, handoff *p)
{
    apr_os_sock_t fd = -1;

    handoff_init(p);
    if (apr_os_sock_get(&fd, ap_get_conn_socket(c)) != APR_SUCCESS) {
        errno = EBADF;
        return -1;
    }
    p->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (p->fd < 0) {
        return -1;
    }
    copy_addr(&p->remote, c->client_addr);
    copy_addr(&p->local, c->local_addr);
    p->keepalives = (uint32_t)c->keepalives;
    p->idle = 1;
    p->deadline =
        clock_ms()
        + apr_time_as_msec((host ? host : c->base_server)->keep_alive_timeout);
    return 0;
}
