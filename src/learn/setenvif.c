/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/setenvif.h"

#include "http_core.h"
#include "ap_regex.h"
#include "apr_lib.h"
#include "apr_strings.h"
#include "http_log.h"

#include <strings.h>

#include "base/linear.h"

APLOG_USE_MODULE(cpuaffinity);

/* What is looked for, by expressions that apply to the same requests. */
typedef struct group {
    const ap_directive_t *vhost;    /* they stand in it; NULL: in none */
    const server_rec *server;       /* made of vhost; NULL: for all */
    int section;                    /* 1: they stand in sections */
    linear *sets[REQUEST_ID_LIMIT]; /* in each field; NULL: nothing */
    uint64_t looked_at;             /* bit id: sets[id] has something */
    uint64_t unsure; /* bit id: an expression is httpd's to evaluate */
} group;

static group all; /* all of them: what does not match it matches none */
static apr_array_header_t *groups; /* of group * */

/* Variables whose value follows from the key; of const char *. */
static apr_array_header_t *names;
/* What was taken in and looks at a field; of const ap_directive_t *. */
static apr_array_header_t *nodes;

/* What SetEnvIf takes for something else than a header, and what is in the key
 * in the very form that it looks at. */
static const struct {
    const char *name;
    int in_key;
} attributes[] = {
    {"Remote_Host", 0}, {"Remote_Addr", 0},      {"Request_Method", 0},
    {"Server_Addr", 1}, {"Request_Protocol", 1}, {"Request_URI", 1},
    {"Host", 1},
};
#define ATTRIBUTES (sizeof(attributes) / sizeof(attributes[0]))

/* @return an index to attributes, or -1 */
static int find_attribute(const char *name)
{
    size_t i;

    for (i = 0; i < ATTRIBUTES; i++) {
        if (!strcasecmp(attributes[i].name, name)) {
            return (int)i;
        }
    }
    return -1;
}

static int is_header(const char *name)
{
    const char *p;

    /* Other characters make it a regular expression over all names. */
    for (p = name; *p; p++) {
        if (!apr_isalnum(*p) && *p != '-' && *p != '_') {
            return 0;
        }
    }
    return p != name;
}

/* A regular expression that only one name matches stands for that name. (It is
 * one all the same: where there is no such field, no variable is looked at;
 * and without NoCase it knows capitals, which refuses more than matches.)
 * @return the name, or @a name as it is */
static const char *bare(apr_pool_t *p, const char *name)
{
    size_t len = name ? strlen(name) : 0;
    const char *inner;

    if (len < 3 || name[0] != '^' || name[len - 1] != '$') {
        return name;
    }
    inner = apr_pstrmemdup(p, name + 1, len - 2);
    return is_header(inner) ? inner : name;
}

static void empty(group *g)
{
    unsigned id;

    for (id = 0; id < REQUEST_ID_LIMIT; id++) {
        linear_free(g->sets[id]);
    }
    memset(g, 0, sizeof(*g));
}

static apr_status_t forget(void *unused)
{
    int i;

    for (i = 0; groups && i < groups->nelts; i++) {
        empty(APR_ARRAY_IDX(groups, i, group *));
    }
    empty(&all);
    groups = names = nodes = NULL;
    return APR_SUCCESS;
}

void setenvif_reset(apr_pool_t *p)
{
    forget(NULL);
    groups = apr_array_make(p, 4, sizeof(group *));
    names = apr_array_make(p, 8, sizeof(const char *));
    nodes = apr_array_make(p, 8, sizeof(const ap_directive_t *));
    apr_pool_cleanup_register(p, NULL, forget, apr_pool_cleanup_null);
}

/* @return 1: the loop can evaluate it; 0: httpd alone */
static int is_linear(group *g, unsigned id, const char *regex, int icase)
{
    /* RegexDefaultOptions may have changed since httpd compiled it. */
    if (!icase && (ap_regcomp_get_default_cflags() & AP_REG_ICASE)) {
        return 0;
    }
    if (!g->sets[id] && !(g->sets[id] = linear_make())) {
        return 0;
    }
    return !linear_add(g->sets[id], regex, icase);
}

