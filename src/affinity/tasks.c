/* SPDX-License-Identifier: Apache-2.0 */
#include "affinity/tasks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const role_names[] = {
    [TASK_MAIN] = "main",       [TASK_LISTENER] = "listener",
    [TASK_WORKER] = "worker",   [TASK_STATIC] = "static",
    [TASK_WATCHER] = "watcher", [TASK_LOGGER] = "logger",
    [TASK_OTHER] = "other",
};

const char *tasks_role_name(task_role role)
{
    return role_names[role];
}

/* A small /proc file of a thread as a string. @return its length or -1 */
static ssize_t slurp(const char *dir, pid_t tid, const char *file, char *buf,
                     size_t size)
{
    char path[96];
    ssize_t n;
    int fd;

    snprintf(path, sizeof(path), "%s/%d/%s", dir, (int)tid, file);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return -1;
    }
    n = read(fd, buf, size - 1);
    close(fd);
    if (n >= 0) {
        buf[n] = '\0';
    }
    return n;
}

static void read_role(task_row *row, pid_t pid)
{
    static const struct {
        const char *name;
        task_role role;
    } names[] = {{"httpd/listen", TASK_LISTENER},
                 {"httpd/static", TASK_STATIC},
                 {"httpd/watch", TASK_WATCHER},
                 {"httpd/log", TASK_LOGGER}};
    char *end;
    size_t i;

    row->role = row->tid == pid ? TASK_MAIN : TASK_OTHER;
    for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (!strcmp(row->name, names[i].name)) {
            row->role = names[i].role;
        }
    }
    if (!strncmp(row->name, "httpd/w", 7)) {
        long index = strtol(row->name + 7, &end, 10);

        if (end != row->name + 7 && !*end && index >= 0) {
            row->role = TASK_WORKER;
            row->index = (int)index;
        }
    }
}

static int read_identity(const char *dir, pid_t pid, task_row *row)
{
    char buf[4096];
    const char *line;

    if (slurp(dir, row->tid, "status", buf, sizeof(buf)) <= 0
        || sscanf(buf, "Name: %15[^\n]", row->name) != 1) {
        return -1;
    }
    line = strstr(buf, "\nSigBlk:");
    row->hup_unblocked =
        line && !(strtoull(line + 8, NULL, 16) & (1ull << (SIGHUP - 1)));
    read_role(row, pid);
    return 0;
}

static void read_usage(const char *dir, task_row *row)
{
    char buf[4096];
    const char *p;
    unsigned long user, system;
    long hertz = sysconf(_SC_CLK_TCK);
    int cpu;

    /* The name may hold spaces and parentheses: fields count from the last
     * one; state is the third, utime the 14th, processor the 39th. */
    if (slurp(dir, row->tid, "stat", buf, sizeof(buf)) > 0
        && (p = strrchr(buf, ')'))
        && sscanf(p + 2,
                  "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %*d"
                  " %*d %*d %*d %*d %*d %*u %*u %*d %*u %*u %*u %*u %*u %*u"
                  " %*u %*u %*u %*u %*u %*u %*u %*d %d",
                  &user, &system, &cpu)
               == 3) {
        row->last_cpu = cpu;
        row->cpu_ms = (int64_t)(user + system) * 1000 / hertz;
    }
    if (slurp(dir, row->tid, "sched", buf, sizeof(buf)) > 0
        && (p = strstr(buf, "nr_migrations")) && (p = strchr(p, ':'))) {
        row->migrations = strtoll(p + 1, NULL, 10);
    }
}

static int by_tid(const void *a, const void *b)
{
    pid_t x = ((const task_row *)a)->tid;
    pid_t y = ((const task_row *)b)->tid;

    return (x > y) - (x < y);
}

apr_array_header_t *tasks_read(apr_pool_t *p, pid_t pid, int what)
{
    apr_array_header_t *rows;
    char path[64];
    struct dirent *entry;
    DIR *dir;

    if (!pid) {
        pid = getpid();
    }
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    dir = opendir(path);
    if (!dir) {
        return NULL;
    }
    rows = apr_array_make(p, 16, sizeof(task_row));
    while ((entry = readdir(dir))) {
        task_row row = {.last_cpu = -1, .migrations = -1, .cpu_ms = -1};

        row.tid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (row.tid <= 0 || read_identity(path, pid, &row)) {
            continue;
        }
        if (what == TASKS_USAGE) {
            read_usage(path, &row);
        }
        *(task_row *)apr_array_push(rows) = row;
    }
    closedir(dir);
    qsort(rows->elts, (size_t)rows->nelts, sizeof(task_row), by_tid);
    return rows;
}
