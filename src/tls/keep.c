/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/keep.h"

#include "http_config.h"
#include "http_connection.h"
#include "http_core.h"
#include "http_main.h"
#include "http_protocol.h"
#include "mpm_common.h"
#include "util_filter.h"
#include "apr_portable.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "handoff/detach.h"
#include "handoff/door.h"
#include "tls/libssl.h"

#define KEY "cpuaffinity-keep"

static void drop(session *s)
{
    keep *k = (keep *)s;

    session_drop(s);
    apr_pool_destroy(k->pool);
}

/*
 * Runs after all that the MPM has in its pool, as it was registered first: the
 * MPM has let go of the connection, and closed the descriptor that it knew.
 */
static apr_status_t let_go(void *data)
{
    keep *k = data;
    conn_rec *c = k->c;
    handoff p;

    k->mpm = NULL;
    if (!k->give) {
        drop(&k->session);
        return APR_SUCCESS;
    }
    p = k->next;
    handoff_init(&k->next);
    c->pool = k->pool;
    c->aborted = 0;
    c->keepalive = AP_CONN_KEEPALIVE;
    c->sbh = NULL;
    c->cs = NULL;
    c->current_thread = NULL;
    /* From here on it is the loop's. One that stops does not take it: it is
     * closed, without the goodbye that only the loop could say. */
    if (k->give(&p)) {
        handoff_drop(&p);
    }
    return APR_SUCCESS;
}

static keep *make(const handoff *p)
{
    apr_os_sock_t fd = p->fd;
    apr_os_sock_info_t info = {.os_sock = &fd,
                               .family = p->remote.any.sa_family,
                               .type = SOCK_STREAM,
                               .remote = (struct sockaddr *)&p->remote.any};
    apr_allocator_t *allocator;
    apr_pool_t *pool;
    keep *k;

    info.local = addr_len(&p->local) ? (struct sockaddr *)&p->local.any : NULL;
    if (apr_allocator_create(&allocator) != APR_SUCCESS) {
        return NULL;
    }
    apr_allocator_max_free_set(allocator, ap_max_mem_free);
    if (apr_pool_create_ex(&pool, ap_server_conf->process->pconf, NULL,
                           allocator)
        != APR_SUCCESS) {
        apr_allocator_destroy(allocator);
        return NULL;
    }
    apr_allocator_owner_set(allocator, pool);
    apr_pool_tag(pool, "cpuaffinity_keep");
    k = apr_pcalloc(pool, sizeof(*k));
    k->pool = pool;
    handoff_init(&k->next);
    if (apr_os_sock_make(&k->socket, &info, pool) != APR_SUCCESS
        || apr_socket_data_set(k->socket, k, KEY, NULL) != APR_SUCCESS
        || apr_pool_userdata_setn(k, KEY, NULL, pool) != APR_SUCCESS) {
        apr_pool_destroy(pool);
        return NULL;
    }
    return k;
}

static void give_records(keep *k)
{
    session *s = &k->session;
    size_t n = s->raw_len - s->raw_off;

    memmove(s->raw, s->raw + s->raw_off, n);
    replay_put(&k->records, k->c, s->raw, n);
    s->raw = NULL;
}

/* The loop's half ends, httpd's begins. */
static keep *take_up(handoff *p)
{
    keep *k = (keep *)p->kept;
    apr_os_sock_t fd = p->fd;

    session_return(&k->session);
    apr_os_sock_put(&k->socket, &fd, k->pool);
    k->returned = k->fresh = 1;
    k->give = NULL;
    k->ending = p->ending;
    k->bytes.expired = (int)p->expired;
    if (p->len) {
        replay_put(&k->bytes, k->c, p->bytes, p->len);
    }
    if (k->session.raw) {
        give_records(k);
    }
    p->kept = NULL;
    p->bytes = NULL;
    p->len = 0;
    p->expired = 0;
    return k;
}

static apr_status_t keep_socket(handoff *p, apr_pool_t *mpm,
                                apr_socket_t **socket)
{
    keep *k = p->kept ? take_up(p) : make(p);

    if (!k) {
        return APR_ENOMEM;
    }
    k->mpm = mpm;
    apr_pool_cleanup_register(mpm, k, let_go, apr_pool_cleanup_null);
    *socket = k->socket;
    return APR_SUCCESS;
}

/* How httpd and mod_ssl treat a connection between two requests is not promised
 * by their interface: these were tested. */
static const struct {
    int major, minor, patch;
} tested[] = {{2, 4, 71}};

