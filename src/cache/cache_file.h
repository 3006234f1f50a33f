/*
 * cachefile: a file's identity, a look whether it still has it, and its
 * content as memory or descriptor. Internal to cache.
 */
#ifndef CPUAFFINITY_CACHE_FILE_H
#define CPUAFFINITY_CACHE_FILE_H

#include "cache/cache.h"

/* All of what would be different had somebody touched the file. */
typedef struct cachefile_id {
    uint64_t dev;
    uint64_t ino;
    int64_t size;
    int64_t mtime; /* nanoseconds */
    int64_t ctime; /* nanoseconds */
    uint32_t mode;
    uint32_t uid;
    uint32_t gid;
    uint32_t zero; /* no padding: compared as bytes */
} cachefile_id;

/* @a id of a regular file. @return 0, or -1: not a regular file */
int cachefile_identify(cachefile_id *id, const struct stat *st);

int cachefile_same(const cachefile_id *a, const cachefile_id *b);

typedef enum cachefile_found {
    CACHEFILE_SAME,
    CACHEFILE_CHANGED, /* or gone, or not readable any more */
    CACHEFILE_UNKNOWN  /* no descriptor to look with */
} cachefile_found;

/* Opens the path as httpd would, so that rights, links and directories on
 * the way count, and compares. Never waits for a FIFO's other end. */
cachefile_found cachefile_look(const char *path, const cachefile_id *id);

/* 1 when the open file still has this identity. */
int cachefile_still(int fd, const cachefile_id *id);

/*
 * Opens the file and keeps it in @a f: a copy when @a in_memory (made while
 * it did not change), else the descriptor.
 * @return 0, or -1 (errno kept; 0: it is not that file any more)
 */
int cachefile_load(cache_file *f, const char *path, const cachefile_id *id,
                   int in_memory);

/* Reads the file again and compares it with the copy in @a f: what is written
 * through a mapping changes a file's bytes long before its times.
 * CACHEFILE_UNKNOWN: it could not be read now. */
cachefile_found cachefile_compare(const cache_file *f, const char *path,
                                  const cachefile_id *id);

/* Frees the copy, closes the descriptor. */
void cachefile_unload(cache_file *f);

#endif
