/* SPDX-License-Identifier: Apache-2.0 */
#include "conf/processes.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "apr_lib.h"
#include "apr_strings.h"

#include "ap_mpm.h"
#include "http_core.h"
#include "http_log.h"

#include "conf/tree.h"

APLOG_USE_MODULE(cpuaffinity);

#define DEFAULT_THREADS 25      /* ThreadsPerChild of event and worker */
#define DEFAULT_THREAD_LIMIT 64 /* ThreadLimit of both */
#define DEFAULT_SERVER_LIMIT 16 /* ServerLimit of both */
#define SERVER_LIMIT_MAX 20000  /* the maximum of both */

/* ServerLimit and ThreadLimit of the first start: the MPM keeps them until
 * httpd is stopped. */
#define FROZEN_KEY "cpuaffinity-processes-1"
typedef struct frozen_limits {
    int servers;
    int threads;
} frozen_limits;

typedef struct fixed_mode {
    int seats;         /* N; 0: off */
    int threads;       /* of each child */
    const char *given; /* "FixedProcesses auto (FILE:LINE)" */
    apr_array_header_t *notes;
} fixed_mode;

/* Of this reading of the configuration. */
static fixed_mode mode;

static tree_names fixed_names = {"FixedProcesses"};

/* The directives that make the number of children fixed. */
typedef struct rule {
    tree_names names;
    int at_least; /* a larger configured value is kept */
    long (*value)(int seats, int threads);
} rule;

static long seats_value(int seats, int threads)
{
    return seats;
}

/* High enough that losing a single child leaves too few: the MPM starts
 * children only when it lacks idle threads. */
static long min_spare(int seats, int threads)
{
    return (long)(seats - 1) * threads + 1;
}

static long all_threads(int seats, int threads)
{
    return (long)seats * threads;
}

static long never(int seats, int threads)
{
    return 0;
}

/* A restart starts all children anew while the old ones finish: this leaves
 * room for several generations. */
static long server_limit(int seats, int threads)
{
    long limit = 4L * seats + 16;

    return limit < SERVER_LIMIT_MAX ? limit : SERVER_LIMIT_MAX;
}

/* The loop's row in the scoreboard (score). */
static long one_more(int seats, int threads)
{
    return (long)threads + 1;
}

static const rule rules[] = {
    {{"ServerLimit"}, 1, server_limit},
    {{"StartServers"}, 0, seats_value},
    {{"MinSpareThreads"}, 1, min_spare},
    {{"MaxSpareThreads"}, 1, all_threads},
    {{"MaxRequestWorkers", "MaxClients"}, 0, all_threads},
    {{"MaxConnectionsPerChild", "MaxRequestsPerChild"}, 0, never},
    {{"ThreadLimit"}, 1, one_more},
};

const char *processes_parse(apr_pool_t *p, const char *arg, int *n)
{
    char *end;
    apr_int64_t value;

    if (!strcasecmp(arg, "off")) {
        *n = PROCESSES_OFF;
        return NULL;
    }
    if (!strcasecmp(arg, "auto")) {
        *n = PROCESSES_AUTO;
        return NULL;
    }
    value = apr_strtoi64(arg, &end, 10);
    if (!apr_isdigit(*arg) || *end || value < 1 || value > PROCESSES_MAX) {
        return apr_psprintf(p, "'%s' is not off, auto or 1 to %d", arg,
                            PROCESSES_MAX);
    }
    *n = (int)value;
    return NULL;
}

static int last_int(const ap_directive_t *tree, tree_names names, int unset)
{
    const ap_directive_t *node = tree_last(tree, names);
    apr_pool_t *p;
    int value;

    if (!node) {
        return unset;
    }
    apr_pool_create(&p, NULL);
    value = (int)strtol(tree_arg(p, node), NULL, 10); /* as the MPM */
    apr_pool_destroy(p);
    return value;
}

int processes_tree_int(const ap_directive_t *tree, const char *name, int unset)
{
    tree_names names = {name};

    return last_int(tree, names, unset);
}

static int at_least_one(int value)
{
    return value < 1 ? 1 : value;
}

void processes_planned(const ap_directive_t *tree, int *processes, int *threads)
{
    static tree_names workers = {"MaxRequestWorkers", "MaxClients"};
    int prefork = !strcasecmp(ap_show_mpm(), "prefork");
    int most;

    *processes =
        at_least_one(processes_tree_int(tree, "StartServers", prefork ? 5 : 3));
    *threads = 0;
    if (prefork) {
        most = last_int(tree, workers, 256);
    }
    else {
        int limit =
            processes_tree_int(tree, "ServerLimit", DEFAULT_SERVER_LIMIT);

        *threads = at_least_one(
            processes_tree_int(tree, "ThreadsPerChild", DEFAULT_THREADS));
        most = last_int(tree, workers, limit * *threads) / *threads;
        most = most < limit ? most : limit;
    }
    most = at_least_one(most);
    *processes = *processes < most ? *processes : most;
}