/* One directive, taken apart. */
typedef struct pattern {
    const char *name; /* of the field; NULL: something else */
    const char *regex;
    int icase;
    int in_key; /* name is that of something in the key */
    int first;  /* index of the first variable among the words */
} pattern;

static pattern parse(apr_pool_t *p, const ap_directive_t *node)
{
    int browser = !strncasecmp(node->directive, "BrowserMatch", 12);
    size_t len = strlen(node->directive);
    pattern t = {
        .name = browser ? "User-Agent" : tree_word(p, node, 0),
        .regex = tree_word(p, node, browser ? 0 : 1),
        .icase = len > 6 && !strcasecmp(node->directive + len - 6, "NoCase"),
        .first = browser ? 1 : 2,
    };
    int i;

    if (!t.name || !t.regex || tree_is(node, "SetEnvIfExpr")) {
        t.name = NULL;
        return t;
    }
    i = find_attribute(t.name);
    t.name = bare(p, t.name);
    t.in_key = i >= 0 && attributes[i].in_key;
    if (i >= 0 ? !t.in_key : !is_header(t.name)) {
        t.name = NULL;
    }
    return t;
}

const char *setenvif_judge(apr_pool_t *p, const ap_directive_t *node)
{
    pattern t = parse(p, node);
    const ap_regex_t *compiled;

    if (!t.name) {
        return "looks neither at a request header nor at what is in the key";
    }
    compiled =
        ap_pregcomp(p, t.regex, AP_REG_EXTENDED | (t.icase ? AP_REG_ICASE : 0));
    if (!compiled) {
        return "an expression cannot be compiled";
    }
    /* It would match every request that lacks the field. */
    return t.in_key || ap_regexec(compiled, "", 0, NULL, 0)
               ? NULL
               : "matches an absent field";
}

int setenvif_is_in_key(const char *variable)
{
    int i;

    for (i = 0; names && i < names->nelts; i++) {
        if (!strcasecmp(APR_ARRAY_IDX(names, i, const char *), variable)) {
            return 1;
        }
    }
    return 0;
}

/* The variables that it sets: [!]NAME[=VALUE] each. */
static void add_names(const pattern *t, const ap_directive_t *node,
                      apr_array_header_t *to)
{
    const char *word;
    int n;

    for (n = t->first; (word = tree_word(to->pool, node, n)); n++) {
        if (*word != '!') {
            APR_ARRAY_PUSH(to, const char *) =
                apr_pstrmemdup(to->pool, word, strcspn(word, "="));
        }
    }
}

int setenvif_names_of_key(const ap_directive_t *node, apr_array_header_t *to)
{
    pattern t = parse(to->pool, node);
    int i = to->nelts;

    if (!t.name || !t.in_key) {
        return 0;
    }
    add_names(&t, node, to);
    for (; i < to->nelts; i++) {
        const char *name = APR_ARRAY_IDX(to, i, const char *);

        if (request_field(name, strlen(name)) != REQUEST_FIELD_INERT) {
            return 0;
        }
    }
    return 1;
}

void setenvif_declare(apr_pool_t *p, const ap_directive_t *node)
{
    pattern t = parse(p, node);

    if (t.name && !t.in_key) {
        request_field_read(t.name, strlen(t.name));
    }
}

/* That of expressions which stand like this one. */
static group *group_of(const tree_place *at)
{
    int section = at->section != NULL, i;
    group *g;

    for (i = 0; i < groups->nelts; i++) {
        g = APR_ARRAY_IDX(groups, i, group *);
        if (g->vhost == at->vhost && g->section == section) {
            return g;
        }
    }
    g = apr_pcalloc(groups->pool, sizeof(*g));
    g->vhost = at->vhost;
    g->section = section;
    APR_ARRAY_PUSH(groups, group *) = g;
    return g;
}

