/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/directive.h"

#include "apr_strings.h"

#include <stdlib.h>
#include <strings.h>

#include "conf/config.h"
#include "http/response.h"
#include "learn/modules.h"
#include "learn/setenvif.h"
#include "log/log_format.h"

typedef struct directive {
    apr_pool_t *p;
    const tree_place *at;
    directive_verdict *out;
    int dry;  /* only to be judged */
    int late; /* nothing can be declared any more */
} directive;

static int is_off(const directive *d)
{
    const char *arg = tree_word(d->p, d->at->node, 0);

    return arg && !strcasecmp(arg, "off");
}

int directive_is_wish(apr_pool_t *p, const ap_directive_t *node)
{
    const char *arg;

    if (!tree_is(node, "FixedStatic")) {
        return 0;
    }
    arg = tree_word(p, node, 0);
    return arg && strcasecmp(arg, "off");
}

static void fixed_static(directive *d)
{
    if (d->at->node->data) {
        return; /* mark's */
    }
    d->out->wanted = directive_is_wish(d->p, d->at->node);
    d->out->unwanted = !d->out->wanted;
}

/* Is it "env=NAME"? Variables follow from the key (R5). */
static int is_of_key(const char *condition)
{
    return !strncasecmp(condition, "env=", 4);
}

/* Which words a Header directive has after "always" or "onsuccess". */
static const struct {
    const char *action;
    int words; /* with the action; one more is a condition */
} constants[] = {
    {"set", 3}, {"add", 3}, {"append", 3}, {"merge", 3}, {"unset", 2},
};

/* Answers will name these fields: they need an id to be in the key. */
static void read_vary(apr_pool_t *p, const char *value)
{
    char *copy = value ? apr_pstrdup(p, value) : NULL, *state, *token;

    for (token = copy ? apr_strtok(copy, ", \t", &state) : NULL; token;
         token = apr_strtok(NULL, ", \t", &state)) {
        request_field_read(token, strlen(token));
    }
}

/* The name of a field, which may be written with a colon. */
static const char *field_word(const directive *d, int n)
{
    const char *name = tree_word(d->p, d->at->node, n);

    return name ? apr_pstrmemdup(d->p, name, strcspn(name, ":")) : NULL;
}

static const char *judge_header(directive *d)
{
    const ap_directive_t *node = d->at->node;
    const char *action = tree_word(d->p, node, 0), *name, *value, *condition;
    response_field use;
    size_t i;
    int n = 0;

    if (action
        && (!strcasecmp(action, "always")
            || !strcasecmp(action, "onsuccess"))) {
        action = tree_word(d->p, node, ++n);
    }
    for (i = 0; action && i < sizeof(constants) / sizeof(constants[0]); i++) {
        if (!strcasecmp(constants[i].action, action)) {
            break;
        }
    }
    name = field_word(d, n + 1);
    if (!action || i == sizeof(constants) / sizeof(constants[0]) || !name) {
        return "is not a constant";
    }
    value = constants[i].words > 2 ? tree_word(d->p, node, n + 2) : NULL;
    condition = tree_word(d->p, node, n + constants[i].words);
    if ((condition && !is_of_key(condition))
        || (value && (strchr(value, '%') || !strncasecmp(value, "expr=", 5)))) {
        return "is not a constant";
    }
    if (!strcasecmp(name, "Vary") && !d->late) {
        read_vary(d->p, value);
    }
    use = response_field_use(name);
    d->out->plain = use == RESPONSE_FIELD_PLAIN;
    return use == RESPONSE_FIELD_NEVER ? "touches a field that is httpd's"
                                       : NULL;
}

/* mod_headers is inert when all that it does is constant. */
static void header(directive *d)
{
    d->out->refuse = judge_header(d);
}

/* What RequestHeader does: "sets" also where there is no such field. */
static const struct {
    const char *action;
    int sets;
} actions[] = {
    {"set", 1},   {"setifempty", 1}, {"add", 1},  {"append", 1},
    {"merge", 1}, {"unset", 0},      {"edit", 0}, {"edit*", 0},
};
#define ACTIONS (sizeof(actions) / sizeof(actions[0]))

/* Fields that are not in the key: answers to requests with one are derived, or
 * httpd's. */
static int is_derived(int id)
{
    return id == REQUEST_RANGE || id == REQUEST_IF_RANGE
           || id == REQUEST_IF_NONE_MATCH || id == REQUEST_IF_MODIFIED_SINCE
           || id == REQUEST_IF_UNMODIFIED_SINCE;
}