/* At the first reading there is no log yet: messages go to the console. */
static int level(int of)
{
    return ap_state_query(AP_SQ_MAIN_STATE) == AP_SQ_MS_CREATE_PRE_CONFIG
               ? of | APLOG_STARTUP
               : of;
}

/* A (graceful) restart, as opposed to the two readings of a start. */
static int restarting(void)
{
    return ap_state_query(AP_SQ_CONFIG_GEN) > 1;
}

/* Logs why the mode is not possible. @return for pre_config and check_config:
 * an error that ends httpd at a start; at a restart it goes on without */
__attribute__((format(printf, 1, 2))) static int refuse(const char *format, ...)
{
    char reason[512];
    va_list ap;

    va_start(ap, format);
    apr_vsnprintf(reason, sizeof(reason), format, ap);
    va_end(ap);
    ap_log_error(APLOG_MARK, level(APLOG_ERR), 0, NULL, "%s: %s%s", mode.given,
                 reason, restarting() ? "; off until the next restart" : "");
    mode.seats = 0;
    return restarting() ? OK : HTTP_INTERNAL_SERVER_ERROR;
}

/* How many threads this machine allows at all; LONG_MAX if unknown. */
static long threads_max(void)
{
    FILE *f = fopen("/proc/sys/kernel/threads-max", "re");
    char line[32];
    long n = 0;

    if (f) {
        if (fgets(line, sizeof(line), f)) {
            n = strtol(line, NULL, 10);
        }
        fclose(f);
    }
    return n > 0 ? n : LONG_MAX;
}

/* Settles mode.threads, and mode.seats under the frozen limits. */
static int settle_limits(const ap_directive_t *tree)
{
    frozen_limits *frozen = ap_retained_data_get(FROZEN_KEY);
    int limit =
        frozen ? frozen->threads
               : processes_tree_int(tree, "ThreadLimit", DEFAULT_THREAD_LIMIT);
    long most = threads_max();

    mode.threads = at_least_one(
        processes_tree_int(tree, "ThreadsPerChild", DEFAULT_THREADS));
    if (mode.threads > limit) {
        if (!frozen) {
            return refuse("ThreadsPerChild %d is over ThreadLimit %d",
                          mode.threads, limit);
        }
        ap_log_error(APLOG_MARK, level(APLOG_ERR), 0, NULL,
                     "%s: ThreadsPerChild %d is lowered to ThreadLimit %d, "
                     "which cannot change until httpd is stopped and started",
                     mode.given, mode.threads, limit);
        mode.threads = limit;
    }
    if (restarting() && most >= mode.threads
        && (long)mode.seats * mode.threads > most) {
        ap_log_error(APLOG_MARK, level(APLOG_ERR), 0, NULL,
                     "%s: %d processes with ThreadsPerChild %d are lowered to "
                     "%ld, for kernel.threads-max is %ld",
                     mode.given, mode.seats, mode.threads, most / mode.threads,
                     most);
        mode.seats = (int)(most / mode.threads);
    }
    if ((long)mode.seats * mode.threads > most) {
        return refuse("%d processes with ThreadsPerChild %d are %ld threads, "
                      "over the %ld of kernel.threads-max",
                      mode.seats, mode.threads, (long)mode.seats * mode.threads,
                      most);
    }
    if (frozen && mode.seats > frozen->servers) {
        ap_log_error(APLOG_MARK, level(APLOG_ERR), 0, NULL,
                     "%s: %d processes are lowered to ServerLimit %d, which "
                     "cannot change until httpd is stopped and started",
                     mode.given, mode.seats, frozen->servers);
        mode.seats = frozen->servers;
    }
    else if (frozen && frozen->servers < 2 * mode.seats) {
        ap_log_error(APLOG_MARK, level(APLOG_WARNING), 0, NULL,
                     "%s: ServerLimit %d, which cannot change until httpd is "
                     "stopped and started, has no room for %d new processes "
                     "beside the old ones: restarts will be slow",
                     mode.given, frozen->servers, mode.seats);
    }
    return OK;
}

static int refuse_buckets(const ap_directive_t *tree)
{
    int ratio = processes_tree_int(tree, "ListenCoresBucketsRatio", 0);
    long online = sysconf(_SC_NPROCESSORS_ONLN);

    /* The MPM keeps the buckets of its first start. */
    if (!restarting() && ratio > 0 && online / ratio > 1) {
        return refuse("ListenCoresBucketsRatio %d makes %ld listener buckets; "
                      "the seats have their own sockets, remove it",
                      ratio, online / ratio);
    }
    return OK;
}

