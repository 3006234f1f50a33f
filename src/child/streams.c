/* SPDX-License-Identifier: Apache-2.0 */
#include "child/streams.h"

#include <poll.h>

#include "ap_mpm.h"
#include "apr_portable.h"
#include "http_core.h"
#include "http_protocol.h"

#include "base/clock.h"
#include "handoff/input_gate.h"

/* ms: a client that sends without a pause does not keep a process alive. */
#define GRACE 1000

static __thread const conn_rec *served;
static __thread int64_t seen; /* when it first saw the MPM stop; 0: not yet */

void streams_serve(const conn_rec *c)
{
    served = c;
    seen = 0;
}

static int is_http2(const conn_rec *c)
{
    const char *protocol = ap_get_protocol((conn_rec *)c);

    return !strcmp(protocol, "h2") || !strcmp(protocol, "h2c");
}

static int is_over(void)
{
    int64_t now = clock_ms();

    if (!seen) {
        seen = now;
    }
    return now - seen >= GRACE;
}

static int has_input(const conn_rec *c)
{
    struct pollfd in = {-1, POLLIN, 0};

    return apr_os_sock_get(&in.fd, ap_get_conn_socket((conn_rec *)c))
               == APR_SUCCESS
           && poll(&in, 1, 0) == 1 && in.revents == POLLIN;
}

int streams_mpm_query(int query, int *result, apr_status_t *rv)
{
    const conn_rec *c = served;

    if (query != AP_MPMQ_MPM_STATE || !c) {
        return DECLINED;
    }
    served = NULL; /* this hook runs once more, for the others */
    *rv = ap_mpm_query(query, result);
    if (*rv == APR_SUCCESS && *result == AP_MPMQ_STOPPING && is_http2(c)
        && !is_over() && has_input(c)) {
        *result = AP_MPMQ_RUNNING;
    }
    served = c;
    return OK;
}

static int is_stopping(void)
{
    int state = 0;

    return ap_mpm_query(AP_MPMQ_MPM_STATE, &state) == APR_SUCCESS
           && state == AP_MPMQ_STOPPING;
}

/* Has mod_http2 go on. @return 1: and there is more to do */
static int run(conn_rec *c)
{
    input_gate_begin(c);
    streams_serve(c);
    input_gate_run(c);
    streams_serve(NULL);
    return !c->aborted && c->cs->state != CONN_STATE_LINGER;
}

/* As the MPM does for a connection whose client has to read or to say that it
 * has read. @return 0: it does not */
static int wait_for_client(conn_rec *c)
{
    struct pollfd p = {-1, POLLIN, 0};
    ap_filter_t *f = c->output_filters;

    apr_os_sock_get(&p.fd, ap_get_conn_socket(c));
    p.events |= c->data_in_output_filters ? POLLOUT : 0;
    if (poll(&p, 1, (int)apr_time_as_msec(c->base_server->timeout)) < 1) {
        return 0;
    }
    while (f->next) {
        f = f->next;
    }
    return !(p.revents & POLLOUT)
           || f->frec->filter_func.out_func(f, NULL) == APR_SUCCESS;
}

void streams_pre_close(conn_rec *c)
{
    int again;

    if (c->master || c->aborted || !c->cs || !is_http2(c) || !is_stopping()
        || !has_input(c)) {
        return;
    }
    /* A second time with an empty socket: mod_http2 sees that the MPM stops. A
     * session without streams is done then; one that has some left, as its
     * client has to read first, asks to be called again. */
    again = run(c);
    if (again) {
        again = run(c);
    }
    while (again && c->cs->sense == CONN_SENSE_WANT_READ
           && wait_for_client(c)) {
        again = run(c);
    }
}
