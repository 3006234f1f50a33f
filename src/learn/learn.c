/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/learn.h"

#include "http_config.h"
#include "http_core.h"
#include "http_log.h"
#include "apr_strings.h"

#include <errno.h>
#include <stdio.h>

#include "log/access_log_time.h"
#include "learn/address.h"
#include "learn/authz.h"
#include "learn/capture.h"
#include "learn/counters.h"
#include "learn/directive.h"
#include "learn/mark.h"
#include "learn/modules.h"
#include "learn/obstacles.h"
#include "learn/vhost.h"
#include "learn/trace_hooks.h"
#include "learn/peer_share.h"
#include "conf/processes.h"

APLOG_USE_MODULE(cpuaffinity);

#define NO_PROCESSES "there are no fixed processes (FixedProcesses)"

uint64_t learn_refusals(reason_id reason)
{
    return counters_get(reason);
}

int learn_server(unsigned n, learn_state *state)
{
    const vhost *s = vhost_at(n);

    if (!s) {
        return 0;
    }
    memset(state, 0, sizeof(*state));
    state->name = s->server->server_hostname ? s->server->server_hostname
                                             : "the main server";
    state->wanted = s->wanted;
    state->query = s->query_reader;
    if (s->reason != REASON_OK) {
        state->rule = reason_rule(s->reason);
        state->why = s->why;
    }
    else if (s->covers) {
        state->rule = s->covers->rule;
        state->why = s->why;
    }
    else if (vhost_has_any() && counters_is_off(s->index)) {
        state->rule = reason_rule(REASON_AUDIT);
        state->why = reason_text(REASON_AUDIT);
    }
    return 1;
}

const obstacle *learn_obstacle(unsigned n)
{
    return obstacles_at(n);
}

uint64_t learn_met(unsigned n)
{
    return counters_get_met(n);
}

uint64_t learn_cost(unsigned n, unsigned cause)
{
    return counters_get_cost(n, cause);
}

int64_t learn_since(void)
{
    return counters_since();
}

void learn_differs(const lesson *l, const char *what)
{
    const vhost *s = vhost_of(l->server.server);

    if (!s) {
        return;
    }
    counters_off(s->index);
    counters_refused(REASON_AUDIT, s->index);
    ap_log_error(APLOG_MARK, APLOG_ERR, 0, l->server.server,
                 "FixedStatic is off for this vhost until the next restart: "
                 "an audit of %s found another answer: %s (%d%s%s)",
                 l->path ? l->path : "a file", what, l->status,
                 l->reason >= 0 ? ", " : "", reason_text((reason_id)l->reason));
}

void learn_query_is_read(const lesson *l)
{
    const vhost *s = vhost_of(l->server.server);

    if (s && counters_by_query(s->index)) {
        ap_log_error(APLOG_MARK, APLOG_NOTICE, 0, l->server.server,
                     "FixedStatic: answers are kept by query: of %s there "
                     "were two, and no directive shows why",
                     l->path);
    }
}

int learn_is_by_query(const server_rec *s)
{
    const vhost *l = vhost_of(s);

    return !l || l->query_reader || counters_is_by_query(l->index);
}

int learn_is_off(const server_rec *s)
{
    const vhost *l = vhost_of(s);

    return !l || counters_is_off(l->index);
}

unsigned learn_offs(void)
{
    return counters_offs();
}

/* What to look for in the tree before it is processed. */
typedef struct wish {
    apr_pool_t *p;
    int wanted;
} wish;

static void find_wish(void *ctx, const tree_place *at)
{
    wish *w = ctx;

    w->wanted |= directive_is_wish(w->p, at->node);
}

void learn_pre_config(apr_pool_t *pconf)
{
    wish w = {pconf, 0};

    /* Where nobody uses FixedStatic, nothing is touched. */
    tree_walk(ap_conftree, find_wish, &w);
    if (w.wanted) {
        authz_wrap(pconf);
        mark_insert(pconf);
        access_log_time_register(pconf);
    }
}

