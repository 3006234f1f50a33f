/* SPDX-License-Identifier: Apache-2.0 */
#include "affinity/watch.h"

#include <hwloc/bitmap.h>

#include <unistd.h>

#include "apr_strings.h"
#include "ap_mpm.h"
#include "http_log.h"
#include "mpm_common.h"
#include "scoreboard.h"

#include "base/compat.h"
#include "affinity/pin.h"
#include "affinity/tasks.h"

APLOG_USE_MODULE(cpuaffinity);

/* How often the placer looks for new rows: fast while the workers appear at
 * start, then once a second for those that wait for a slot of the previous
 * generation. */
#define QUICK_MS 2
#define QUICK_PASSES 250
#define SLOW_MS 1000

static struct {
    watch_config cf;
    apr_thread_t *thread;
    pthread_mutex_t lock; /* stop, and every use of a pthread_t */
    pthread_cond_t wake;
    int stop;
    pid_t *workers; /* kernel ids, 0: not placed; the thread's own */
    int placed;     /* how many of them */
    pid_t listener;
    const char *stuck; /* what was last logged as not available, or NULL */
    char stuck_text[256];
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* This thread has been pinned by watch_connection(). */
static __thread int pinned;

static const cpuset *process_set(const watch_config *cf)
{
    return cf->seat < 0 ? cf->allowed : plan_seat(cf->plan, cf->seat)->process;
}

static const cpuset *worker_set(const watch_config *cf, int worker)
{
    return cf->seat < 0 ? cf->allowed : plan_worker(cf->plan, cf->seat, worker);
}

static const cpuset *accept_set(const watch_config *cf)
{
    return cf->seat < 0 ? cf->allowed : plan_seat(cf->plan, cf->seat)->listener;
}

/* Whether the scoreboard row belongs to this process's current worker. */
static int row_is_ours(const worker_score *row, ap_generation_t generation)
{
    return row->pid == getpid() && row->generation == generation
           && row->status >= SERVER_READY;
}

/* The kernel id of the thread with a role and index. 0: not there */
static pid_t tid_of(const apr_array_header_t *tasks, task_role role, int index)
{
    int i;

    for (i = 0; i < tasks->nelts; i++) {
        const task_row *t = &APR_ARRAY_IDX(tasks, i, task_row);

        if (t->role == role && t->index == index) {
            return t->tid;
        }
    }
    return 0;
}

/* Pins and names one worker by its pthread_t, unless we are stopping. */
static int place_worker(const worker_score *row, int worker)
{
    char name[16];
    int rc = -1;

    snprintf(name, sizeof(name), "httpd/w%03u", (unsigned)worker % 100000u);
    pthread_mutex_lock(&watch.lock);
    if (!watch.stop) {
        rc = pin_set_pthread(row->tid, worker_set(&watch.cf, worker), NULL);
        if (rc < 0) {
            ap_log_error(APLOG_MARK, APLOG_WARNING, errno, watch.cf.s,
                         "CPUAffinity: cannot pin worker %d of seat %d", worker,
                         watch.cf.seat);
        }
        pthread_setname_np(row->tid, name);
        rc = 0;
    }
    pthread_mutex_unlock(&watch.lock);
    return rc;
}

/* Places the workers whose rows have appeared. */
static void place_workers(apr_pool_t *p)
{
    apr_array_header_t *tasks;
    worker_score *rows;
    int generation, slots, limit, slot, i, fresh = 0;

    if (watch.placed == watch.cf.threads
        || ap_mpm_query(AP_MPMQ_GENERATION, &generation)
        || ap_mpm_query(AP_MPMQ_HARD_LIMIT_DAEMONS, &slots)
        || ap_mpm_query(AP_MPMQ_HARD_LIMIT_THREADS, &limit)) {
        return;
    }
    for (slot = 0; slot < slots; slot++) {
        if (ap_scoreboard_image->parent[slot].pid != getpid()) {
            continue;
        }
        rows = ap_scoreboard_image->servers[slot];
        for (i = 0; i < watch.cf.threads && i < limit; i++) {
            if (!watch.workers[i] && row_is_ours(&rows[i], generation)
                && !place_worker(&rows[i], i)) {
                watch.workers[i] = -1;
                fresh = 1;
            }
        }
    }
    if (!fresh || !(tasks = tasks_read(p, 0, TASKS_IDENTITY))) {
        return;
    }
    for (i = 0; i < watch.cf.threads; i++) {
        if (watch.workers[i] == -1) {
            watch.workers[i] = tid_of(tasks, TASK_WORKER, i);
            watch.placed += watch.workers[i] > 0;
        }
    }
}

/* What a thread should have. Corrects task->role: a thread that a worker made
 * has that worker's name and is not a worker. */
static const cpuset *wanted(task_row *task)
{
    const watch_config *cf = &watch.cf;

    if (task->role == TASK_WORKER
        && (!watch.workers || task->index >= cf->threads
            || watch.workers[task->index] != task->tid)) {
        task->role = TASK_OTHER;
    }
    if (task->role == TASK_LISTENER && watch.listener != task->tid) {
        task->role = TASK_OTHER;
    }
    switch (task->role) {
    case TASK_WORKER:
        return worker_set(cf, task->index);
    case TASK_LISTENER:
        return accept_set(cf);
    default:
        return process_set(cf);
    }
}

/* The listener is the one thread of a child in which SIGHUP is not blocked
 * (the MPM wakes it with that signal). Named once. */
static void find_listener(const apr_array_header_t *tasks)
{
    int i;

    for (i = 0; !watch.listener && i < tasks->nelts; i++) {
        task_row *t = &APR_ARRAY_IDX(tasks, i, task_row);

        if (t->hup_unblocked && t->role != TASK_MAIN) {
            watch.listener = t->tid;
            t->role = TASK_LISTENER;
            pin_name(t->tid, "httpd/listen");
            pin_set(t->tid, accept_set(&watch.cf), NULL);
        }
    }
}

typedef struct pass_result {
    int moved;         /* known threads with another mask */
    const char *first; /* the first of them, in words */
    int failed;
    const char *failure;
} pass_result;

static const char *describe(apr_pool_t *p, const task_row *t, const cpuset *was,
                            const cpuset *want)
{
    return apr_psprintf(p, "%s %d was on %s, planned %s",
                        tasks_role_name(t->role), t->index,
                        cpuset_format(p, was), cpuset_format(p, want));
}

/* Compares one thread with the plan and puts it back. */
static void check_task(apr_pool_t *p, task_row *task, pass_result *result)
{
    char inherited[16];
    cpuset *now = cpuset_make(p);
    const cpuset *want;
    int rc, was_worker = task->role == TASK_WORKER;

    memcpy(inherited, task->name, sizeof(inherited));
    want = wanted(task);
    if (was_worker && task->role == TASK_OTHER && watch.workers) {
        pin_name(task->tid, "httpd/other");
    }
    if (pin_get(task->tid, now) || hwloc_bitmap_isequal(now, want)) {
        return;
    }
    rc = pin_set(task->tid, want, NULL);
    if (rc == 0) {
        if (task->role != TASK_OTHER && task->role != TASK_MAIN) {
            result->first =
                result->moved++ ? result->first : describe(p, task, now, want);
        }
    }
    else if (rc > 0 || errno != ESRCH) {
        int error = rc > 0 ? 0 : errno;

        result->failure =
            result->failed++
                ? result->failure
                : apr_psprintf(p, "%s%s%s", describe(p, task, now, want),
                               error ? ": " : "", error ? strerror(error) : "");
    }
}

/* One line per change: what was put back, and what is not available. */
static void report(const pass_result *result)
{
    if (result->moved) {
        ap_log_error(APLOG_MARK, APLOG_NOTICE, 0, watch.cf.s,
                     "CPUAffinity: seat %d: put back %d thread%s that "
                     "something else moved (%s)",
                     watch.cf.seat, result->moved,
                     result->moved == 1 ? "" : "s", result->first);
    }
    if (!result->failed) {
        watch.stuck = NULL;
    }
    else if (!watch.stuck || strcmp(watch.stuck, result->failure)) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, watch.cf.s,
                     "CPUAffinity: seat %d: %d thread%s cannot be where "
                     "planned (%s)",
                     watch.cf.seat, result->failed,
                     result->failed == 1 ? "" : "s", result->failure);
        apr_cpystrn(watch.stuck_text, result->failure,
                    sizeof(watch.stuck_text));
        watch.stuck = watch.stuck_text;
    }
}

