/* SPDX-License-Identifier: Apache-2.0 */
#include "log/log_format.h"

#include "http_core.h"
#include "http_main.h"
#include "apr_strings.h"
#include "apr_tables.h"

#include <strings.h>

#include "log/log_item.h"

static struct {
    apr_pool_t *pool;
    apr_array_header_t *formats; /* of tree_place: LogFormat */
    apr_array_header_t *places;  /* of tree_place: CustomLog, … */
    int fields;
    int peeks; /* 1: httpd looks whether a connection begins with HTTP/2 */
} logs;

void log_format_reset(apr_pool_t *p)
{
    memset(&logs, 0, sizeof(logs));
    logs.pool = p;
    logs.formats = apr_array_make(p, 8, sizeof(tree_place));
    logs.places = apr_array_make(p, 8, sizeof(tree_place));
}

/* mod_http2 reads the first bytes of a connection ahead where h2c is one of
 * its Protocols, and mod_logio counts them twice then. */
static int peeks(const ap_directive_t *node)
{
    const char *word;
    int n;

    for (n = 0;
         tree_is(node, "Protocols") && (word = tree_word(logs.pool, node, n));
         n++) {
        if (!strcasecmp(word, "h2c")) {
            return ap_find_linked_module("mod_http2.c") != NULL;
        }
    }
    return 0;
}

void log_format_add(const tree_place *at)
{
    static const char *const names[] = {"CustomLog", "GlobalLog", "TransferLog",
                                        NULL};
    int i;

    logs.peeks |= peeks(at->node);
    if (tree_is(at->node, "LogFormat")) {
        APR_ARRAY_PUSH(logs.formats, tree_place) = *at;
    }
    for (i = 0; names[i]; i++) {
        if (tree_is(at->node, names[i])) {
            APR_ARRAY_PUSH(logs.places, tree_place) = *at;
        }
    }
}

/* What is judged. */
typedef struct subject {
    const server_rec *server;
    log_format_verdict *out;
    const tree_place *log;
} subject;

static void refuse(subject *s, const char *what, const char *why)
{
    if (!s->out->refuse) {
        s->out->node = s->log->node;
        s->out->refuse = apr_psprintf(
            logs.pool, "%s: %s is httpd's to write%s%s",
            tree_where(logs.pool, s->log->node), what, *why ? ": " : "", why);
    }
}

static void judge_format(subject *s, const char *format)
{
    const core_dir_config *core =
        ap_get_core_module_config(s->server->lookup_defaults);
    unsigned needs = 0;
    const char *item =
        log_item_judge(logs.pool, format, &needs, s->out->variables);

    if (item) {
        refuse(s, item, "");
    }
    /* It would wait for the resolver. */
    if (needs & LOG_ITEM_NAME
        && core->use_canonical_name == USE_CANONICAL_NAME_DNS) {
        refuse(s, "%V", "UseCanonicalName DNS");
    }
    if (needs & LOG_ITEM_READ && logs.peeks) {
        refuse(s, "%I or %S", "h2c in Protocols: httpd reads ahead");
    }
    s->out->id |= (needs & LOG_ITEM_ID) != 0;
    s->out->read |= (needs & LOG_ITEM_READ) != 0;
    s->out->sent |= (needs & LOG_ITEM_SENT) != 0;
    logs.fields |= (needs & LOG_ITEM_IN ? LOG_FORMAT_IN : 0)
                   | (needs & LOG_ITEM_OUT ? LOG_FORMAT_OUT : 0);
}

/* Each server has a table of nicknames, and the main server's go before its
 * own; but the log of the main server is one for all that inherit it, and is
 * what the last of them makes of the name. So each meaning that a name might
 * have is judged, and the name as a format itself. */
static void judge_named(subject *s, const char *format)
{
    int i;

    judge_format(s, format);
    for (i = 0; i < logs.formats->nelts; i++) {
        const tree_place *at = &APR_ARRAY_IDX(logs.formats, i, tree_place);
        const char *name = tree_word(logs.pool, at->node, 1);

        if (name && !strcasecmp(name, format)
            && (!s->log->vhost || tree_is_for(at, s->server))) {
            judge_format(s, tree_word(logs.pool, at->node, 0));
        }
    }
}

/* TransferLog: LogFormats without a nickname, which may be one themselves. */
static void judge_unnamed(subject *s)
{
    int i;

    for (i = 0; i < logs.formats->nelts; i++) {
        const tree_place *at = &APR_ARRAY_IDX(logs.formats, i, tree_place);
        const char *format = tree_word(logs.pool, at->node, 0);

        if (format && !tree_word(logs.pool, at->node, 1)
            && tree_is_for(at, s->server)) {
            judge_named(s, format);
        }
    }
}

static void judge_log(subject *s)
{
    const ap_directive_t *node = s->log->node;
    const char *format = tree_word(logs.pool, node, 1);
    const char *condition = tree_word(logs.pool, node, 2);

    if (format) {
        judge_named(s, format);
    }
    else {
        judge_unnamed(s);
    }
    if (condition && !strncasecmp(condition, "env=", 4)) {
        condition += 4;
        APR_ARRAY_PUSH(s->out->variables, const char *) =
            *condition == '!' ? condition + 1 : condition;
    }
    else if (condition) {
        refuse(s, condition, "an expression");
    }
}

/* Is there another one that was read from the same line? A file may have been
 * included twice, each time with other conditions. */
static int has_twin(const server_rec *s)
{
    const server_rec *other;

    for (other = ap_server_conf; other; other = other->next) {
        if (other != s && other->is_virtual && other->defn_name
            && other->defn_line_number == s->defn_line_number
            && !strcmp(other->defn_name, s->defn_name)) {
            return 1;
        }
    }
    return 0;
}

/* A virtual host without logs of its own uses the main server's; GlobalLog is
 * for all. */
static int has_own(const server_rec *s)
{
    int i;

    for (i = 0; i < logs.places->nelts; i++) {
        const tree_place *at = &APR_ARRAY_IDX(logs.places, i, tree_place);

        if (at->vhost && tree_is_for(at, s)) {
            return !has_twin(s);
        }
    }
    return 0;
}

void log_format_judge(const server_rec *s, log_format_verdict *out)
{
    int own = has_own(s), i;

    memset(out, 0, sizeof(*out));
    out->variables = apr_array_make(logs.pool, 2, sizeof(const char *));
    for (i = 0; i < logs.places->nelts; i++) {
        const tree_place *at = &APR_ARRAY_IDX(logs.places, i, tree_place);
        subject judged = {s, out, at};

        if (tree_is_for(at, s)
            && (at->vhost || !own || tree_is(at->node, "GlobalLog"))) {
            judge_log(&judged);
        }
    }
}

int log_format_has_any(void)
{
    return logs.places && logs.places->nelts;
}

int log_format_fields(void)
{
    return logs.fields;
}

int log_format_shows(const char *field)
{
    const apr_array_header_t *lists[] = {logs.formats, logs.places};
    int i, list;

    for (list = 0; list < 2; list++) {
        for (i = 0; lists[list] && i < lists[list]->nelts; i++) {
            const tree_place *at = &APR_ARRAY_IDX(lists[list], i, tree_place);
            /* LogFormat FORMAT, CustomLog FILE FORMAT */
            const char *format = tree_word(logs.pool, at->node, list);

            if (format && log_item_shows(logs.pool, format, field)) {
                return 1;
            }
        }
    }
    return 0;
}
