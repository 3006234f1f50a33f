/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/cache.h"

#include "cache/cache_304.h"
#include "cache/cache_file.h"
#include "cache/cache_path.h"
#include "cache/cache_table.h"
#include "http/request.h"
#include "http/response.h"

#include <stdlib.h>
#include <string.h>

/* Longer paths are not learned. */
#define PATH_LONGEST 4096

cache *cache_make(const cache_config *config)
{
    cache *c;

    if (config->entries == 0) {
        return NULL;
    }
    c = calloc(1, sizeof(*c));
    if (!c) {
        return NULL;
    }
    c->config = *config;
    memcpy(c->watches.secret, config->secret, sizeof(c->watches.secret));
    if (cache_table_init(c)
        || cache_store_init(&c->store, &c->config, c->mask + 1)) {
        free(c->buckets);
        free(c);
        return NULL;
    }
    return c;
}

void cache_clear(cache *c)
{
    int s;

    for (s = 0; s < SEGMENTS; s++) {
        while (!list_empty(&c->segments[s])) {
            cache_table_remove(c, LIST_OF(c->segments[s].next, node, order));
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

/* May it answer a request with the query that @a hash is of? */
static int is_for(const node *n, uint64_t hash)
{
    return n->pub.any || n->query == hash;
}

cache_entry *cache_find(cache *c, const cache_key *key)
{
    uint64_t hash = key->len ? cache_table_hash(c, key, key->len) : 0;
    node *n = key->len ? cache_table_find(c, hash, key, key->len) : NULL;

    if (!n && key->base != key->len) {
        n = cache_table_find(c, cache_table_hash(c, key, key->base), key,
                             key->base);
    }
    if (!n || (key->len ? !is_for(n, hash) : !n->pub.any)) {
        c->stats.misses++;
        return NULL;
    }
    return &n->pub;
}

/* What httpd looked for and did not find, or found a directory at. */
static int is_as_it_was(const node *n)
{
    uint64_t digest;

    return n->pub.cause == CACHE_CAUSE_KEY
           || (!cache_path_look(n->pub.path, n->pub.cause, &digest)
               && digest == (uint64_t)n->id.mtime);
}

/* Once per VALID: is the path still the file? In between, only a file that is
 * sent from its descriptor is checked against the head: it can be edited in
 * place, a copy cannot. */
static int look(cache *c, node *n, int64_t now)
{
    const cache_store_file *f = n->user.file;
    cache_file_found found;

    if (now - n->looked < c->config.valid) {
        if (f->pub.fd < 0 || cache_file_is_still(f->pub.fd, &n->id)) {
            return 1;
        }
        c->stats.stale++;
        cache_table_remove(c, n);
        return 0;
    }
    c->stats.validations++;
    if (n->pub.cause != CACHE_CAUSE_FILE) {
        found = is_as_it_was(n) ? CACHE_FILE_SAME : CACHE_FILE_CHANGED;
    }
    else {
        found = cache_file_look(n->pub.path, &n->id);
    }
    switch (found) {
    case CACHE_FILE_SAME:
        n->looked = now;
        return 1;
    case CACHE_FILE_CHANGED:
        c->stats.stale++;
        cache_table_remove(c, n);
        return 0;
    default:
        return 0;
    }
}

/* The same for what else it depends on. */
static int is_met(cache *c, node *n, int64_t now)
{
    if (cache_watch_is_met(&c->watches, n->pub.watch, now, c->config.valid)) {
        return 1;
    }
    c->stats.stale++;
    cache_table_remove(c, n);
    return 0;
}

int cache_may_use(cache *c, cache_entry *e, int64_t now)
{
    node *n = cache_table_node(e);

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
    if (!look(c, n, now) || (e->watch && !is_met(c, n, now))) {
        return 0;
    }
    /* within one millisecond the order does not matter */
    if (n->touched != now) {
        n->touched = now;
        cache_table_use(c, n);
        cache_store_touch(&c->store, &n->user);
    }
    e->hits++;
    c->stats.hits++;
    return 1;
}

void cache_distrust(cache_entry *e)
{
    cache_table_node(e)->looked = INT64_MIN / 2;
    cache_watch_distrust(e->watch);
}

int cache_is_due(cache_entry *e, int64_t now)
{
    node *n = cache_table_node(e);
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
    node *n = cache_table_node(e);

    n->user.holds++;
    n->user.file->holds++;
}

void cache_release(cache *c, cache_entry *e)
{
    node *n = cache_table_node(e);

    n->user.file->holds--;
    if (--n->user.holds == 0 && n->gone) {
        cache_store_unref(&c->store, n->user.file);
        cache_table_free(c, n);
    }
}

void cache_forget(cache *c, cache_entry *e)
{
    if (!cache_table_node(e)->gone) {
        cache_table_remove(c, cache_table_node(e));
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
        cache_table_remove(c, cache_table_node(u->entry));
    }
    cache_store_unref(&c->store, f);
}

/* The entry, and all keys of its file and of what was made of that. */
static void take_out_all(cache *c, node *n)
{
    cache_store_file *f = n->user.file;
    cache_file_id id = n->id;

    if (!f) {
        cache_table_remove(c, n);
        return;
    }
    for (; f; f = cache_store_any(&c->store, &id)) {
        take_out_file(c, f);
    }
}

void cache_forget_file(cache *c, cache_entry *e)
{
    take_out_all(c, cache_table_node(e));
}

unsigned cache_shed(cache *c, unsigned n)
{
    return cache_store_shed(&c->store, n);
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

/* Another answer than the entry's, which is gone then. @a same: all that it
 * depends on is the same */
static cache_outcome replace(cache *c, node *n, const response *a, int same,
                             int by_query)
{
    if (same && by_query) {
        cache_table_remove(c, n);
        return CACHE_BY_QUERY;
    }
    /* Another body of the same file: its bytes may have changed where
     * nothing else of it shows it. */
    if (same && response_is_encoded(a)) {
        take_out_all(c, n);
    }
    else {
        cache_table_remove(c, n);
    }
    return CACHE_CHANGED;
}

int cache_is_watched(const cache_entry *e, const char *watch, size_t watch_len)
{
    return cache_watch_is(e->watch, watch, watch_len);
}

/* An answer for a key that has an entry. @return CACHE_CHANGED: it has none
 * any more */
static cache_outcome compare(cache *c, node *n, const node *said,
                             const response *a, int64_t now, const void *tag,
                             char **body)
{
    int same = n->pub.cause == said->pub.cause
               && cache_file_is_same(&n->id, &said->id)
               && n->pub.watch == said->pub.watch;
    int other = n->query != said->query;

    if (other && !said->pub.any) {
        cache_table_remove(c, n);
        return CACHE_CHANGED;
    }
    if (!same || strcmp(n->pub.path, said->pub.path) != 0
        || !response_is_same(&n->pub.answer, a)) {
        return replace(c, n, a, same, other);
    }
    if (!response_is_later(&n->pub.answer, a)) {
        return CACHE_ONCE;
    }
    n->pub.any |= other;
    put_tag(c, n, tag);
    return confirm(c, n, body, now);
}

/* Is it fit to be kept? */
static int is_fit(const cache_key *key, const response *a, const node *said)
{
    const char *path = said->pub.path;

    return key->len && key->len <= REQUEST_KEY && key->base
           && key->base <= key->len && strlen(path) <= PATH_LONGEST
           && a->message == (said->pub.cause != CACHE_CAUSE_FILE)
           && (path[0] == '/' || said->pub.cause == CACHE_CAUSE_KEY)
           && (response_is_encoded(a) || said->id.size == a->size);
}

/* How much of a key is to be learned under. Who reads the query may have come
 * lately: then what stood for all is forgotten. */
static size_t length_of(cache *c, const cache_key *key)
{
    node *n;

    if (key->shared || key->base == key->len) {
        return key->base;
    }
    n = cache_table_find(c, cache_table_hash(c, key, key->base), key,
                         key->base);
    if (n && n->pub.any) {
        cache_table_remove(c, n);
    }
    return key->len;
}

/* @a said has path, cause and id, and what else is watched. */
static cache_outcome learn(cache *c, const cache_key *key, const response *a,
                           node *said, int64_t now, const void *tag,
                           char **body)
{
    cache_outcome outcome = CACHE_ONCE;
    size_t len;
    node *n;

    len = length_of(c, key);
    said->pub.any = key->shared;
    said->hash = cache_table_hash(c, key, len);
    said->query =
        len == key->len ? said->hash : cache_table_hash(c, key, key->len);
    n = cache_table_find(c, said->hash, key, len);
    if (n && n->pub.live && now < n->learned) {
        return CACHE_REFUSED; /* another process's, and late */
    }
    if (n) {
        outcome = compare(c, n, said, a, now, tag, body);
        if (outcome != CACHE_CHANGED) {
            return outcome;
        }
    }
    n = cache_table_insert(c, said->hash, key, len, a, said->pub.path);
    if (!n) {
        return CACHE_REFUSED;
    }
    n->pub.cause = said->pub.cause;
    n->id = said->id;
    n->query = said->query;
    n->pub.watch = said->pub.watch;
    said->pub.watch = NULL; /* the entry has the reference */
    put_tag(c, n, tag);
    return outcome;
}

cache_outcome cache_learn_watched(cache *c, const cache_key *key,
                                  const response *a, const char *path,
                                  const struct stat *st, int64_t now,
                                  const void *tag, char **body,
                                  const char *watch, size_t watch_len)
{
    node said = {.pub = {.path = path}};
    cache_outcome outcome;

    if (cache_file_identify(&said.id, st) || !is_fit(key, a, &said)) {
        return CACHE_REFUSED;
    }
    if (watch_len) {
        said.pub.watch = cache_watch_get(&c->watches, watch, watch_len);
        if (!said.pub.watch) {
            return CACHE_REFUSED;
        }
    }
    outcome = learn(c, key, a, &said, now, tag, body);
    cache_watch_put(&c->watches, said.pub.watch);
    return outcome;
}

cache_outcome cache_learn_message(cache *c, const cache_key *key,
                                  const response *a, cache_cause cause,
                                  const char *path, uint64_t digest,
                                  int64_t now, const void *tag, char **body)
{
    node said = {.pub = {.path = path, .cause = (uint8_t)cause}};

    /* Of no file, and each has a body of its own. */
    said.id.dev = UINT64_MAX;
    said.id.ino = cache_table_hash(c, key, key->base);
    said.id.mtime = (int64_t)digest;
    return is_fit(key, a, &said) ? learn(c, key, a, &said, now, tag, body)
                                 : CACHE_REFUSED;
}

cache_outcome cache_learn_304(cache *c, const cache_key *key,
                              const response_304 *u, const char *path,
                              const struct stat *st, int64_t now,
                              const char *watch, size_t watch_len)
{
    size_t len = length_of(c, key);
    node *n = cache_table_find(c, cache_table_hash(c, key, len), key, len);
    cache_file_id id;

    if (!n || !n->pub.live || !is_for(n, cache_table_hash(c, key, key->len))
        || strcmp(n->pub.path, path) != 0 || cache_file_identify(&id, st)
        || !cache_file_is_same(&n->id, &id)
        || !cache_is_watched(&n->pub, watch, watch_len)) {
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
