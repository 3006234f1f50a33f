/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sockets: the listening sockets of the seats. For every Listen there is a
 * group of SO_REUSEPORT sockets, one per seat, made and kept by the parent
 * over restarts. All functions run in the parent on its one thread, unless
 * stated otherwise.
 *
 * Sockets are never closed while something may be queued on them. A seat
 * removed by a restart leaves a surplus socket, a removed Listen a group
 * without record: new connections are steered away from both, what is queued
 * is accepted by the new generation, then the parent shuts them down, which
 * ends them in every process.
 */
#ifndef CPUAFFINITY_SOCKETS_H
#define CPUAFFINITY_SOCKETS_H

#include <sys/socket.h>

#include <httpd.h>
#include <ap_listen.h>

#include "listen/steer_apply.h"

/* One listening address. */
typedef struct sockets_group {
    /* httpd's own record, whose sd the door replaces (after closing it in
     * the child: fds[0] is a duplicate). NULL: the Listen was removed by a
     * restart and its queues are being emptied: accept from it and hand over
     * through any door. */
    ap_listen_rec *lr;
    const char *protocol;          /* "http", "https", …; never NULL */
    struct sockaddr_storage local; /* from getsockname; may be a wildcard */
    socklen_t local_len;
    int backlog; /* as given to listen, capped by the kernel; >= 1 */
    /* Listening, non-blocking, close-on-exec. fds[i] is served by seat
     * i % seats; nfds is usually seats, larger after N went down (surplus
     * sockets being emptied), smaller (>= 1) only after a restart that could
     * not bind more. Ordered as in the kernel's group. */
    int nfds;
    const int *fds;
} sockets_group;

typedef struct sockets_set {
    int64_t made; /* CLOCK_MONOTONIC ms, by open_logs or the monitor */
    int seats;    /* >= 1 */
    int ngroups;
    const sockets_group *groups;
} sockets_set;

/*
 * The sockets of this generation; NULL when the mode is off (or could not be
 * turned on, which is logged: the children then serve as plain mpm_event).
 * Valid after open_logs and in the children, read-only, lives as long as
 * pconf. Any thread. In a process of an old generation it stays what it was.
 *
 * A child calls accept4 on its fds, and on a dead seat's to take that over:
 * descriptors are the same in all children. EINVAL from accept, or EPOLLHUP,
 * means that the parent has shut this socket down: forget it. When the child
 * stops accepting it calls sockets_child_close.
 */
const sockets_set *sockets_get(void);

/* Takes our records out of httpd's list of listeners, so that rereading the
 * configuration neither counts nor closes them. First thing in every
 * pre_config, mode on or off. (Without the module, httpd finds them there
 * and keeps them as listeners of its own: nothing is lost.) */
void sockets_pre_config(void);

/*
 * Before the MPM opens its listeners: ends groups of Listens that were removed
 * by an earlier restart and, when the mode has been turned off, gives the
 * sockets to httpd as ordinary listeners for one generation. From
 * check_config, after processes_check_config.
 * @param seats processes_count()
 */
void sockets_check_config(apr_pool_t *pconf, server_rec *s, int seats);

/*
 * Makes the groups: in open_logs, LAST (the MPM has opened and counted its
 * own listeners by then). Appends our sockets to ap_listeners, so that
 * graceful-stop, mod_cgid's daemon and executed programs close them.
 * @param seats processes_count(); 0 does nothing
 * @return OK, or an HTTP_ error, logged with address and errno, at start; a
 *         restart goes on with what it has
 */
int sockets_open_logs(apr_pool_t *pconf, server_rec *s, int seats);

/*
 * For a restart that lacks something the seats need: until the next one the
 * MPM's own sockets get all connections, and sockets_get() is NULL. In
 * open_logs and post_config; does nothing where there are no sockets.
 */
void sockets_do_without(apr_pool_t *p, server_rec *s);

/*
 * Applies steering to all groups: in post_config, once the plan is known, with
 * STEER_NONE too (a restart may have to turn steering off). Also confines new
 * connections to the present seats' sockets when there are surplus ones.
 * May be called again in any process of this generation, by one thread at a
 * time (steering is a property of the sockets, not of the process).
 * @param map which CPU belongs to which seat; NULL: no steering
 * @return 0, or -1 with errno after logging
 */
int sockets_steer(server_rec *s, steer_method method, const steermap *map);

/* In child_init, before the MPM looks at ap_listeners: takes our records out
 * of the child's copy. The descriptors stay open. */
void sockets_child_init(void);

/* In a child: closes its descriptors of all groups. By the thread that used
 * them last, or by child_stopping if no loop runs. Idempotent; async-signal
 * safe; not while another thread may still accept. */
void sockets_child_close(void);

/*
 * In a child, about once a second, by one thread: ends the sockets of removed
 * groups once they have been empty for a while, so that clients of a removed
 * Listen are refused. (The parent's monitor would do it too, later.)
 */
void sockets_tidy(void);

/* In the monitor hook (about every ten seconds): shuts down surplus sockets
 * and removed groups whose grace is over and whose queues are empty. */
void sockets_monitor(apr_pool_t *pconf, server_rec *s);

#endif
