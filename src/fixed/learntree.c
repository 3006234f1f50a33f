#include "fixed/learntree.h"

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

int learntree_is(const ap_directive_t *node, const char *name)
{
    return !strcasecmp(node->directive, name);
}

static int is_section(const ap_directive_t *node)
{
    size_t i;

    for (i = 0; i < SECTIONS; i++) {
        if (learntree_is(node, sections[i])) {
            return 1;
        }
    }
    return 0;
}

/* httpd bounds the nesting of sections far below what a stack holds. */
static void walk(const ap_directive_t *node, learntree_place at,
                 learntree_visit *visit, void *ctx)
{
    for (; node; node = node->next) {
        learntree_place in = at;

        in.node = node;
        if (learntree_is(node, "<VirtualHost")) {
            in.vhost = node;
        }
        else if (is_section(node)) {
            in.section = 1;
        }
        else {
            visit(ctx, &in);
        }
        walk(node->first_child, in, visit, ctx);
    }
}

void learntree_walk(const ap_directive_t *tree, learntree_visit *visit,
                    void *ctx)
{
    learntree_place top = {NULL, NULL, 0};

    walk(tree, top, visit, ctx);
}

int learntree_applies(const learntree_place *at, const server_rec *s)
{
    if (!at->vhost) {
        return 1;
    }
    return s->is_virtual && s->defn_name && at->vhost->filename
           && s->defn_line_number == (unsigned)at->vhost->line_num
           && !strcmp(s->defn_name, at->vhost->filename);
}

const char *learntree_where(apr_pool_t *p, const ap_directive_t *node)
{
    return apr_psprintf(p, "%s (%s:%d)", node->directive,
                        node->filename ? node->filename : "command line",
                        node->line_num);
}

const char *learntree_word(apr_pool_t *p, const ap_directive_t *node, int n)
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
