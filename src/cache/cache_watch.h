/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_watch: the lists of names that a cache's answers depend on (watched),
 * one for all entries with the same. Internal to cache; one thread.
 */
#ifndef CPUAFFINITY_CACHE_WATCH_H
#define CPUAFFINITY_CACHE_WATCH_H

#include <stddef.h>
#include <stdint.h>

typedef struct cache_watch {
    struct cache_watch *next; /* in its bucket */
    uint64_t hash;
    unsigned refs;
    int listed;     /* 0: something has changed: for no entry any more */
    int64_t looked; /* ms: when all was last seen to be as it was */
    size_t len;
    char bytes[];
} cache_watch;

#define CACHE_WATCH_BUCKETS 256

typedef struct cache_watches {
    cache_watch *buckets[CACHE_WATCH_BUCKETS];
    uint64_t secret[2];
} cache_watches;

/* The list of these bytes, made if need be; a reference for the caller. A new
 * one has not been looked at. @return NULL without memory */
cache_watch *cache_watch_get(cache_watches *all, const char *bytes, size_t len);

/* Gives up a reference. NULL: nothing */
void cache_watch_put(cache_watches *all, cache_watch *w);

/* Is it the list of these bytes? @a w NULL: that of none. */
int cache_watch_is(const cache_watch *w, const char *bytes, size_t len);

/* Is all as it was, by a look that is less than @a valid ms old? 0: what
 * depends on it is not to be used again. */
int cache_watch_is_met(cache_watches *all, cache_watch *w, int64_t now,
                       int64_t valid);

/* The next cache_watch_is_met() looks. NULL: nothing */
void cache_watch_distrust(cache_watch *w);

#endif
