/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/vhost.h"

#include "http_config.h"
#include "http_core.h"
#include "http_log.h"
#include "apr_hash.h"
#include "apr_strings.h"

#include <errno.h>

#include "conf/config.h"
#include "learn/authz.h"
#include "learn/counters.h"
#include "learn/directive.h"
#include "learn/environment.h"
#include "log/log_format.h"
#include "learn/mark.h"
#include "learn/message.h"
#include "learn/modules.h"
#include "learn/obstacles.h"
#include "learn/query.h"
#include "learn/section.h"
#include "learn/setenvif.h"
#include "learn/setter.h"

APLOG_USE_MODULE(cpuaffinity);

static struct {
    apr_pool_t *pool;
    vhost *list; /* in httpd's order, the main server first */
    unsigned count;
    apr_hash_t *by_server;
    int any;
    module *const *sections;
    const module *tls;
    /* The <VirtualHost> looked at last, and whether a server came of it. */
    const ap_directive_t *vhost;
    int vhost_found;
} servers;

/* A <VirtualHost> that cannot be matched to a server counts for all of them:
 * better to refuse too much. */
static tree_place place_of(const tree_place *at)
{
    tree_place place = *at;

    if (at->vhost && at->vhost != servers.vhost) {
        unsigned i;

        servers.vhost = at->vhost;
        servers.vhost_found = 0;
        for (i = 0; i < servers.count; i++) {
            servers.vhost_found |= tree_is_for(at, servers.list[i].server);
        }
    }
    if (at->vhost && !servers.vhost_found) {
        place.vhost = NULL;
    }
    return place;
}

/* A rule refuses the server for what stands there. */
static void refuse(vhost *s, const tree_place *at, const char *why)
{
    obstacles_hint hint = {
        .reason = REASON_SERVER,
        .group = why,
        .what = apr_psprintf(servers.pool, "%s %s", at->node->directive, why),
        .advice = section_advice(at->node),
    };
    tree_place place = {at->node, at->vhost, NULL};

    obstacles_add(s->index, &place, &hint);
    if (s->reason == REASON_OK) {
        s->reason = REASON_SERVER;
        s->why = apr_psprintf(servers.pool, "%s %s",
                              tree_where(servers.pool, at->node), why);
    }
}

/* It refuses requests to its section, if these can be told. */
static void refuse_section(vhost *s, const tree_place *at, const char *why)
{
    obstacles_hint hint = {
        .reason = REASON_SECTION,
        .group = tree_where(servers.pool, at->node),
        .what = apr_psprintf(servers.pool, "%s %s", at->node->directive, why),
        .advice = section_advice(at->node),
    };

    if (mark_has(at->node)) {
        obstacles_add(s->index, at, &hint);
    }
    else {
        refuse(s, at, why);
    }
}

/* Without FixedTLS it is httpd's: what is said of the vhost's answers is for
 * nobody. */
static void tell_tls(const vhost *s, const tree_place *at)
{
    static const obstacles_hint hint = {
        .reason = REASON_SHAPE,
        .group = "SSLEngine",
        .what = "SSLEngine makes it TLS, which is httpd's",
        .advice = "FixedTLS on, or a proxy in front that ends TLS",
    };
    tree_place place = {at->node, at->vhost, NULL};

    if (!config_get(vhost_at(0)->server)->tls) {
        obstacles_add(s->index, &place, &hint);
    }
}

static void take_wish(vhost *s, const tree_place *at, int on)
{
    if (at->section) {
        s->inside |= on;
    }
    else if (at->vhost) {
        s->own = on;
    }
    else {
        s->general = on;
    }
    if (on) {
        const core_server_config *core =
            ap_get_core_module_config(s->server->module_config);

        obstacles_on(s->index, at->section ? at : NULL, core->ap_document_root);
    }
}

