/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree: reads and rewrites httpd's configuration tree. Conditional sections,
 * includes and macros are flattened in it; other sections are searched too.
 * Configuration time, one thread.
 */
#ifndef CPUAFFINITY_TREE_H
#define CPUAFFINITY_TREE_H

#include "httpd.h"
#include "http_config.h"

/* A directive and where it is. */
typedef struct tree_place {
    const ap_directive_t *node;
    const ap_directive_t *vhost; /* its <VirtualHost>; NULL: main server */
    /* the innermost <Directory>, <Location>, <If>, …, or NULL: the server */
    const ap_directive_t *section;
} tree_place;

typedef void tree_visit(void *ctx, const tree_place *at);

/* Visits every directive that is not itself a section or <VirtualHost>. */
void tree_walk(const ap_directive_t *tree, tree_visit *visit, void *ctx);

/* Whether a directive at this place applies to the server. Those outside of
 * virtual hosts apply to all. */
int tree_is_for(const tree_place *at, const server_rec *s);

/* Whether its contents go into per-directory configuration. */
int tree_is_section(const ap_directive_t *node);

/* The outermost <If>, <ElseIf> or <Else> around the place, or NULL. */
const ap_directive_t *tree_condition(const tree_place *at);

/* "server", or the sections around the place as they are written. */
const char *tree_section(apr_pool_t *p, const tree_place *at);

/* The path of a <Directory> without a pattern; "/" for <Location "/">; NULL
 * for any other section, and for none. */
const char *tree_directory(apr_pool_t *p, const ap_directive_t *section);

/* The directive's file. */
const char *tree_file(const ap_directive_t *node);

/* "Name (file:line)", from @a p. */
const char *tree_where(apr_pool_t *p, const ap_directive_t *node);

/* Whether it is a directive of that name (any case). */
int tree_is(const ap_directive_t *node, const char *name);

/* The n-th word of the arguments as httpd will see it, NULL when there is
 * none. From @a p. */
const char *tree_word(apr_pool_t *p, const ap_directive_t *node, int n);

/* A directive's names: itself, then its aliases, then NULL. */
#define TREE_NAMES 3
typedef const char *const tree_names[TREE_NAMES];

/* The last directive of that name (any case), which is the one that counts;
 * NULL if there is none. */
ap_directive_t *tree_last(const ap_directive_t *tree, tree_names names);

/* The first argument as the directive's setter will see it: unquoted,
 * ${VARIABLES} resolved. From @a p; "" if there is none. */
const char *tree_arg(apr_pool_t *p, const ap_directive_t *node);

/*
 * Gives every directive of that name the argument @a value; if there is none,
 * adds one after @a after, with the file and line of that.
 * @param notes const char *: one line for each argument that changed, "NAME
 *        OLD (FILE:LINE) is replaced by NEW", from @a p
 * @return how many directives were changed or added
 */
int tree_set(apr_pool_t *p, ap_directive_t *tree, ap_directive_t *after,
             tree_names names, const char *value, apr_array_header_t *notes);

#endif
