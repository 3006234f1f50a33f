/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watched: names that an answer depends on besides its own file, each with what
 * was found there when httpd looked: nothing, or one very file. Plain bytes,
 * as they travel between threads and processes.
 */
#ifndef CPUAFFINITY_WATCHED_H
#define CPUAFFINITY_WATCHED_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* What exceeds these is not to be learned. Each name is a stat() once in
 * VALID. */
#define WATCHED_NAMES 32
#define WATCHED_BYTES 4096

/* A list in the making; all zero: it is empty. */
typedef struct watched {
    size_t len;
    unsigned names;
    char bytes[WATCHED_BYTES];
} watched;

/*
 * Adds a name.
 * @param path absolute
 * @param st of the regular file that is there, links followed; NULL: nothing is
 * @return 0; -1: no room, no regular file, or it is there with something else.
 * Any thread, its own @a w
 */
int watched_add(watched *w, const char *path, const struct stat *st);

/* Is everything as it was? A stat() for each name, which does not wait for the
 * other end of a FIFO. Any thread. */
int watched_is_met(const char *bytes, size_t len);

/* Could they have been made by watched_add()? Whatever they are. */
int watched_is_valid(const char *bytes, size_t len);

#endif
