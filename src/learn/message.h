/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message: which directives keep redirects and errors that httpd writes itself
 * from being learned. Internal to learn; configuration time.
 */
#ifndef CPUAFFINITY_MESSAGE_H
#define CPUAFFINITY_MESSAGE_H

#include "conf/tree.h"

/* Does the directive make a message depend on more than its key, or a missing
 * name on other names? Scratch memory from @a p. */
int message_is_forbidden(apr_pool_t *p, const ap_directive_t *node);

#endif