/* Does not report moved threads when @a quiet: the plan changed, not a mask. */
static void pass(apr_pool_t *p, int quiet)
{
    apr_array_header_t *tasks = tasks_read(p, 0, TASKS_IDENTITY);
    pass_result result = {0};
    int i;

    if (!tasks) {
        return;
    }
    find_listener(tasks);
    for (i = 0; i < tasks->nelts; i++) {
        check_task(p, &APR_ARRAY_IDX(tasks, i, task_row), &result);
    }
    if (quiet) {
        result.moved = 0;
    }
    report(&result);
}

void watch_pass_now(apr_pool_t *p, const watch_config *cf)
{
    watch.cf = *cf;
    pass(p, 0);
}

/* Sleeps until told to stop or @a ms have passed. @return whether to stop */
static int stopped_after(int ms)
{
    struct timespec until;
    int stop;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += (ms % 1000) * 1000000l;
    if (until.tv_nsec >= 1000000000l) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000l;
    }
    pthread_mutex_lock(&watch.lock);
    while (!watch.stop
           && !pthread_cond_timedwait(&watch.wake, &watch.lock, &until)) {
    }
    stop = watch.stop;
    pthread_mutex_unlock(&watch.lock);
    return stop;
}

/* Whether nothing is left to place. */
static int complete(void)
{
    return watch.placed == watch.cf.threads && watch.listener
           && watch.cf.seat >= 0;
}

