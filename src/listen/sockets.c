/* SPDX-License-Identifier: Apache-2.0 */
#include "listen/sockets.h"

#include <errno.h>
#include <unistd.h>

#include "apr_portable.h"

#include "http_core.h"
#include "http_log.h"

#include "listen/retained.h"
#include "handoff/handoff.h"

APLOG_USE_MODULE(cpuaffinity);

/* How long a socket that gets no new connections is still served: the lost
 * last ACK of a handshake is sent again within that time. Below, the limit in
 * case nobody serves it. */
#define GRACE 10000 /* ms, as all of them */
#define GRACE_MAX 60000

/* The same for a removed Listen, as long as children look after it: until
 * then its clients wait in vain. */
#define GRACE_REMOVED 2000

/* This generation's set; the parent changes the arrays between forks. */
static sockets_set *set;

const sockets_set *sockets_get(void)
{
    return set;
}

void sockets_pre_config(void)
{
    retained_sockets *k = retained_get(0);

    set = NULL;
    if (!k || !k->link) {
        return;
    }
    if (ap_state_query(AP_SQ_CONFIG_GEN) == k->generation + 1) {
        retained_unlink(k);
        return;
    }
    /* One restart was without the module: httpd has taken our records for its
     * own and reordered the list. */
    k->lost = 1;
    k->link = NULL;
    k->groups = NULL;
}

/* Ends all groups, or only those whose Listen is gone: a Listen that comes
 * back could not be bound beside them. */
static void end_groups(retained_sockets *k, int only_removed, int shut)
{
    retained_group *g, *next;

    for (g = k->groups; g; g = next) {
        next = g->next;
        if (g->removed || !only_removed) {
            retained_close(g, 0, shut);
            retained_drop(k, g);
        }
    }
}

static void steer_failed(server_rec *s, const retained_group *g,
                         const char *failed)
{
    ap_log_error(APLOG_MARK, APLOG_ERR, errno, s,
                 "steering of connections to %s: %s failed", g->name, failed);
}

/* The mode was turned off: for one generation the MPM accepts from the seats'
 * sockets as if they were ordinary listeners, while new connections all go to
 * the first, which is httpd's own. */
static void hand_to_httpd(apr_pool_t *p, server_rec *s, retained_sockets *k)
{
    ap_listen_rec *lr;
    retained_group *g, *next;
    const char *failed;

    for (g = k->groups; g; g = g->next) {
        g->lr = NULL;
    }
    for (lr = ap_listeners; lr; lr = lr->next) {
        if (lr->active && (g = retained_find(k, lr))) {
            g->lr = lr;
        }
    }
    for (g = k->groups; g; g = next) {
        next = g->next;
        if (!g->lr) { /* httpd closes its socket too */
            retained_close(g, 0, 0);
            retained_drop(k, g);
        }
        else if (steer_apply(retained_fds(p, g), g->n, 1, STEER_NONE, NULL,
                             &failed)) {
            steer_failed(s, g, failed);
        }
    }
    k->handed = 1;
    retained_link(k, NULL);
}

void sockets_check_config(apr_pool_t *pconf, server_rec *s, int seats)
{
    retained_sockets *k = retained_get(0);

    if (!k || !k->groups) {
        return;
    }
    end_groups(k, 1, 1);
    if (seats) {
        k->handed = 0;
    }
    else if (k->handed) {
        end_groups(k, 0, 0);
        k->handed = 0;
    }
    else {
        hand_to_httpd(pconf, s, k);
    }
}

/* An obstacle that only a full restart can remove. */
static const char *obstacle(const retained_sockets *k)
{
    if (k->lost) {
        return "a restart without mod_cpuaffinity made the sockets of its "
               "seats ordinary listeners";
    }
    if (ap_num_listen_buckets > 1) {
        return "the MPM keeps its listener buckets "
               "(ListenCoresBucketsRatio)";
    }
    return NULL;
}

/* Gives all connections to httpd's own socket of each group: for a restart
 * that cannot have the seats' sockets. */