void learn_post_config(apr_pool_t *pconf, server_rec *s)
{
    const vhost *l;
    unsigned i;

    if (vhost_make(pconf, s)) {
        return;
    }
    if (ap_state_query(AP_SQ_MAIN_STATE) == AP_SQ_MS_CREATE_PRE_CONFIG) {
        return; /* the configuration is read once more before the start */
    }
    if (vhost_has_any() && !processes_count()) {
        vhost_disable();
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s,
                     "FixedStatic has no effect: " NO_PROCESSES);
        return;
    }
    if (vhost_has_any() && capture_init()) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, errno, s,
                     "FixedStatic: no random numbers: answers that are "
                     "compressed are not repeated");
    }
    if (vhost_has_any() && processes_count() > 1 && peer_share_make(pconf)) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, errno, s,
                     "FixedStatic: no memory that the processes share: each "
                     "of them learns by itself");
    }
    for (i = 0; (l = vhost_at(i)); i++) {
        if (l->wanted && l->reason != REASON_OK) {
            ap_log_error(APLOG_MARK, APLOG_WARNING, 0, l->server,
                         "FixedStatic is off for %s (%s): %s",
                         l->server->server_hostname ? l->server->server_hostname
                                                    : "the main server",
                         reason_rule(l->reason), l->why);
        }
    }
}

/* A limit that is smaller than httpd's default one. */
static const char *limit(apr_pool_t *p, const char *name, unsigned value,
                         unsigned usual)
{
    return value && value < usual
               ? apr_psprintf(p, ", at most %s %u", name, value)
               : "";
}

static void dump_addresses(apr_pool_t *p)
{
    const address *a;
    const char *name;
    unsigned n;

    for (n = 0; (name = address_listen(p, n, &a)); n++) {
        if (a->why) {
            printf("FixedStatic on %s: requests are not read: %s\n"
                   "    change: %s\n",
                   name, a->why, a->advice);
            continue;
        }
        printf("FixedStatic on %s: requests are read%s%s%s%s\n", name,
               a->keeps ? " when TLS is made and httpd has answered" : "",
               limit(p, "LimitRequestLine", a->limits.line,
                     DEFAULT_LIMIT_REQUEST_LINE),
               limit(p, "LimitRequestFieldSize", a->limits.fieldsize,
                     DEFAULT_LIMIT_REQUEST_FIELDSIZE),
               limit(p, "LimitRequestFields", a->limits.fields,
                     DEFAULT_LIMIT_REQUEST_FIELDS));
    }
}

/* A line for the vhost, and two for each obstacle. */
static void dump_server(apr_pool_t *p, unsigned server,
                        const learn_state *state)
{
    const obstacle *o;
    unsigned i;

    if (state->rule) {
        printf("FixedStatic for %s: off, %s: %s\n", state->name, state->rule,
               state->why);
    }
    else {
        printf("FixedStatic for %s: answers may be repeated\n", state->name);
    }
    if (state->query) {
        printf("  kept by query: %s\n", state->query);
    }
    for (i = 0; (o = learn_obstacle(i)); i++) {
        if (o->server == server && !o->quiet) {
            printf("  not in %s, %s: %s\n    change: %s\n", o->section, o->rule,
                   obstacle_text(p, o), o->advice);
        }
    }
}

/* All of the modules, so that they can be looked after at once. */
static void refuse(apr_pool_t *p, const char *why)
{
    const apr_array_header_t *all = modules_refused(p);
    int i;

    vhost_refuse_all(why);
    for (i = 1; i < all->nelts; i++) {
        vhost_refuse_also(APR_ARRAY_IDX(all, i, const char *));
    }
}

void learn_dump(apr_pool_t *p, server_rec *s)
{
    learn_state state;
    const char *why;
    unsigned i;

    if (vhost_make(p, s) || !vhost_has_any()) {
        return;
    }
    if (!processes_count()) {
        printf("FixedStatic has no effect: %s\n", NO_PROCESSES);
        return;
    }
    why = modules_judge(p);
    if (why) {
        refuse(p, why);
    }
    for (i = 0; learn_server(i, &state); i++) {
        if (state.wanted) {
            dump_server(p, i, &state);
        }
    }
    dump_addresses(p);
    fflush(stdout); /* "Syntax OK" comes from elsewhere */
}

void learn_child_init(apr_pool_t *pchild, server_rec *s)
{
    const char *why;

    if (!vhost_has_any()) {
        return;
    }
    why = modules_judge(pchild);
    if (!why && !modules_is_last_handler(trace_hooks_handler)) {
        why = "a handler stands behind ours";
    }
    modules_settle();
    if (why) {
        refuse(pchild, why);
        /* Once for all children. */
        if (counters_refused(REASON_MODULE, 0)) {
            ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s,
                         "FixedStatic is off (S1): %s", why);
        }
    }
}

void learn_register(apr_pool_t *p)
{
    trace_hooks_register(p);
}
