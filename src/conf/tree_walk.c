#include "conf/tree_walk.h"

#include "apr_strings.h"

#include <strings.h>

/* Containers whose content goes into per-directory configuration. Further
 * ones (<Limit>, <RequireAny>, <Proxy>, …) belong where they stand. */
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

/* httpd bounds the nesting of sections far below what a stack holds. */
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

int tree_applies(const tree_place *at, const server_rec *s)
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
            /* httpd keeps the closing bracket in the arguments of some */
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
