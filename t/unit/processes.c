/* SPDX-License-Identifier: Apache-2.0 */
/* links: src/conf/processes.c src/conf/tree.c
 * The configuration tree, with what httpd gives stubbed. */
#include <stdarg.h>
#include <stdlib.h>

#include <apr_general.h>
#include <apr_strings.h>

#include <httpd.h>
#include <http_config.h>
#include <http_core.h>
#include <http_log.h>
#include <ap_mpm.h>

#include "conf/tree.h"
#include "conf/processes.h"
#include "t/unit/tap.h"

module AP_MODULE_DECLARE_DATA cpuaffinity_module;

/* --- httpd, as little of it as is needed --- */
static const char *mpm = "event", *define = "";
static char logged[4096];
static int daemons, threads, hard_daemons = 16, hard_threads = 64, config_gen;
static void *retained;

const char *ap_show_mpm(void)
{
    return mpm;
}

int ap_exists_config_define(const char *name)
{
    return !strcmp(name, define);
}

int ap_state_query(int query)
{
    return query == AP_SQ_CONFIG_GEN ? config_gen
           : query == AP_SQ_RUN_MODE ? AP_SQ_RM_NORMAL
                                     : AP_SQ_MS_CREATE_CONFIG;
}

apr_status_t ap_mpm_query(int query, int *result)
{
    *result = query == AP_MPMQ_MAX_DAEMONS          ? daemons
              : query == AP_MPMQ_MAX_THREADS        ? threads
              : query == AP_MPMQ_HARD_LIMIT_DAEMONS ? hard_daemons
                                                    : hard_threads;
    return APR_SUCCESS;
}

void *ap_retained_data_get(const char *key)
{
    return retained;
}

void *ap_retained_data_create(const char *key, apr_size_t size)
{
    return retained = calloc(1, size);
}

char *ap_getword_conf(apr_pool_t *p, const char **line)
{
    const char *end = *line + strcspn(*line, " ");
    char *word = apr_pstrmemdup(p, *line, end - *line);

    *line = end;
    return !strcmp(word, "${SEVEN}") ? "7" : word;
}

const char *ap_resolve_env(apr_pool_t *p, const char *word)
{
    return word;
}

void ap_log_error_(const char *file, int line, int module_index, int level,
                   apr_status_t status, const server_rec *s, const char *fmt,
                   ...)
{
    size_t used = strlen(logged);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(logged + used, sizeof(logged) - used - 2, fmt, ap);
    va_end(ap);
    used = strlen(logged);
    logged[used] = '\n';
    logged[used + 1] = '\0';
}

/* --- trees --- */
static apr_pool_t *p;

/* "Name args" lines; a line of "<" opens a section, ">" closes it. */
static ap_directive_t *tree(const char *const *lines)
{
    ap_directive_t *first = NULL, *parent = NULL, **slot = &first;
    int n = 0;

    for (; *lines; lines++) {
        const char *space = strchr(*lines, ' ');
        ap_directive_t *node;

        n++;
        if (**lines == '>') {
            slot = &parent->next;
            parent = parent->parent;
            continue;
        }
        node = apr_pcalloc(p, sizeof(*node));
        node->directive =
            space ? apr_pstrmemdup(p, *lines, space - *lines) : *lines;
        node->args = space ? space + 1 : "";
        node->filename = "a.conf";
        node->line_num = n;
        node->parent = parent;
        *slot = node;
        slot = &node->next;
        if (**lines == '<') {
            parent = node;
            slot = &node->first_child;
        }
    }
    return first;
}

#define TREE(...) tree((const char *const[]){__VA_ARGS__, NULL})

static int pre(ap_directive_t **t, int automatic)
{
    logged[0] = '\0';
    return processes_pre_config(p, t, automatic);
}

static void is_value(ap_directive_t *t, const char *name, int want)
{
    is_int(processes_tree_int(t, name, -77), want, name);
}

static void parsing(void)
{
    static const struct {
        const char *arg;
        int ok, n;
    } cases[] = {{"off", 1, 0}, {"AUTO", 1, PROCESSES_AUTO},
                 {"1", 1, 1},   {"4096", 1, 4096},
                 {"0", 0, 0},   {"4097", 0, 0},
                 {"-1", 0, 0},  {"2x", 0, 0},
                 {"", 0, 0},    {" 3", 0, 0},
                 {"+3", 0, 0},  {"99999999999999999999", 0, 0}};
    size_t i;

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int n = 0;
        const char *why = processes_parse(p, cases[i].arg, &n);

        ok((why == NULL) == cases[i].ok && n == cases[i].n, "'%s': %s",
           cases[i].arg, why ? why : "good");
    }
}

static void reading(void)
{
    ap_directive_t *t = TREE("StartServers 4", "<", "startservers 5", "<",
                             "Other x", ">", ">", "ThreadsPerChild ${SEVEN}");
    int n, threads_planned;

    is_value(t, "StartServers", 5);
    is_value(t, "ThreadsPerChild", 7);
    is_value(t, "Nothing", -77);
    is_int(processes_tree_int(NULL, "Nothing", 3), 3, "an empty tree");
    processes_planned(t, &n, &threads_planned);
    ok(n == 5 && threads_planned == 7, "planned from the tree");
    t = TREE("Listen 80");
    processes_planned(t, &n, &threads_planned);
    ok(n == 3 && threads_planned == 25, "planned: event's defaults");
    t = TREE("StartServers 8", "MaxClients 50");
    processes_planned(t, &n, &threads_planned);
    is_int(n, 2, "no more than MaxClients allows");
    t = TREE("StartServers 30");
    processes_planned(t, &n, &threads_planned);
    is_int(n, 16, "no more than ServerLimit allows");
    mpm = "prefork";
    t = TREE("Listen 80");
    processes_planned(t, &n, &threads_planned);
    ok(n == 5 && threads_planned == 0, "planned: prefork's defaults");
    mpm = "event";
}

