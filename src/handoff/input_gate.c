/* SPDX-License-Identifier: Apache-2.0 */
#include "handoff/input_gate.h"

#include "http_connection.h"
#include "http_core.h"
#include "apr_buckets.h"
#include "apr_portable.h"

#include <sys/socket.h>

/*
 * Invariants of this file: while a connection is served, "shut" and "running"
 * belong to that connection or are NULL, as its worker does nothing else
 * meanwhile. From input_gate_promise() until input_gate_begin(), which is the
 * next thing that happens to a connection, its data_in_input_filters is our
 * promise, marked on its socket.
 */
static __thread const apr_socket_t *shut; /* not to be read from now */
static __thread const conn_rec *running;  /* in input_gate_run() for it */

#define PROMISE "cpuaffinity-promise"

static int in_use; /* set before other threads exist */

void input_gate_use(void)
{
    in_use = 1;
}

static apr_status_t read_socket(apr_bucket *b, const char **str,
                                apr_size_t *len, apr_read_type_e block);

/* Like apr_bucket_type_socket, whose data is the socket itself. */
static const apr_bucket_type_t gate_type = {"CPUAFFINITY SOCKET",
                                            5,
                                            APR_BUCKET_DATA,
                                            apr_bucket_destroy_noop,
                                            read_socket,
                                            apr_bucket_setaside_notimpl,
                                            apr_bucket_split_notimpl,
                                            apr_bucket_copy_notimpl};

static apr_status_t read_socket(apr_bucket *b, const char **str,
                                apr_size_t *len, apr_read_type_e block)
{
    apr_status_t rv;

    if (block == APR_NONBLOCK_READ && b->data == shut) {
        *str = NULL;
        *len = 0;
        return APR_EAGAIN;
    }
    b->type = &apr_bucket_type_socket;
    rv = apr_bucket_read(b, str, len, block);
    if (APR_BUCKET_IS_SOCKET(b)) {
        b->type = &gate_type; /* nothing was read */
    }
    else if (APR_BUCKET_IS_HEAP(b)) {
        /* The bytes read, followed by the socket again. */
        APR_BUCKET_NEXT(b)->type = &gate_type;
    }
    return rv;
}

void input_gate_shut(conn_rec *c)
{
    shut = ap_get_conn_socket(c);
}

void input_gate_open(void)
{
    shut = NULL;
}

void input_gate_promise(conn_rec *c)
{
    c->data_in_input_filters = 1;
    apr_socket_data_set(ap_get_conn_socket(c), &in_use, PROMISE, NULL);
}

/* Had the gate been open, httpd would have it in a filter, and the MPM would go
 * on with it at once; a connection that waits in its pollset instead may be
 * closed, for want of an idle worker or because the process is to stop. */
void input_gate_go_on(conn_rec *c)
{
    apr_socket_t *socket = ap_get_conn_socket(c);
    apr_os_sock_t fd;
    char first;

    if (c->keepalive == AP_CONN_KEEPALIVE && !c->aborted
        && !c->data_in_input_filters && socket
        && apr_os_sock_get(&fd, socket) == APR_SUCCESS
        && recv(fd, &first, 1, MSG_PEEK | MSG_DONTWAIT) > 0) {
        input_gate_promise(c);
    }
}

void input_gate_begin(conn_rec *c)
{
    apr_socket_t *socket = ap_get_conn_socket(c);
    void *promised = NULL;

    input_gate_open();
    if (socket && apr_socket_data_get(&promised, PROMISE, socket) == APR_SUCCESS
        && promised) {
        apr_socket_data_set(socket, NULL, PROMISE, NULL);
        c->data_in_input_filters = 0;
    }
}

int input_gate_run(conn_rec *c)
{
    int rv;

    running = c;
    rv = ap_run_process_connection(c);
    running = NULL;
    input_gate_open();
    return rv;
}

int input_gate_is_running(const conn_rec *c)
{
    return running == c;
}

apr_status_t input_gate_network_bucket(conn_rec *c, apr_bucket_brigade *bb,
                                       apr_socket_t *socket)
{
    apr_bucket *b;

    if (!in_use) {
        return AP_DECLINED;
    }
    b = apr_bucket_socket_create(socket, c->bucket_alloc);
    b->type = &gate_type;
    APR_BRIGADE_INSERT_TAIL(bb, b);
    return APR_SUCCESS;
}
