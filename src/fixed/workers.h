/*
 * workers: how many of this child's worker threads are free, as httpd's
 * scoreboard says. One thread (the loop).
 */
#ifndef CPUAFFINITY_WORKERS_H
#define CPUAFFINITY_WORKERS_H

/*
 * Idle workers of this process; 0 also while the MPM accepts no connections
 * (too many are open). While the process has no slot yet: all are idle.
 * Costs a look at every worker's row.
 */
int workers_idle(void);

#endif
