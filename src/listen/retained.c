/* SPDX-License-Identifier: Apache-2.0 */
#include "listen/retained.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "apr_portable.h"

#include "http_core.h"
#include "http_main.h"

/* The number is the layout version: another version of the module, loaded by
 * a restart, must not read this one's record. */
#define KEY "cpuaffinity-sockets-1"

retained_sockets *retained_get(int make)
{
    retained_sockets *k = ap_retained_data_get(KEY);

    return k || !make ? k : ap_retained_data_create(KEY, sizeof(*k));
}

void retained_link(retained_sockets *k, ap_listen_rec *rest)
{
    ap_listen_rec **slot = &ap_listeners;
    retained_group *g;
    int i;

    while (*slot) {
        slot = &(*slot)->next;
    }
    k->link = slot;
    k->generation = ap_state_query(AP_SQ_CONFIG_GEN);
    for (g = k->groups; g; g = g->next) {
        for (i = 0; i < g->n; i++) {
            *slot = g->recs[i];
            slot = &g->recs[i]->next;
        }
    }
    *slot = rest;
}

static int is_ours(const retained_sockets *k, const ap_listen_rec *rec)
{
    const retained_group *g;
    int i;

    for (g = k->groups; g; g = g->next) {
        for (i = 0; i < g->n; i++) {
            if (g->recs[i] == rec) {
                return 1;
            }
        }
    }
    return 0;
}

ap_listen_rec *retained_unlink(retained_sockets *k)
{
    ap_listen_rec *rest = NULL;

    if (k->link) {
        for (rest = *k->link; rest && is_ours(k, rest);) {
            rest = rest->next;
        }
        *k->link = NULL;
        k->link = NULL;
    }
    return rest;
}

static int os_fd(apr_socket_t *sd)
{
    apr_os_sock_t fd = -1;

    if (sd) {
        apr_os_sock_get(&fd, sd);
    }
    return fd;
}

int *retained_fds(apr_pool_t *p, const retained_group *g)
{
    int *fds = apr_palloc(p, sizeof(*fds) * (g->n + 1));
    int i;

    for (i = 0; i < g->n; i++) {
        fds[i] = os_fd(g->recs[i]->sd);
    }
    return fds;
}

retained_group *retained_find(retained_sockets *k, ap_listen_rec *lr)
{
    retained_group *g;

    for (g = k->groups; g; g = g->next) {
        if (g->n && listensock_is_same(os_fd(g->recs[0]->sd), os_fd(lr->sd))) {
            return g;
        }
    }
    return NULL;
}

/* Wraps a descriptor as a listener of httpd's, which then owns it. */
static void add(retained_group *g, int fd)
{
    ap_listen_rec *rec = apr_pcalloc(g->pool, sizeof(*rec));
    apr_os_sock_info_t info = {.os_sock = &fd,
                               .local = (struct sockaddr *)&g->local,
                               .family = g->local.ss_family,
                               .type = SOCK_STREAM,
                               .protocol = APR_PROTO_TCP};

    apr_os_sock_make(&rec->sd, &info, g->pool);
    rec->bind_addr = g->lr->bind_addr;
    rec->protocol = g->lr->protocol;
    rec->active = 1;
    if (g->n == g->room) {
        ap_listen_rec **old = g->recs;

        g->room = 2 * g->room + 1;
        g->recs = apr_pcalloc(g->pool, sizeof(ap_listen_rec *) * g->room);
        if (old) {
            memcpy(g->recs, old, sizeof(ap_listen_rec *) * g->n);
        }
    }
    g->recs[g->n++] = rec;
}

retained_group *retained_make(retained_sockets *k, ap_listen_rec *lr,
                              const char **failed)
{
    int fd = os_fd(lr->sd), own = -1;
    struct sockaddr_storage local;
    socklen_t len = sizeof(local);
    apr_pool_t *pool;
    retained_group *g;

    if ((*failed = "getsockname", getsockname(fd, (void *)&local, &len))
        || (*failed = "SO_REUSEPORT", listensock_share(fd))
        || (*failed = "fcntl", (own = listensock_dup(fd)) < 0)) {
        return NULL;
    }
    apr_pool_create(&pool, ap_pglobal);
    apr_pool_tag(pool, "cpuaffinity_listeners");
    g = apr_pcalloc(pool, sizeof(*g));
    g->pool = pool;
    g->local = local;
    g->local_len = len;
    listensock_name(&local, len, g->name);
    g->lr = lr;
    add(g, own);
    g->next = k->groups;
    k->groups = g;
    return g;
}

int retained_unblock(ap_listen_rec *lr)
{
    apr_os_sock_t fd = os_fd(lr->sd), dummy;
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK)) {
        return -1;
    }
    /* Its flag is changed while it holds another descriptor. */
    dummy = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (dummy < 0) {
        return -1;
    }
    apr_os_sock_put(&lr->sd, &dummy, ap_pglobal);
    apr_socket_opt_set(lr->sd, APR_SO_NONBLOCK, 0);
    apr_os_sock_put(&lr->sd, &fd, ap_pglobal);
    close(dummy);
    return 0;
}

int retained_grow(retained_group *g, int n, const char **failed)
{
    while (g->n < n) {
        int fd = listensock_like(os_fd(g->recs[0]->sd), failed);

        if (fd < 0) {
            return -1;
        }
        add(g, fd);
    }
    return 0;
}

void retained_close(retained_group *g, int from, int shut)
{
    while (g->n > from) {
        ap_listen_rec *rec = g->recs[--g->n];

        if (shut) {
            shutdown(os_fd(rec->sd), SHUT_RDWR);
        }
        apr_socket_close(rec->sd);
        rec->active = 0;
    }
}

int retained_is_empty(const retained_group *g, int from)
{
    int i, waiting;

    for (i = from; i < g->n; i++) {
        if (!listensock_queue(os_fd(g->recs[i]->sd), &waiting, NULL)
            && waiting) {
            return 0;
        }
    }
    return 1;
}

void retained_drop(retained_sockets *k, retained_group *g)
{
    retained_group **slot = &k->groups;

    while (*slot && *slot != g) {
        slot = &(*slot)->next;
    }
    if (*slot) {
        *slot = g->next;
        apr_pool_destroy(g->pool);
    }
}
