/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_store: the files of a cache, one for each (device, inode), and up to
 * CACHE_BODIES_PER_FILE encoded bodies of each, which are told apart by their
 * bytes; within the limits on memory and descriptors; the longest unused go
 * first.
 * Internal to cache; one thread.
 */
#ifndef CPUAFFINITY_CACHE_STORE_H
#define CPUAFFINITY_CACHE_STORE_H

#include "cache/cache_file.h"
#include "base/list.h"

typedef struct cache_store_file {
    cache_file pub;
    cache_file_id id; /* of an encoded body: of the file it was made of */
    int encoded;
    uint64_t used; /* by its last use, for choosing among bodies */
    struct cache_store_file *next; /* in its bucket */
    int listed;                    /* in a bucket and in the order of use */
    list order;                    /* of use, the last used in front */
    list users;                    /* cache_store_user, last used in front */
    unsigned attached;             /* members of users */
    unsigned refs;                 /* users, and entries taken out while held */
    unsigned holds;                /* of all of them: never dropped while > 0 */
    int64_t as_of; /* the copy was read after httpd answered at that time */
} cache_store_file;

/* An entry's link to its file. */
typedef struct cache_store_user {
    list sibling;
    cache_store_file *file; /* NULL: none */
    cache_entry *entry;
    unsigned holds;
} cache_store_user;

typedef struct cachestore {
    cache_store_file **buckets;
    size_t mask;
    list order;
    const cache_config *config;
    uint64_t memory;
    unsigned descriptors;
    unsigned files;
    uint64_t uses; /* so far */
} cachestore;

/* @param buckets a power of two. @return 0 or -1 (no memory) */
int cache_store_init(cachestore *s, const cache_config *config, size_t buckets);

/* After every user was detached. */
void cache_store_close(cachestore *s);

/*
 * Gives the user the file at @a path, which must be the one with @a id; loads
 * it unless it is there. May take the file from its least recently used user,
 * and drop unused files.
 * @param now when httpd answered with it
 * @return 0, or -1: changed, unreadable or no room
 */
int cache_store_attach(cachestore *s, cache_store_user *u, const char *path,
                       const cache_file_id *id, int64_t now);

/*
 * Gives the user an encoded body that was made of the file with @a id: one
 * that is there, of the same bytes, or @a body.
 * @param body @a size bytes from malloc; set to NULL when it is kept
 * @return 0, or -1: no room
 */
int cache_store_attach_body(cachestore *s, cache_store_user *u,
                            const cache_file_id *id, char **body,
                            uint64_t size);

/* A file or encoded body of the same device and inode that has users, NULL:
 * there is none. */
cache_store_file *cache_store_any(cachestore *s, const cache_file_id *id);

/*
 * Are the bytes that we have for the user's file no older than httpd's answer
 * at @a now? A copy that was read before is compared with the file; what is
 * sent from a descriptor is as old as its sending.
 */
cache_file_found cache_store_verify(cache_store_user *u, const char *path,
                                    int64_t now);

/* The user was used: it and its file come to the front. */
void cache_store_touch(cachestore *s, cache_store_user *u);

/* The entry loses its file and is not live any more; the last user's file is
 * freed. With @a keep the file stays referenced for its holders until
 * cache_store_unref(). */
void cache_store_detach(cachestore *s, cache_store_user *u, int keep);

void cache_store_unref(cachestore *s, cache_store_file *f);

/* Drops up to @a n open files that nobody sends. @return how many */
unsigned cache_store_shed(cachestore *s, unsigned n);

#endif
