/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workers: how many worker threads of a child are free, as httpd's
 * scoreboard says. Any thread.
 */
#ifndef CPUAFFINITY_WORKERS_H
#define CPUAFFINITY_WORKERS_H

#include <sys/types.h>

/*
 * Idle workers of a process; 0 also while its MPM accepts no connections
 * (too many are open). Reads the row of every worker.
 * @param slot where the caller remembers the process's scoreboard slot; any
 *        value at first
 * @return the number, or -1 if the process has no slot there (yet)
 */
int workers_idle(pid_t pid, int *slot);

#endif
