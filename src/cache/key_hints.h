/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_hints: what workers may ask about the loop's cache, which is the loop's
 * alone: fingerprints of the keys that it can answer, and of those (any = 1)
 * that stand for all keys that begin with them. A wrong "yes" costs a
 * connection one more crossing, a wrong "no" one answer by httpd.
 */
#ifndef CPUAFFINITY_KEY_HINTS_H
#define CPUAFFINITY_KEY_HINTS_H

#include <stddef.h>

/* Makes the table for about @a keys keys, for the life of the process. Main
 * thread, before there are others. @return 0, or -1 with errno */
int key_hints_make(unsigned keys);

/* A key has become answerable; is no longer; none is any more. Loop thread. */
void key_hints_add(const unsigned char *key, size_t len, int any);
void key_hints_forget(const unsigned char *key, size_t len, int any);
void key_hints_clear(void);

/* Is the key (probably) answerable? Any thread. */
int key_hints_has(const unsigned char *key, size_t len, int any);

#endif
