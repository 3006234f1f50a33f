/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fixed: the fixed-process mode's part of httpd's life: what has to happen
 * when, in the parent and in a child. Called from the hooks of
 * mod_cpuaffinity.c, whatever FixedProcesses says.
 */
#ifndef CPUAFFINITY_FIXED_H
#define CPUAFFINITY_FIXED_H

#include <httpd.h>
#include <mpm_common.h>

/* After affinity_pre_config: our sockets out of httpd's list, the tree
 * rewritten. @return OK or an HTTP_ error (logged). Parent. */
int fixed_pre_config(apr_pool_t *pconf);

/* Before affinity_check_config: did the MPM do as told? @return as above */
int fixed_check_config(apr_pool_t *pconf, server_rec *s);

/* open_logs, LAST: the seats' sockets and channels. @return as above */
int fixed_open_logs(apr_pool_t *pconf, server_rec *s);

/* After affinity_post_config: notices, steering. Parent. */
void fixed_post_config(apr_pool_t *pconf, server_rec *s);

/* In the monitor hook: ends sockets whose time is over. Parent. */
void fixed_monitor(apr_pool_t *pconf, server_rec *s);

/* A child has ended, or not. Parent. */
void fixed_child_status(int slot, mpm_child_status state);

/* After affinity_child_init, last of all: the loop. Child's main thread. */
void fixed_child_init(apr_pool_t *pchild, server_rec *s);

/* Before affinity_child_stopping: any thread, any number of times. */
void fixed_child_stopping(int graceful);

#endif
