/* SPDX-License-Identifier: Apache-2.0 */
/*
 * affinity: the life of the plan inside httpd: made when the configuration
 * is checked, announced at start, applied in each child. Called from the
 * hooks of mod_cpuaffinity.c; each function says on which thread.
 */
#ifndef CPUAFFINITY_AFFINITY_H
#define CPUAFFINITY_AFFINITY_H

#include "httpd.h"
#include "ap_mpm.h"

#include "affinity/plan.h"
#include "affinity/topology.h"
#include "affinity/seat.h"

/* Takes the mask that httpd may use, see inherited_mask(), and forgets the
 * plan of the configuration before. Parent. */
void affinity_pre_config(apr_pool_t *pconf);

/*
 * Makes the plan if something needs one. After the MPM has settled its
 * numbers. Errors are logged with directive, argument, reason and place.
 * @return OK or HTTP_INTERNAL_SERVER_ERROR. Parent.
 */
int affinity_check_config(apr_pool_t *pconf, apr_pool_t *ptemp, server_rec *s);

/* Logs the plan, a notice per seat and its warnings, and makes the seats'
 * table. @return OK or HTTP_INTERNAL_SERVER_ERROR. Parent. */
int affinity_post_config(apr_pool_t *pconf, server_rec *s);

/* Claims a seat, sets the masks that threads inherit, starts the watcher. The
 * child's main thread, after all other modules' child_init. */
void affinity_child_init(apr_pool_t *pchild, server_rec *s);

/* Gives the seat up, ends the watcher. Any thread, any number of times. */
void affinity_child_stopping(void);

/* A child has ended: its seat is free. Parent. */
void affinity_child_status(pid_t pid, mpm_child_status state);

/* A worker's first connection. */
void affinity_connection(conn_rec *c);

/* Prints plan and CPUs (-t -D DUMP_CPUAFFINITY) to standard output. */
void affinity_dump(apr_pool_t *p, server_rec *s);

/* The plan and machine of this configuration; NULL before check_config and
 * where nothing needs a plan. Valid as long as pconf. */
const plan *affinity_plan(void);
topology *affinity_topology(void);

/* The seats of this generation, NULL where there are none. Any thread. */
seat_table *affinity_seats(void);

/* How many processes FixedProcesses auto is: the CPUs of the inherited mask
 * that are online, reduced by the arguments of CPUAffinityCPUs and
 * CPUAffinitySMT (NULL: not given; what is wrong with them the directives
 * will say), at most the cgroup's quota. In pre_config, where the directives
 * have not run. >= 1. */
int affinity_cpu_count(apr_pool_t *p, const char *cpus, const char *smt);

#endif
