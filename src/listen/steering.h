/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steering: FixedSteering in a running server: which method is in force, and
 * whether it stays so. The state is in the seats' shared memory, for the
 * status page.
 */
#ifndef CPUAFFINITY_STEERING_H
#define CPUAFFINITY_STEERING_H

#include <httpd.h>

#include "affinity/plan.h"
#include "affinity/seat.h"
#include "conf/config.h"

/*
 * Probes what this machine can do (once; kept over restarts) and steers the
 * seats' sockets. In post_config, parent, with the plan made.
 * @param allowed the CPUs that may be used
 */
void steering_post_config(apr_pool_t *pconf, server_rec *s,
                          config_steering wanted, const plan *pl,
                          const cpuset *allowed, seat_table *seats);

/*
 * FixedSteering auto: once a second the lowest live seat checks what all seats
 * did, and turns steering off or on again. To be called a few times a second
 * by the loop of each child that has a seat.
 */
void steering_look(server_rec *s, seat_table *seats, int seat);

/* The method in force ("off", "incoming-cpu", "cbpf") and, in *why, a reason
 * or "". From @a p. Any process, any thread. */
const char *steering_state(apr_pool_t *p, const seat_table *seats,
                           const char **why);

#endif
