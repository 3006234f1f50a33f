/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_path: what is on the way to a name that is no file: for answers that
 * say that there is none, or that it is a directory. Any thread; no httpd
 * header is needed.
 */
#ifndef CPUAFFINITY_CACHE_PATH_H
#define CPUAFFINITY_CACHE_PATH_H

#include <stdint.h>

#include "cache/cache_entry.h"

/* Deeper paths are not watched: each level is a system call or two. */
#define CACHE_PATH_LEVELS 32

/*
 * Looks at each level of the path, from the root on: device, inode, mode, owner
 * and group, of a link those of itself and of what it leads to.
 * @param path absolute, without "//"
 * @param cause CACHE_CAUSE_ABSENT: there is no such name, and nothing but that
 *        is in its way (ENOENT); CACHE_CAUSE_DIRECTORY: it is a directory
 * @param digest of what was seen: the same as before, so is all of it
 * @return 0; -1: it is not so, or cannot be seen
 */
int cache_path_look(const char *path, cache_cause cause, uint64_t *digest);

#endif
