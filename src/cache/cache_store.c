#include "cache/cache_store.h"

#include <errno.h>
#include <stdlib.h>

int cachestore_init(cachestore *s, const cache_config *config, size_t buckets)
{
    s->buckets = calloc(buckets, sizeof(cachestore_file *));
    s->mask = buckets - 1;
    cachelist_init(&s->order);
    s->config = config;
    s->memory = 0;
    s->descriptors = 0;
    s->files = 0;
    return s->buckets ? 0 : -1;
}

void cachestore_close(cachestore *s)
{
    free(s->buckets);
    s->buckets = NULL;
}

/* Inode numbers are nobody's to choose freely, but may have patterns. */
static cachestore_file **bucket(cachestore *s, const cachefile_id *id)
{
    uint64_t h = (id->ino ^ id->dev << 32) * 0x9e3779b97f4a7c15;

    return &s->buckets[(h >> 32) & s->mask];
}

static cachestore_file *find(cachestore *s, const cachefile_id *id)
{
    cachestore_file *f = *bucket(s, id);

    while (f && (f->id.ino != id->ino || f->id.dev != id->dev)) {
        f = f->next;
    }
    return f;
}

/* Nobody finds the file from now on; who has it keeps it. */
static void unlist(cachestore *s, cachestore_file *f)
{
    cachestore_file **at;

    if (!f->listed) {
        return;
    }
    for (at = bucket(s, &f->id); *at != f; at = &(*at)->next) {
        ;
    }
    *at = f->next;
    cachelist_remove(&f->order);
    f->listed = 0;
}

void cachestore_unref(cachestore *s, cachestore_file *f)
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
    cachefile_unload(&f->pub);
    free(f);
}

void cachestore_detach(cachestore *s, cachestore_user *u, int keep)
{
    cachestore_file *f = u->file;

    u->entry->live = 0;
    if (!f) {
        return;
    }
    cachelist_remove(&u->sibling);
    f->attached--;
    if (keep) {
        return;
    }
    u->file = NULL;
    u->entry->file = NULL;
    cachestore_unref(s, f);
}

/* Takes the file from all its users; nobody holds it. */
static void drop(cachestore *s, cachestore_file *f)
{
    f->refs++;
    while (!cachelist_empty(&f->users)) {
        cachestore_detach(
            s, CACHELIST_OF(f->users.next, cachestore_user, sibling), 0);
    }
    cachestore_unref(s, f);
}

/* The longest unused file that nobody holds, of memory or open. */
static cachestore_file *oldest(cachestore *s, int open)
{
    cachelist *l;

    for (l = s->order.prev; l != &s->order; l = l->prev) {
        cachestore_file *f = CACHELIST_OF(l, cachestore_file, order);

        if (f->holds == 0 && (f->pub.fd >= 0) == open) {
            return f;
        }
    }
    return NULL;
}

unsigned cachestore_shed(cachestore *s, unsigned n)
{
    unsigned done = 0;
    cachestore_file *f;

    while (done < n && (f = oldest(s, 1))) {
        drop(s, f);
        done++;
    }
    return done;
}

/* Makes room for @a size bytes of memory; 0 when that cannot be. */
static int memory_room(cachestore *s, uint64_t size)
{
    cachestore_file *f;

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
           || (s->config->descriptors && cachestore_shed(s, 1));
}

static cachestore_file *load(cachestore *s, const char *path,
                             const cachefile_id *id)
{
    uint64_t size = (uint64_t)id->size;
    int in_memory = size <= s->config->small && memory_room(s, size);
    cachestore_file *f, **at = bucket(s, id);

    if (!in_memory && !descriptor_room(s)) {
        return NULL;
    }
    f = calloc(1, sizeof(*f));
    if (!f) {
        return NULL;
    }
    if (cachefile_load(&f->pub, path, id, in_memory)) {
        /* out of descriptors: ours make way, and the next one may do */
        if (errno == EMFILE || errno == ENFILE) {
            cachestore_shed(s, 8);
        }
        free(f);
        return NULL;
    }
    f->id = *id;
    f->next = *at;
    *at = f;
    f->listed = 1;
    cachelist_init(&f->order);
    cachelist_init(&f->users);
    cachelist_front(&s->order, &f->order);
    s->memory += in_memory ? size : 0;
    s->descriptors += !in_memory;
    s->files++;
    return f;
}

int cachestore_attach(cachestore *s, cachestore_user *u, const char *path,
                      const cachefile_id *id, int64_t now)
{
    cachestore_file *f = find(s, id);

    if (f && !cachefile_same(&f->id, id)) {
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
    if (f->attached == CACHE_KEYS_PER_FILE) {
        cachestore_user *last =
            CACHELIST_OF(f->users.prev, cachestore_user, sibling);

        if (last->holds) {
            return -1;
        }
        cachestore_detach(s, last, 0);
    }
    f->refs++;
    f->attached++;
    u->file = f;
    u->entry->file = &f->pub;
    cachelist_init(&u->sibling);
    cachestore_touch(s, u);
    return 0;
}

cachefile_found cachestore_verify(cachestore_user *u, const char *path,
                                  int64_t now)
{
    cachestore_file *f = u->file;
    cachefile_found found = CACHEFILE_SAME;

    if (f->pub.data && f->as_of < now) {
        found = cachefile_compare(&f->pub, path, &f->id);
        if (found == CACHEFILE_SAME) {
            f->as_of = now;
        }
    }
    return found;
}

void cachestore_touch(cachestore *s, cachestore_user *u)
{
    cachestore_file *f = u->file;

    if (f->listed) {
        cachelist_front(&s->order, &f->order);
    }
    cachelist_front(&f->users, &u->sibling);
}
