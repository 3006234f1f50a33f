/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup: what the control groups of the calling process allow: a CPU quota
 * and a cpuset. No httpd header is needed.
 */
#ifndef CPUAFFINITY_CGROUP_H
#define CPUAFFINITY_CGROUP_H

#include <stddef.h>

/*
 * The number of CPUs that the quota allows, rounded up: the smallest along
 * the path of nested groups, v2 (cpu.max) and v1 (cpu.cfs_quota_us).
 * @param root prefix of /proc and /sys, for tests; "" is this machine
 * @return >= 1, or -1: no quota, or it cannot be read
 */
int cgroup_quota(const char *root);

/*
 * The CPUs of the group's cpuset, as it is in effect: v1
 * (cpuset.effective_cpus), else v2 (cpuset.cpus.effective), of the nearest
 * group up the path that shows one.
 * @param root as above
 * @param list gets it as a list, "0-3,8"
 * @return 0, or -1: there is none, or it cannot be read
 */
int cgroup_cpuset(const char *root, char *list, size_t size);

#endif
