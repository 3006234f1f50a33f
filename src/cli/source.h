/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source: where a command reads the status of a running httpd from.
 */
#ifndef CPUAFFINITY_SOURCE_H
#define CPUAFFINITY_SOURCE_H

#include <jansson.h>

#include <apr_pools.h>

/*
 * Reads JSON: "-" is standard input, "http://HOST[:PORT]/PATH" asks a server
 * ("?json" is added where there is no query), anything else is a file. At most
 * 64 MiB; a server has ten seconds.
 * @return a new reference, or NULL: said why
 */
json_t *source_read(apr_pool_t *p, const char *name);

#endif
