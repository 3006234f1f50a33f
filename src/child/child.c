/* SPDX-License-Identifier: Apache-2.0 */
#include "child/child.h"

#include "ap_mpm.h"
#include "http_config.h"
#include "http_log.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "loop/own.h"
#include "loop/rebalance.h"
#include "loop/thread.h"
#include "handoff/detach.h"
#include "handoff/input_gate.h"
#include "learn/conn_note.h"
#include "conf/processes.h"
#include "handoff/workers.h"

APLOG_USE_MODULE(cpuaffinity);

#define DOOR_LEAST 16
#define CARRIED 512 /* waiting connections of older processes */

static int stopping; /* atomic: 1 gracefully, 2 at once */

static void drained(void *ctx)
{
    loop_wake(ctx);
}

/* Before the pool's children: the thread uses memory of theirs. */
static apr_status_t end(void *data)
{
    loop *l = data;

    if (!__atomic_load_n(&stopping, __ATOMIC_ACQUIRE)) {
        child_stop(0);
    }
    loop_join(l);
    return APR_SUCCESS;
}

/* As many may wait at the door as on a listening socket. */
static unsigned door_bound(const sockets_set *set)
{
    int bound = DOOR_LEAST, i;

    for (i = 0; i < set->ngroups; i++) {
        if (set->groups[i].backlog > bound) {
            bound = set->groups[i].backlog;
        }
    }
    return (unsigned)bound;
}

/*
 * The MPM accepts up to ThreadsPerChild connections, and so many more for
 * each idle thread as AsyncRequestWorkerFactor says: with as many kept as there
 * are threads it goes on while a third of these is idle (with the default, 2).
 * Passing through the door costs a busy connection a tenth of a small answer's
 * CPU time: so none is taken back for less.
 */
static unsigned crowd(void)
{
    int threads = 0;

    ap_mpm_query(AP_MPMQ_MAX_THREADS, &threads);
    if (processes_tree_int(ap_conftree, "AsyncRequestWorkerFactor", 2) < 1) {
        threads /= 2;
    }
    return (unsigned)threads;
}

static apr_status_t begin(loop *l, apr_pool_t *pchild)
{
    apr_status_t rv = thread_start(l, pchild);

    if (rv == APR_SUCCESS) {
        apr_pool_pre_cleanup_register(pchild, l, end);
        loop_publish(l);
        input_gate_use();
    }
    return rv;
}

/* As the MPM ends a child that lacks a resource: the parent makes another
 * within seconds, and meanwhile a neighbour serves the seat. */
static void end_child(apr_pool_t *pchild, server_rec *s, seat_table *seats,
                      const char *why)
{
    ap_log_error(APLOG_MARK, APLOG_ALERT, 0, s,
                 "FixedProcesses: process %d has no loop and ends: %s",
                 (int)getpid(), why);
    seat_release(seats, getpid());
    apr_pool_destroy(pchild);
    exit(APEXIT_CHILDSICK);
}

/* The seat's socket in the place of httpd's, which is the first seat's. */
static apr_status_t serve_socket(server_rec *s, const sockets_group *g,
                                 int seat)
{
    apr_socket_t *sd = NULL;
    apr_status_t rv =
        door_wrap(s, g->lr, fcntl(g->fds[seat], F_DUPFD_CLOEXEC, 0), &sd);

    if (rv == APR_SUCCESS) {
        apr_socket_close(g->lr->sd);
        g->lr->sd = sd;
    }
    return rv;
}

/* Without a loop: the MPM accepts from the seat's own sockets, so that no
 * socket is left unserved should no child have a loop. Where others have one, a
 * neighbour serves them too, and reads the channel of the seat. */
static void serve_plain(apr_pool_t *pchild, server_rec *s,
                        const sockets_set *set, seat_table *seats)
{
    int seat = seat_claim(seats), i;

    if (seat < 0) {
        /* Sockets cannot be added to the MPM's pollset later. */
        end_child(pchild, s, seats, "no seat is free");
        return;
    }
    for (i = 0; i < set->ngroups; i++) {
        const sockets_group *g = &set->groups[i];

        if (g->lr && seat < g->nfds
            && serve_socket(s, g, seat) != APR_SUCCESS) {
            end_child(pchild, s, seats, "its sockets cannot be httpd's");
        }
    }
    ap_log_error(APLOG_MARK, APLOG_ERR, 0, s,
                 "FixedProcesses: process %d has no loop: it serves the "
                 "sockets of seat %d as plain mpm_event, without FixedStatic "
                 "and FixedBalance",
                 (int)getpid(), seat);
}

