/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_304: the 304 that httpd gave for an entry, where the 200 does not show
 * it. Like an entry it counts when a second one has agreed, and CACHE_AGE after
 * the last. The cache's thread only.
 */
#ifndef CPUAFFINITY_CACHE_304_H
#define CPUAFFINITY_CACHE_304_H

#include "cache/cache_entry.h"

/*
 * Notes one for the entry; copied. answer.unchanged is set when two agree, else
 * NULL.
 * @param now milliseconds, monotonic, when httpd made it
 * @return CACHE_REFUSED: it is not of this entry, it is late, no memory
 */
cache_outcome cache_304_take(cache_entry *e, const response_304 *u,
                             int64_t now);

/* Forgets it. */
void cache_304_drop(cache_entry *e);

/* 1: it is so old that httpd should be asked, and was not in CACHE_AGAIN. */
int cache_304_is_due(const cache_entry *e, int64_t now);

/* httpd is asked now. */
void cache_304_asked(cache_entry *e, int64_t now);

#endif
