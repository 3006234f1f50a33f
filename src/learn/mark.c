/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/mark.h"

#include "apr_tables.h"

#include "conf/config.h"
#include "http/request_field.h"
#include "learn/directive.h"
#include "log/log_format.h"

static struct {
    apr_pool_t *pool;
    apr_array_header_t *nodes; /* of const ap_directive_t *, by number */
    apr_array_header_t *words; /* of const char *, the same */
} marks;

static void declare(void *ctx, const tree_place *at)
{
    directive_declare(marks.pool, at);
}

static void visit(void *ctx, const tree_place *at)
{
    ap_directive_t *node = (ap_directive_t *)at->node, *mark;
    int kind = directive_mark(marks.pool, at);

    if (kind < 0) {
        return;
    }
    mark = apr_pcalloc(marks.pool, sizeof(*mark));
    mark->directive = "FixedStatic";
    mark->args = "off";
    mark->data = CONFIG_MARK(kind, marks.nodes->nelts);
    mark->parent = node->parent;
    mark->filename = node->filename;
    mark->line_num = node->line_num;
    mark->next = node->next;
    node->next = mark;
    APR_ARRAY_PUSH(marks.nodes, const ap_directive_t *) = node;
    APR_ARRAY_PUSH(marks.words, const char *) = tree_word(marks.pool, node, 0);
}

static apr_status_t forget(void *unused)
{
    memset(&marks, 0, sizeof(marks));
    return APR_SUCCESS;
}

void mark_insert(apr_pool_t *pconf)
{
    marks.pool = pconf;
    marks.nodes = apr_array_make(pconf, 8, sizeof(const ap_directive_t *));
    marks.words = apr_array_make(pconf, 8, sizeof(const char *));
    apr_pool_cleanup_register(pconf, NULL, forget, apr_pool_cleanup_null);
    request_field_reset();
    log_format_reset(pconf);
    tree_walk(ap_conftree, declare, NULL);
    tree_walk(ap_conftree, visit, NULL);
}

int mark_has(const ap_directive_t *node)
{
    int i;

    for (i = 0; marks.nodes && i < marks.nodes->nelts; i++) {
        if (mark_node(i) == node) {
            return 1;
        }
    }
    return 0;
}

const ap_directive_t *mark_node(int number)
{
    return APR_ARRAY_IDX(marks.nodes, number, const ap_directive_t *);
}

const char *mark_word(int number)
{
    return APR_ARRAY_IDX(marks.words, number, const char *);
}
