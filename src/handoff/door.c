/* SPDX-License-Identifier: Apache-2.0 */
#include "handoff/door.h"

#include "http_connection.h"
#include "http_core.h"
#include "http_log.h"
#include "http_main.h"
#include "apr_strings.h"
#include "apr_portable.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "handoff/queue.h"

APLOG_USE_MODULE(cpuaffinity);

#define CARGO "cpuaffinity-cargo"

struct door {
    queue *queue;
    int bell;        /* a duplicate of the eventfd: the MPM closes the other */
    int unrung;      /* pushed since the last ring */
    int wanted;      /* atomic */
    unsigned inside; /* atomic */
    ap_listen_rec *listeners;
    int all; /* 0: the first of them only */
    void (*drained)(void *);
    void *ctx;
};

/* A global, as the MPM passes the accept function no context. */
static door *the_door;

static apr_status_t (*the_keeper)(handoff *, apr_pool_t *, apr_socket_t **);

void door_set_keeper(apr_status_t (*keeper)(handoff *, apr_pool_t *,
                                            apr_socket_t **))
{
    the_keeper = keeper;
}

static apr_status_t drop_cargo(void *data)
{
    __atomic_sub_fetch(&the_door->inside, 1, __ATOMIC_RELAXED);
    handoff_drop(data);
    return APR_SUCCESS;
}

static apr_status_t make_socket(handoff *p, apr_pool_t *ptrans,
                                apr_socket_t **csd)
{
    apr_os_sock_info_t info = {0};

    info.os_sock = &p->fd;
    info.family = p->remote.any.sa_family;
    info.type = SOCK_STREAM;
    info.remote = &p->remote.any;
    info.local = addr_len(&p->local) ? &p->local.any : NULL;
    return apr_os_sock_make(csd, &info, ptrans);
}

/* Whatever is not the socket's is attached to it. */
apr_status_t door_socket(handoff *p, apr_pool_t *ptrans, apr_socket_t **csd)
{
    int keeps = the_keeper && (p->tls || p->kept);
    apr_status_t rv = (keeps ? the_keeper : make_socket)(p, ptrans, csd);
    handoff *cargo;

    if (rv != APR_SUCCESS) {
        return rv;
    }
    p->fd = -1;
    cargo = apr_pmemdup(ptrans, p, sizeof(*p));
    handoff_init(p);
    apr_pool_cleanup_register(ptrans, cargo, drop_cargo, apr_pool_cleanup_null);
    __atomic_add_fetch(&the_door->inside, 1, __ATOMIC_RELAXED);
    return apr_socket_data_set(*csd, cargo, CARGO, NULL);
}

/* Replaces accept() on the listener's thread. A worker is ready. */
static apr_status_t accept_handoff(void **csd, ap_listen_rec *lr,
                                   apr_pool_t *ptrans)
{
    door *d = the_door;
    apr_os_sock_t fd = -1;
    apr_socket_t *socket = NULL;
    apr_status_t rv;
    uint64_t one;
    handoff p;

    *csd = NULL;
    if (apr_os_sock_get(&fd, lr->sd) != APR_SUCCESS
        || read(fd, &one, sizeof(one)) != sizeof(one)
        || queue_pop(d->queue, &p)) {
        return APR_EAGAIN;
    }
    if (__atomic_exchange_n(&d->wanted, 0, __ATOMIC_ACQ_REL)) {
        d->drained(d->ctx);
    }
    rv = door_socket(&p, ptrans, &socket);
    if (rv != APR_SUCCESS) {
        ap_log_error(APLOG_MARK, APLOG_ERR, rv, ap_server_conf,
                     "a connection could not be handed to httpd");
        handoff_drop(&p);
        return APR_EAGAIN;
    }
    *csd = socket;
    return APR_SUCCESS;
}

