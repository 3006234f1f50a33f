/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/cache_watch.h"

#include <stdlib.h>
#include <string.h>

#include "base/siphash.h"
#include "cache/watched.h"

static cache_watch **bucket(cache_watches *all, uint64_t hash)
{
    return &all->buckets[hash % CACHE_WATCH_BUCKETS];
}

cache_watch *cache_watch_get(cache_watches *all, const char *bytes, size_t len)
{
    uint64_t hash = siphash_13(all->secret, bytes, len);
    cache_watch *w;

    for (w = *bucket(all, hash); w; w = w->next) {
        if (w->hash == hash && cache_watch_is(w, bytes, len)) {
            w->refs++;
            return w;
        }
    }
    w = malloc(sizeof(*w) + len);
    if (!w) {
        return NULL;
    }
    w->hash = hash;
    w->refs = 1;
    w->listed = 1;
    w->len = len;
    memcpy(w->bytes, bytes, len);
    cache_watch_distrust(w);
    w->next = *bucket(all, hash);
    *bucket(all, hash) = w;
    return w;
}

static void unlist(cache_watches *all, cache_watch *w)
{
    cache_watch **at = bucket(all, w->hash);

    while (*at != w) {
        at = &(*at)->next;
    }
    *at = w->next;
    w->listed = 0;
}

void cache_watch_put(cache_watches *all, cache_watch *w)
{
    if (!w || --w->refs) {
        return;
    }
    if (w->listed) {
        unlist(all, w);
    }
    free(w);
}

int cache_watch_is(const cache_watch *w, const char *bytes, size_t len)
{
    return w ? w->listed && w->len == len && !memcmp(w->bytes, bytes, len)
             : !len;
}

int cache_watch_is_met(cache_watches *all, cache_watch *w, int64_t now,
                       int64_t valid)
{
    if (!w->listed) {
        return 0;
    }
    if (now - w->looked < valid) {
        return 1;
    }
    if (!watched_is_met(w->bytes, w->len)) {
        unlist(all, w);
        return 0;
    }
    w->looked = now;
    return 1;
}

void cache_watch_distrust(cache_watch *w)
{
    if (w) {
        w->looked = INT64_MIN / 2;
    }
}
