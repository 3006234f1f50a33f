/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/cache_304.h"

#include "http/response.h"
#include "http/response_304.h"

#include <stdlib.h>

typedef struct cache_304 {
    response_304 pub;
    int64_t learned;
    int64_t asked;
    char bytes[];
} cache_304;

void cache_304_drop(cache_entry *e)
{
    free(e->unchanged);
    e->unchanged = NULL;
    e->answer.unchanged = NULL;
}

cache_outcome cache_304_take(cache_entry *e, const response_304 *u, int64_t now)
{
    cache_outcome outcome = CACHE_ONCE;
    cache_304 *n = e->unchanged;

    if (!response_may_have(&e->answer, u) || (n && now < n->learned)) {
        return CACHE_REFUSED;
    }
    if (n && response_304_is_same(&n->pub, u)) {
        if (!response_304_is_later(&n->pub, u)) {
            return e->answer.unchanged ? CACHE_LIVE : CACHE_ONCE;
        }
        n->learned = now;
        n->pub.until = now + CACHE_AGE;
        e->answer.unchanged = &n->pub;
        return CACHE_LIVE;
    }
    if (n) {
        cache_304_drop(e);
        outcome = CACHE_CHANGED;
    }
    n = malloc(sizeof(*n) + u->head_len);
    if (!n) {
        return CACHE_REFUSED;
    }
    response_304_copy(&n->pub, u, n->bytes);
    n->learned = n->asked = now;
    e->unchanged = n;
    return outcome;
}

int cache_304_is_due(const cache_entry *e, int64_t now)
{
    const cache_304 *n = e->unchanged;

    return n && now - n->learned >= CACHE_AGE - CACHE_SOONER
           && now - n->asked >= CACHE_AGAIN;
}

void cache_304_asked(cache_entry *e, int64_t now)
{
    e->unchanged->asked = now;
}