apr_status_t door_wrap(server_rec *s, ap_listen_rec *lr, int fd,
                       apr_socket_t **sd)
{
    apr_os_sock_info_t info = {0};
    apr_status_t rv;

    if (fd < 0) {
        return errno;
    }
    info.os_sock = &fd;
    info.family = lr->bind_addr->family;
    info.type = SOCK_STREAM;
    info.local = (struct sockaddr *)&lr->bind_addr->sa;
    rv = apr_os_sock_make(sd, &info, s->process->pool);
    if (rv != APR_SUCCESS) {
        close(fd);
    }
    return rv;
}

/* An eventfd that httpd takes for the listening socket of @a lr. */
static apr_status_t make_door(server_rec *s, ap_listen_rec *lr,
                              apr_socket_t **sd)
{
    return door_wrap(
        s, lr, eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC), sd);
}

static ap_listen_rec *after(const door *d, const ap_listen_rec *lr)
{
    return d->all ? lr->next : NULL;
}

static apr_status_t make_doors(server_rec *s, const door *d,
                               apr_array_header_t *doors)
{
    ap_listen_rec *lr;

    for (lr = d->listeners; lr; lr = after(d, lr)) {
        apr_socket_t *sd = NULL;
        apr_status_t rv = make_door(s, lr, &sd);

        if (rv != APR_SUCCESS) {
            return rv;
        }
        APR_ARRAY_PUSH(doors, apr_socket_t *) = sd;
    }
    return doors->nelts ? APR_SUCCESS : APR_ENOSOCKET;
}

static apr_status_t open_bell(door *d, apr_socket_t *sd)
{
    apr_os_sock_t fd = -1;

    apr_os_sock_get(&fd, sd);
    d->bell = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return d->bell < 0 ? errno : APR_SUCCESS;
}

apr_status_t door_open(server_rec *s, ap_listen_rec *listeners, int all,
                       unsigned bound, void (*drained)(void *), void *ctx,
                       door **result)
{
    apr_pool_t *p = s->process->pool;
    apr_array_header_t *doors = apr_array_make(p, 4, sizeof(apr_socket_t *));
    door *d = apr_pcalloc(p, sizeof(*d));
    ap_listen_rec *lr;
    apr_status_t rv;
    int i = 0;

    d->listeners = listeners;
    d->all = all;
    d->queue = queue_make(bound);
    rv = d->queue ? make_doors(s, d, doors) : APR_ENOMEM;
    if (rv == APR_SUCCESS) {
        rv = open_bell(d, APR_ARRAY_IDX(doors, 0, apr_socket_t *));
    }
    if (rv != APR_SUCCESS) {
        for (i = 0; i < doors->nelts; i++) {
            apr_socket_close(APR_ARRAY_IDX(doors, i, apr_socket_t *));
        }
        if (d->queue) {
            queue_free(d->queue);
        }
        return rv;
    }
    for (lr = d->listeners; lr; lr = after(d, lr)) {
        apr_socket_close(lr->sd);
        lr->sd = APR_ARRAY_IDX(doors, i++, apr_socket_t *);
        lr->accept_func = NULL;
    }
    d->drained = drained;
    d->ctx = ctx;
    the_door = d;
    *result = d;
    return APR_SUCCESS;
}

int door_is_ready(door *d)
{
    ap_listen_rec *lr;

    /* Another thread of the MPM sets them before it starts the listener, which
     * uses them only after the bell has rung. */
    for (lr = d->listeners; lr; lr = after(d, lr)) {
        if (!__atomic_load_n(&lr->accept_func, __ATOMIC_ACQUIRE)) {
            return 0;
        }
    }
    for (lr = d->listeners; lr; lr = after(d, lr)) {
        __atomic_store_n(&lr->accept_func, accept_handoff, __ATOMIC_RELEASE);
    }
    return 1;
}

int door_push(door *d, handoff *p)
{
    if (queue_push(d->queue, p)) {
        return -1;
    }
    d->unrung++;
    return 0;
}

void door_ring(door *d)
{
    uint64_t n = (uint64_t)d->unrung;

    if (n && write(d->bell, &n, sizeof(n)) == sizeof(n)) {
        d->unrung = 0;
    }
}

