/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_hooks: the hooks and filters that follow a request which may be
 * learned, each with its order and reason. They note what they see in its
 * trace; rule judges it. Worker threads.
 */
#ifndef CPUAFFINITY_TRACE_HOOKS_H
#define CPUAFFINITY_TRACE_HOOKS_H

#include "httpd.h"

/* Registers hooks and filters; from learn_register. */
void trace_hooks_register(apr_pool_t *p);

/* The handler that has to stand just before core's. */
int trace_hooks_handler(request_rec *r);

#endif
