/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include <apr_strings.h>
#include <apr_tables.h>

#include "affinity/pin.h"
#include "affinity/seat.h"
#include "affinity/tasks.h"
#include "cli/cli.h"

static const char help[] =
    "usage: cpuaffinity ps [PID] [--json]\n"
    "\n"
    "A row per thread of a running httpd: of the server that PID belongs to,\n"
    "else of all. Without the module, seat, role and wanted set are unknown.\n"
    "CPU is where the thread ran last, MOVES its migrations, TIME seconds.\n";

/* What is in one server's shared memory. Trusted only as far as it makes sense:
 * we may be root, and those who write it are not. */
typedef struct server {
    json_t *plan; /* NULL: none */
    int nseats;
    pid_t *seats; /* pid of each */
} server;

/* "comm" and parent of a process. 0 or -1 */
static int identify(pid_t pid, char name[16], pid_t *parent)
{
    char path[64], buf[512];
    FILE *f;
    char *open, *close;
    size_t n;
    int ppid;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    f = fopen(path, "re");
    if (!f) {
        return -1;
    }
    n = fread(buf, 1, sizeof(buf) - 1, f);
    fclose(f);
    buf[n] = '\0';
    open = strchr(buf, '(');
    close = strrchr(buf, ')');
    if (!open || !close || sscanf(close + 1, " %*c %d", &ppid) != 1) {
        return -1;
    }
    *close = '\0';
    apr_cpystrn(name, open + 1, 16);
    *parent = (pid_t)ppid;
    return 0;
}

static int is_httpd(pid_t pid, pid_t *parent)
{
    char name[16];

    return !identify(pid, name, parent)
           && (!strcmp(name, "apache2") || !strcmp(name, "httpd"));
}

/* All process ids, ascending as readdir has them. */
static apr_array_header_t *all_pids(apr_pool_t *p)
{
    apr_array_header_t *pids = apr_array_make(p, 256, sizeof(pid_t));
    DIR *dir = opendir("/proc");
    struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        if (isdigit((unsigned char)*entry->d_name)) {
            APR_ARRAY_PUSH(pids, pid_t) =
                (pid_t)strtol(entry->d_name, NULL, 10);
        }
    }
    if (dir) {
        closedir(dir);
    }
    return pids;
}

/* Opens the memfd of a name that a process holds. @return fd or -1 */
static int open_memfd(pid_t pid, const char *name)
{
    char path[64], target[128], file[384];
    const char *want = "/memfd:";
    struct dirent *entry;
    DIR *dir;
    int fd = -1;

    snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    dir = opendir(path);
    while (dir && fd < 0 && (entry = readdir(dir))) {
        ssize_t n;

        snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
        n = readlink(file, target, sizeof(target) - 1);
        if (n <= 0) {
            continue;
        }
        target[n] = '\0';
        if (!strncmp(target, want, strlen(want))
            && !strncmp(target + strlen(want), name, strlen(name))) {
            fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        }
    }
    if (dir) {
        closedir(dir);
    }
    return fd;
}

/* A memfd's bytes, 0-terminated; NULL: not there. At most 64 MiB. */
static char *read_memfd(apr_pool_t *p, pid_t pid, const char *name,
                        size_t *size)
{
    int fd = open_memfd(pid, name);
    struct stat st;
    char *text;
    ssize_t n;

    if (fd < 0) {
        return NULL;
    }
    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size <= 0
        || st.st_size > 64 << 20) {
        close(fd);
        return NULL;
    }
    text = apr_palloc(p, (apr_size_t)st.st_size + 1);
    n = pread(fd, text, (size_t)st.st_size, 0);
    close(fd);
    if (n < 0) {
        return NULL;
    }
    text[n] = '\0';
    *size = (size_t)n;
    return text;
}

static apr_status_t drop(void *json)
{
    json_decref(json);
    return APR_SUCCESS;
}

static void read_server(apr_pool_t *p, pid_t pid, server *s)
{
    size_t size;
    char *text = read_memfd(p, pid, "cpuaffinity-plan", &size);
    const seat_shared *shared;
    int i;

    memset(s, 0, sizeof(*s));
    if (text) {
        s->plan = json_loads(text, 0, NULL);
        if (s->plan) {
            apr_pool_cleanup_register(p, s->plan, drop, apr_pool_cleanup_null);
        }
    }
    text = read_memfd(p, pid, SEAT_MEMFD, &size);
    shared = (const seat_shared *)(void *)text;
    if (!text || size < sizeof(*shared) || shared->magic != SEAT_MAGIC
        || shared->row_size != sizeof(seat_row) || shared->seats < 1
        || (size_t)shared->seats
               > (size - sizeof(*shared)) / sizeof(seat_row)) {
        return;
    }
    s->nseats = shared->seats;
    s->seats = apr_palloc(p, sizeof(pid_t) * (size_t)s->nseats);
    for (i = 0; i < s->nseats; i++) {
        s->seats[i] = shared->rows[i].pid;
    }
}

static int seat_of(const server *s, pid_t pid)
{
    int i;

    for (i = 0; i < s->nseats; i++) {
        if (s->seats[i] == pid) {
            return i;
        }
    }
    return -1;
}

