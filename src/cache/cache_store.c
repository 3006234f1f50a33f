/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/cache_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int cache_store_init(cachestore *s, const cache_config *config, size_t buckets)
{
    s->buckets = calloc(buckets, sizeof(cache_store_file *));
    s->mask = buckets - 1;
    list_init(&s->order);
    s->config = config;
    s->memory = 0;
    s->descriptors = 0;
    s->files = 0;
    s->uses = 0;
    return s->buckets ? 0 : -1;
}

void cache_store_close(cachestore *s)
{
    free(s->buckets);
    s->buckets = NULL;
}

/* Nobody can choose inode numbers freely, but they may have patterns. */
static cache_store_file **bucket(cachestore *s, const cache_file_id *id)
{
    uint64_t h = (id->ino ^ id->dev << 32) * 0x9e3779b97f4a7c15;

    return &s->buckets[(h >> 32) & s->mask];
}

static int is_of(const cache_store_file *f, const cache_file_id *id)
{
    return f->id.ino == id->ino && f->id.dev == id->dev;
}

static cache_store_file *find(cachestore *s, const cache_file_id *id)
{
    cache_store_file *f = *bucket(s, id);

    while (f && (f->encoded || !is_of(f, id))) {
        f = f->next;
    }
    return f;
}

cache_store_file *cache_store_any(cachestore *s, const cache_file_id *id)
{
    cache_store_file *f = *bucket(s, id);

    while (f && (!is_of(f, id) || list_empty(&f->users))) {
        f = f->next;
    }
    return f;
}

/* Look-ups do not find the file from now on; who has it keeps it. */
static void unlist(cachestore *s, cache_store_file *f)
{
    cache_store_file **at;

    if (!f->listed) {
        return;
    }
    for (at = bucket(s, &f->id); *at != f; at = &(*at)->next) {
        ;
    }
    *at = f->next;
    list_remove(&f->order);
    f->listed = 0;
}

void cache_store_unref(cachestore *s, cache_store_file *f)
{
    if (--f->refs) {
        return;
    }
    unlist(s, f);
    if (f->pub.data) {
        s->memory -= (uint64_t)f->pub.size;
    }
    if (f->pub.fd >= 0) {
        s->descriptors--;
    }
    s->files--;
    cache_file_unload(&f->pub);
    free(f);
}

void cache_store_detach(cachestore *s, cache_store_user *u, int keep)
{
    cache_store_file *f = u->file;

    u->entry->live = 0;
    if (!f) {
        return;
    }
    list_remove(&u->sibling);
    f->attached--;
    if (keep) {
        return;
    }
    u->file = NULL;
    u->entry->file = NULL;
    cache_store_unref(s, f);
}

/* Takes the file from all its users; nobody holds it. */
static void drop(cachestore *s, cache_store_file *f)
{
    f->refs++;
    while (!list_empty(&f->users)) {
        cache_store_detach(s, LIST_OF(f->users.next, cache_store_user, sibling),
                           0);
    }
    cache_store_unref(s, f);
}

/* The least recently used file that nobody holds: in memory, or open. */
static cache_store_file *oldest(cachestore *s, int open)
{
    list *l;

    for (l = s->order.prev; l != &s->order; l = l->prev) {
        cache_store_file *f = LIST_OF(l, cache_store_file, order);

        if (f->holds == 0 && (f->pub.fd >= 0) == open) {
            return f;
        }
    }
    return NULL;
}

unsigned cache_store_shed(cachestore *s, unsigned n)
{
    unsigned done = 0;
    cache_store_file *f;

    while (done < n && (f = oldest(s, 1))) {
        drop(s, f);
        done++;
    }
    return done;
}

/* Makes room for @a size bytes of memory; 0 when that is impossible. */
static int memory_room(cachestore *s, uint64_t size)
{
    cache_store_file *f;

    if (size > s->config->memory) {
        return 0;
    }
    while (s->memory + size > s->config->memory) {
        f = oldest(s, 0);
        if (!f) {
            return 0;
        }
        drop(s, f);
    }
    return 1;
}

static int descriptor_room(cachestore *s)
{
    return s->descriptors < s->config->descriptors
           || (s->config->descriptors && cache_store_shed(s, 1));
}

/* Puts a new one where look-ups find it. */
static void enlist(cachestore *s, cache_store_file *f, const cache_file_id *id)
{
    cache_store_file **at = bucket(s, id);

    f->id = *id;
    f->next = *at;
    *at = f;
    f->listed = 1;
    list_init(&f->order);
    list_init(&f->users);
    list_front(&s->order, &f->order);
    s->files++;
}