/* @return a loop behind doors, or NULL (logged): nothing has been changed */
static loop *open_loop(apr_pool_t *pchild, server_rec *s,
                       const sockets_set *sockets)
{
    loop *l = loop_make(pchild, s);
    apr_status_t rv;

    if (!l) {
        return NULL;
    }
    rv = door_open(s, ap_listeners, 1, door_bound(sockets), drained, l,
                   &l->door);
    if (rv != APR_SUCCESS) {
        ap_log_error(APLOG_MARK, APLOG_ERR, rv, s,
                     "the door to httpd's threads could not be made");
        loop_unmake(l);
        return NULL;
    }
    return l;
}

void child_start(apr_pool_t *pchild, server_rec *s, const child_setup *setup)
{
    const sockets_set *sockets = sockets_get();
    loop *l;

    sockets_child_init();
    fd_channels_child_init();
    if (!sockets || !fd_channels_get()) {
        return;
    }
    detach_init();
    l = open_loop(pchild, s, sockets);
    if (!l) {
        serve_plain(pchild, s, sockets, setup->seats);
        return;
    }
    l->sockets = sockets;
    l->seats = setup->seats;
    l->channels = fd_channels_get();
    l->own->answers = setup->answers(pchild, s, sockets);
    l->own->balance = setup->balance
                          ? balance_make(pchild, setup->seats, workers_idle)
                          : NULL;
    l->own->rebalance =
        setup->balance ? rebalance_make(pchild, setup->seats) : NULL;
    l->crowd = crowd();
    l->own->place = setup->place;
    l->own->look = setup->look;
    if (begin(l, pchild) != APR_SUCCESS) {
        /* The MPM would wait at doors that nothing comes through. */
        end_child(pchild, s, setup->seats, "its thread could not be started");
    }
}

/* A loop without a seat and without sockets. */
static const sockets_set no_sockets = {.seats = 1};

void child_carry(apr_pool_t *pchild, server_rec *s)
{
    ap_listen_rec *lr = fd_channels_carrier();
    apr_status_t rv;
    loop *l;

    if (!lr) {
        return;
    }
    detach_init();
    l = loop_make(pchild, s);
    if (!l) {
        return;
    }
    rv = door_open(s, lr, 0, CARRIED, drained, l, &l->door);
    if (rv != APR_SUCCESS) {
        ap_log_error(APLOG_MARK, APLOG_ERR, rv, s,
                     "connections that older processes pass on are not served "
                     "by this child");
        return;
    }
    l->sockets = &no_sockets;
    l->channels = fd_channels_get();
    l->row = apr_pcalloc(pchild, sizeof(*l->row));
    begin(l, pchild);
}

void child_stop(int graceful)
{
    loop *l = loop_get();

    __atomic_store_n(&stopping, graceful ? 1 : 2, __ATOMIC_RELEASE);
    if (l) {
        loop_stop(l, graceful);
    }
    else {
        sockets_child_close();
    }
}

/* The MPM may close connections before it tells us by child_stopping. */
static int is_ending(void)
{
    int state = 0, mode = __atomic_load_n(&stopping, __ATOMIC_ACQUIRE);

    return mode == 1
           || (!mode && ap_mpm_query(AP_MPMQ_MPM_STATE, &state) == APR_SUCCESS
               && state == AP_MPMQ_STOPPING);
}

int child_pre_close(conn_rec *c)
{
    loop *l = loop_get();
    int seat;
    handoff p;

    if (l && !c->master) {
        /* The MPM goes on with a promised request, but not when it stops. */
        input_gate_begin(c);
    }
    if (!l || !is_ending() || !detach_may(c)
        || !fd_channels_has_successor(l->channels)
        || detach_take(c, conn_note_host(c), &p)) {
        return DECLINED;
    }
    seat = loop_seat(l);
    if (fd_channel_send(&l->channels->channel[seat < 0 ? 0 : seat], &p)) {
        handoff_drop(&p);
        return DECLINED;
    }
    c->aborted = 1;
    return OK;
}
