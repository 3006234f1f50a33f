/* SPDX-License-Identifier: Apache-2.0 */
#include "conf/tree.h"

#include "apr_strings.h"

#include <strings.h>

/* Containers whose content goes into per-directory configuration. Others
 * (<Limit>, <RequireAny>, <Proxy>, …) belong to what is around them. */
static const char *const sections[] = {
    "<Directory", "<DirectoryMatch", "<Location", "<LocationMatch",
    "<Files",     "<FilesMatch",     "<If",       "<ElseIf",
    "<Else",
};
#define SECTIONS (sizeof(sections) / sizeof(sections[0]))

int tree_is(const ap_directive_t *node, const char *name)
{
    return !strcasecmp(node->directive, name);
}

int tree_is_section(const ap_directive_t *node)
{
    size_t i;

    for (i = 0; i < SECTIONS; i++) {
        if (tree_is(node, sections[i])) {
            return 1;
        }
    }
    return 0;
}

/* httpd limits the nesting of sections far below what a stack can take. */
static void walk(const ap_directive_t *node, tree_place at, tree_visit *visit,
                 void *ctx)
{
    for (; node; node = node->next) {
        tree_place in = at;

        in.node = node;
        if (tree_is(node, "<VirtualHost")) {
            in.vhost = node;
        }
        else if (tree_is_section(node)) {
            in.section = node;
        }
        else {
            visit(ctx, &in);
        }
        walk(node->first_child, in, visit, ctx);
    }
}

void tree_walk(const ap_directive_t *tree, tree_visit *visit, void *ctx)
{
    tree_place top = {NULL, NULL, NULL};

    walk(tree, top, visit, ctx);
}

int tree_is_for(const tree_place *at, const server_rec *s)
{
    if (!at->vhost) {
        return 1;
    }
    return s->is_virtual && s->defn_name && at->vhost->filename
           && s->defn_line_number == (unsigned)at->vhost->line_num
           && !strcmp(s->defn_name, at->vhost->filename);
}

static int is_condition(const ap_directive_t *node)
{
    return tree_is(node, "<If") || tree_is(node, "<ElseIf")
           || tree_is(node, "<Else");
}

const ap_directive_t *tree_condition(const tree_place *at)
{
    const ap_directive_t *n, *found = NULL;

    for (n = at->section; n; n = n->parent) {
        if (is_condition(n)) {
            found = n;
        }
    }
    return found;
}

const char *tree_section(apr_pool_t *p, const tree_place *at)
{
    const ap_directive_t *n;
    const char *text = NULL;

    for (n = at->section; n; n = n->parent) {
        if (tree_is_section(n)) {
            /* some sections' arguments include the closing bracket */
            size_t len = strlen(n->args);

            len -= len && n->args[len - 1] == '>';
            text = apr_psprintf(p, "%s%s%.*s>%s%s", n->directive,
                                len ? " " : "", (int)len, n->args,
                                text ? " " : "", text ? text : "");
        }
    }
    return text ? text : "server";
}

const char *tree_directory(apr_pool_t *p, const ap_directive_t *section)
{
    const char *path;
    size_t len;

    if (!section || (section->parent && tree_is_section(section->parent))) {
        return NULL;
    }
    path = tree_word(p, section, 0);
    len = path ? strlen(path) : 0;
    if (len && path[len - 1] == '>') {
        path = apr_pstrmemdup(p, path, --len);
    }
    if (!len || path[0] != '/' || strpbrk(path, "*?[")
        || (!tree_is(section, "<Directory")
            && !(tree_is(section, "<Location") && len == 1))) {
        return NULL;
    }
    return path;
}

const char *tree_file(const ap_directive_t *node)
{
    return node->filename ? node->filename : "command line";
}

const char *tree_where(apr_pool_t *p, const ap_directive_t *node)
{
    return apr_psprintf(p, "%s (%s:%d)", node->directive, tree_file(node),
                        node->line_num);
}

const char *tree_word(apr_pool_t *p, const ap_directive_t *node, int n)
{
    const char *args = ap_resolve_env(p, node->args), *word;

    do {
        if (!*args) {
            return NULL;
        }
        word = ap_getword_conf(p, &args);
    } while (n-- > 0);
    return word;
}

static int named(const ap_directive_t *node, const char *const *names)
{
    int i;

    for (i = 0; i < TREE_NAMES && names[i]; i++) {
        if (!strcasecmp(node->directive, names[i])) {
            return 1;
        }
    }
    return 0;
}

/* A search for the last directive of a name. */
typedef struct search {
    const char *const *names;
    const ap_directive_t *found;
} search;

static void look(void *ctx, const tree_place *at)
{
    search *s = ctx;

    if (named(at->node, s->names)) {
        s->found = at->node;
    }
}

ap_directive_t *tree_last(const ap_directive_t *tree, tree_names names)
{
    search s = {names, NULL};

    tree_walk(tree, look, &s);
    return (ap_directive_t *)s.found;
}

const char *tree_arg(apr_pool_t *p, const ap_directive_t *node)
{
    const char *args = node->args ? node->args : "";

    return ap_getword_conf(p, &args);
}

static void add(apr_pool_t *p, ap_directive_t *after, const char *name,
                const char *value)
{
    ap_directive_t *node = apr_pcalloc(p, sizeof(*node));

    node->directive = name;
    node->args = value;
    node->filename = after->filename;
    node->line_num = after->line_num;
    node->parent = after->parent;
    node->next = after->next;
    after->next = node;
}

/* Sets the same argument for all directives of a name. */
typedef struct setting {
    apr_pool_t *p;
    const char *const *names;
    const char *value;
    apr_array_header_t *notes;
    int seen;
    int changed;
} setting;

static void set(void *ctx, const tree_place *at)
{
    setting *s = ctx;
    const ap_directive_t *node = at->node;
    const char *old;

    if (!named(node, s->names)) {
        return;
    }
    s->seen = 1;
    old = tree_arg(s->p, node);
    if (strcmp(old, s->value) != 0) {
        APR_ARRAY_PUSH(s->notes, const char *) = apr_psprintf(
            s->p, "%s %s (%s:%d) is replaced by %s", node->directive, old,
            node->filename, node->line_num, s->value);
        ((ap_directive_t *)node)->args = s->value;
        s->changed++;
    }
}

int tree_set(apr_pool_t *p, ap_directive_t *tree, ap_directive_t *after,
             tree_names names, const char *value, apr_array_header_t *notes)
{
    setting s = {p, names, value, notes, 0, 0};

    tree_walk(tree, set, &s);
    if (!s.seen) {
        add(p, after, names[0], value);
        s.changed = 1;
    }
    return s.changed;
}
