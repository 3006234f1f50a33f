/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retained: the seats' listening sockets as the parent keeps them over
 * restarts: in retained memory, one group per listening address, and as records
 * at the end of httpd's list of listeners. Nothing in it points into this
 * module or into pconf. Parent, one thread.
 */
#ifndef CPUAFFINITY_RETAINED_H
#define CPUAFFINITY_RETAINED_H

#include <httpd.h>
#include <ap_listen.h>

#include "listen/listensock.h"

typedef struct retained_group {
    struct retained_group *next;
    apr_pool_t *pool; /* of the process; everything here is in it */
    struct sockaddr_storage local;
    socklen_t local_len;
    char name[LISTENSOCK_NAME];
    /* httpd's record in the current list; NULL: removed or not yet found. Its
     * memory is the process's. */
    ap_listen_rec *lr;
    int n;                /* sockets, in the order of the kernel's group */
    int room;             /* how many recs has memory for */
    ap_listen_rec **recs; /* ours; [0] holds a duplicate of httpd's socket */
    int removed;          /* its Listen is gone: to be emptied and ended */
    int seats;            /* sockets from here on are surplus */
    int64_t since;        /* CLOCK_MONOTONIC ms, when it was removed or got
                             surplus sockets */
} retained_group;

typedef struct retained_sockets {
    retained_group *groups;
    ap_listen_rec **link; /* the "next" that points to our records, or NULL */
    int generation;       /* of the configuration when they were linked */
    int handed; /* the mode was turned off: the MPM accepts from them */
    int lost;   /* httpd read its configuration without this module and has
                   taken our records for its own, until it is stopped */
} retained_sockets;

/* The retained record; NULL if there is none and @a make is 0. */
retained_sockets *retained_get(int make);

/* Appends all our records to httpd's list, followed by @a rest. */
void retained_link(retained_sockets *k, ap_listen_rec *rest);

/* Cuts the list off where our records begin; harmless when they are not linked.
 * @return what followed them, NULL if nothing */
ap_listen_rec *retained_unlink(retained_sockets *k);

/* The group of the socket that httpd's record holds, or NULL. */
retained_group *retained_find(retained_sockets *k, ap_listen_rec *lr);

/*
 * Makes the group of httpd's record, with one socket: its own, which is
 * shared from now on.
 * @return it, or NULL with errno; *failed names the system call
 */
retained_group *retained_make(retained_sockets *k, ap_listen_rec *lr,
                              const char **failed);

/*
 * Makes the socket of httpd's record non-blocking without its apr_socket_t
 * noticing: httpd makes a sole listener blocking again whenever its
 * apr_socket_t says that it is not, and children would hang in accept.
 * @return 0, or -1 with errno
 */
int retained_unblock(ap_listen_rec *lr);

/* Adds sockets until the group has @a n. @return 0, or -1 with errno; the
 * group then has as many as could be made */
int retained_grow(retained_group *g, int n, const char **failed);

/* The descriptors of all its sockets, in order, from @a p. */
int *retained_fds(apr_pool_t *p, const retained_group *g);

/*
 * Closes the sockets from @a from on, the last one first, which preserves the
 * order of the others in the kernel's group. With @a shut they are shut down
 * for all processes, else only closed here.
 */
void retained_close(retained_group *g, int from, int shut);

/* Whether no connection waits in the sockets from @a from on. */
int retained_is_empty(const retained_group *g, int from);

/* Forgets a group whose sockets are closed; our records must be unlinked. */
void retained_drop(retained_sockets *k, retained_group *g);

#endif
