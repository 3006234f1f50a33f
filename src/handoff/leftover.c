/* SPDX-License-Identifier: Apache-2.0 */
#include "handoff/leftover.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ap_mpm.h"
#include "http_config.h"
#include "http_connection.h"
#include "http_core.h"
#include "http_log.h"
#include "http_vhost.h"

#include "affinity/pin.h"
#include "base/compat.h"
#include "handoff/door.h"
#include "handoff/queue.h"
#include "handoff/workers.h"

APLOG_USE_MODULE(cpuaffinity);

#define WAITING 65536 /* no more than the loop can hold */
/* More than mpm_event's state of a connection has in any version. */
#define MPM_STATE 1024

/* A thread, and the descriptor that it serves; -1: none. */
typedef struct server {
    leftover *of;
    apr_thread_t *thread;
    int fd;
} server;

struct leftover {
    server_rec *main;
    apr_pool_t *pool; /* loop thread only */
    module *mpm;      /* mpm_event's; NULL: there is no such module */
    long id;          /* of the connections: the row of the loop */
    void (*done)(void *);
    void *ctx;
    queue *waiting;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t more;
    unsigned count; /* waiting or served */
    int idle;       /* threads that wait */
    int over;       /* threads end when nothing waits */
    int threads;
    int limit;
    server servers[];
};

/*
 * mpm_event follows each request in its own state of the connection, which it
 * takes to be there; mod_http2 lends it another's for its streams. Here it gets
 * a blank one that nobody reads.
 */
static void please_mpm(const leftover *o, conn_rec *c)
{
    if (o->mpm) {
        ap_set_module_config(c->conn_config, o->mpm,
                             apr_pcalloc(c->pool, MPM_STATE));
    }
    c->cs = apr_pcalloc(c->pool, sizeof(*c->cs));
    c->cs->state = CONN_STATE_READ_REQUEST_LINE;
    c->clogging_input_filters = 1; /* one request after the other, blocking */
}

/* As the MPM's worker does. The scoreboard has no row for it. */
static void process(const leftover *o, apr_thread_t *thread, apr_pool_t *p,
                    apr_socket_t *socket)
{
    conn_rec *c = ap_run_create_connection(p, o->main, socket, o->id, NULL,
                                           apr_bucket_alloc_create(p));
    int rv;

    if (!c) {
        return;
    }
    please_mpm(o, c);
    c->current_thread = thread;
    ap_update_vhost_given_ip(c);
    rv = ap_run_pre_connection(c, socket);
    if (rv != OK && rv != DONE) {
        c->aborted = 1;
    }
    else {
        ap_run_process_connection(c);
    }
    ap_lingering_close(c);
}

static void serve(const leftover *o, apr_thread_t *thread, handoff *p)
{
    apr_allocator_t *allocator;
    apr_socket_t *socket;
    apr_pool_t *pool;

    if (apr_allocator_create(&allocator) != APR_SUCCESS) {
        return;
    }
    if (apr_pool_create_ex(&pool, NULL, NULL, allocator) != APR_SUCCESS) {
        apr_allocator_destroy(allocator);
        return;
    }
    apr_allocator_owner_set(allocator, pool);
    apr_pool_tag(pool, "cpuaffinity_leftover");
    if (door_socket(p, pool, &socket) == APR_SUCCESS) {
        process(o, thread, pool, socket);
    }
    apr_pool_destroy(pool);
}

/* @return 0, or -1: nothing waits and nothing will come */
static int begin(leftover *o, server *me, handoff *p)
{
    int rv;

    pthread_mutex_lock(&o->lock);
    while ((rv = queue_pop(o->waiting, p)) != 0 && !o->over) {
        o->idle++;
        pthread_cond_wait(&o->more, &o->lock);
        o->idle--;
    }
    me->fd = rv ? -1 : dup(p->fd);
    pthread_mutex_unlock(&o->lock);
    return rv;
}

static void end(leftover *o, server *me)
{
    pthread_mutex_lock(&o->lock);
    if (me->fd >= 0) {
        close(me->fd);
    }
    me->fd = -1;
    o->count--;
    pthread_mutex_unlock(&o->lock);
    o->done(o->ctx);
}

