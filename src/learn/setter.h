/* SPDX-License-Identifier: Apache-2.0 */
/*
 * setter: SetEnvIf and BrowserMatch as obstacles: a request that one matches is
 * httpd's (setenvif). They are no obstacle to the others, and told only where
 * requests have met them. Internal to learn.
 */
#ifndef CPUAFFINITY_SETTER_H
#define CPUAFFINITY_SETTER_H

#include "learn/obstacles.h"

/* Adds one for each variable that the directive sets by a field of the request,
 * if it is such a directive. Configuration time. */
void setter_add(apr_pool_t *p, unsigned server, const tree_place *at);

/* The one of the server whose variable the request has; @a name: that one, if
 * there is one of that name; @a name NULL: else the only one that there is.
 * NULL: none. Any worker. */
const obstacle *setter_find(unsigned server, const request_rec *r,
                            const char *name);

#endif