const char *keep_lacks(void)
{
    ap_version_t v;
    size_t i;

    ap_get_server_revision(&v);
    for (i = 0; i < sizeof(tested) / sizeof(tested[0]); i++) {
        if (v.major == tested[i].major && v.minor == tested[i].minor
            && v.patch == tested[i].patch) {
            return ap_find_linked_module("mod_ssl.c") ? libssl_load()
                                                      : "it is not mod_ssl's";
        }
    }
    return "FixedTLS was not tested with this version of httpd";
}

int keep_start(void)
{
    if (libssl_load() || session_init()) {
        return -1;
    }
    door_set_keeper(keep_socket);
    return 0;
}

static keep *of_socket(apr_socket_t *socket)
{
    void *data = NULL;

    if (!socket || apr_socket_data_get(&data, KEY, socket) != APR_SUCCESS) {
        return NULL;
    }
    return data;
}

keep *keep_of(conn_rec *c)
{
    return c->master ? NULL : of_socket(ap_get_conn_socket(c));
}

conn_rec *keep_create_connection(apr_pool_t *mpm, server_rec *s,
                                 apr_socket_t *socket, long id, void *sbh,
                                 apr_bucket_alloc_t *alloc)
{
    static __thread int within;
    keep *k = within ? NULL : of_socket(socket);

    if (!k) {
        return NULL;
    }
    if (!k->c) {
        /* The same, but all of it from our pool. */
        within = 1;
        k->c = ap_run_create_connection(k->pool, s, socket, id, sbh,
                                        apr_bucket_alloc_create(k->pool));
        within = 0;
    }
    if (k->c) {
        k->c->sbh = sbh;
        k->c->id = id;
        /* Where the MPM registers what has to end with its own part. */
        k->c->pool = mpm;
    }
    return k->c;
}

int keep_pre_connection(conn_rec *c, void *socket)
{
    keep *k = c->master ? NULL : of_socket(socket);

    if (!k) {
        return DECLINED;
    }
    c->pool = k->pool;
    if (!k->returned) {
        return DECLINED;
    }
    /* The MPM shortened it when it closed its part. */
    apr_socket_timeout_set(k->socket, k->timeout);
    return DONE;
}

int keep_pre_handshake(conn_rec *c, struct ssl_st *ssl, int is_proxy)
{
    void *k = NULL;

    /* core, which knows the socket, is the last one in pre_connection. */
    if (!is_proxy && !c->master
        && apr_pool_userdata_get(&k, KEY, c->pool) == APR_SUCCESS && k) {
        ((keep *)k)->session.ssl = ssl;
        /* Before the first request is made, which begins with the filters that
         * there are. */
        replay_add(&((keep *)k)->bytes, c, REPLAY_ABOVE);
        replay_add(&((keep *)k)->records, c, REPLAY_BELOW);
    }
    return DECLINED;
}

void keep_pre_read_request(request_rec *r, conn_rec *c)
{
    keep *k = keep_of(c);
    ap_filter_t *f = k && replay_has(&k->bytes) ? c->input_filters : NULL;

    /*
     * mod_reqtimeout, below mod_ssl, does not count before it has seen the
     * first byte of a request, and this one's were not read through it. A look
     * that finds nothing is enough.
     */
    while (f && strcmp(f->frec->name, "reqtimeout")) {
        f = f->next;
    }
    if (f) {
        apr_bucket_brigade *bb = apr_brigade_create(r->pool, c->bucket_alloc);

        ap_get_brigade(f, bb, AP_MODE_SPECULATIVE, APR_NONBLOCK_READ, 1);
        apr_brigade_destroy(bb);
    }
}

int keep_begin(keep *k)
{
    conn_rec *c = k->c;

    if (k->ending == HANDOFF_GOES_ON) {
        return 0;
    }
    c->aborted = k->ending == HANDOFF_ABORT;
    c->keepalive = AP_CONN_CLOSE;
    if (c->cs) {
        c->cs->state = CONN_STATE_LINGER;
    }
    return 1;
}

int keep_may_take(keep *k)
{
    return k->session.ssl && k->mpm && k->known && k->session.host_len
           && !replay_has(&k->bytes) && !replay_has(&k->records)
           && detach_may_keep(k->c) && !detach_is_named(k->c)
           && session_may_take(&k->session);
}

int keep_take(keep *k, handoff *p, int (*give)(handoff *))
{
    conn_rec *c = k->c;

    if (session_take(&k->session)) {
        return -1;
    }
    apr_socket_timeout_get(k->socket, &k->timeout);
    k->next = *p;
    k->next.kept = &k->session;
    k->next.drop_kept = drop;
    k->give = give;
    /* No filter writes any more: mod_ssl's does not end TLS. */
    c->aborted = 1;
    c->keepalive = AP_CONN_CLOSE;
    c->cs->state = CONN_STATE_LINGER;
    /* What is allocated while the MPM closes goes with its pool. */
    c->pool = k->mpm;
    handoff_init(p);
    return 0;
}
