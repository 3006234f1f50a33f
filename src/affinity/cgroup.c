/* SPDX-License-Identifier: Apache-2.0 */
#include "affinity/cgroup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_SIZE 4608

/* A small file as a string. @return 0 or -1 */
static int slurp(const char *path, char *buf, size_t size)
{
    FILE *f = fopen(path, "re");
    size_t n;

    if (!f) {
        return -1;
    }
    n = fread(buf, 1, size - 1, f);
    fclose(f);
    buf[n] = '\0';
    return n ? 0 : -1;
}

/* The quota of one group's directory, in CPUs; -1: none. */
static double group_quota(const char *dir)
{
    char path[PATH_SIZE + 32], buf[128], buf2[64];
    double quota, period;

    snprintf(path, sizeof(path), "%s/cpu.max", dir);
    if (!slurp(path, buf, sizeof(buf))) {
        return sscanf(buf, "%lf %lf", &quota, &period) == 2 && quota > 0
                       && period > 0
                   ? quota / period
                   : -1;
    }
    snprintf(path, sizeof(path), "%s/cpu.cfs_quota_us", dir);
    if (slurp(path, buf, sizeof(buf))) {
        return -1;
    }
    snprintf(path, sizeof(path), "%s/cpu.cfs_period_us", dir);
    if (slurp(path, buf2, sizeof(buf2))) {
        return -1;
    }
    quota = strtod(buf, NULL);
    period = strtod(buf2, NULL);
    return quota > 0 && period > 0 ? quota / period : -1;
}

/* The smallest quota from a group up to its hierarchy's root. In a container
 * the path may exist only on the host: then the root alone counts. */
static double path_quota(const char *mount, const char *group)
{
    char dir[PATH_SIZE];
    double best = -1;
    size_t base = strlen(mount);
    char *slash;

    snprintf(dir, sizeof(dir), "%s%s", mount, group);
    for (;;) {
        double quota = group_quota(dir);

        if (quota > 0 && (best < 0 || quota < best)) {
            best = quota;
        }
        slash = strrchr(dir, '/');
        if (strlen(dir) <= base || !slash || (size_t)(slash - dir) < base) {
            return best;
        }
        *slash = '\0';
    }
}

/*
 * The group of a line of /proc/self/cgroup, "0::/path" or
 * "3:cpu,cpuacct:/path", if it is of version 2 (@a v2) or has the controller.
 * Modifies the line. @return NULL: any other line
 */
static const char *line_group(char *line, const char *controller, int *v2)
{
    char *controllers = strchr(line, ':');
    char *group = controllers ? strchr(controllers + 1, ':') : NULL;
    char *word, *rest;

    if (!group) {
        return NULL;
    }
    *group++ = '\0';
    *v2 = !*++controllers;
    for (word = strtok_r(controllers, ",", &rest); word;
         word = strtok_r(NULL, ",", &rest)) {
        if (!strcmp(word, controller)) {
            break;
        }
    }
    if (!word && !*v2) {
        return NULL;
    }
    return strcmp(group, "/") ? group : "";
}

static const char *const v2_mounts[] = {"/sys/fs/cgroup",
                                        "/sys/fs/cgroup/unified", NULL};

static double line_quota(const char *root, char *line)
{
    static const char *const v1[] = {"/sys/fs/cgroup/cpu",
                                     "/sys/fs/cgroup/cpu,cpuacct",
                                     "/sys/fs/cgroup/cpuacct,cpu", NULL};
    char mount[PATH_SIZE];
    int v2;
    const char *group = line_group(line, "cpu", &v2);
    const char *const *m;

    for (m = v2 ? v2_mounts : v1; group && *m; m++) {
        double quota;

        snprintf(mount, sizeof(mount), "%s%s", root, *m);
        quota = path_quota(mount, group);
        if (quota > 0) {
            return quota;
        }
    }
    return -1;
}

int cgroup_quota(const char *root)
{
    char path[PATH_SIZE], buf[8192];
    char *line, *rest;
    double best = -1;
    int whole;

    snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
    if (slurp(path, buf, sizeof(buf))) {
        return -1;
    }
    for (line = strtok_r(buf, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest)) {
        double quota = line_quota(root, line);

        if (quota > 0 && (best < 0 || quota < best)) {
            best = quota;
        }
    }
    if (best < 0 || best > 1000000) {
        return -1;
    }
    whole = (int)best;
    return whole < best ? whole + 1 : whole;
}

/* The cpuset of the nearest group, up to its hierarchy's root, that has one. */
static int path_cpuset(const char *mount, const char *group, const char *file,
                       char *list, size_t size)
{
    char dir[PATH_SIZE], path[PATH_SIZE + 64];
    size_t base = strlen(mount);
    char *slash;

    snprintf(dir, sizeof(dir), "%s%s", mount, group);
    for (;;) {
        snprintf(path, sizeof(path), "%s/%s", dir, file);
        if (!slurp(path, list, size)) {
            list[strcspn(list, "\n")] = '\0';
            return *list ? 0 : -1;
        }
        slash = strrchr(dir, '/');
        if (strlen(dir) <= base || !slash || (size_t)(slash - dir) < base) {
            return -1;
        }
        *slash = '\0';
    }
}

static int line_cpuset(const char *root, char *line, int want_v2, char *list,
                       size_t size)
{
    static const char *const v1[] = {"/sys/fs/cgroup/cpuset", NULL};
    char mount[PATH_SIZE];
    int v2 = 0;
    const char *group = line_group(line, "cpuset", &v2);
    const char *const *m;

    for (m = v2 ? v2_mounts : v1; group && v2 == want_v2 && *m; m++) {
        snprintf(mount, sizeof(mount), "%s%s", root, *m);
        if (!path_cpuset(mount, group,
                         v2 ? "cpuset.cpus.effective" : "cpuset.effective_cpus",
                         list, size)) {
            return 0;
        }
    }
    return -1;
}

int cgroup_cpuset(const char *root, char *list, size_t size)
{
    char path[PATH_SIZE], buf[8192];
    char *line, *rest;
    int v2;

    snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
    for (v2 = 0; v2 < 2; v2++) {
        if (slurp(path, buf, sizeof(buf))) {
            return -1;
        }
        for (line = strtok_r(buf, "\n", &rest); line;
             line = strtok_r(NULL, "\n", &rest)) {
            if (!line_cpuset(root, line, v2, list, size)) {
                return 0;
            }
        }
    }
    return -1;
}
