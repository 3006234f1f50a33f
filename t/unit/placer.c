/* SPDX-License-Identifier: Apache-2.0 */
/* The placer against workers that come late, and that are joined as soon as
 * watch_stop() has returned: no pthread_t may be used after its thread. Run
 * under helgrind and memcheck by "make valgrind", plain by "make test".
 * links: src/affinity/watch.c
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <hwloc/bitmap.h>

#include "tap.h"

#include "httpd.h"
#include "http_config.h"
#include "http_log.h"
#include "ap_mpm.h"
#include "scoreboard.h"

#include "affinity/pin.h"
#include "affinity/tasks.h"
#include "affinity/watch.h"

#define WORKERS 8
#define ROUNDS 12

/* What watch.c needs of httpd. */
static global_score global;
static process_score parents[1];
static worker_score rows[WORKERS];
static worker_score *servers[1] = {rows};
static scoreboard board = {
    .global = &global, .parent = parents, .servers = servers};
scoreboard *ap_scoreboard_image = &board;
static int generation;

apr_status_t ap_mpm_query(int code, int *result)
{
    *result = code == AP_MPMQ_GENERATION           ? generation
              : code == AP_MPMQ_HARD_LIMIT_DAEMONS ? 1
                                                   : WORKERS;
    return APR_SUCCESS;
}

worker_score *ap_get_scoreboard_worker_from_indexes(int slot, int thread)
{
    return slot == 0 && thread < WORKERS ? &rows[thread] : NULL;
}

void ap_log_error_(const char *file, int line, int module, int level,
                   apr_status_t status, const server_rec *s, const char *fmt,
                   ...)
{
}

module AP_MODULE_DECLARE_DATA cpuaffinity_module;

apr_status_t ap_thread_create(apr_thread_t **thread, apr_threadattr_t *attr,
                              apr_thread_start_t func, void *data,
                              apr_pool_t *p)
{
    return apr_thread_create(thread, attr, func, data, p);
}

static pthread_mutex_t leave_lock = PTHREAD_MUTEX_INITIALIZER;
static int leave;

/* A lock, not an atomic: helgrind knows no atomics. */
static int leaving(void)
{
    int value;

    pthread_mutex_lock(&leave_lock);
    value = leave;
    pthread_mutex_unlock(&leave_lock);
    return value;
}

static void set_leave(int value)
{
    pthread_mutex_lock(&leave_lock);
    leave = value;
    pthread_mutex_unlock(&leave_lock);
}

/* A worker as the MPM makes it: pid first, then id, generation, status. */
static void *worker(void *data)
{
    worker_score *row = data;

    usleep((useconds_t)(row - rows) * 700);
    row->pid = getpid();
    row->tid = pthread_self();
    row->generation = generation;
    __atomic_store_n(&row->status, SERVER_READY, __ATOMIC_RELEASE);
    while (!leaving()) {
        usleep(300);
    }
    return NULL;
}

/* The listener: the one thread that does not block SIGHUP. */
static void *listener(void *data)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    while (!leaving()) {
        usleep(300);
    }
    return NULL;
}

static int named(apr_pool_t *p, task_role role)
{
    apr_array_header_t *tasks = tasks_read(p, 0, TASKS_IDENTITY);
    int i, n = 0;

    for (i = 0; i < tasks->nelts; i++) {
        n += APR_ARRAY_IDX(tasks, i, task_row).role == role;
    }
    return n;
}

/* One life of a child; @a early: it is told to stop while placing. */
static int life(apr_pool_t *parent, const plan *pl, int early)
{
    pthread_t threads[WORKERS + 1];
    watch_config cf = {.plan = pl, .interval = 1, .threads = WORKERS};
    apr_pool_t *pchild;
    int i, wait, placed = 0;

    memset(rows, 0, sizeof(rows));
    parents[0].pid = getpid();
    generation++;
    set_leave(0);
    apr_pool_create(&pchild, parent);
    if (watch_start(pchild, &cf)) {
        return -1;
    }
    for (i = 0; i < WORKERS; i++) {
        pthread_create(&threads[i], NULL, worker, &rows[i]);
    }
    pthread_create(&threads[WORKERS], NULL, listener, NULL);
    if (early) {
        usleep(3000);
    }
    for (wait = 0; !early && placed < WORKERS && wait < 2000; wait++) {
        usleep(5000);
        placed = named(pchild, TASK_WORKER);
    }
    watch_stop();
    watch_stop();
    set_leave(1);
    for (i = 0; i <= WORKERS; i++) {
        pthread_join(threads[i], NULL);
    }
    apr_pool_destroy(pchild);
    return placed;
}

int main(void)
{
    sigset_t all;
    apr_pool_t *pool;
    plan_place place;
    plan pl = {.active = 1,
               .unit = "map",
               .seats = 1,
               .threads = WORKERS,
               .nplaces = 1,
               .places = &place};
    int i, full = 0;

    apr_initialize();
    apr_pool_create(&pool, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    place.process = cpuset_make(pool);
    pin_get(0, place.process);
    place.listener = place.process;
    place.nworkers = 1;
    place.workers = &place.process;

    for (i = 0; i < ROUNDS; i++) {
        int placed = life(pool, &pl, i % 2);

        if (i % 2 == 0) {
            full += placed == WORKERS;
        }
    }
    is_int(full, ROUNDS / 2, "every worker was placed and named, each time");
    ok(1, "and none was touched after watch_stop()");
    watch_stop();
    ok(1, "watch_stop() after the end is harmless");
    return done();
}