static void rewriting(void)
{
    ap_directive_t *t =
        TREE("FixedProcesses 4", "StartServers 2", "<", "MaxClients 400",
             "MaxRequestsPerChild 100", ">", "ThreadsPerChild 10",
             "MaxRequestWorkers 30", "MinSpareThreads 5",
             "MaxSpareThreads 1000", "StartServers 9");

    is_int(pre(&t, 2), OK, "FixedProcesses 4");
    is_int(processes_count(), 4, "four seats");
    is_value(t, "StartServers", 4);
    is_value(t, "MaxClients", 40);
    is_value(t, "MaxRequestWorkers", 40);
    is_value(t, "MaxRequestsPerChild", 0);
    is_value(t, "MaxConnectionsPerChild", -77);
    is_value(t, "MinSpareThreads", 31);
    is_value(t, "MaxSpareThreads", 1000);
    is_value(t, "ServerLimit", 32);
    processes_log(NULL);
    ok(strstr(logged, "StartServers 2 (a.conf:2) is replaced by 4\n") != NULL,
       "the first of two is named");
    ok(strstr(logged, "StartServers 9 (a.conf:11) is replaced by 4\n") != NULL,
       "the second too");
    ok(strstr(logged, "MaxClients 400 (a.conf:4) is replaced by 40\n") != NULL,
       "an alias in a section is named as it is written");
    ok(strstr(logged, "MaxSpareThreads") == NULL, "what fits is left alone");
    ok(strstr(logged, "FixedProcesses 4 (a.conf:1): ServerLimit 32, ") != NULL,
       "a summary");

    t = TREE("Listen 80", "FixedProcesses auto");
    is_int(pre(&t, 3), OK, "FixedProcesses auto");
    is_value(t, "StartServers", 3);
    is_value(t, "MinSpareThreads", 51);
    is_value(t, "MaxSpareThreads", 75);
    is_value(t, "MaxRequestWorkers", 75);
    is_value(t, "MaxConnectionsPerChild", 0);
    define = "DEBUG";
    t = TREE("FixedProcesses 8");
    is_int(pre(&t, 3), OK, "-X");
    is_int(processes_count(), 1, "is one process");
    define = "";
    t = TREE("FixedProcesses off", "StartServers 2");
    is_int(pre(&t, 3), OK, "off");
    is_int(processes_count(), 0, "no seats");
    is_value(t, "StartServers", 2);
    t = TREE("FixedProcesses 0");
    is_int(pre(&t, 3), OK, "a bad argument is the directive's to refuse");
    is_int(processes_count(), 0, "no seats then");
    t = NULL;
    is_int(pre(&t, 3), OK, "no configuration at all");
}

static void refusing(void)
{
    ap_directive_t *t = TREE("FixedProcesses 2");

    mpm = "worker";
    ok(pre(&t, 2) != OK, "another MPM");
    is_str(logged,
           "FixedProcesses 2 (a.conf:1): needs the MPM event, this is "
           "worker\n",
           "is refused");
    mpm = "event";
    t = TREE("FixedProcesses 2", "ThreadsPerChild 65");
    ok(pre(&t, 2) != OK && strstr(logged, "is over ThreadLimit 64"),
       "ThreadsPerChild over ThreadLimit");
    t = TREE("FixedProcesses 4096", "ThreadsPerChild 90000",
             "ThreadLimit 90000");
    ok(pre(&t, 2) != OK && strstr(logged, "368640000 threads"),
       "more threads than a machine can have");
    t = TREE("FixedProcesses 2", "ListenCoresBucketsRatio 1");
    ok(sysconf(_SC_NPROCESSORS_ONLN) < 2 || pre(&t, 2) != OK,
       "listener buckets");
    t = TREE("FixedProcesses 2", "ListenCoresBucketsRatio 100000");
    is_int(pre(&t, 2), OK, "a ratio that makes one bucket is none");
}

static void verifying(void)
{
    ap_directive_t *t = TREE("FixedProcesses 2", "ThreadsPerChild 5");

    pre(&t, 2);
    daemons = 2;
    threads = 5;
    is_int(processes_check_config(p, NULL), OK, "the MPM does as told");
    daemons = 3;
    ok(processes_check_config(p, NULL) != OK, "the MPM does not: at start");
    is_int(processes_count(), 0, "and the mode is off");

    /* The limits of the first start stay. */
    config_gen = 2;
    t = TREE("FixedProcesses 40", "ThreadsPerChild 100", "ServerLimit 500");
    is_int(pre(&t, 2), OK, "a restart over the frozen limits");
    is_int(processes_count(), 16, "is lowered to ServerLimit");
    ok(strstr(logged, "40 processes are lowered to ServerLimit 16") != NULL,
       "which is said");
    is_value(t, "ServerLimit", 16);
    is_value(t, "MaxRequestWorkers", 1024);
    t = TREE("FixedProcesses 10");
    pre(&t, 2);
    ok(strstr(logged, "restarts will be slow") != NULL,
       "little room is said too");
    daemons = 8;
    threads = 25;
    is_int(processes_check_config(p, NULL), OK, "an MPM with other ideas");
    is_int(processes_count(), 8, "is obeyed at a restart");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&p, NULL);
    parsing();
    reading();
    rewriting();
    refusing();
    verifying();
    apr_pool_destroy(p);
    return done();
}
