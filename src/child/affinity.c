/* SPDX-License-Identifier: Apache-2.0 */
#include "child/affinity.h"

#include <unistd.h>

#include <hwloc/bitmap.h>
#include <jansson.h>

#include "apr_strings.h"
#include "http_config.h"
#include "http_log.h"
#include "http_main.h"
#include "http_core.h"

#include "conf/config.h"
#include "affinity/inherited.h"
#include "affinity/pin.h"
#include "affinity/plan_make.h"
#include "affinity/planview.h"
#include "base/shared_mem.h"
#include "affinity/tasks.h"
#include "affinity/watch.h"
#include "handoff/handoff.h"
#include "conf/processes.h"

APLOG_USE_MODULE(cpuaffinity);

#define PLAN_MEMFD "cpuaffinity-plan"

/* One per reading of the configuration; children have a copy by fork. */
static struct {
    cpuset *inherited;
    topology *topology;
    plan *plan;
    seat_table *seats;
    apr_pool_t *pconf;
    int plan_fd;
    int seat;
    int threaded;
    int64_t next_pass; /* prefork: when connections look again; ms */
} affinity = {.seat = -1, .plan_fd = -1};

const plan *affinity_plan(void)
{
    return affinity.plan;
}

topology *affinity_topology(void)
{
    return affinity.topology;
}

seat_table *affinity_seats(void)
{
    return affinity.seats;
}

static apr_status_t forget(void *data)
{
    affinity.topology = NULL;
    affinity.plan = NULL;
    affinity.seats = NULL;
    if (affinity.plan_fd >= 0) {
        close(affinity.plan_fd);
        affinity.plan_fd = -1;
    }
    return APR_SUCCESS;
}

void affinity_pre_config(apr_pool_t *pconf)
{
    affinity.pconf = pconf;
    affinity.inherited = inherited_mask(pconf);
    apr_pool_cleanup_register(pconf, NULL, forget, apr_pool_cleanup_null);
}

/* A message of the plan names a directive first: add where it stands. */
static const char *with_place(apr_pool_t *p, const config_server *cf,
                              const char *message)
{
    const char *name = apr_pstrmemdup(p, message, strcspn(message, " :"));
    const char *where = config_where(cf, name);

    return where ? apr_psprintf(p, "%s (%s)", message, where) : message;
}

/* NULL: unknown. */
static const cpuset *own_mask(void)
{
    return hwloc_bitmap_iszero(affinity.inherited) ? NULL : affinity.inherited;
}

static int load_topology(apr_pool_t *p, const config_server *cf)
{
    topology_source source = {
        .inherited = own_mask(),
        .io = policy_needs_io(cf->policy),
    };
    const char *error;

    if (topology_load(p, &source, &affinity.topology, &error)) {
        ap_log_error(APLOG_MARK, APLOG_STARTUP | APLOG_EMERG, 0, NULL,
                     "CPUAffinity: cannot read this machine's topology: %s",
                     error);
        return -1;
    }
    return 0;
}

int affinity_cpu_count(apr_pool_t *p, const char *cpus, const char *smt)
{
    topology_source source = {.inherited = own_mask()};
    topology *t;
    const char *error;

    return topology_load(p, &source, &t, &error)
               ? 1
               : topology_count(t, cpus, smt && !strcasecmp(smt, "first"));
}

/* Planned processes and workers per process. */
static void plan_size(const config_server *cf, int *processes, int *threads)
{
    int max_threads = 0, is_threaded = 0, planned_threads;

    ap_mpm_query(AP_MPMQ_IS_THREADED, &is_threaded);
    ap_mpm_query(AP_MPMQ_MAX_THREADS, &max_threads);
    affinity.threaded = is_threaded != AP_MPMQ_NOT_SUPPORTED;
    *threads = affinity.threaded ? max_threads : 0;
    processes_planned(ap_conftree, processes, &planned_threads);
    if (processes_count()) {
        ap_mpm_query(AP_MPMQ_MAX_DAEMONS, processes);
    }
    if (*processes < 1 || ap_exists_config_define("ONE_PROCESS")
        || ap_exists_config_define("DEBUG")) {
        *processes = 1;
    }
}

/* A (graceful) restart, which must not end httpd because the machine has
 * changed, as opposed to the two readings of a start. */
static int restarting(void)
{
    return ap_state_query(AP_SQ_CONFIG_GEN) > 1
           && ap_state_query(AP_SQ_RUN_MODE) == AP_SQ_RM_NORMAL;
}

/* At a restart, a plan that cannot be made is tried again without strict, and
 * if that fails too, nothing is pinned. 0 or -1 */