/* A seat may become free later. @return whether one was taken now */
static int take_seat(void)
{
    if (watch.cf.seat >= 0 || !watch.cf.claim) {
        return 0;
    }
    watch.cf.seat = watch.cf.claim();
    return watch.cf.seat >= 0;
}

/* Looks for the listener only, while the main thread must keep its set. */
static void seek_listener(apr_pool_t *p)
{
    apr_array_header_t *tasks;

    if (!watch.listener && (tasks = tasks_read(p, 0, TASKS_IDENTITY))) {
        find_listener(tasks);
    }
}

static void *APR_THREAD_FUNC watch_main(apr_thread_t *thread, void *data)
{
    apr_pool_t *pool = apr_thread_pool_get(thread);
    apr_pool_t *p;
    int passes = 0, wait = QUICK_MS, moved;

    pin_name(pin_self(), "httpd/watch");
    pin_set(0, process_set(&watch.cf), NULL);
    apr_pool_create(&p, pool);
    while (!stopped_after(wait)) {
        apr_pool_clear(p);
        moved = take_seat();
        place_workers(p);
        seek_listener(p);
        if (!complete() && passes++ < QUICK_PASSES) {
            continue;
        }
        /* The listener exists (or never will): the main thread and whatever
         * it starts from now on get the process's set. */
        pass(p, moved);
        if (complete()) {
            if (!watch.cf.interval) {
                break;
            }
            wait = watch.cf.interval * 1000;
        }
        else {
            wait = SLOW_MS;
        }
    }
    return NULL;
}

static apr_status_t join(void *data)
{
    apr_status_t rv;

    watch_stop();
    if (watch.thread) {
        apr_thread_join(&rv, watch.thread);
        watch.thread = NULL;
    }
    return APR_SUCCESS;
}

apr_status_t watch_start(apr_pool_t *pchild, const watch_config *cf)
{
    pthread_condattr_t attr;
    apr_status_t rv;

    watch.cf = *cf;
    watch.stop = 0;
    watch.placed = 0;
    watch.listener = 0;
    watch.stuck = NULL;
    watch.workers = apr_pcalloc(pchild, sizeof(pid_t) * (cf->threads + 1));
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&watch.wake, &attr);
    pthread_condattr_destroy(&attr);
    rv = compat_thread_create(&watch.thread, NULL, watch_main, NULL, pchild);
    if (rv != APR_SUCCESS) {
        watch.thread = NULL;
        return rv;
    }
    apr_pool_pre_cleanup_register(pchild, NULL, join);
    return APR_SUCCESS;
}

void watch_stop(void)
{
    pthread_mutex_lock(&watch.lock);
    watch.stop = 1;
    if (watch.thread) {
        pthread_cond_signal(&watch.wake);
    }
    pthread_mutex_unlock(&watch.lock);
}

void watch_connection(conn_rec *c)
{
    int limit;
    const worker_score *row;

    if (pinned || !watch.thread) {
        return;
    }
    if (c->master) {
        pinned = 1;
        pin_set(0, process_set(&watch.cf), NULL);
        return;
    }
    /* A worker's connection id is slot * limit + thread; other connections
     * (mod_proxy's backends) have no row that names this thread. */
    if (!c->sbh || ap_mpm_query(AP_MPMQ_HARD_LIMIT_THREADS, &limit)
        || limit < 1) {
        return;
    }
    row = ap_get_scoreboard_worker_from_indexes((int)(c->id / limit),
                                                (int)(c->id % limit));
    if (row && row->pid == getpid()
        && pthread_equal(row->tid, pthread_self())) {
        pinned = 1;
        pin_set(0, worker_set(&watch.cf, (int)(c->id % limit)), NULL);
    }
}
