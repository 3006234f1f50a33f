/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter: R3 of docs/security.md: the output filters that pass a file on as it
 * is, and those that do when they do not compress. Internal to learn.
 */
#ifndef CPUAFFINITY_FILTER_H
#define CPUAFFINITY_FILTER_H

#include "httpd.h"

/* Is it DEFLATE, BROTLI_COMPRESS, or by type one of these? Any case. */
int filter_is_compressing(const char *name);

/* Does it pass a file on, perhaps compressed? */
int filter_is_passing(const char *name);

/*
 * Looks at all filters on the way out.
 * @param filter set to the name of one that may compress, else left alone
 * @param clocked set to 1 when mod_expires' is among them, else left alone
 * @return the name of the first one that forbids, or NULL. A worker
 */
const char *filter_forbids(const request_rec *r, const char **filter,
                           int *clocked);

/* The coding by which one of those that may compress has compressed the
 * answer, as its Content-Encoding tells; NULL: none of them has. Static. */
const char *filter_acted(const request_rec *r);

#endif
