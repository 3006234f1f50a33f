/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_hints: what workers may ask about the loop's cache, which is the loop's
 * alone: fingerprints of the keys that it can answer. A wrong "yes" costs a
 * connection one more crossing, a wrong "no" one answer by httpd.
 */
#ifndef CPUAFFINITY_KEY_HINTS_H
#define CPUAFFINITY_KEY_HINTS_H

#include <stddef.h>

/* The table for about so many @a keys, for as long as the process lives. Main
 * thread, before others. 0, or -1 with errno */
int key_hints_make(unsigned keys);

/* Loop thread: a key has become answerable, is no longer, all are not. */
void key_hints_add(const unsigned char *key, size_t len);
void key_hints_forget(const unsigned char *key, size_t len);
void key_hints_clear(void);

/* Is the key (probably) answerable? Any thread. */
int key_hints_has(const unsigned char *key, size_t len);

#endif
