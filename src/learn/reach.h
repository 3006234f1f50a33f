/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reach: whether the sections around a directive hold a request. Only for
 * telling people which of several directives a request met: httpd's own walks
 * decide. Made at configuration time, read-only afterwards. Internal to learn.
 */
#ifndef CPUAFFINITY_REACH_H
#define CPUAFFINITY_REACH_H

#include "httpd.h"
#include "http_config.h"

typedef struct reach reach;

/* Of the innermost section, NULL: the whole server. From @a p. */
const reach *reach_make(apr_pool_t *p, const ap_directive_t *section);

/* Does it hold a request for that path, which was mapped to that file? Where
 * that cannot be told, yes. @a s NULL: it does. Any thread. */
int reach_has(const reach *s, const char *uri, const char *filename);

#endif
