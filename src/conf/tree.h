/*
 * conftree: reads and rewrites single-argument directives in httpd's
 * configuration tree, between the time it is read and the time it is carried
 * out (pre_config). Conditional sections, includes and macros are flattened
 * by then; other sections are searched too. Parent, one thread.
 */
#ifndef CPUAFFINITY_TREE_H
#define CPUAFFINITY_TREE_H

#include <httpd.h>
#include <http_config.h>

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
 * Gives every directive of that name the argument @a value; where there is
 * none adds one behind @a after, which lends it file and line.
 * @param notes const char *: one line for each argument that changed, "NAME
 *        OLD (FILE:LINE) is replaced by NEW", from @a p
 * @return how many directives were changed or added
 */
int tree_set(apr_pool_t *p, ap_directive_t *tree, ap_directive_t *after,
             tree_names names, const char *value, apr_array_header_t *notes);

#endif
