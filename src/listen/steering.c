/* SPDX-License-Identifier: Apache-2.0 */
#include "listen/steering.h"

#include <errno.h>
#include <time.h>

#include "apr_strings.h"
#include "http_config.h"
#include "http_log.h"

#include "base/shared_mem.h"
#include "listen/sockets.h"
#include "listen/steer_auto.h"

APLOG_USE_MODULE(cpuaffinity);

#define KEY "cpuaffinity-steering-1"
#define PERIOD 1.0 /* seconds between two looks at the counters */

/* The probe's results, for sets of several CPUs and of one. */
typedef struct probed {
    int known[2];
    int method[2];
    char why[2][120];
} probed;

/* This generation's state; children inherit it by fork. */
static struct {
    steer_method method;
    steermap *map;
    shared_mem memory;
    steerauto *machine; /* in shared memory; NULL: not auto */
} steering;

/* What a seat's counters were at the last look. */
typedef struct counters {
    uint64_t accepts;
    seat_moment moment;
} counters;

/* Used by each child's loop thread; allocated before there is one. */
static struct {
    double at; /* 0: no look yet */
    counters *last;
    steer_auto_sample *samples;
    steerauto *copy;
} looks;

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void note(seat_table *seats, steer_method method, const char *why)
{
    apr_cpystrn(seats->shared->steering_why, why,
                sizeof(seats->shared->steering_why));
    __atomic_store_n(&seats->shared->steering, (int32_t)method,
                     __ATOMIC_RELEASE);
}

/* Which method works, as the parent probed; uses only its own memory. */
static steer_method find_method(apr_pool_t *p, const cpuset *allowed,
                                int single, const char **why)
{
    probed *pr = ap_retained_data_get(KEY);

    if (!pr) {
        pr = ap_retained_data_create(KEY, sizeof(*pr));
    }
    if (!pr->known[single]) {
        *why = "";
        pr->method[single] = (int)steer_apply_probe(p, allowed, single, why);
        apr_cpystrn(pr->why[single], *why, sizeof(pr->why[single]));
        pr->known[single] = 1;
    }
    *why = pr->why[single];
    return (steer_method)pr->method[single];
}

static steermap *make_map(apr_pool_t *p, const plan *pl, int seats)
{
    const cpuset **sets = apr_palloc(p, sizeof(cpuset *) * seats);
    int i;

    for (i = 0; i < seats; i++) {
        sets[i] = plan_seat(pl, i)->process;
    }
    return steer_map_make(p, sets, seats);
}

static apr_status_t unmap(void *unused)
{
    if (steering.machine) {
        shared_mem_free(&steering.memory);
        steering.machine = NULL;
    }
    return APR_SUCCESS;
}

static steerauto *make_machine(apr_pool_t *p, server_rec *s, int seats)
{
    steerauto *a;

    if (shared_mem_make(&steering.memory, "cpuaffinity-steering",
                        steer_auto_size(seats))) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, errno, s,
                     "FixedSteering auto: no shared memory, the seats are "
                     "not watched");
        return NULL;
    }
    a = steering.memory.at;
    steer_auto_init(a, seats, seconds());
    apr_pool_cleanup_register(p, NULL, unmap, apr_pool_cleanup_null);
    return a;
}

/* @return the method, or STEER_NONE with a reason */
static steer_method choose(apr_pool_t *p, config_steering wanted,
                           const plan *pl, const cpuset *allowed, int seats,
                           const char **why)
{
    *why = "";
    if (wanted == CONFIG_STEERING_OFF) {
        *why = "FixedSteering off";
        return STEER_NONE;
    }
    if (seats < 2) {
        *why = "there is only one seat";
        return STEER_NONE;
    }
    if (!pl->active) {
        *why = "CPUAffinity is off: the seats have no CPUs of their own";
        return STEER_NONE;
    }
    steering.map = make_map(p, pl, seats);
    return find_method(p, allowed, steering.map->single, why);
}