/* @return 1; 0: not linear */
static int look_for(group *g, unsigned field, const pattern *t)
{
    uint64_t bit = (uint64_t)1 << field;

    if (is_linear(g, field, t->regex, t->icase)) {
        g->looked_at |= bit;
        return 1;
    }
    g->unsure |= bit;
    return 0;
}

void setenvif_add(apr_pool_t *p, const tree_place *at)
{
    pattern t = parse(p, at->node);
    int field;

    if (t.in_key) {
        add_names(&t, at->node, names);
        return;
    }
    APR_ARRAY_PUSH(nodes, const ap_directive_t *) = at->node;
    field = request_field_read(t.name, strlen(t.name));
    if (field < 0) {
        return; /* a request that has the field is not mine anyway */
    }
    look_for(&all, (unsigned)field, &t);
    if (!look_for(group_of(at), (unsigned)field, &t)
        && ap_state_query(AP_SQ_MAIN_STATE) != AP_SQ_MS_CREATE_PRE_CONFIG) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, NULL,
                     "FixedStatic: %s: the loop cannot look for \"%s\" "
                     "in a time that no client controls: requests with a "
                     "%s are httpd's",
                     tree_where(p, at->node), t.regex, t.name);
    }
}

/* Does the node look at such a variable, as there is no field of that name?
 * Then a request that has the field may not be mine: it hides the variable. */
static int follows(const ap_directive_t *node)
{
    pattern t = parse(names->pool, node);

    if (!t.name || !setenvif_is_in_key(t.name)) {
        return 0;
    }
    request_field_refuse(t.name, strlen(t.name));
    add_names(&t, node, names);
    return 1;
}

/* Which server a <VirtualHost> has become; NULL: none, or more than one. */
static const server_rec *server_of(const ap_directive_t *vhost,
                                   const server_rec *first)
{
    const tree_place at = {NULL, vhost, NULL};
    const server_rec *s, *found = NULL;

    for (s = vhost ? first : NULL; s; s = s->next) {
        if (tree_is_for(&at, s)) {
            if (found) {
                return NULL;
            }
            found = s;
        }
    }
    return found;
}

void setenvif_settle(const server_rec *first)
{
    const ap_directive_t **node = (const ap_directive_t **)nodes->elts;
    int i = 0;

    while (i < nodes->nelts) {
        if (node[i] && follows(node[i])) {
            node[i] = NULL;
            i = 0; /* those before it may look at what it sets */
        }
        else {
            i++;
        }
    }
    for (i = 0; i < groups->nelts; i++) {
        group *g = APR_ARRAY_IDX(groups, i, group *);

        g->server = server_of(g->vhost, first);
    }
}

static int has_match(const group *g, const request *req, const char *head)
{
    uint64_t rest = req->present & (g->looked_at | g->unsure);

    /* Absent is like empty, and empty was seen not to match. */
    for (; rest; rest &= rest - 1) {
        unsigned id = (unsigned)__builtin_ctzll(rest);
        request_slice value = req->header[id];

        if (value.len
            && ((g->unsure >> id & 1)
                || linear_found(g->sets[id], head + value.off, value.len))) {
            return 1;
        }
    }
    return 0;
}

int setenvif_may_match(const request *req, const char *head)
{
    return has_match(&all, req, head);
}

int setenvif_has_match(const request *req, const char *head,
                       const server_rec *server, int sections)
{
    int i;

    if (!has_match(&all, req, head)) {
        return 0;
    }
    for (i = 0; i < groups->nelts; i++) {
        const group *g = APR_ARRAY_IDX(groups, i, group *);

        if ((!g->server || g->server == server) && (!g->section || sections)
            && has_match(g, req, head)) {
            return 1;
        }
    }
    return 0;
}
