/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model.h"

#include <stddef.h>

#include "child/affinity.h"
#include "affinity/pin.h"
#include "affinity/planview.h"
#include "affinity/tasks.h"
#include "conf/processes.h"
#include "listen/steering.h"
#include "report/learning.h"

/* The counters of a row by their keys. */
static const struct {
    const char *key;
    size_t offset;
} counters[] = {
    {"accepts", offsetof(seat_row, accepts)},
    {"connections", offsetof(seat_row, connections)},
    {"requests", offsetof(seat_row, requests)},
    {"loop_hits", offsetof(seat_row, loop_hits)},
    {"handoffs", offsetof(seat_row, handoffs)},
    {"adoptions", offsetof(seat_row, adoptions)},
    {"tls_open", offsetof(seat_row, tls_open)},
    {"tls_taken", offsetof(seat_row, tls_taken)},
    {"tls_returned", offsetof(seat_row, tls_returned)},
    {"given", offsetof(seat_row, given)},
    {"taken", offsetof(seat_row, taken)},
    {"bytes", offsetof(seat_row, bytes)},
    {"waiting_bytes", offsetof(seat_row, waiting_bytes)},
    {"cache_entries", offsetof(seat_row, cache_entries)},
    {"cache_bytes", offsetof(seat_row, cache_bytes)},
    {"cache_fds", offsetof(seat_row, cache_fds)},
    {"evicted", offsetof(seat_row, evicted)},
    {"stale", offsetof(seat_row, stale)},
    {"expired", offsetof(seat_row, expired)},
    {"busy_us", offsetof(seat_row, busy_us)},
    {"learned", offsetof(seat_row, learned)},
    {"refused", offsetof(seat_row, refused)},
    {"audited", offsetof(seat_row, audited)},
    {"differed", offsetof(seat_row, differed)},
};

static const cpuset *wanted(const plan *pl, int seat, const task_row *t)
{
    switch (t->role) {
    case TASK_WORKER:
        return plan_worker(pl, seat, t->index);
    case TASK_LISTENER:
        return plan_seat(pl, seat)->listener;
    default:
        return plan_seat(pl, seat)->process;
    }
}

static json_t *thread_json(apr_pool_t *p, int seat, const task_row *t)
{
    const plan *pl = affinity_plan();
    cpuset *actual = cpuset_make(p);
    const char *want = "";

    if (pl->active) {
        want = cpuset_format(p, wanted(pl, seat, t));
    }
    pin_get(t->tid, actual);
    return json_pack("{s:i, s:s, s:i, s:s, s:s, s:s, s:i, s:I, s:I}", "tid",
                     (int)t->tid, "role", tasks_role_name(t->role), "index",
                     t->index, "name", t->name, "wanted", want, "actual",
                     cpuset_format(p, actual), "last_cpu", t->last_cpu,
                     "migrations", (json_int_t)t->migrations, "cpu_ms",
                     (json_int_t)t->cpu_ms);
}

static json_t *threads_json(apr_pool_t *p, int seat, pid_t pid)
{
    apr_array_header_t *tasks = pid ? tasks_read(p, pid, TASKS_USAGE) : NULL;
    json_t *list = json_array();
    int i;

    for (i = 0; tasks && i < tasks->nelts; i++) {
        json_array_append_new(
            list, thread_json(p, seat, &APR_ARRAY_IDX(tasks, i, task_row)));
    }
    return list;
}

static void add_process(apr_pool_t *p, json_t *seat_json, int seat)
{
    const seat_table *t = affinity_seats();
    pid_t pid = seat_holder(t, seat);
    size_t i;

    json_object_set_new(seat_json, "pid", json_integer(pid));
    for (i = 0; i < sizeof(counters) / sizeof(*counters); i++) {
        const uint64_t *n = (const uint64_t *)((const char *)&t->rows[seat]
                                               + counters[i].offset);

        json_object_set_new(
            seat_json, counters[i].key,
            json_integer((json_int_t)__atomic_load_n(n, __ATOMIC_RELAXED)));
    }
    json_object_set_new(seat_json, "saturated",
                        json_boolean(SEAT_GET(&t->rows[seat], saturated)));
    json_object_set_new(seat_json, "threads", threads_json(p, seat, pid));
}

/* A seat past the planned ones: more processes than StartServers. */
static json_t *extra_seat(apr_pool_t *p, int seat)
{
    const plan_place *place = plan_seat(affinity_plan(), seat);

    return json_pack("{s:i, s:s, s:s, s:[]}", "seat", seat, "process",
                     place ? cpuset_format(p, place->process) : "", "listener",
                     place ? cpuset_format(p, place->listener) : "", "workers");
}

static uint64_t loop_requests(const seat_table *t)
{
    uint64_t sum = 0;
    int i;

    for (i = 0; i < t->seats; i++) {
        sum += SEAT_GET(&t->rows[i], requests);
    }
    return sum;
}

json_t *model_make(apr_pool_t *p)
{
    const plan *pl = affinity_plan();
    const seat_table *t = affinity_seats();
    json_t *root, *seats, *learning;
    int i;

    if (!pl || !t) {
        return NULL;
    }
    root = planview_json(p, affinity_topology(), pl);
    if (processes_count()) {
        const char *why, *method = steering_state(p, t, &why);

        json_object_set_new(root, "steering", json_string(method));
        json_object_set_new(root, "steering_why", json_string(why));
    }
    learning = learning_json(p, loop_requests(t));
    if (learning) {
        json_object_set_new(root, "learning", learning);
    }
    seats = json_object_get(root, "seats");
    for (i = 0; i < t->seats; i++) {
        json_t *seat_json = json_array_get(seats, (size_t)i);

        if (!seat_json || i >= pl->seats) {
            if (!seat_holder(t, i)) {
                continue;
            }
            seat_json = extra_seat(p, i);
            json_array_append_new(seats, seat_json);
        }
        add_process(p, seat_json, i);
    }
    return root;
}