static void rewrite(apr_pool_t *p, ap_directive_t *tree,
                    ap_directive_t *directive)
{
    frozen_limits *frozen = ap_retained_data_get(FROZEN_KEY);
    const char *summary = apr_psprintf(p, "%s:", mode.given);
    apr_size_t i;

    for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        const rule *r = &rules[i];
        long value = r->value(mode.seats, mode.threads);
        int now = last_int(tree, r->names,
                           r->value == one_more ? DEFAULT_THREAD_LIMIT : -1);

        if (r->value == server_limit && frozen) {
            value = frozen->servers;
        }
        else if (r->at_least && now >= value) {
            continue;
        }
        else if (r->value == one_more && frozen) {
            value = frozen->threads;
        }
        if (tree_set(p, tree, directive, r->names, apr_ltoa(p, value),
                     mode.notes)) {
            summary =
                apr_psprintf(p, "%s %s %ld,", summary, r->names[0], value);
        }
    }
    APR_ARRAY_PUSH(mode.notes, const char *) =
        apr_psprintf(p, "%s ThreadsPerChild %d", summary, mode.threads);
    if (frozen && frozen->threads <= mode.threads) {
        APR_ARRAY_PUSH(mode.notes, const char *) = apr_psprintf(
            p,
            "%s mod_status does not count what FixedStatic answers, since "
            "ThreadLimit %d has no room for it and cannot change until httpd "
            "is stopped and started",
            mode.given, frozen->threads);
    }
}

int processes_pre_config(apr_pool_t *pconf, ap_directive_t **tree,
                         int automatic)
{
    ap_directive_t *node = tree_last(*tree, fixed_names);
    const char *arg;
    int n = PROCESSES_OFF, rv;

    memset(&mode, 0, sizeof(mode));
    mode.notes = apr_array_make(pconf, 8, sizeof(const char *));
    if (!node) {
        return OK;
    }
    arg = tree_arg(pconf, node);
    if (processes_parse(pconf, arg, &n) || n == PROCESSES_OFF) {
        return OK;
    }
    mode.given = apr_psprintf(pconf, "FixedProcesses %s (%s:%d)", arg,
                              node->filename, node->line_num);
    mode.seats = n == PROCESSES_AUTO ? at_least_one(automatic) : n;
    if (ap_exists_config_define("DEBUG")
        || ap_exists_config_define("ONE_PROCESS")) {
        mode.seats = 1; /* httpd -X */
    }
    if (strcasecmp(ap_show_mpm(), "event") != 0) {
        return refuse("needs the MPM event, this is %s", ap_show_mpm());
    }
    if ((rv = refuse_buckets(*tree)) != OK || (rv = settle_limits(*tree)) != OK
        || !mode.seats) {
        return rv;
    }
    rewrite(pconf, *tree, node);
    return OK;
}

static void keep_limits(void)
{
    frozen_limits *frozen = ap_retained_data_get(FROZEN_KEY);
    int servers, threads;

    if (!frozen
        && ap_mpm_query(AP_MPMQ_HARD_LIMIT_DAEMONS, &servers) == APR_SUCCESS
        && ap_mpm_query(AP_MPMQ_HARD_LIMIT_THREADS, &threads) == APR_SUCCESS
        && servers > 0 && threads > 0) {
        frozen = ap_retained_data_create(FROZEN_KEY, sizeof(*frozen));
        frozen->servers = servers;
        frozen->threads = threads;
    }
}

int processes_check_config(apr_pool_t *pconf, server_rec *s)
{
    int daemons = 0, threads = 0;

    keep_limits();
    if (!mode.seats) {
        return OK;
    }
    ap_mpm_query(AP_MPMQ_MAX_DAEMONS, &daemons);
    ap_mpm_query(AP_MPMQ_MAX_THREADS, &threads);
    if (daemons != mode.seats || threads != mode.threads) {
        if (!restarting()) {
            return refuse("the MPM would run %d processes of %d threads "
                          "instead of %d of %d",
                          daemons, threads, mode.seats, mode.threads);
        }
        ap_log_error(APLOG_MARK, APLOG_ERR, 0, s,
                     "%s: the MPM runs %d processes of %d threads instead of "
                     "%d of %d, since ServerLimit and ThreadLimit cannot "
                     "change until httpd is stopped and started",
                     mode.given, daemons, threads, mode.seats, mode.threads);
        mode.seats = daemons < mode.seats ? daemons : mode.seats;
        mode.threads = threads;
    }
    if (ap_state_query(AP_SQ_RUN_MODE) != AP_SQ_RM_NORMAL) {
        processes_log(NULL);
    }
    return OK;
}

void processes_log(server_rec *s)
{
    int i;

    for (i = 0; mode.notes && i < mode.notes->nelts; i++) {
        ap_log_error(APLOG_MARK, APLOG_NOTICE | (s ? 0 : APLOG_STARTUP), 0, s,
                     "%s", APR_ARRAY_IDX(mode.notes, i, const char *));
    }
}

int processes_count(void)
{
    return mode.seats;
}

int processes_threads(void)
{
    return mode.seats ? mode.threads : 0;
}