static void *APR_THREAD_FUNC serve_all(apr_thread_t *thread, void *data)
{
    server *me = data;
    handoff p;

    pin_name(0, "httpd/left");
    while (!begin(me->of, me, &p)) {
        serve(me->of, thread, &p);
        handoff_drop(&p);
        end(me->of, me);
    }
    return NULL;
}

/* The loop's row, which no worker has. */
static long row(void)
{
    int limit = 0, threads = 0, slot = -1;

    ap_mpm_query(AP_MPMQ_HARD_LIMIT_THREADS, &limit);
    ap_mpm_query(AP_MPMQ_MAX_THREADS, &threads);
    workers_idle(getpid(), &slot);
    return slot < 0 ? 0 : (long)slot * limit + threads;
}

leftover *leftover_make(server_rec *s, void (*done)(void *), void *ctx)
{
    int limit = 1;
    leftover *o;

    ap_mpm_query(AP_MPMQ_MAX_THREADS, &limit);
    o = calloc(1, sizeof(*o) + (size_t)limit * sizeof(server));
    if (!o || !(o->waiting = queue_make(WAITING))) {
        ap_log_error(APLOG_MARK, APLOG_ERR, APR_ENOMEM, s,
                     "connections that nobody takes over are closed");
        free(o);
        return NULL;
    }
    o->main = s;
    apr_pool_create(&o->pool, NULL);
    apr_pool_tag(o->pool, "cpuaffinity_leftovers");
    o->mpm = ap_find_linked_module("event.c");
    o->id = row();
    o->done = done;
    o->ctx = ctx;
    o->limit = limit;
    pthread_mutex_init(&o->lock, NULL);
    pthread_cond_init(&o->more, NULL);
    return o;
}

/* One more, if none is free and there may be more. */
static void add_thread(leftover *o, int needed)
{
    server *me = &o->servers[o->threads];
    apr_status_t rv;

    if (!needed || o->threads == o->limit) {
        return;
    }
    me->of = o;
    me->fd = -1;
    rv = compat_thread_create(&me->thread, NULL, serve_all, me, o->pool);
    if (rv == APR_SUCCESS) {
        o->threads++;
        return;
    }
    ap_log_error(APLOG_MARK, APLOG_ERR, rv, o->main,
                 "a thread for connections that nobody takes over");
}

void leftover_give(leftover *o, handoff *p)
{
    handoff unserved;
    int needed, rv;

    pthread_mutex_lock(&o->lock);
    rv = queue_push(o->waiting, p);
    o->count += !rv;
    needed = queue_length(o->waiting) > (unsigned)o->idle;
    pthread_cond_signal(&o->more);
    pthread_mutex_unlock(&o->lock);
    if (rv) {
        handoff_drop(p);
    }
    add_thread(o, needed);
    while (!o->threads && !queue_pop(o->waiting, &unserved)) {
        handoff_drop(&unserved);
        o->count--;
    }
}

unsigned leftover_count(leftover *o)
{
    unsigned n;

    pthread_mutex_lock(&o->lock);
    n = o->count;
    pthread_mutex_unlock(&o->lock);
    return n;
}

void leftover_end(leftover *o, int now)
{
    apr_status_t rv;
    handoff p;
    int i;

    pthread_mutex_lock(&o->lock);
    while (now && !queue_pop(o->waiting, &p)) {
        handoff_drop(&p);
        o->count--;
    }
    for (i = 0; now && i < o->threads; i++) {
        if (o->servers[i].fd >= 0) {
            shutdown(o->servers[i].fd, SHUT_RDWR);
        }
    }
    o->over = 1;
    pthread_cond_broadcast(&o->more);
    pthread_mutex_unlock(&o->lock);
    for (i = 0; i < o->threads; i++) {
        apr_thread_join(&rv, o->servers[i].thread);
    }
    queue_free(o->waiting);
    pthread_mutex_destroy(&o->lock);
    pthread_cond_destroy(&o->more);
    apr_pool_destroy(o->pool);
    free(o);
}
