#include "fixed/learnserver.h"

#include "http_config.h"
#include "http_log.h"
#include "apr_hash.h"
#include "apr_strings.h"

#include <errno.h>

#include "fixed/learnauthz.h"
#include "fixed/learncount.h"
#include "fixed/learndirective.h"
#include "fixed/learnlog.h"
#include "fixed/learnmodules.h"
#include "fixed/learnsetenvif.h"

APLOG_USE_MODULE(cpuaffinity);

static struct {
    apr_pool_t *pool;
    learnserver *list; /* in httpd's order, the main server first */
    unsigned count;
    apr_hash_t *by_server;
    int any;
    apr_array_header_t *indexes; /* first names of all DirectoryIndex */
    module *const *sections;
    /* The <VirtualHost> looked at last, and whether a server came of it. */
    const ap_directive_t *vhost;
    int vhost_found;
} servers;

/* A <VirtualHost> that no server can be told to have come of counts for all
 * of them: better refuse too much. */
static learntree_place place_of(const learntree_place *at)
{
    learntree_place place = *at;

    if (at->vhost && at->vhost != servers.vhost) {
        unsigned i;

        servers.vhost = at->vhost;
        servers.vhost_found = 0;
        for (i = 0; i < servers.count; i++) {
            servers.vhost_found |=
                learntree_applies(at, servers.list[i].server);
        }
    }
    if (at->vhost && !servers.vhost_found) {
        place.vhost = NULL;
    }
    return place;
}

static const char *because(const learntree_place *at, const char *why)
{
    return apr_psprintf(servers.pool, "%s %s",
                        learntree_where(servers.pool, at->node), why);
}

/* What a directive says is true of one server. */
static void take(learnserver *s, const learntree_place *at,
                 const learndirective *d)
{
    s->wanted |= d->wanted;
    s->plain |= d->plain;
    s->proxied |= d->proxied;
    s->tls |= d->tls;
    if (d->timeouts) {
        s->header_first = d->header_first;
        s->header_max = d->header_max;
        s->header_rate = d->header_rate;
    }
    if (d->refuse && s->reason == LEARN_OK) {
        s->reason = LEARN_SERVER;
        s->why = because(at, d->refuse);
    }
    if (d->section && !s->header_why) {
        s->header_why = because(at, d->section);
    }
}

/* First what the others need to know. */
static void visit_first(void *ctx, const learntree_place *at)
{
    learntree_place place = place_of(at);

    learnlog_add(&place);
    servers.any |= learndirective_wants(servers.pool, at->node);
    if (learntree_is(at->node, "DirectoryIndex")) {
        const char *name = learntree_word(servers.pool, at->node, 0);

        APR_ARRAY_PUSH(servers.indexes, const char *) = name ? name : "";
    }
}

static void visit(void *ctx, const learntree_place *at)
{
    learntree_place place = place_of(at);
    learndirective d;
    unsigned i;

    learndirective_judge(servers.pool, at, &d);
    for (i = 0; i < servers.count; i++) {
        if (learntree_applies(&place, servers.list[i].server)) {
            take(&servers.list[i], at, &d);
        }
    }
}

static void judge_logs(learnserver *s)
{
    learnlog_verdict v;

    learnlog_judge(s->server, &v);
    s->logs_env = v.env;
    s->logs_id = v.id;
    if (v.refuse && s->reason == LEARN_OK) {
        s->reason = LEARN_SERVER;
        s->why = v.refuse;
    }
}

static void make_list(server_rec *first)
{
    int reads = ap_find_linked_module("mod_reqtimeout.c") != NULL;
    server_rec *s;

    servers.count = 0;
    for (s = first; s; s = s->next) {
        servers.count++;
    }
    servers.list =
        apr_pcalloc(servers.pool, servers.count * sizeof(*servers.list));
    servers.count = 0;
    for (s = first; s; s = s->next) {
        learnserver *l = &servers.list[servers.count];

        l->server = s;
        l->index = servers.count++;
        l->reason = LEARN_OK;
        if (reads) {
            l->header_first = LEARNDIRECTIVE_HEADER_FIRST;
            l->header_max = LEARNDIRECTIVE_HEADER_MAX;
            l->header_rate = LEARNDIRECTIVE_HEADER_RATE;
        }
        apr_hash_set(servers.by_server, &l->server, sizeof(l->server), l);
    }
}

static apr_status_t forget(void *unused)
{
    memset(&servers, 0, sizeof(servers));
    return APR_SUCCESS;
}

int learnserver_make(apr_pool_t *pconf, server_rec *main)
{
    unsigned i;

    memset(&servers, 0, sizeof(servers));
    servers.pool = pconf;
    servers.by_server = apr_hash_make(pconf);
    servers.indexes = apr_array_make(pconf, 4, sizeof(const char *));
    servers.sections = learnmodules_sections(pconf);
    apr_pool_cleanup_register(pconf, NULL, forget, apr_pool_cleanup_null);
    make_list(main);
    learnlog_reset(pconf);
    learnsetenvif_reset(pconf);
    learntree_walk(ap_conftree, visit_first, NULL);
    if (!servers.any) {
        return 0; /* nobody asks for it: no more work */
    }
    learntree_walk(ap_conftree, visit, NULL);
    for (i = 0; i < servers.count; i++) {
        judge_logs(&servers.list[i]);
    }
    if (learnauthz_missing()) {
        learnserver_refuse_all("too many authorisation providers");
    }
    if (learncount_make(pconf, servers.count)) {
        ap_log_error(APLOG_MARK, APLOG_ERR, errno, main,
                     "FixedStatic is off: mmap of its counters");
        servers.any = 0;
        return -1;
    }
    return 0;
}

const learnserver *learnserver_of(const server_rec *s)
{
    return servers.by_server ? apr_hash_get(servers.by_server, &s, sizeof(s))
                             : NULL;
}

const learnserver *learnserver_at(unsigned index)
{
    return index < servers.count ? &servers.list[index] : NULL;
}

int learnserver_any(void)
{
    return servers.any;
}

void learnserver_disable(void)
{
    servers.any = 0;
}

void learnserver_refuse_all(const char *why)
{
    unsigned i;

    for (i = 0; i < servers.count; i++) {
        servers.list[i].reason = LEARN_MODULE;
        servers.list[i].why = why;
    }
}

int learnserver_index(const char *name)
{
    int i;

    for (i = 0; i < servers.indexes->nelts; i++) {
        if (strcmp(APR_ARRAY_IDX(servers.indexes, i, const char *), name)) {
            return 0;
        }
    }
    return servers.indexes->nelts || !strcmp(name, "index.html");
}

module *const *learnserver_sections(void)
{
    return servers.sections;
}
