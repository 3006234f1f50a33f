/*
 * cgroup: the CPU quota of the calling process's control group. No httpd
 * header is needed.
 */
#ifndef CPUAFFINITY_CGROUP_H
#define CPUAFFINITY_CGROUP_H

/*
 * The CPUs that the quota allows, rounded up: the smallest along the path of
 * nested groups, v2 (cpu.max) and v1 (cpu.cfs_quota_us).
 * @param root prefix of /proc and /sys, for tests; "" is this machine
 * @return >= 1, or -1: no quota, or it cannot be read
 */
int cgroup_quota(const char *root);

#endif
