#include "conf/tree.h"

#include <strings.h>

#include "apr_strings.h"

static int named(const ap_directive_t *node, tree_names names)
{
    int i;

    for (i = 0; i < TREE_NAMES && names[i]; i++) {
        if (!strcasecmp(node->directive, names[i])) {
            return 1;
        }
    }
    return 0;
}

/* The node after @a node in the order of the file, or NULL. Sections are at
 * most as deep as the configuration's nesting, so @a stack is small. */
typedef struct walker {
    const ap_directive_t *stack[64];
    int depth;
} walker;

static const ap_directive_t *walk(walker *w, const ap_directive_t *node)
{
    if (node->first_child && w->depth < 64) {
        w->stack[w->depth++] = node;
        return node->first_child;
    }
    while (!node->next && w->depth) {
        node = w->stack[--w->depth];
    }
    return node->next;
}

ap_directive_t *tree_last(const ap_directive_t *tree, tree_names names)
{
    const ap_directive_t *found = NULL;
    walker w = {.depth = 0};

    for (; tree; tree = walk(&w, tree)) {
        if (named(tree, names)) {
            found = tree;
        }
    }
    return (ap_directive_t *)found;
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

int tree_set(apr_pool_t *p, ap_directive_t *tree, ap_directive_t *after,
             tree_names names, const char *value, apr_array_header_t *notes)
{
    walker w = {.depth = 0};
    const ap_directive_t *node;
    int seen = 0, changed = 0;

    for (node = tree; node; node = walk(&w, node)) {
        const char *old;

        if (!named(node, names)) {
            continue;
        }
        seen = 1;
        old = tree_arg(p, node);
        if (strcmp(old, value) != 0) {
            APR_ARRAY_PUSH(notes, const char *) = apr_psprintf(
                p, "%s %s (%s:%d) is replaced by %s", node->directive, old,
                node->filename, node->line_num, value);
            ((ap_directive_t *)node)->args = value;
            changed++;
        }
    }
    if (!seen) {
        add(p, after, names[0], value);
        changed = 1;
    }
    return changed;
}
