/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/replay.h"

#include <stdlib.h>

#define AHEAD 8000 /* bytes that are looked at */

static ap_filter_rec_t *filters[2]; /* by place */

static int has_bytes(replay *r)
{
    apr_bucket_brigade *bb = r->bytes;

    /* Cutting off a line leaves an empty bucket, which would look like the
     * end. */
    while (bb && !APR_BRIGADE_EMPTY(bb) && !APR_BRIGADE_FIRST(bb)->length) {
        apr_bucket_delete(APR_BRIGADE_FIRST(bb));
    }
    return bb && !APR_BRIGADE_EMPTY(bb);
}

int replay_has(replay *r)
{
    return has_bytes(r) || r->expired;
}

void replay_put(replay *r, conn_rec *c, char *bytes, size_t len)
{
    if (!r->bytes) {
        r->bytes = apr_brigade_create(c->pool, c->bucket_alloc);
    }
    APR_BRIGADE_INSERT_TAIL(
        r->bytes, apr_bucket_heap_create(bytes, len, free, c->bucket_alloc));
}

/* The next bytes, which stay there. */
static apr_status_t look(replay *r, apr_bucket_brigade *bb,
                         apr_read_type_e block, apr_off_t bytes)
{
    const char *s;
    apr_size_t n;
    apr_status_t rv =
        apr_bucket_read(APR_BRIGADE_FIRST(r->bytes), &s, &n, block);

    if (rv == APR_SUCCESS) {
        n = bytes < (apr_off_t)n ? (apr_size_t)bytes : n;
        APR_BRIGADE_INSERT_TAIL(
            bb, apr_bucket_heap_create(s, n, NULL, bb->bucket_alloc));
    }
    return rv;
}

/* As many of them as there are. */
static apr_status_t take(replay *r, apr_bucket_brigade *bb, apr_off_t bytes)
{
    apr_bucket *end, *b;
    apr_status_t rv = apr_brigade_partition(r->bytes, bytes, &end);

    if (rv != APR_SUCCESS && rv != APR_INCOMPLETE) {
        return rv;
    }
    while ((b = APR_BRIGADE_FIRST(r->bytes)) != end) {
        APR_BUCKET_REMOVE(b);
        APR_BRIGADE_INSERT_TAIL(bb, b);
    }
    return APR_SUCCESS;
}

/* What mod_ssl has or reads now; its buckets show memory of its own. */
static apr_status_t fill(replay *r, ap_filter_t *below, apr_pool_t *p,
                         apr_read_type_e block)
{
    conn_rec *c = below->c;
    apr_bucket_brigade *bb = apr_brigade_create(p, c->bucket_alloc);
    apr_status_t rv =
        ap_get_brigade(below, bb, AP_MODE_READBYTES, block, AHEAD);

    if (!r->bytes) {
        r->bytes = apr_brigade_create(c->pool, c->bucket_alloc);
    }
    while (!APR_BRIGADE_EMPTY(bb)) {
        apr_bucket *b = APR_BRIGADE_FIRST(bb);

        apr_bucket_setaside(b, c->pool);
        APR_BUCKET_REMOVE(b);
        APR_BRIGADE_INSERT_TAIL(r->bytes, b);
    }
    apr_brigade_destroy(bb);
    return rv;
}

/* The request that is waited for has come, at last. */
static apr_status_t watch(replay *r, ap_filter_t *below, apr_read_type_e block)
{
    apr_status_t rv = fill(r, below, r->req->pool, block);

    if (has_bytes(r)) {
        void (*seen)(request_rec *) = r->seen;

        r->seen = NULL;
        seen(r->req);
        return APR_SUCCESS;
    }
    return rv;
}

static apr_status_t replay_read(ap_filter_t *f, apr_bucket_brigade *bb,
                                ap_input_mode_t mode, apr_read_type_e block,
                                apr_off_t bytes)
{
    replay *r = f->ctx;

    if (r->seen && mode == AP_MODE_GETLINE && !replay_has(r)) {
        apr_status_t rv = watch(r, f->next, block);

        if (rv != APR_SUCCESS || !replay_has(r)) {
            return rv;
        }
    }
    if (mode == AP_MODE_INIT || !replay_has(r)) {
        return ap_get_brigade(f->next, bb, mode, block, bytes);
    }
    if (!has_bytes(r)) {
        r->expired = 0;
        return APR_TIMEUP;
    }
    switch (mode) {
    case AP_MODE_GETLINE:
        return apr_brigade_split_line(bb, r->bytes, block, HUGE_STRING_LEN);
    case AP_MODE_SPECULATIVE:
        return look(r, bb, block, bytes);
    case AP_MODE_READBYTES:
        return take(r, bb, bytes);
    default:
        return APR_ENOTIMPL; /* as mod_ssl's */
    }
}

void replay_register(void)
{
    /* mod_ssl's filter is at + 5. */
    filters[REPLAY_ABOVE] = ap_register_input_filter(
        "CPUAFFINITY_REPLAY", replay_read, NULL, AP_FTYPE_CONNECTION + 4);
    filters[REPLAY_BELOW] = ap_register_input_filter(
        "CPUAFFINITY_RECORDS", replay_read, NULL, AP_FTYPE_CONNECTION + 6);
}

void replay_add(replay *r, conn_rec *c, replay_place place)
{
    if (!r->filter) {
        r->filter = ap_add_input_filter_handle(filters[place], r, NULL, c);
    }
}

apr_size_t replay_look(replay *r, request_rec *req, char *buf, apr_size_t size)
{
    if (!r->filter) {
        return 0;
    }
    if (!replay_has(r)) {
        fill(r, r->filter->next, req->pool, APR_NONBLOCK_READ);
    }
    return has_bytes(r)
                   && apr_brigade_flatten(r->bytes, buf, &size) == APR_SUCCESS
               ? size
               : 0;
}

void replay_watch(replay *r, request_rec *req, void (*seen)(request_rec *))
{
    r->seen = seen;
    r->req = req;
}
