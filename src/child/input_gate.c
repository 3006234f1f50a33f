#include "child/input_gate.h"

#include "http_core.h"
#include "apr_buckets.h"

#include "loop/loop.h"

/* Nobody reads from it now. */
static __thread const apr_socket_t *shut;

static apr_status_t read_socket(apr_bucket *b, const char **str,
                                apr_size_t *len, apr_read_type_e block);

/* As apr_bucket_type_socket, whose data is the socket itself. */
static const apr_bucket_type_t intake_type = {"CPUAFFINITY SOCKET",
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
        b->type = &intake_type; /* nothing came */
    }
    else if (APR_BUCKET_IS_HEAP(b)) {
        /* What came, and behind it the socket again. */
        APR_BUCKET_NEXT(b)->type = &intake_type;
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

apr_status_t input_gate_network_bucket(conn_rec *c, apr_bucket_brigade *bb,
                                       apr_socket_t *socket)
{
    apr_bucket *b;

    if (!loop_get()) {
        return AP_DECLINED;
    }
    b = apr_bucket_socket_create(socket, c->bucket_alloc);
    b->type = &intake_type;
    APR_BRIGADE_INSERT_TAIL(bb, b);
    return APR_SUCCESS;
}