/* The set the plan gives a thread; "-" where that is not known. */
static const char *wanted(const server *s, int seat, const task_row *t)
{
    const json_t *seats = json_object_get(s->plan, "seats");
    const json_t *row, *workers;
    const char *set = NULL;

    if (seat < 0 || json_array_size(seats) == 0) {
        return "-";
    }
    row = json_array_get(seats, (size_t)seat % json_array_size(seats));
    workers = json_object_get(row, "workers");
    if (t->role == TASK_WORKER && json_array_size(workers) > 0) {
        set = json_string_value(json_array_get(
            workers, (size_t)t->index % json_array_size(workers)));
    }
    else {
        set = json_string_value(json_object_get(
            row, t->role == TASK_LISTENER ? "listener" : "process"));
    }
    /* It goes to a terminal: nothing but a set is shown. */
    return set && *set && !set[strspn(set, "0123456789,-")] ? set : "-";
}

static void print_thread(apr_pool_t *p, const server *s, int seat, pid_t pid,
                         const task_row *t, json_t *list)
{
    cpuset *actual = cpuset_make(p);
    const char *role =
        seat < 0 && t->role == TASK_OTHER ? "-" : tasks_role_name(t->role);
    const char *now = pin_get(t->tid, actual) ? "-" : cpuset_format(p, actual);

    if (list) {
        json_array_append_new(
            list,
            json_pack("{s:i, s:i, s:i, s:s, s:i, s:s, s:s, s:i, s:I, s:I}",
                      "seat", seat, "pid", (int)pid, "tid", (int)t->tid, "role",
                      role, "index", t->index, "wanted", wanted(s, seat, t),
                      "actual", now, "last_cpu", t->last_cpu, "migrations",
                      (json_int_t)t->migrations, "cpu_ms",
                      (json_int_t)t->cpu_ms));
        return;
    }
    printf("%4s %7d %7d %-8s %5s %-12s %-12s %3d %7lld %8.2f\n",
           seat < 0 ? "-" : apr_itoa(p, seat), (int)pid, (int)t->tid, role,
           t->role == TASK_WORKER ? apr_itoa(p, t->index) : "-",
           wanted(s, seat, t), now, t->last_cpu, (long long)t->migrations,
           (double)t->cpu_ms / 1000);
}

static void print_process(apr_pool_t *p, const server *s, pid_t pid,
                          json_t *list)
{
    apr_array_header_t *tasks = tasks_read(p, pid, TASKS_USAGE);
    int seat = seat_of(s, pid), i;

    for (i = 0; tasks && i < tasks->nelts; i++) {
        print_thread(p, s, seat, pid, &APR_ARRAY_IDX(tasks, i, task_row), list);
    }
}

/* The parent and its children. */
static void print_server(apr_pool_t *p, pid_t parent,
                         const apr_array_header_t *pids, json_t *list)
{
    server s;
    int i;

    read_server(p, parent, &s);
    print_process(p, &s, parent, list);
    for (i = 0; i < pids->nelts; i++) {
        pid_t pid = APR_ARRAY_IDX(pids, i, pid_t), up;

        if (is_httpd(pid, &up) && up == parent) {
            print_process(p, &s, pid, list);
        }
    }
}

/* The pid argument -> the server's parent. 0 or an exit code */
static int find_parent(const char *arg, pid_t *parent)
{
    char name[16], *end;
    long n = strtol(arg, &end, 10);
    pid_t up, above;

    if (end == arg || *end || n < 1 || n > 1 << 30) {
        cli_fail("'%s' is not a process id", arg);
        return CLI_USAGE;
    }
    *parent = (pid_t)n;
    if (identify(*parent, name, &up)) {
        return cli_fail("process %s: %s", arg, strerror(ESRCH));
    }
    if (!is_httpd(*parent, &up)) {
        return cli_fail("process %s is '%s', not httpd or apache2", arg, name);
    }
    if (is_httpd(up, &above)) {
        *parent = up;
    }
    return 0;
}

static int print_all(apr_pool_t *p, const apr_array_header_t *pids,
                     json_t *list)
{
    int i, found = 0;

    for (i = 0; i < pids->nelts; i++) {
        pid_t pid = APR_ARRAY_IDX(pids, i, pid_t), up, above;

        if (is_httpd(pid, &up) && !is_httpd(up, &above)) {
            print_server(p, pid, pids, list);
            found = 1;
        }
    }
    return found ? CLI_OK : cli_fail("no httpd or apache2 is running");
}

int cli_ps(apr_pool_t *p, int argc, char *argv[])
{
    static const struct option long_options[] = {
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0}};
    json_t *list = NULL;
    pid_t parent = 0;
    int id, rc = CLI_OK;

    optind = 1;
    while ((id = getopt_long(argc, argv, "jh", long_options, NULL)) != -1) {
        if (id == 'h') {
            fputs(help, stdout);
            return CLI_OK;
        }
        if (id != 'j') {
            return CLI_USAGE;
        }
        list = list ? list : json_array();
    }
    if (argc - optind > 1) {
        cli_fail("'%s' is too much", argv[optind + 1]);
        return CLI_USAGE;
    }
    if (optind < argc && (rc = find_parent(argv[optind], &parent))) {
        json_decref(list);
        return rc;
    }
    if (!list) {
        printf("SEAT     PID     TID ROLE     INDEX WANTED       ACTUAL       "
               "CPU   MOVES     TIME\n");
    }
    if (parent) {
        print_server(p, parent, all_pids(p), list);
    }
    else {
        rc = print_all(p, all_pids(p), list);
    }
    if (list) {
        json_dumpf(list, stdout, JSON_INDENT(1));
        putchar('\n');
        json_decref(list);
    }
    return rc;
}