/* What a directive says is true of one server. */
static void take(vhost *s, const tree_place *at, const directive_verdict *d)
{
    if (!at->section || !mark_has(at->node)) {
        s->plain |= d->plain;
        s->rewritten |= d->rewritten;
    }
    s->proxied |= d->proxied;
    s->tls |= d->tls;
    s->upgrades |= d->upgrades;
    if (d->wanted || d->unwanted) {
        take_wish(s, at, d->wanted);
    }
    if (d->tls) {
        tell_tls(s, at);
    }
    if (d->timeouts) {
        s->header_first = d->header_first;
        s->header_max = d->header_max;
        s->header_rate = d->header_rate;
    }
    if (d->refuse) {
        refuse(s, at, d->refuse);
    }
    if (d->section) {
        refuse_section(s, at, d->section);
    }
}

/* First what the others need to know. */
static void visit_first(void *ctx, const tree_place *at)
{
    tree_place place = place_of(at);

    directive_declare(servers.pool, &place);
    servers.any |= directive_is_wish(servers.pool, at->node);
}

/* R5 then refuses what mod_unique_id has set a variable for. */
static void read_unique(vhost *s, const tree_place *at)
{
    obstacles_hint hint = {
        .reason = REASON_ENVIRONMENT,
        .group = "UNIQUE_ID",
        .what = apr_psprintf(servers.pool,
                             "%s names UNIQUE_ID, which is another for each "
                             "request",
                             at->node->directive),
        .advice = "leave the name out, or do not load mod_unique_id",
    };
    tree_place place = {at->node, at->vhost, NULL};

    s->reads_unique = 1;
    if (ap_find_linked_module("mod_unique_id.c")) {
        obstacles_add(s->index, &place, &hint);
    }
}

/* What the files say is judged when httpd reads them. */
static void allow_htaccess(const tree_place *at, obstacles_hint *hint)
{
    if (hint->reason == REASON_HTACCESS && servers.list->reads_htaccess) {
        hint->what = apr_psprintf(servers.pool,
                                  "%s lets in .htaccess files that are not "
                                  "understood",
                                  at->node->directive);
        hint->advice = "LogLevel cpuaffinity:info names the directives of "
                       ".htaccess files that are in the way; leave them out, "
                       "or move them to sections";
        hint->partly = 1;
        hint->quiet = 1;
    }
}

static void visit(void *ctx, const tree_place *at)
{
    tree_place place = place_of(at), shown = place;
    obstacles_hint hint;
    directive_verdict d;
    unsigned i;
    int known = section_judge(servers.pool, &shown, &hint), reads;
    int query = query_is_read(servers.pool, at->node);
    int message = message_is_forbidden(servers.pool, at->node);

    allow_htaccess(at, &hint);
    directive_judge(servers.pool, at, &d);
    /* What refuses its section is httpd's there, and no further. */
    reads = !d.section && environment_is_read(servers.pool, at->node);
    for (i = 0; i < servers.count; i++) {
        vhost *s = &servers.list[i];

        if (!tree_is_for(&place, s->server)) {
            continue;
        }
        take(s, &place, &d);
        setter_add(servers.pool, s->index, &place);
        if (reads) {
            read_unique(s, &place);
        }
        if (query && !s->query_reader) {
            s->query_reader = tree_where(servers.pool, at->node);
        }
        if (message && !s->messages) {
            s->messages = tree_where(servers.pool, at->node);
        }
        s->htaccess |= section_forbids_htaccess(servers.pool, at);
        if (known && hint.reason != REASON_OK) {
            obstacles_add(s->index, &shown, &hint);
        }
        else if (known) {
            obstacles_harmless(s->index, &shown);
        }
    }
}

/* What is true of a server, now that all has been read. */
static void conclude(vhost *s)
{
    s->wanted = s->inside || (s->own >= 0 ? s->own : s->general > 0);
    if (!s->htaccess && !s->reads_htaccess) {
        obstacles_add(s->index, NULL, &learnsection_htaccess);
    }
    if (!s->wanted) {
        obstacles_drop(s->index);
    }
}

static void cover(vhost *s)
{
    s->covers = obstacles_covering(s->index);
    if (s->covers && s->reason == REASON_OK) {
        s->why = obstacle_text(servers.pool, s->covers);
    }
}

