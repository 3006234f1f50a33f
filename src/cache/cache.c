/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/cache.h"

#include "cache/cache_304.h"
#include "cache/cache_file.h"
#include "cache/cache_store.h"
#include "base/siphash.h"
#include "http/request.h"
#include "http/response.h"

#include <apr_general.h>

#include <stdlib.h>
#include <string.h>

/* Longer paths are not learned. */
#define PATH_LONGEST 4096

/* Where an entry is. New ones are on trial; the first hit protects them.
 * A flood of new keys only ever pushes out entries on trial. */
enum segment {
    TRIAL,
    PROTECTED,
    SEGMENTS
};

/* An entry and what callers do not see of it; its key, path and head follow. */
typedef struct node {
    cache_entry pub;
    cache_store_user user;
    struct node *next; /* in its bucket */
    uint64_t hash;
    list order; /* in its segment, the last used in front */
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
    node **buckets;
    size_t mask;
    list segments[SEGMENTS];
    unsigned entries;
    unsigned protected;
    cache_stats stats; /* only its counters are kept here */
};

cache *cache_make(const cache_config *config)
{
    cache *c;
    size_t buckets = 16;

    if (config->entries == 0) {
        return NULL;
    }
    c = calloc(1, sizeof(*c));
    if (!c) {
        return NULL;
    }
    while (buckets < config->entries) {
        buckets *= 2;
    }
    c->config = *config;
    c->mask = buckets - 1;
    c->buckets = calloc(buckets, sizeof(node *));
    list_init(&c->segments[TRIAL]);
    list_init(&c->segments[PROTECTED]);
    if (!c->buckets || cache_store_init(&c->store, &c->config, buckets)) {
        free(c->buckets);
        free(c);
        return NULL;
    }
    return c;
}

static node *of(cache_entry *e)
{
    return LIST_OF(e, node, pub);
}

static void free_node(node *n)
{
    cache_304_drop(&n->pub);
    free(n);
}

/* Takes it out of the table; freed now or when its last holder releases it. */
static void take_out(cache *c, node *n)
{
    node **at;

    for (at = &c->buckets[n->hash & c->mask]; *at != n; at = &(*at)->next) {
        ;
    }
    *at = n->next;
    list_remove(&n->order);
    c->entries--;
    c->protected -= n->segment == PROTECTED;
    cache_store_detach(&c->store, &n->user, n->user.holds > 0);
    if (n->user.holds) {
        n->gone = 1;
    }
    else {
        free_node(n);
    }
}

void cache_clear(cache *c)
{
    int s;

    for (s = 0; s < SEGMENTS; s++) {
        while (!list_empty(&c->segments[s])) {
            take_out(c, LIST_OF(c->segments[s].next, node, order));
        }
    }
}

void cache_free(cache *c)
{
    if (!c) {
        return;
    }
    cache_clear(c);
    cache_store_close(&c->store);
    free(c->buckets);
    free(c);
}

static node *find(cache *c, uint64_t hash, const void *key, size_t len)
{
    node *n;

    for (n = c->buckets[hash & c->mask]; n; n = n->next) {
        if (n->hash == hash && n->key_len == len
            && !memcmp(n->bytes, key, len)) {
            return n;
        }
    }
    return NULL;
}

cache_entry *cache_find(cache *c, const void *key, size_t len)
{
    node *n = find(c, siphash_13(c->config.secret, key, len), key, len);

    if (!n) {
        c->stats.misses++;
        return NULL;
    }
    return &n->pub;
}

/* Moves an entry to the front of the protected ones, the last of which goes
 * back on trial when they are more than four fifths of all. */