int door_take_back(door *d, handoff *p)
{
    uint64_t one;

    if (queue_pop_unmoved(d->queue, p)) {
        return -1;
    }
    /* Takes back its ring too, unless the listener has read it already. */
    if (d->unrung) {
        d->unrung--;
    }
    else if (read(d->bell, &one, sizeof(one)) < 0 && errno != EAGAIN) {
        ap_log_error(APLOG_MARK, APLOG_DEBUG, errno, ap_server_conf,
                     "read of the door's eventfd");
    }
    return 0;
}

unsigned door_length(const door *d)
{
    return queue_length(d->queue);
}

int64_t door_age(door *d, int64_t now)
{
    return queue_age(d->queue, now);
}

unsigned door_inside(const door *d)
{
    return __atomic_load_n(&d->inside, __ATOMIC_RELAXED);
}

void door_want(door *d)
{
    __atomic_store_n(&d->wanted, 1, __ATOMIC_RELEASE);
}

void door_close(door *d)
{
    queue_close(d->queue);
}

int door_take(door *d, handoff *p)
{
    return queue_pop(d->queue, p);
}

static handoff *cargo_of(apr_socket_t *socket)
{
    void *data = NULL;

    if (!socket || apr_socket_data_get(&data, CARGO, socket) != APR_SUCCESS) {
        return NULL;
    }
    return data;
}

void *door_note(const conn_rec *c)
{
    handoff *cargo;

    if (c->master) {
        return NULL;
    }
    cargo = cargo_of(ap_get_conn_socket((conn_rec *)c));
    return cargo ? cargo->note : NULL;
}

const char *door_bytes(apr_socket_t *socket, size_t *len)
{
    const handoff *cargo = cargo_of(socket);

    if (!cargo || !cargo->len) {
        return NULL;
    }
    *len = cargo->len;
    return cargo->bytes;
}

int door_pre_connection(conn_rec *c, void *csd)
{
    handoff *cargo = c->master ? NULL : cargo_of(csd);

    if (cargo) {
        c->keepalives = (int)cargo->keepalives;
    }
    return OK;
}

/* Reads like a socket whose timeout has expired. */
static apr_status_t expired_read(apr_bucket *b, const char **str,
                                 apr_size_t *len, apr_read_type_e block)
{
    *str = NULL;
    *len = 0;
    return APR_TIMEUP;
}

static const apr_bucket_type_t expired_type = {"CPUAFFINITY EXPIRED",
                                               5,
                                               APR_BUCKET_DATA,
                                               apr_bucket_destroy_noop,
                                               expired_read,
                                               apr_bucket_setaside_noop,
                                               apr_bucket_split_notimpl,
                                               apr_bucket_copy_notimpl};

static apr_bucket *expired_create(apr_bucket_alloc_t *list)
{
    apr_bucket *b = apr_bucket_alloc(sizeof(*b), list);

    APR_BUCKET_INIT(b);
    b->free = apr_bucket_free;
    b->list = list;
    b->type = &expired_type;
    b->length = (apr_size_t)-1;
    b->start = -1;
    b->data = NULL;
    return b;
}

apr_status_t door_network_bucket(conn_rec *c, apr_bucket_brigade *bb,
                                 apr_socket_t *socket)
{
    handoff *cargo = cargo_of(socket);

    if (cargo && cargo->len) {
        apr_bucket *b = apr_bucket_heap_create(cargo->bytes, cargo->len, free,
                                               c->bucket_alloc);

        APR_BRIGADE_INSERT_TAIL(bb, b);
        cargo->bytes = NULL;
        cargo->len = 0;
    }
    if (cargo && cargo->expired) {
        APR_BRIGADE_INSERT_TAIL(bb, expired_create(c->bucket_alloc));
        cargo->expired = 0;
    }
    return AP_DECLINED; /* core adds the socket's own bucket */
}
