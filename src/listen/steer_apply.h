/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steer_apply: sends a new connection to the seat whose CPU received it. System
 * calls on the descriptors it is given; no state of its own, no httpd header.
 * Steering is a property of the sockets, so any process that holds them can
 * change it, one at a time.
 */
#ifndef CPUAFFINITY_STEER_APPLY_H
#define CPUAFFINITY_STEER_APPLY_H

#include "listen/steer_map.h"

typedef enum steer_method {
    STEER_NONE,         /* the kernel's hash */
    STEER_INCOMING_CPU, /* SO_INCOMING_CPU on each socket */
    STEER_CBPF          /* a classic BPF program on the group */
} steer_method;

/* "off", "incoming-cpu", "cbpf" */
const char *steer_apply_name(steer_method method);

/*
 * Applies a method to one group of listening sockets.
 * @param fds the sockets in group order; the first @a seats take new
 *        connections, the others (surplus) no more
 * @param map the map, of @a seats seats; may be NULL for STEER_NONE
 * @return 0, or -1 with errno; *failed names the system call or option
 */
int steer_apply(const int *fds, int nfds, int seats, steer_method method,
                const steermap *map, const char **failed);

/*
 * Keeps a listening socket from getting new connections: SYNs are dropped (the
 * client tries again a second later); handshakes under way and what is queued
 * are not affected.
 * @return 0, or -1 with errno
 */
int steer_close_door(int fd);

/*
 * Tries the methods with real connections over loopback on an ephemeral
 * port, from up to four of the CPUs in @a allowed; takes a few milliseconds.
 * The calling thread's CPU mask is changed and restored.
 * @param single whether STEER_INCOMING_CPU is enough (map->single); it is
 *        preferred when it works, else STEER_CBPF
 * @param reason on STEER_NONE why, from @a p; else untouched
 * @return the method that was seen to work
 */
steer_method steer_apply_probe(apr_pool_t *p, const cpuset *allowed, int single,
                               const char **reason);

#endif