static void do_without(apr_pool_t *p, server_rec *s, retained_sockets *k)
{
    const char *failed;
    retained_group *g;

    for (g = k->groups; g; g = g->next) {
        if (g->n > 1
            && steer_apply(retained_fds(p, g), g->n, 1, STEER_NONE, NULL,
                           &failed)) {
            steer_failed(s, g, failed);
            retained_close(g, 1, 0);
        }
    }
    retained_unlink(k);
    retained_link(k, NULL);
    set = NULL;
}

void sockets_do_without(apr_pool_t *p, server_rec *s)
{
    if (set) {
        do_without(p, s, retained_get(0));
        ap_log_error(APLOG_MARK, APLOG_ERR, 0, s,
                     "FixedProcesses: the processes serve as mpm_event's own "
                     "until the next restart");
    }
}

/* Logs a failure, on the console too as long as there is one. @return for
 * open_logs: an error that ends httpd at a start; a restart goes on */
static int failure(server_rec *s, const char *name, const char *failed)
{
    int rv = errno;
    int first = ap_state_query(AP_SQ_MAIN_STATE) == AP_SQ_MS_CREATE_PRE_CONFIG;
    int again = ap_state_query(AP_SQ_CONFIG_GEN) > 1;
    int level = again ? APLOG_ERR : APLOG_CRIT;

    ap_log_error(
        APLOG_MARK, first ? level | APLOG_STARTUP : level, rv, first ? NULL : s,
        "listening sockets of the seats for %s: %s failed", name, failed);
    return again ? OK : HTTP_INTERNAL_SERVER_ERROR;
}

/* Finds or makes the group of one of httpd's listeners, with a socket for
 * every seat. @param lacking set when there is none */
static int gather(server_rec *s, retained_sockets *k, ap_listen_rec *lr,
                  int seats, int *lacking)
{
    retained_group *g = retained_find(k, lr);
    const char *failed;

    if ((failed = "O_NONBLOCK", retained_unblock(lr))
        || (!g && !(g = retained_make(k, lr, &failed)))) {
        *lacking = 1;
        return failure(s,
                       lr->bind_addr->hostname ? lr->bind_addr->hostname
                                               : "any address",
                       failed);
    }
    g->lr = lr;
    if (g->n > seats && g->seats != seats) {
        g->since = clock_ms();
    }
    g->seats = seats;
    return retained_grow(g, seats, &failed) ? failure(s, g->name, failed) : OK;
}

/* A Listen was removed: httpd has closed its descriptor, ours are left. */
static void remove_group(apr_pool_t *p, server_rec *s, retained_group *g)
{
    int *fds = retained_fds(p, g);
    int i;

    g->removed = 1;
    g->since = clock_ms();
    for (i = 0; i < g->n; i++) {
        if (steer_close_door(fds[i])) {
            steer_failed(s, g, "SO_ATTACH_FILTER");
        }
    }
}

static void fill(apr_pool_t *p, sockets_group *out, const retained_group *g)
{
    memset(out, 0, sizeof(*out));
    out->lr = g->removed ? NULL : g->lr;
    out->protocol = g->recs[0]->protocol ? g->recs[0]->protocol : "http";
    out->local = g->local;
    out->local_len = g->local_len;
    out->nfds = g->n;
    out->fds = retained_fds(p, g);
    listensock_queue(out->fds[0], NULL, &out->backlog);
}

/* Rewrites the set: children forked from now on see this one. */
static void publish(apr_pool_t *p, const retained_sockets *k, int seats)
{
    sockets_group *groups;
    const retained_group *g;
    int n = 0;

    for (g = k->groups; g; g = g->next) {
        n++;
    }
    groups = apr_palloc(p, sizeof(*groups) * (n + 1));
    set = apr_palloc(p, sizeof(*set));
    *set = (sockets_set){clock_ms(), seats, n, groups};
    for (g = k->groups, n = 0; g; g = g->next) {
        fill(p, &groups[n++], g);
    }
}

