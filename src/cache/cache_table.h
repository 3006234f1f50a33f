/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_table: where cache has its entries: hashed by key, and in two segments
 * by use, of which room is made in the first. Internal to cache; the loop's
 * thread.
 */
#ifndef CPUAFFINITY_CACHE_TABLE_H
#define CPUAFFINITY_CACHE_TABLE_H

#include "base/list.h"
#include "cache/cache_entry.h"
#include "cache/cache_file.h"
#include "cache/cache_store.h"
#include "cache/cache_watch.h"

/* Where an entry is. New ones are on trial; the first hit protects them.
 * A flood of new keys only ever pushes out entries on trial. Messages are a
 * few, and stay among themselves: scanners ask for names that never repeat. */
enum segment {
    TRIAL,
    PROTECTED,
    MESSAGES,
    SEGMENTS
};

/* An entry and what callers do not see of it; its key, path and head follow. */
typedef struct node {
    cache_entry pub;
    cache_store_user user;
    struct node *next; /* in its bucket */
    uint64_t hash;
    uint64_t query; /* hash of the key, query included, that it was learned
                     * for; of any one where pub.any is set */
    list order;     /* in its segment, the last used in front */
    enum segment segment;
    int gone; /* out of the table, kept for its holders */
    int64_t learned;
    int64_t asked;  /* when httpd was last asked to renew it */
    int64_t looked; /* when the path was last seen to be the file */
    int64_t touched;
    cache_file_id id;
    size_t key_len;
    char bytes[];
} node;

struct cache {
    cache_config config;
    cachestore store;
    cache_watches watches;
    node **buckets;
    size_t mask;
    list segments[SEGMENTS];
    unsigned entries;
    unsigned protected;
    unsigned messages;
    cache_stats stats; /* only its counters are kept here */
};

static inline node *cache_table_node(cache_entry *e)
{
    return LIST_OF(e, node, pub);
}

/* Empty, with room for the entries that c->config allows. @return 0, or -1
 * without memory */
int cache_table_init(cache *c);

/* The keyed hash of the first @a len bytes. */
uint64_t cache_table_hash(const cache *c, const cache_key *key, size_t len);

/* The entry whose key are the first @a len bytes, which have @a hash; NULL. */
node *cache_table_find(cache *c, uint64_t hash, const cache_key *key,
                       size_t len);

/* A new entry for the first @a len bytes, which have @a hash, seen once, on
 * trial; room is made for it. @return NULL without memory */
node *cache_table_insert(cache *c, uint64_t hash, const cache_key *key,
                         size_t len, const response *a, const char *path);

/* Takes it out of the table; freed now or when its last holder releases it. */
void cache_table_remove(cache *c, node *n);

/* Frees one that is out of the table. */
void cache_table_free(cache *c, node *n);

/* It was used. Moves an entry to the front of the protected ones, the last of
 * which goes back on trial when they are more than four fifths of all; a
 * message, to the front of these. */
void cache_table_use(cache *c, node *n);

#endif