void steering_post_config(apr_pool_t *pconf, server_rec *s,
                          config_steering wanted, const plan *pl,
                          const cpuset *allowed, seat_table *seats)
{
    const char *why;

    memset(&steering, 0, sizeof(steering));
    memset(&looks, 0, sizeof(looks));
    steering.method = choose(pconf, wanted, pl, allowed, seats->seats, &why);
    if (sockets_steer(s, steering.method, steering.map)) {
        why = "the sockets refused it, see the error log";
        steering.method = STEER_NONE;
        sockets_steer(s, STEER_NONE, NULL);
    }
    note(seats, steering.method, why);
    ap_log_error(APLOG_MARK, APLOG_NOTICE, 0, s,
                 "FixedSteering: connections are %s%s%s%s",
                 steering.method ? "steered by " : "not steered",
                 steering.method ? steer_apply_name(steering.method) : "",
                 *why ? ": " : "", why);
    if (steering.method && wanted == CONFIG_STEERING_AUTO) {
        apr_size_t n = (apr_size_t)seats->seats;

        looks.last = apr_pcalloc(pconf, n * sizeof(*looks.last));
        looks.samples = apr_pcalloc(pconf, n * sizeof(*looks.samples));
        looks.copy = apr_palloc(pconf, steer_auto_size(seats->seats));
        steering.machine = make_machine(pconf, s, seats->seats);
    }
}

/* Whether this seat decides: no lower one is live. */
static int is_lowest(const seat_table *seats, int seat)
{
    int i;

    for (i = 0; i < seat; i++) {
        if (seat_holder(seats, i)) {
            return 0;
        }
    }
    return 1;
}

/* Takes the differences since the last look. @return 0 when there was none */
static int sample(const seat_table *seats)
{
    int first = looks.at <= 0, i;

    for (i = 0; i < seats->seats; i++) {
        const seat_row *row = &seats->rows[i];
        counters *c = &looks.last[i];
        uint64_t accepts = SEAT_GET(row, accepts);
        double load = seat_load(row, &c->moment, 1);

        looks.samples[i].accepts = (unsigned)(accepts - c->accepts);
        looks.samples[i].load = load < 0 ? 0 : load;
        c->accepts = accepts;
        seat_look(row, &c->moment);
    }
    return !first;
}

/* Feeds a copy of the machine: all children can write the machine itself.
 * @return the copy when its state has changed, or NULL */
static const steerauto *feed_copy(int seats, double now)
{
    steerauto *a = looks.copy;
    int changed;

    memcpy(a, steering.machine, steer_auto_size(seats));
    steer_auto_mend(a, seats);
    changed = steer_auto_feed(a, looks.samples, now);
    memcpy(steering.machine, a, steer_auto_size(seats));
    return changed ? a : NULL;
}

static void change(server_rec *s, seat_table *seats, const steerauto *a)
{
    int on = steer_auto_is_on(a);

    if (!on || a->state == STEER_AUTO_TRIAL) {
        sockets_steer(s, on ? steering.method : STEER_NONE, steering.map);
    }
    note(seats, on ? steering.method : STEER_NONE, a->reason);
    ap_log_error(APLOG_MARK, APLOG_NOTICE, 0, s, "FixedSteering auto: %s: %s",
                 steer_auto_name(a->state), a->reason);
}

static void feed(server_rec *s, seat_table *seats, double now)
{
    int known = sample(seats);
    const steerauto *a = known ? feed_copy(seats->seats, now) : NULL;

    looks.at = now;
    if (a) {
        change(s, seats, a);
    }
}

void steering_look(server_rec *s, seat_table *seats, int seat)
{
    double now;

    if (!steering.machine) {
        return;
    }
    now = seconds();
    if (now - looks.at < PERIOD) {
        return;
    }
    if (is_lowest(seats, seat)) {
        feed(s, seats, now);
    }
    else {
        looks.at = now;
    }
}

const char *steering_state(apr_pool_t *p, const seat_table *seats,
                           const char **why)
{
    int method = __atomic_load_n(&seats->shared->steering, __ATOMIC_ACQUIRE);
    apr_size_t room = sizeof(seats->shared->steering_why);

    *why = apr_pstrndup(p, seats->shared->steering_why, room);
    return steer_apply_name(method < STEER_NONE || method > STEER_CBPF
                                ? STEER_NONE
                                : (steer_method)method);
}
