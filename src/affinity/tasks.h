/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tasks: the threads of a process as /proc/PID/task shows them. A kernel
 * thread id is only known to be that thread's while it is read.
 */
#ifndef CPUAFFINITY_TASKS_H
#define CPUAFFINITY_TASKS_H

#include <stdint.h>
#include <sys/types.h>

#include <apr_tables.h>

typedef enum task_role {
    TASK_MAIN,
    TASK_LISTENER,
    TASK_WORKER,
    TASK_STATIC,
    TASK_WATCHER,
    TASK_LOGGER,
    TASK_OTHER
} task_role;

typedef struct task_row {
    pid_t tid;
    char name[16];
    task_role role;    /* from the name and the id; a listener without the
                            name is TASK_OTHER with hup_unblocked */
    int index;         /* of a worker; else 0 */
    int hup_unblocked; /* SIGHUP is not blocked: in a child of a threaded
                            MPM that is the listener alone */
    int last_cpu;      /* -1 unknown; the following too */
    int64_t migrations;
    int64_t cpu_ms; /* user and system time, milliseconds */
} task_row;

#define TASKS_IDENTITY 0 /* tid, name, role, hup_unblocked */
#define TASKS_USAGE 1    /* last_cpu, migrations, cpu_ms too */

/*
 * Reads the threads of @a pid (0: this process), ascending by id. Threads
 * that end meanwhile are left out.
 * @return array of task_row from @a p; NULL with errno when there is no such
 *         process
 */
apr_array_header_t *tasks_read(apr_pool_t *p, pid_t pid, int what);

/* "listener", "worker", … */
const char *tasks_role_name(task_role role);

#endif