static int make_plan(apr_pool_t *pconf, apr_pool_t *ptemp,
                     const config_server *cf)
{
    policy *pol = cf->policy;
    int processes, threads, attempt, level;
    const char *error;

    plan_size(cf, &processes, &threads);
    for (attempt = 0; attempt < 3; attempt++) {
        if (load_topology(pconf, cf)) {
            return -1;
        }
        if (!plan_make(pconf, affinity.topology, pol, processes, threads,
                       &affinity.plan, &error)) {
            return 0;
        }
        level = restarting() ? APLOG_ERR : APLOG_STARTUP | APLOG_EMERG;
        ap_log_error(APLOG_MARK, level, 0, NULL, "%s%s",
                     with_place(ptemp, cf, error),
                     !restarting()  ? ""
                     : attempt == 0 ? "; this is a restart, going on without"
                                    : "; going on with nothing pinned");
        if (!restarting()) {
            break;
        }
        pol = apr_pmemdup(pconf, pol, sizeof(*pol));
        pol->strict = 0;
        if (attempt == 1) {
            pol->process = POLICY_PROCESS_OFF;
            pol->cpus = NULL;
        }
    }
    return -1;
}

int affinity_check_config(apr_pool_t *pconf, apr_pool_t *ptemp, server_rec *s)
{
    config_server *cf = config_get(s);
    int i;

    config_defaults(cf);
    if (cf->policy->process == POLICY_PROCESS_OFF && cf->fixed == PROCESSES_OFF
        && !ap_exists_config_define("DUMP_CPUAFFINITY")) {
        return OK;
    }
    if (make_plan(pconf, ptemp, cf)) {
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    for (i = 0; ap_state_query(AP_SQ_RUN_MODE) == AP_SQ_RM_CONFIG_TEST
                && i < affinity.plan->warnings->nelts;
         i++) {
        ap_log_error(APLOG_MARK, APLOG_STARTUP | APLOG_WARNING, 0, NULL, "%s",
                     with_place(ptemp, cf,
                                APR_ARRAY_IDX(affinity.plan->warnings, i,
                                              const char *)));
    }
    return OK;
}

/* The plan as JSON in a sealed memfd, for "cpuaffinity ps": it finds it in
 * /proc/PID/fd of any process of the server. */
static void publish(const plan *pl, server_rec *s)
{
    json_t *json = planview_json(affinity.pconf, affinity.topology, pl);
    char *text = json_dumps(json, JSON_COMPACT);

    affinity.plan_fd =
        text ? shared_mem_publish(PLAN_MEMFD, text, strlen(text)) : -1;
    if (affinity.plan_fd < 0) {
        ap_log_error(APLOG_MARK, APLOG_INFO, errno, s,
                     "CPUAffinity: the plan is not shown to "
                     "\"cpuaffinity ps\"");
    }
    free(text);
    json_decref(json);
}

static void announce(apr_pool_t *p, const config_server *cf, server_rec *s)
{
    const plan *pl = affinity.plan;
    int i;

    for (i = 0; pl->active && i < pl->seats; i++) {
        ap_log_error(APLOG_MARK, APLOG_NOTICE, 0, s, "CPUAffinity: %s",
                     planview_seat(p, pl, i));
    }
    for (i = 0; i < pl->warnings->nelts; i++) {
        ap_log_error(
            APLOG_MARK, APLOG_WARNING, 0, s, "%s",
            with_place(p, cf, APR_ARRAY_IDX(pl->warnings, i, const char *)));
    }
}

int affinity_post_config(apr_pool_t *pconf, server_rec *s)
{
    const config_server *cf = config_get(s);
    int seats = 0;

    if (!affinity.plan
        || ap_state_query(AP_SQ_MAIN_STATE) == AP_SQ_MS_CREATE_PRE_CONFIG) {
        return OK;
    }
    announce(pconf, cf, s);
    if (processes_count()) {
        seats = affinity.plan->seats;
    }
    else if (affinity.plan->active) {
        ap_mpm_query(AP_MPMQ_HARD_LIMIT_DAEMONS, &seats);
    }
    if (seats < 1) {
        return OK;
    }
    affinity.seats = seat_table_make(pconf, seats);
    if (!affinity.seats) {
        ap_log_error(APLOG_MARK, restarting() ? APLOG_ERR : APLOG_EMERG, errno,
                     s, "CPUAffinity: no shared memory for %d seats%s", seats,
                     restarting() ? ": nothing is pinned" : "");
        return restarting() ? OK : HTTP_INTERNAL_SERVER_ERROR;
    }
    publish(affinity.plan, s);
    return OK;
}

static int claim(void)
{
    int seat = seat_claim(affinity.seats);

    __atomic_store_n(&affinity.seat, seat, __ATOMIC_RELAXED);
    return seat;
}

/* Threads that other modules made in their child_init. */
static void pin_early_threads(apr_pool_t *p, const cpuset *set)
{
    apr_array_header_t *tasks = tasks_read(p, 0, TASKS_IDENTITY);
    int i;

    for (i = 0; tasks && i < tasks->nelts; i++) {
        const task_row *t = &APR_ARRAY_IDX(tasks, i, task_row);

        if (t->role != TASK_MAIN) {
            pin_set(t->tid, set, NULL);
        }
    }
}

static void fill_watch(watch_config *w, const config_server *cf, server_rec *s)
{
    w->plan = affinity.plan;
    w->allowed = affinity.topology->allowed;
    w->seat = affinity.seat;
    w->claim = claim;
    w->interval = cf->watch;
    w->threads = affinity.plan->threads;
    w->s = s;
}

/* Gives the main thread the set that the listener is to inherit. */
static void pin_main(apr_pool_t *pchild, const config_server *cf, server_rec *s)
{
    const plan_place *place = plan_seat(affinity.plan, affinity.seat);
    const cpuset *set = affinity.threaded ? place->listener : place->process;
    cpuset *actual = cpuset_make(pchild);
    int rc;

    if (cf->memory_local
        && topology_bind_memory(affinity.topology, place->process)) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, errno, s,
                     "CPUAffinityMemory local: seat %d cannot prefer the "
                     "memory near CPUs %s",
                     affinity.seat, cpuset_format(pchild, place->process));
    }
    pin_early_threads(pchild, place->process);
    rc = pin_set(0, set, actual);
    if (rc) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, rc < 0 ? errno : 0, s,
                     "CPUAffinity: seat %d wants CPUs %s and %s%s",
                     affinity.seat, cpuset_format(pchild, set),
                     rc < 0 ? "cannot have them" : "got ",
                     rc < 0 ? "" : cpuset_format(pchild, actual));
    }
}