static void judge_logs(vhost *s)
{
    log_format_verdict v;

    log_format_judge(s->server, &v);
    s->logs_id = v.id;
    s->logs_read = v.read;
    s->logs_sent = v.sent;
    s->log_variables = v.variables;
    if (v.refuse) {
        obstacles_hint hint = {
            .reason = REASON_SERVER,
            .group = "CustomLog",
            .what = v.refuse,
            .advice = section_advice(v.node),
        };
        tree_place place = {v.node, NULL, NULL};

        obstacles_add(s->index, &place, &hint);
        s->why = s->reason == REASON_OK ? v.refuse : s->why;
        s->reason = REASON_SERVER;
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
        vhost *l = &servers.list[servers.count];

        l->server = s;
        l->index = servers.count++;
        l->reason = REASON_OK;
        l->reads_htaccess = config_get(first)->htaccess;
        l->own = l->general = -1;
        if (reads) {
            l->header_first = DIRECTIVE_HEADER_FIRST;
            l->header_max = DIRECTIVE_HEADER_MAX;
            l->header_rate = DIRECTIVE_HEADER_RATE;
        }
        apr_hash_set(servers.by_server, &l->server, sizeof(l->server), l);
    }
}

static apr_status_t forget(void *unused)
{
    memset(&servers, 0, sizeof(servers));
    return APR_SUCCESS;
}

int vhost_make(apr_pool_t *pconf, server_rec *main)
{
    unsigned i;

    memset(&servers, 0, sizeof(servers));
    servers.pool = pconf;
    servers.by_server = apr_hash_make(pconf);
    servers.sections = modules_sections(pconf);
    servers.tls = ap_find_linked_module("mod_ssl.c");
    apr_pool_cleanup_register(pconf, NULL, forget, apr_pool_cleanup_null);
    make_list(main);
    log_format_reset(pconf);
    request_field_reset();
    setenvif_reset(pconf);
    obstacles_reset(pconf);
    tree_walk(ap_conftree, visit_first, NULL);
    if (!servers.any) {
        return 0; /* nobody asks for it: no more work */
    }
    tree_walk(ap_conftree, visit, NULL);
    setenvif_settle(main);
    for (i = 0; i < servers.count; i++) {
        judge_logs(&servers.list[i]);
        conclude(&servers.list[i]);
    }
    obstacles_finish();
    for (i = 0; i < servers.count; i++) {
        cover(&servers.list[i]);
    }
    if (authz_missing()) {
        vhost_refuse_all("too many authorisation providers");
    }
    /* One more for each, in case that S1 refuses. */
    if (counters_make(pconf, servers.count,
                      obstacles_count() + servers.count)) {
        ap_log_error(APLOG_MARK, APLOG_ERR, errno, main,
                     "FixedStatic is off: mmap of its counters");
        servers.any = 0;
        return -1;
    }
    return 0;
}

const vhost *vhost_of(const server_rec *s)
{
    return servers.by_server ? apr_hash_get(servers.by_server, &s, sizeof(s))
                             : NULL;
}

const vhost *vhost_at(unsigned index)
{
    return index < servers.count ? &servers.list[index] : NULL;
}

int vhost_has_any(void)
{
    return servers.any;
}

void vhost_disable(void)
{
    servers.any = 0;
}

void vhost_refuse_also(const char *why)
{
    obstacles_hint hint = {
        .reason = REASON_MODULE,
        .group = why,
        .what = why,
        .advice = "do not load it, or serve these files with another httpd",
    };
    unsigned i;

    for (i = 0; i < servers.count; i++) {
        if (servers.list[i].wanted) {
            obstacles_add(i, NULL, &hint);
        }
    }
}

void vhost_refuse_all(const char *why)
{
    unsigned i;

    for (i = 0; i < servers.count; i++) {
        servers.list[i].reason = REASON_MODULE;
        servers.list[i].why = why;
    }
    vhost_refuse_also(why);
}

const module *vhost_tls_module(void)
{
    return servers.tls;
}

module *const *vhost_sections(void)
{
    return servers.sections;
}
