/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query: which directives let an answer depend on a request's query. Internal
 * to learn; configuration time, and a worker that has read a .htaccess.
 */
#ifndef CPUAFFINITY_QUERY_H
#define CPUAFFINITY_QUERY_H

#include "conf/tree.h"

/* Does the directive, or a section around it, name what has the query in it?
 * Of modules that read it without being told to, none gives an answer that is
 * learned (docs/security.md, Queries). Scratch memory from @a p. */
int query_is_read(apr_pool_t *p, const ap_directive_t *node);

#endif