void affinity_child_init(apr_pool_t *pchild, server_rec *s)
{
    const config_server *cf = config_get(s);
    watch_config w = {0};
    apr_status_t rv;

    if (!affinity.seats) {
        return;
    }
    if (claim() < 0) {
        ap_log_error(APLOG_MARK, APLOG_INFO, 0, s,
                     "CPUAffinity: no seat is free for process %d yet",
                     (int)getpid());
    }
    if (!affinity.plan->active) {
        return;
    }
    if (affinity.seat >= 0) {
        pin_main(pchild, cf, s);
    }
    if (!cf->children_inherit && pin_children(affinity.inherited)) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, errno, s,
                     "CPUAffinityChildren original: programs started here "
                     "will run with the thread's mask");
    }
    if (!affinity.threaded) {
        return;
    }
    fill_watch(&w, cf, s);
    rv = watch_start(pchild, &w);
    if (rv != APR_SUCCESS) {
        ap_log_error(APLOG_MARK, APLOG_ERR, rv, s,
                     "CPUAffinity: cannot start the thread that places the "
                     "workers of seat %d",
                     affinity.seat);
    }
}

void affinity_child_stopping(void)
{
    watch_stop();
    if (affinity.seats) {
        seat_release(affinity.seats, getpid());
    }
}

void affinity_child_status(pid_t pid, mpm_child_status state)
{
    if (affinity.seats && state == MPM_CHILD_EXITED) {
        seat_release(affinity.seats, pid);
    }
}

/* prefork has one thread: it looks after itself, between connections. */
static void look_after_self(conn_rec *c)
{
    const config_server *cf = config_get(c->base_server);
    int64_t now;

    if (!cf->watch || affinity.seat < 0) {
        return;
    }
    now = clock_ms();
    if (now >= affinity.next_pass) {
        watch_config w = {0};

        if (affinity.next_pass) {
            fill_watch(&w, cf, c->base_server);
            watch_pass_now(c->pool, &w);
        }
        affinity.next_pass = now + 1000 * (int64_t)cf->watch;
    }
}

void affinity_connection(conn_rec *c)
{
    if (!affinity.seats || !affinity.plan->active) {
        return;
    }
    if (affinity.threaded) {
        watch_connection(c);
    }
    else {
        look_after_self(c);
    }
}

void affinity_dump(apr_pool_t *p, server_rec *s)
{
    if (affinity.plan) {
        printf("%s", planview_text(p, affinity.topology, affinity.plan));
    }
}
