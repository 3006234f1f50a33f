/*
 * cachestore: the files of a cache, one for each (device, inode), within
 * the limits on memory and descriptors; the longest unused go first.
 * Internal to cache; one thread.
 */
#ifndef CPUAFFINITY_CACHE_STORE_H
#define CPUAFFINITY_CACHE_STORE_H

#include "cache/cache_file.h"
#include "base/list.h"

typedef struct cachestore_file {
    cache_file pub;
    cachefile_id id;
    struct cachestore_file *next; /* in its bucket */
    int listed;                   /* in a bucket and in the order of use */
    cachelist order;              /* of use, the last used in front */
    cachelist users;              /* cachestore_user, last used in front */
    unsigned attached;            /* members of users */
    unsigned refs;                /* users, and entries taken out while held */
    unsigned holds;               /* of all of them: never dropped while > 0 */
    int64_t as_of; /* the copy was read after httpd answered at that time */
} cachestore_file;

/* What an entry has of its file. */
typedef struct cachestore_user {
    cachelist sibling;
    cachestore_file *file; /* NULL: none */
    cache_entry *entry;
    unsigned holds;
} cachestore_user;

typedef struct cachestore {
    cachestore_file **buckets;
    size_t mask;
    cachelist order;
    const cache_config *config;
    uint64_t memory;
    unsigned descriptors;
    unsigned files;
} cachestore;

/* @param buckets a power of two. @return 0 or -1 (no memory) */
int cachestore_init(cachestore *s, const cache_config *config, size_t buckets);

/* After every user was detached. */
void cachestore_close(cachestore *s);

/*
 * Gives the user the file at @a path, which must be the one with @a id;
 * loads it unless it is there. May take the file from the user of it that
 * was not used for longest, and drop unused files.
 * @param now when httpd answered with it
 * @return 0, or -1: changed, unreadable or no room
 */
int cachestore_attach(cachestore *s, cachestore_user *u, const char *path,
                      const cachefile_id *id, int64_t now);

/*
 * Are the bytes that we have for the user's file no older than httpd's answer
 * at @a now? A copy that was read before is compared with the file; what is
 * sent from a descriptor is as old as its sending.
 */
cachefile_found cachestore_verify(cachestore_user *u, const char *path,
                                  int64_t now);

/* The user was used: it and its file come to the front. */
void cachestore_touch(cachestore *s, cachestore_user *u);

/* The entry loses its file and is not live any more; the last user's file is
 * freed. With @a keep the file stays referenced for its holders until
 * cachestore_unref(). */
void cachestore_detach(cachestore *s, cachestore_user *u, int keep);

void cachestore_unref(cachestore *s, cachestore_file *f);

/* Drops up to @a n open files that nobody sends. @return how many */
unsigned cachestore_shed(cachestore *s, unsigned n);

#endif