/* An expression may look up a name, or anything else. */
static int has_expression(const directive *d)
{
    const char *word;
    int n;

    for (n = 2; (word = tree_word(d->p, d->at->node, n)); n++) {
        if (!strncasecmp(word, "expr=", 5)) {
            return 1;
        }
    }
    return 0;
}

/* What is done to a field matters to whoever reads it; where only requests that
 * are httpd's anyway are changed, to nobody. */
static const char *judge_request_header(directive *d)
{
    const char *action = tree_word(d->p, d->at->node, 0);
    const char *name = field_word(d, 1);
    size_t i = 0;
    int id;

    while (action && i < ACTIONS && strcasecmp(actions[i].action, action)) {
        i++;
    }
    if (!name || i == ACTIONS || has_expression(d)) {
        return "is not understood";
    }
    id = request_field(name, strlen(name));
    if (id == REQUEST_FIELD_INERT) {
        return log_format_shows(name) ? "changes a field that a log shows"
                                      : NULL;
    }
    if (!actions[i].sets && id == REQUEST_FIELD_REFUSED) {
        return NULL;
    }
    d->out->rewritten = !actions[i].sets && is_derived(id);
    return d->out->rewritten ? NULL : "changes a field that is read";
}

static void request_header(directive *d)
{
    d->out->refuse = judge_request_header(d);
}

/* mod_auth_basic then puts its own Authorization among the request's fields,
 * which nothing but a log reads after it. */
static void basic_fake(directive *d)
{
    d->out->refuse = is_off(d) || !log_format_shows("Authorization")
                         ? NULL
                         : "changes a field that a log shows";
}

static int is_setter(const ap_directive_t *node)
{
    return !strncasecmp(node->directive, "SetEnvIf", 8)
           || !strncasecmp(node->directive, "BrowserMatch", 12);
}

void directive_declare(apr_pool_t *p, const tree_place *at)
{
    directive_verdict unused;
    directive d = {p, at, &unused, 1, 0};

    log_format_add(at);
    if (tree_is(at->node, "Header")) {
        judge_header(&d);
    }
    else if (is_setter(at->node)) {
        setenvif_declare(p, at->node);
    }
}

static void setenvif(directive *d)
{
    d->out->refuse = setenvif_judge(d->p, d->at->node);
    if (!d->out->refuse && !d->dry) {
        setenvif_add(d->p, d->at);
    }
}

/* Waiting for a name from the resolver is for httpd's own threads. */
static void host_name_lookups(directive *d)
{
    d->out->refuse = is_off(d) ? NULL : "needs a look-up for each client";
}

/* Log lines are made with the server's own setting. */
static void canonical(directive *d)
{
    d->out->refuse = d->at->section ? "in a section changes log lines" : NULL;
}

/* mod_ident asks the client's machine who its user is. */
static void identity_check(directive *d)
{
    d->out->refuse = is_off(d) ? NULL : "makes %l httpd's to write";
}

static void ssl_engine(directive *d)
{
    const char *arg = tree_word(d->p, d->at->node, 0);

    d->out->tls = !is_off(d);
    d->out->upgrades = arg && !strcasecmp(arg, "optional");
}

static void proxy_protocol(directive *d)
{
    d->out->proxied = !is_off(d);
    d->out->refuse = d->out->proxied ? "puts a line before requests" : NULL;
}

static void refused(directive *d)
{
    d->out->refuse = "is not understood";
}

static void nothing(directive *d)
{
}

/* RequestReadTimeout header=20-40,MinRate=500 body=… */
static void read_timeout(directive *d)
{
    const char *word;
    int n;

    for (n = 0; (word = tree_word(d->p, d->at->node, n)); n++) {
        const char *rate = strchr(word, ',');
        char *end;

        if (strncasecmp(word, "header=", 7)) {
            continue;
        }
        d->out->timeouts = 1;
        d->out->header_first = strtol(word + 7, &end, 10) * 1000;
        d->out->header_max = *end == '-' ? strtol(end + 1, NULL, 10) * 1000
                                         : d->out->header_first;
        if (rate && !strncasecmp(rate + 1, "MinRate=", 8)) {
            d->out->header_rate = atoi(rate + 9);
            if (*end != '-') {
                d->out->header_max = 0; /* no end */
            }
        }
    }
}

