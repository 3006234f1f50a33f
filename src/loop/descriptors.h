/* SPDX-License-Identifier: Apache-2.0 */
/*
 * descriptors: connections, cached files and httpd's own share what
 * RLIMIT_NOFILE gives a process. No httpd header is needed.
 */
#ifndef CPUAFFINITY_DESCRIPTORS_H
#define CPUAFFINITY_DESCRIPTORS_H

/* How many this process may have, at most 2^20. Any thread. */
unsigned descriptors_limit(void);

/* How many of them the loop's connections may take: what is left is httpd's
 * and the cache's. Any thread. */
unsigned descriptors_room(void);

#endif
