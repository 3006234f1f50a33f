/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/cache_table.h"

#include "base/siphash.h"
#include "cache/cache_304.h"
#include "http/response.h"

#include <apr_general.h>

#include <stdlib.h>
#include <string.h>

int cache_table_init(cache *c)
{
    size_t buckets = 16;
    int s;

    while (buckets < c->config.entries) {
        buckets *= 2;
    }
    c->mask = buckets - 1;
    c->buckets = calloc(buckets, sizeof(node *));
    for (s = 0; s < SEGMENTS; s++) {
        list_init(&c->segments[s]);
    }
    return c->buckets ? 0 : -1;
}

void cache_table_free(cache *c, node *n)
{
    cache_304_drop(&n->pub);
    cache_watch_put(&c->watches, n->pub.watch);
    free(n);
}

void cache_table_remove(cache *c, node *n)
{
    node **at;

    for (at = &c->buckets[n->hash & c->mask]; *at != n; at = &(*at)->next) {
        ;
    }
    *at = n->next;
    list_remove(&n->order);
    c->entries--;
    c->protected -= n->segment == PROTECTED;
    c->messages -= n->segment == MESSAGES;
    cache_store_detach(&c->store, &n->user, n->user.holds > 0);
    if (n->user.holds) {
        n->gone = 1;
    }
    else {
        cache_table_free(c, n);
    }
}

uint64_t cache_table_hash(const cache *c, const cache_key *key, size_t len)
{
    return siphash_13(c->config.secret, key->bytes, len);
}

node *cache_table_find(cache *c, uint64_t hash, const cache_key *key,
                       size_t len)
{
    node *n;

    for (n = c->buckets[hash & c->mask]; n; n = n->next) {
        if (n->hash == hash && n->key_len == len
            && !memcmp(n->bytes, key->bytes, len)) {
            return n;
        }
    }
    return NULL;
}

void cache_table_use(cache *c, node *n)
{
    if (n->segment == MESSAGES) {
        list_front(&c->segments[MESSAGES], &n->order);
        return;
    }
    if (n->segment == TRIAL) {
        n->segment = PROTECTED;
        c->protected ++;
    }
    list_front(&c->segments[PROTECTED], &n->order);
    if (c->protected > c->config.entries - c->config.entries / 5) {
        node *last = LIST_OF(c->segments[PROTECTED].prev, node, order);

        last->segment = TRIAL;
        c->protected --;
        list_front(&c->segments[TRIAL], &last->order);
    }
}

static void evict(cache *c, enum segment from)
{
    cache_table_remove(c, LIST_OF(c->segments[from].prev, node, order));
    c->stats.evicted++;
}

/* Evicts the least recently used entries, those on trial first. */
static void make_room(cache *c, int message)
{
    while (message && c->messages && c->messages >= c->config.entries / 10) {
        evict(c, MESSAGES);
    }
    while (c->entries >= c->config.entries) {
        evict(c, !list_empty(&c->segments[TRIAL])      ? TRIAL
                 : !list_empty(&c->segments[MESSAGES]) ? MESSAGES
                                                       : PROTECTED);
    }
}

node *cache_table_insert(cache *c, uint64_t hash, const cache_key *key,
                         size_t len, const response *a, const char *path)
{
    size_t path_size = strlen(path) + 1;
    size_t tag_at =
        APR_ALIGN_DEFAULT(sizeof(node) + len + path_size + response_bytes(a));
    node *n = malloc(tag_at + c->config.tag_size);

    if (!n) {
        return NULL;
    }
    memset(n, 0, sizeof(*n));
    make_room(c, a->message);
    n->hash = hash;
    n->key_len = len;
    n->user.entry = &n->pub;
    n->touched = -1;
    memcpy(n->bytes, key->bytes, len);
    memcpy(n->bytes + len, path, path_size);
    n->pub.path = n->bytes + len;
    response_copy(&n->pub.answer, a, n->bytes + len + path_size);
    n->pub.tag = (char *)n + tag_at;
    n->next = c->buckets[hash & c->mask];
    c->buckets[hash & c->mask] = n;
    n->segment = a->message ? MESSAGES : TRIAL;
    c->messages += a->message;
    list_init(&n->order);
    list_front(&c->segments[n->segment], &n->order);
    c->entries++;
    return n;
}