static void protect(cache *c, node *n)
{
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

/* Once per VALID: is the path still the file? In between, only a file that is
 * sent from its descriptor is checked against the head: it can be edited in
 * place, a copy cannot. */
static int look(cache *c, node *n, int64_t now)
{
    const cache_store_file *f = n->user.file;

    if (now - n->looked < c->config.valid) {
        if (f->pub.fd < 0 || cache_file_is_still(f->pub.fd, &n->id)) {
            return 1;
        }
        c->stats.stale++;
        take_out(c, n);
        return 0;
    }
    c->stats.validations++;
    switch (cache_file_look(n->pub.path, &n->id)) {
    case CACHE_FILE_SAME:
        n->looked = now;
        return 1;
    case CACHE_FILE_CHANGED:
        c->stats.stale++;
        take_out(c, n);
        return 0;
    default:
        return 0;
    }
}

int cache_may_use(cache *c, cache_entry *e, int64_t now)
{
    node *n = of(e);

    if (!e->live) {
        return 0;
    }
    if (now - n->learned >= CACHE_AGE) {
        /* the file stays: httpd's next answer, if it is the same, makes
         * the entry live again without reading it */
        c->stats.expired++;
        e->live = 0;
        return 0;
    }
    if (!look(c, n, now)) {
        return 0;
    }
    /* within one millisecond the order does not matter */
    if (n->touched != now) {
        n->touched = now;
        protect(c, n);
        cache_store_touch(&c->store, &n->user);
    }
    e->hits++;
    c->stats.hits++;
    return 1;
}

void cache_distrust(cache_entry *e)
{
    of(e)->looked = INT64_MIN / 2;
}

int cache_is_due(cache_entry *e, int64_t now)
{
    node *n = of(e);
    int64_t sooner = (int64_t)((n->hash >> 32) % (CACHE_SOONER / 2));

    if (now - n->learned < CACHE_AGE - CACHE_SOONER + sooner
        || now - n->asked < CACHE_AGAIN) {
        return 0;
    }
    n->asked = now;
    return 1;
}

void cache_hold(cache_entry *e)
{
    node *n = of(e);

    n->user.holds++;
    n->user.file->holds++;
}

void cache_release(cache *c, cache_entry *e)
{
    node *n = of(e);

    n->user.file->holds--;
    if (--n->user.holds == 0 && n->gone) {
        cache_store_unref(&c->store, n->user.file);
        free_node(n);
    }
}

void cache_forget(cache *c, cache_entry *e)
{
    if (!of(e)->gone) {
        take_out(c, of(e));
    }
}

/* All keys of a file. */
static void take_out_file(cache *c, cache_store_file *f)
{
    f->refs++;
    while (!list_empty(&f->users)) {
        cache_store_user *u = LIST_OF(f->users.next, cache_store_user, sibling);

        /* It leaves the list: a reference of ours keeps the file.
         * NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
        take_out(c, of(u->entry));
    }
    cache_store_unref(&c->store, f);
}

/* The entry, and all keys of its file and of what was made of that. */
static void take_out_all(cache *c, node *n)
{
    cache_store_file *f = n->user.file;
    cache_file_id id = n->id;

    if (!f) {
        take_out(c, n);
        return;
    }
    for (; f; f = cache_store_any(&c->store, &id)) {
        take_out_file(c, f);
    }
}

void cache_forget_file(cache *c, cache_entry *e)
{
    take_out_all(c, of(e));
}

unsigned cache_shed(cache *c, unsigned n)
{
    return cache_store_shed(&c->store, n);
}

/* Evicts the least recently used entries, those on trial first. */
static void make_room(cache *c)
{
    while (c->entries >= c->config.entries) {
        list *s = &c->segments[TRIAL];

        if (list_empty(s)) {
            s = &c->segments[PROTECTED];
        }
        take_out(c, LIST_OF(s->prev, node, order));
        c->stats.evicted++;
    }
}

/* A new entry: seen once, on trial. */
static node *insert(cache *c, uint64_t hash, const void *key, size_t len,
                    const response *a, const char *path)
{
    size_t path_size = strlen(path) + 1;
    size_t tag_at =
        APR_ALIGN_DEFAULT(sizeof(node) + len + path_size + response_bytes(a));
    node *n = malloc(tag_at + c->config.tag_size);

    if (!n) {
        return NULL;
    }
    memset(n, 0, sizeof(*n));
    make_room(c);
    n->hash = hash;
    n->key_len = len;
    n->user.entry = &n->pub;
    n->touched = -1;
    memcpy(n->bytes, key, len);
    memcpy(n->bytes + len, path, path_size);
    n->pub.path = n->bytes + len;
    response_copy(&n->pub.answer, a, n->bytes + len + path_size);
    n->pub.tag = (char *)n + tag_at;
    n->next = c->buckets[hash & c->mask];
    c->buckets[hash & c->mask] = n;
    n->segment = TRIAL;
    list_init(&n->order);
    list_front(&c->segments[TRIAL], &n->order);
    c->entries++;
    return n;
}

static void put_tag(const cache *c, node *n, const void *tag)
{
    if (c->config.tag_size) {
        memcpy(n->pub.tag, tag, c->config.tag_size);
    }
}

static cache_outcome renew(node *n, int64_t now)
{
    n->pub.live = 1;
    n->learned = now;
    n->looked = now;
    return CACHE_LIVE;
}

/* The same for an encoded answer, whose digest is that of the first one. */
static cache_outcome confirm_body(cache *c, node *n, char **body, int64_t now)
{
    const cache_file *f = n->pub.file;
    uint64_t size = (uint64_t)n->pub.answer.size;

    if (!body || !*body) {
        return f ? renew(n, now) : CACHE_ONCE;
    }
    if (!f
        && cache_store_attach_body(&c->store, &n->user, &n->id, body, size)) {
        return CACHE_REFUSED;
    }
    if (f && ((uint64_t)f->size != size || memcmp(f->data, *body, size) != 0)) {
        take_out_all(c, n);
        return CACHE_CHANGED;
    }
    return renew(n, now);
}

/* The second agreeing answer, one that renews, or one that agrees after the
 * entry expired. CACHE_CHANGED: its bytes differ, and the entry is gone. */
static cache_outcome confirm(cache *c, node *n, char **body, int64_t now)
{
    if (response_is_encoded(&n->pub.answer)) {
        return confirm_body(c, n, body, now);
    }
    if (!n->user.file
        && cache_store_attach(&c->store, &n->user, n->pub.path, &n->id, now)) {
        return CACHE_REFUSED;
    }
    switch (cache_store_verify(&n->user, n->pub.path, now)) {
    case CACHE_FILE_SAME:
        return renew(n, now);
    case CACHE_FILE_CHANGED:
        take_out_all(c, n);
        c->stats.stale++;
        return CACHE_CHANGED;
    default:
        return CACHE_REFUSED; /* what is live stays so until its time ends */
    }
}

cache_outcome cache_learn_body(cache *c, const void *key, size_t len,
                               const response *a, const char *path,
                               const struct stat *st, int64_t now,
                               const void *tag, char **body)
{
    uint64_t hash = siphash_13(c->config.secret, key, len);
    cache_file_id id;
    cache_outcome outcome = CACHE_ONCE;
    node *n;

    if (len == 0 || len > REQUEST_KEY || path[0] != '/'
        || strlen(path) > PATH_LONGEST || cache_file_identify(&id, st)
        || (!response_is_encoded(a) && id.size != a->size)) {
        return CACHE_REFUSED;
    }
    n = find(c, hash, key, len);
    if (n && n->pub.live && now < n->learned) {
        return CACHE_REFUSED; /* another process's, and late */
    }
    if (n) {
        if (response_is_same(&n->pub.answer, a)
            && cache_file_is_same(&n->id, &id) && !strcmp(n->pub.path, path)) {
            if (!response_is_later(&n->pub.answer, a)) {
                return CACHE_ONCE;
            }
            put_tag(c, n, tag);
            outcome = confirm(c, n, body, now);
            if (outcome != CACHE_CHANGED) {
                return outcome;
            }
        }
        else {
            /* Another body of the same file: its bytes may have changed where
             * nothing else of it shows it. */
            if (response_is_encoded(a) && cache_file_is_same(&n->id, &id)) {
                take_out_all(c, n);
            }
            else {
                take_out(c, n);
            }
            outcome = CACHE_CHANGED;
        }
    }
    n = insert(c, hash, key, len, a, path);
    if (!n) {
        return CACHE_REFUSED;
    }
    n->id = id;
    put_tag(c, n, tag);
    return outcome;
}

cache_outcome cache_learn_304(cache *c, const void *key, size_t len,
                              const response_304 *u, const char *path,
                              const struct stat *st, int64_t now)
{
    node *n = find(c, siphash_13(c->config.secret, key, len), key, len);
    cache_file_id id;

    if (!n || !n->pub.live || strcmp(n->pub.path, path) != 0
        || cache_file_identify(&id, st) || !cache_file_is_same(&n->id, &id)) {
        return CACHE_REFUSED;
    }
    return cache_304_take(&n->pub, u, now);
}

void cache_get_stats(const cache *c, cache_stats *out)
{
    *out = c->stats;
    out->entries = c->entries;
    out->files = c->store.files;
    out->descriptors = c->store.descriptors;
    out->memory = c->store.memory;
}
