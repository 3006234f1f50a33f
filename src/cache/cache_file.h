/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_file: a file's identity, the check that it is still the same, and its
 * content in memory or as a descriptor. Internal to cache.
 */
#ifndef CPUAFFINITY_CACHE_FILE_H
#define CPUAFFINITY_CACHE_FILE_H

#include <sys/stat.h>

#include "cache/cache_entry.h"

/* All that changes when somebody touches the file. */
typedef struct cache_file_id {
    uint64_t dev;
    uint64_t ino;
    int64_t size;
    int64_t mtime; /* nanoseconds */
    int64_t ctime; /* nanoseconds */
    uint32_t mode;
    uint32_t uid;
    uint32_t gid;
    uint32_t zero; /* no padding: compared as bytes */
} cache_file_id;

/* @a id of a regular file. @return 0, or -1: not a regular file */
int cache_file_identify(cache_file_id *id, const struct stat *st);

int cache_file_is_same(const cache_file_id *a, const cache_file_id *b);

typedef enum cache_file_found {
    CACHE_FILE_SAME,
    CACHE_FILE_CHANGED, /* or gone, or not readable any more */
    CACHE_FILE_UNKNOWN  /* no descriptor to look with */
} cache_file_found;

/* Opens the path as httpd would, so that rights, links and directories on
 * the way count, and compares. Never waits for a FIFO's other end. */
cache_file_found cache_file_look(const char *path, const cache_file_id *id);

/* 1 when the open file still has this identity. */
int cache_file_is_still(int fd, const cache_file_id *id);

/*
 * Opens the file and keeps it in @a f: a copy when @a in_memory (made while
 * it did not change), else the descriptor.
 * @return 0, or -1 (errno kept; 0: it is not that file any more)
 */
int cache_file_load(cache_file *f, const char *path, const cache_file_id *id,
                    int in_memory);

/* Reads the file again and compares it with the copy in @a f: what is written
 * through a mapping changes a file's bytes long before its times.
 * CACHE_FILE_UNKNOWN: it could not be read now. */
cache_file_found cache_file_compare(const cache_file *f, const char *path,
                                    const cache_file_id *id);

/* Frees the copy, closes the descriptor. */
void cache_file_unload(cache_file *f);

#endif