/* In a section, the scoped ones matter only to requests to that section: all
 * they do is in the per-directory configuration. (A name that was looked up
 * belongs to the connection, which stays with httpd then.) */
static const struct {
    const char *name;
    void (*judge)(directive *);
    int scoped;
} judges[] = {
    {"FixedStatic", fixed_static, 0},
    {"Header", header, 1},
    {"RequestHeader", request_header, 1},
    {"AuthBasicFake", basic_fake, 1},
    {"SetEnvIf", setenvif, 1},
    {"SetEnvIfNoCase", setenvif, 1},
    {"SetEnvIfExpr", setenvif, 1},
    {"BrowserMatch", setenvif, 1},
    {"BrowserMatchNoCase", setenvif, 1},
    {"HostnameLookups", host_name_lookups, 1},
    {"UseCanonicalName", canonical, 1},
    {"UseCanonicalPhysicalPort", canonical, 1},
    {"IdentityCheck", identity_check, 1},
    {"LogIOTrackTTFB", refused, 1},
    {"SSLEngine", ssl_engine, 0},
    {"SSLRequire", refused, 1}, /* asks what the handshake gave */
    {"RemoteIPProxyProtocol", proxy_protocol, 0},
    {"RequestReadTimeout", read_timeout, 0},
    /* filters that expressions choose; by type they are chosen by name */
    {"FilterProvider", refused, 1},
    {"FilterChain", refused, 1},
    /* with byteranges=no it takes Range from the request, for types that the
     * filter is not for; the others change or show what is by type */
    {"FilterProtocol", refused, 1},
    {"FilterDeclare", refused, 1},
    {"FilterTrace", refused, 1},
    {"AddOutputFilterByType", nothing, 0},
    {"ProxyStatus", nothing, 0}, /* of the status page */
    {"Script", refused, 1},      /* a program for GET with a query */
    {"DavLockDB", nothing, 0},   /* of what Dav switches on */
};

/* A directive of a module that is inert only where it is not configured. In
 * sections the request shows it (rule), but of a module that keeps nothing for
 * sections. */
static void judge_module(directive *d)
{
    const module *m = ap_top_module;
    const command_rec *cmd =
        ap_find_command_in_modules(d->at->node->directive, (module **)&m);

    if (cmd && m && modules_known(m) == MODULES_UNSET
        && (!d->at->section || !m->create_dir_config)) {
        d->out->refuse = apr_psprintf(d->p, "configures %s", m->name);
    }
}

/* @return 1 when what it says counts for its section only */
static int judge(directive *d)
{
    size_t i;

    memset(d->out, 0, sizeof(*d->out));
    for (i = 0; i < sizeof(judges) / sizeof(judges[0]); i++) {
        if (tree_is(d->at->node, judges[i].name)) {
            judges[i].judge(d);
            return judges[i].scoped && d->at->section;
        }
    }
    judge_module(d);
    return 0;
}

void directive_judge(apr_pool_t *p, const tree_place *at,
                     directive_verdict *out)
{
    directive d = {p, at, out, 0, 0};

    if (judge(&d)) {
        out->section = out->refuse;
        out->refuse = NULL;
    }
}

void directive_judge_late(apr_pool_t *p, const tree_place *at,
                          directive_verdict *out)
{
    directive d = {p, at, out, 1, 1};

    judge(&d);
}

/* "disabled" alone is no name. */
static int index_mark(apr_pool_t *p, const ap_directive_t *node)
{
    const char *first = tree_word(p, node, 0);

    return first && !strcasecmp(first, "disabled") && !tree_word(p, node, 1)
               ? CONFIG_MARK_NO_INDEX
               : CONFIG_MARK_INDEX;
}

int directive_mark(apr_pool_t *p, const tree_place *at)
{
    directive_verdict out;
    directive d = {p, at, &out, 1, 0};

    if (tree_is(at->node, "DirectoryIndex")) {
        return index_mark(p, at->node);
    }
    if (!judge(&d)) {
        return -1;
    }
    if (out.refuse) {
        return CONFIG_MARK_REFUSED;
    }
    if (is_setter(at->node)) {
        return CONFIG_MARK_LOOKS;
    }
    if (out.rewritten) {
        return CONFIG_MARK_REWRITTEN;
    }
    return out.plain ? CONFIG_MARK_PLAIN : -1;
}
