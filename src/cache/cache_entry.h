/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_entry: what cache, cache_store and cache_file share: the limits, a
 * file, an entry. Plain data.
 */
#ifndef CPUAFFINITY_CACHE_ENTRY_H
#define CPUAFFINITY_CACHE_ENTRY_H

#include <stdint.h>
#include <sys/types.h>

#include "cache/page_cache.h"
#include "http/response_data.h"

/* An answer that httpd gave longer ago than this (milliseconds) is never
 * repeated. Up to CACHE_SOONER before that, httpd is asked once more, not for
 * all entries at the same time, and again after CACHE_AGAIN if nothing was
 * learned. */
#define CACHE_AGE 60000
#define CACHE_SOONER 15000
#define CACHE_AGAIN 1000

typedef enum cache_outcome {
    CACHE_ONCE,     /* noted; live after a second agreeing answer */
    CACHE_LIVE,     /* it may be repeated now, for CACHE_AGE at most */
    CACHE_CHANGED,  /* differs from the last one, in head or bytes: noted as the
                      first again */
    CACHE_BY_QUERY, /* the same, of the same file, and what differs besides is
                       the query: nothing is noted */
    CACHE_REFUSED   /* the file is not what the answer says, or cannot be read
                      now, no room, or a later answer is known */
} cache_outcome;

/* More keys than this never share a file. */
#define CACHE_KEYS_PER_FILE 16
/* More encoded bodies of a file are never kept, each for so many keys. */
#define CACHE_BODIES_PER_FILE 4

/* What shows that an answer is not right any more. */
typedef enum cache_cause {
    CACHE_CAUSE_FILE,     /* the file that it is, or was made of */
    CACHE_CAUSE_KEY,      /* it follows from its key */
    CACHE_CAUSE_ABSENT,   /* that there is no such name */
    CACHE_CAUSE_DIRECTORY /* that it is a directory */
} cache_cause;

/* The bytes that identify an answer; what comes behind the first @a base of
 * them is the query. */
typedef struct cache_key {
    const unsigned char *bytes;
    size_t len; /* 0: with its query it is too long */
    size_t base;
    int shared; /* to learn: 1: nobody read the query */
} cache_key;

typedef struct cache_config {
    unsigned entries;     /* FixedStaticCache ENTRIES, at least 1 */
    int64_t valid;        /* how long a file is trusted, milliseconds */
    uint64_t small;       /* files up to this size are kept in memory */
    uint64_t memory;      /* at most this many bytes of them */
    unsigned descriptors; /* at most this many open files; 0: none */
    uint64_t secret[2];   /* of the keyed hash, random per process */
    size_t tag_size;      /* bytes of an entry's tag */
} cache_config;

/* One file, or what a filter made of it; shared by entries. Read-only for
 * callers. */
typedef struct cache_file {
    const char *data;      /* the whole content, or NULL: send from fd */
    int fd;                /* open for reading, or -1 */
    int64_t size;          /* of the content */
    page_cache_range warm; /* the sender's */
} cache_file;

/* One answer. Read-only for callers. */
typedef struct cache_entry {
    response answer;
    cache_file *file; /* NULL until live */
    const char *path; /* as httpd opens it */
    uint8_t cause;    /* cache_cause */
    void *tag;        /* a copy of the caller's, of the last cache_learn() */
    int live;         /* 1: may be repeated; 0: seen once */
    int any;          /* 1: whatever the query is */
    struct cache_304 *unchanged; /* httpd's own 304, cache_304's */
    struct cache_watch *watch;   /* names that it depends on besides its file;
                                  NULL: none */
    uint64_t hits; /* for the caller's audit; cache_may_use counts it */
} cache_entry;

/* What happened so far. */
typedef struct cache_stats {
    uint64_t hits, misses; /* cache_may_use: usable; cache_find: not there */
    uint64_t expired;      /* older than CACHE_AGE */
    uint64_t stale;        /* the file had changed */
    uint64_t evicted;      /* pushed out for want of room */
    uint64_t validations;  /* files looked at again */
    unsigned entries, files, descriptors; /* now */
    uint64_t memory;                      /* bytes of files, now */
} cache_stats;

typedef struct cache cache;

#endif