static cache_store_file *load(cachestore *s, const char *path,
                              const cache_file_id *id)
{
    uint64_t size = (uint64_t)id->size;
    int in_memory = size <= s->config->small && memory_room(s, size);
    cache_store_file *f;

    if (!in_memory && !descriptor_room(s)) {
        return NULL;
    }
    f = calloc(1, sizeof(*f));
    if (!f) {
        return NULL;
    }
    if (cache_file_load(&f->pub, path, id, in_memory)) {
        /* out of descriptors: close some of ours, so that the next try may
         * succeed */
        if (errno == EMFILE || errno == ENFILE) {
            cache_store_shed(s, 8);
        }
        free(f);
        return NULL;
    }
    enlist(s, f, id);
    s->memory += in_memory ? size : 0;
    s->descriptors += !in_memory;
    return f;
}

/* The user gets the file; of too many, the one that was used least lately
 * loses it. @return 0 or -1 */
static int join(cachestore *s, cache_store_user *u, cache_store_file *f)
{
    if (f->attached == CACHE_KEYS_PER_FILE) {
        cache_store_user *last =
            LIST_OF(f->users.prev, cache_store_user, sibling);

        if (last->holds) {
            return -1;
        }
        cache_store_detach(s, last, 0);
    }
    f->refs++;
    f->attached++;
    u->file = f;
    u->entry->file = &f->pub;
    list_init(&u->sibling);
    cache_store_touch(s, u);
    return 0;
}

/* The encoded body of these bytes. Those of the file as it was go: their keys
 * may never be asked for again. */
static cache_store_file *find_body(cachestore *s, const cache_file_id *id,
                                   const char *body, uint64_t size)
{
    cache_store_file *f, *next;

    for (f = *bucket(s, id); f; f = next) {
        next = f->next;
        if (!f->encoded || !is_of(f, id)) {
            continue;
        }
        if (!cache_file_is_same(&f->id, id)) {
            if (f->holds) {
                unlist(s, f);
            }
            else {
                drop(s, f);
            }
        }
        else if ((uint64_t)f->pub.size == size
                 && !memcmp(f->pub.data, body, size)) {
            return f;
        }
    }
    return NULL;
}

/* Has the file room for one encoded body more? The one that was used least
 * lately is dropped, unless it is being sent. */
static int body_room(cachestore *s, const cache_file_id *id)
{
    cache_store_file *f, *last = NULL;
    unsigned n = 0;

    for (f = *bucket(s, id); f; f = f->next) {
        if (f->encoded && is_of(f, id)) {
            n++;
            if (!f->holds && (!last || f->used < last->used)) {
                last = f;
            }
        }
    }
    if (n >= CACHE_BODIES_PER_FILE && last) {
        drop(s, last);
        n--;
    }
    return n < CACHE_BODIES_PER_FILE;
}

int cache_store_attach_body(cachestore *s, cache_store_user *u,
                            const cache_file_id *id, char **body, uint64_t size)
{
    cache_store_file *f = find_body(s, id, *body, size);

    if (f) {
        return join(s, u, f);
    }
    if (!body_room(s, id) || !memory_room(s, size)
        || !(f = calloc(1, sizeof(*f)))) {
        return -1;
    }
    f->pub.data = *body;
    f->pub.fd = -1;
    f->pub.size = (int64_t)size;
    f->encoded = 1;
    *body = NULL;
    enlist(s, f, id);
    s->memory += size;
    return join(s, u, f);
}

int cache_store_attach(cachestore *s, cache_store_user *u, const char *path,
                       const cache_file_id *id, int64_t now)
{
    cache_store_file *f = find(s, id);

    if (f && !cache_file_is_same(&f->id, id)) {
        unlist(s, f); /* its users will find out for themselves */
        f = NULL;
    }
    if (!f) {
        f = load(s, path, id);
        if (!f) {
            return -1;
        }
        f->as_of = now;
    }
    return join(s, u, f);
}

cache_file_found cache_store_verify(cache_store_user *u, const char *path,
                                    int64_t now)
{
    cache_store_file *f = u->file;
    cache_file_found found = CACHE_FILE_SAME;

    if (f->pub.data && !f->encoded && f->as_of < now) {
        found = cache_file_compare(&f->pub, path, &f->id);
        if (found == CACHE_FILE_SAME) {
            f->as_of = now;
        }
    }
    return found;
}

void cache_store_touch(cachestore *s, cache_store_user *u)
{
    cache_store_file *f = u->file;

    f->used = ++s->uses;
    if (f->listed) {
        list_front(&s->order, &f->order);
    }
    list_front(&f->users, &u->sibling);
}
