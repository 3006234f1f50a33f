/* SPDX-License-Identifier: Apache-2.0 */
/*
 * processes: FixedProcesses. The number of children is made fixed by
 * rewriting the MPM's directives in the configuration tree, before the MPM
 * reads them. Runs in the parent only, on its one thread.
 */
#ifndef CPUAFFINITY_PROCESSES_H
#define CPUAFFINITY_PROCESSES_H

#include <httpd.h>
#include <http_config.h>

#define PROCESSES_AUTO (-2)
#define PROCESSES_OFF 0
#define PROCESSES_MAX 4096

/*
 * Parses the argument of FixedProcesses: "off", "auto" or 1..4096.
 * @param n PROCESSES_OFF, PROCESSES_AUTO or the number
 * @return NULL, or the reason ("'0' is not off, auto or 1 to 4096"), from @a p
 */
const char *processes_parse(apr_pool_t *p, const char *arg, int *n);

/*
 * The last value of an integer directive in the configuration tree, at any
 * depth (conditional sections are already flattened), as the server will read
 * it: ${VARIABLES} resolved. For use before the directives have run.
 * @param tree ap_conftree
 * @param name the directive, any case
 * @param unset what to return when the directive is not there
 */
int processes_tree_int(const ap_directive_t *tree, const char *name, int unset);

/*
 * How many processes and threads the server plans when FixedProcesses is off:
 * StartServers and ThreadsPerChild of the tree, or the defaults of the MPM
 * that is loaded. prefork: *threads is 0.
 */
void processes_planned(const ap_directive_t *tree, int *processes,
                       int *threads);

/*
 * Finds FixedProcesses in *@a tree and, unless it is off, rewrites the tree to
 * match: StartServers, MinSpareThreads, MaxSpareThreads, MaxRequestWorkers,
 * MaxConnectionsPerChild and ServerLimit (aliases and repetitions too) are
 * replaced or added. -X means one process. Must be called in every
 * pre_config, off or not.
 * @param pconf the nodes and notes live here
 * @param automatic what "auto" stands for, >= 1: the allowed CPUs, at most
 *        the cgroup's quota rounded up
 * @return OK, or an HTTP_ error after logging directive, value and reason:
 *         another MPM than event, N times ThreadsPerChild over the limits,
 *         more than one listener bucket. A malformed FixedProcesses is left
 *         for its directive handler to refuse.
 */
int processes_pre_config(apr_pool_t *pconf, ap_directive_t **tree,
                         int automatic);

/*
 * Verifies after the MPM's own check_config that it will run the N children
 * asked for. To be called from check_config, REALLY_LAST.
 * ServerLimit and ThreadLimit cannot change over a restart: a restart that
 * cannot have its N logs an error and goes on with what there is; at start
 * (and for -t) it is an error.
 * @return OK or an HTTP_ error (logged). Under -t and -D DUMP_… it prints
 *         the notices of processes_log.
 */
int processes_check_config(apr_pool_t *pconf, server_rec *s);

/* Logs, once per (re)start, one notice per value that was replaced or added,
 * with file and line. From open_logs or post_config. */
void processes_log(server_rec *s);

/* The number of seats, >= 1; 0 when FixedProcesses is off. Valid from
 * pre_config on (final after check_config), in parent and children. */
int processes_count(void);

/* Worker threads of each child, >= 1; 0 if off. Valid as processes_count(). */
int processes_threads(void);

#endif