int sockets_open_logs(apr_pool_t *pconf, server_rec *s, int seats)
{
    retained_sockets *k = retained_get(seats > 0);
    ap_listen_rec *lr;
    retained_group *g;
    int lacking = 0;

    if (!seats) {
        return OK;
    }
    if (obstacle(k)) {
        ap_log_error(APLOG_MARK, APLOG_ERR, 0, s,
                     "FixedProcesses is not possible before httpd is stopped "
                     "and started: %s",
                     obstacle(k));
        return OK;
    }
    for (g = k->groups; g; g = g->next) {
        g->lr = NULL;
    }
    for (lr = ap_listeners; lr; lr = lr->next) {
        int rv = gather(s, k, lr, seats, &lacking);

        if (rv != OK) {
            return rv;
        }
    }
    for (g = k->groups; g; g = g->next) {
        if (!g->lr && !g->removed) {
            remove_group(pconf, s, g);
        }
    }
    retained_unlink(k);
    retained_link(k, NULL);
    publish(pconf, k, seats);
    if (lacking) {
        sockets_do_without(pconf, s);
    }
    return OK;
}

int sockets_steer(server_rec *s, steer_method method, const steermap *map)
{
    const char *failed;
    int i, rv = 0;

    for (i = 0; set && i < set->ngroups; i++) {
        const sockets_group *g = &set->groups[i];
        char name[LISTENSOCK_NAME];

        if (!g->lr
            || !steer_apply(g->fds, g->nfds, set->seats, method, map,
                            &failed)) {
            continue;
        }
        ap_log_error(APLOG_MARK, APLOG_ERR, errno, s,
                     "steering of connections to %s: %s failed",
                     listensock_name(&g->local, g->local_len, name), failed);
        rv = -1;
    }
    return rv;
}

void sockets_child_init(void)
{
    retained_sockets *k = retained_get(0);

    if (k && !k->handed) {
        retained_unlink(k);
    }
}

void sockets_child_close(void)
{
    static int closed;
    int i, j;

    if (!set || __atomic_exchange_n(&closed, 1, __ATOMIC_ACQ_REL)) {
        return;
    }
    for (i = 0; i < set->ngroups; i++) {
        for (j = 0; j < set->groups[i].nfds; j++) {
            close(set->groups[i].fds[j]);
        }
    }
}

void sockets_tidy(void)
{
    int i, j, waiting;

    if (!set || clock_ms() - set->made < GRACE_REMOVED) {
        return;
    }
    for (i = 0; i < set->ngroups; i++) {
        const sockets_group *g = &set->groups[i];

        for (j = 0; !g->lr && j < g->nfds; j++) {
            if (!listensock_queue(g->fds[j], &waiting, NULL) && !waiting) {
                shutdown(g->fds[j], SHUT_RDWR);
            }
        }
    }
}

/* Whether a socket's grace is over. "since" may come from a build of the
 * module that used the time of day. */
static int over(const retained_group *g, int from)
{
    int64_t age = clock_ms() - g->since;

    return age < 0 || age >= GRACE_MAX
           || (age >= GRACE && retained_is_empty(g, from));
}

void sockets_monitor(apr_pool_t *pconf, server_rec *s)
{
    retained_sockets *k = retained_get(0);
    ap_listen_rec *rest = NULL;
    retained_group *g, *next;
    int changed = 0;

    if (!set || !k) {
        return;
    }
    for (g = k->groups; g; g = next) {
        int from = g->removed ? 0 : g->seats;

        next = g->next;
        if (g->n <= from || !over(g, from)) {
            continue;
        }
        if (!changed++) {
            rest = retained_unlink(k);
        }
        ap_log_error(APLOG_MARK, APLOG_INFO, 0, s,
                     "%s: %d listening sockets are closed, %d are left",
                     g->name, g->n - from, from);
        retained_close(g, from, 1);
        if (g->removed) {
            retained_drop(k, g);
        }
    }
    if (changed) {
        retained_link(k, rest);
        publish(pconf, k, set->seats);
    }
}
